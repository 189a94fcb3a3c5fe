// Where ptxas may be installed.
// SPDX-License-Identifier: MIT
#include "compiler/Target/PTX/Ptxas.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

#include <algorithm>

namespace selvedge::ptx {

using namespace llvm;

/// Value of an environment variable; empty when it is not set.
static std::string environment(StringRef name) {
  return sys::Process::GetEnv(name).value_or("");
}

static std::string join(StringRef folder, StringRef name) {
  SmallString<128> path(folder);
  sys::path::append(path, name);
  return std::string(path);
}

/// Appends the folders of NVIDIA's wheels below a site-packages folder.
static void addWheels(std::vector<std::string> &folders, StringRef packages) {
  folders.push_back(join(packages, "nvidia/cu13/bin"));
  folders.push_back(join(packages, "nvidia/cuda_nvcc/bin"));
}

/// Appends the wheels of every Python 3 below `lib`, newest name first.
static void addPythons(std::vector<std::string> &folders, StringRef lib) {
  std::vector<std::string> pythons;
  std::error_code error;
  for (sys::fs::directory_iterator it(lib, error), end; !error && it != end;
       it.increment(error))
    if (sys::path::filename(it->path()).starts_with("python3"))
      pythons.push_back(it->path());
  std::sort(pythons.rbegin(), pythons.rend());
  for (const std::string &python : pythons) {
    addWheels(folders, join(python, "site-packages"));
    addWheels(folders, join(python, "dist-packages"));
  }
}

/// Folders that may hold ptxas, best first.
static std::vector<std::string> searchFolders() {
  std::vector<std::string> folders;
  if (std::string home = environment("CUDA_HOME"); !home.empty())
    folders.push_back(join(home, "bin"));
  folders.push_back("/usr/local/cuda/bin");
  if (std::string venv = environment("VIRTUAL_ENV"); !venv.empty())
    addPythons(folders, join(venv, "lib"));
  if (std::string home = environment("HOME"); !home.empty())
    addPythons(folders, join(home, ".local/lib"));
  addPythons(folders, "/usr/local/lib");
  addPythons(folders, "/usr/lib");
  // build/bin/PROGRAM -> build/.deps, as tools/dev installs it.
  std::string self = sys::fs::getMainExecutable(
      nullptr, reinterpret_cast<void *>(&searchFolders));
  StringRef build = sys::path::parent_path(sys::path::parent_path(self));
  std::string deps = join(build, ".deps");
  folders.push_back(join(deps, "bin"));
  addWheels(folders, deps);
  addPythons(folders, join(deps, "lib"));
  return folders;
}

static bool isProgram(const std::string &path) {
  return sys::fs::is_regular_file(path) && sys::fs::can_execute(path);
}

std::string findPtxas(StringRef chosen) {
  std::string named = chosen.str();
  if (named.empty())
    named = environment("SELVEDGE_PTXAS");
  if (!named.empty())
    return isProgram(named) ? named : std::string();
  if (ErrorOr<std::string> found = sys::findProgramByName("ptxas"))
    return *found;
  for (const std::string &folder : searchFolders())
    if (std::string path = join(folder, "ptxas"); isProgram(path))
      return path;
  return "";
}

} // namespace selvedge::ptx
