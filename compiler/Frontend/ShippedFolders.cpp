// Where the shipped templates may lie.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Imports.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

#include <dlfcn.h>

using namespace llvm;

namespace selvedge::frontend {

/// Folder of the program or library that holds this function.
static std::string ownFolder() {
  Dl_info info = {};
  std::string file;
  if (::dladdr(reinterpret_cast<const void *>(&ownFolder), &info) &&
      info.dli_fname)
    file = info.dli_fname;
  // A program's name is as it was called.
  if (file.find('/') == std::string::npos)
    file = "/proc/self/exe";
  SmallString<256> real;
  if (sys::fs::real_path(file, real))
    return "";
  return sys::path::parent_path(real).str();
}

std::vector<std::string> shippedFolders() {
  std::vector<std::string> folders;
  if (auto chosen = sys::Process::GetEnv("SELVEDGE_TEMPLATES");
      chosen && !chosen->empty())
    folders.push_back(*chosen);
  std::string own = ownFolder();
  if (own.empty())
    return folders;
  // An unpacked archive, a build folder, an installation, one below lib/ARCH.
  for (const char *way :
       {"../templates", "../../templates", "../share/selvedge/templates",
        "../../share/selvedge/templates"}) {
    SmallString<256> folder(own);
    sys::path::append(folder, way);
    sys::path::remove_dots(folder, /*remove_dot_dot=*/true);
    folders.push_back(folder.str().str());
  }
  return folders;
}

} // namespace selvedge::frontend
