// Finding and running ptxas.
// SPDX-License-Identifier: MIT
#include "selvedge/Ptxas.h"

#include "runtime/src/Process.h"
#include "selvedge/DiskCache.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace selvedge::inline runtime {

namespace fs = std::filesystem;

namespace {

std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

bool isExecutable(const std::string &path) {
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

/// Folders that may hold ptxas, best first.
std::vector<std::string> searchFolders() {
  std::vector<std::string> folders;
  std::string path = environment("PATH");
  for (size_t begin = 0; begin < path.size();) {
    size_t end = std::min(path.find(':', begin), path.size());
    if (end > begin)
      folders.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  if (std::string home = environment("CUDA_HOME"); !home.empty())
    folders.push_back(home + "/bin");
  folders.push_back("/usr/local/cuda/bin");
  return folders;
}

/// ptxas of PyPI's wheels, in any Python's site-packages.
std::optional<std::string> findInWheels() {
  std::vector<std::string> roots;
  if (std::string venv = environment("VIRTUAL_ENV"); !venv.empty())
    roots.push_back(venv + "/lib");
  if (std::string home = environment("HOME"); !home.empty())
    roots.push_back(home + "/.local/lib");
  roots.insert(roots.end(), {"/usr/local/lib", "/usr/lib"});
  for (const std::string &root : roots) {
    std::vector<std::string> pythons;
    std::error_code error;
    fs::directory_iterator it(root, error);
    for (; !error && it != fs::directory_iterator(); it.increment(error))
      if (it->path().filename().string().starts_with("python3"))
        pythons.push_back(it->path().string());
    std::sort(pythons.rbegin(), pythons.rend());
    for (const std::string &python : pythons)
      for (const char *packages : {"site-packages", "dist-packages"})
        for (const char *folder : {"cu13/bin", "cuda_nvcc/bin"}) {
          std::string candidate =
              fmt::format("{}/{}/nvidia/{}/ptxas", python, packages, folder);
          if (isExecutable(candidate))
            return candidate;
        }
  }
  return std::nullopt;
}

Result<std::string> runPtxas(const std::string &ptxas, const std::string &ptx,
                             const std::string &arch) {
  Result<MemoryFile> input = MemoryFile::create(ptx);
  Result<MemoryFile> output = MemoryFile::create();
  if (!input.ok() || !output.ok())
    return input.ok() ? output.status() : input.status();
  Result<ProcessResult> result = runProcess(
      {ptxas, "-O3", "-arch=" + arch, input->path(), "-o", output->path()});
  if (!result.ok())
    return result.status();
  if (!result->ok())
    return Status::failed(fmt::format(
        "'{}' {} for {}: {}", ptxas, result->describe(), arch, result->output));
  Result<std::string> cubin = output->read();
  if (cubin.ok() && cubin->empty())
    return Status::failed(
        fmt::format("'{}' wrote no cubin: is it ptxas?", ptxas));
  return cubin;
}

} // namespace

Result<std::string> locatePtxas() {
  if (std::string chosen = environment("SELVEDGE_PTXAS"); !chosen.empty()) {
    if (isExecutable(chosen))
      return chosen;
    return Status::unavailable(fmt::format(
        "SELVEDGE_PTXAS names '{}', which is not a program", chosen));
  }
  for (const std::string &folder : searchFolders())
    if (isExecutable(folder + "/ptxas"))
      return folder + "/ptxas";
  if (std::optional<std::string> wheel = findInWheels())
    return *wheel;
  return Status::unavailable(
      "ptxas not found: install the CUDA toolkit or PyPI's "
      "nvidia-cuda-nvcc, or set SELVEDGE_PTXAS");
}

Result<std::string> ptxasVersion(const std::string &ptxas) {
  Result<ProcessResult> result = runProcess({ptxas, "--version"});
  if (!result.ok())
    return result.status();
  size_t at = result->output.find("release ");
  if (!result->ok() || at == std::string::npos)
    return Status::failed(
        fmt::format("'{}' does not behave like ptxas", ptxas));
  size_t begin = at + std::string_view("release ").size();
  size_t end = result->output.find_first_not_of("0123456789.", begin);
  return result->output.substr(begin, end - begin);
}

Result<std::string> assemblePtx(const std::string &ptx,
                                const std::string &arch) {
  Result<std::string> ptxas = locatePtxas();
  if (!ptxas.ok())
    return ptxas;
  DiskCache cache;
  std::string key =
      DiskCache::key({arch, identifyFile(*ptxas), ptx}, arch + ".cubin");
  if (std::optional<std::string> cubin = cache.read(key))
    return *cubin;
  Result<std::string> cubin = runPtxas(*ptxas, ptx, arch);
  if (cubin.ok())
    cache.write(key, *cubin);
  return cubin;
}

} // namespace selvedge::inline runtime
