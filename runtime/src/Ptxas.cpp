// Finding and running ptxas, with a disk cache.
// SPDX-License-Identifier: MIT
#include "selvedge/Ptxas.h"

#include "runtime/src/Process.h"
#include "selvedge/File.h"

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

constexpr size_t checksumDigits = 32;

std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

bool isExecutable(const std::string &path) {
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

/// FNV-1a of 128 bits: long enough that two programs never share a key.
std::string checksum(std::string_view text) {
  using Wide = unsigned __int128;
  Wide hash = Wide(0x6c62272e07bb0142) << 64 | 0x62b821756295c58d;
  constexpr Wide prime = Wide(1) << 88 | 0x13b;
  for (char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * prime;
  return fmt::format("{:016x}{:016x}", static_cast<uint64_t>(hash >> 64),
                     static_cast<uint64_t>(hash));
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

/// Which ptxas it is, without running it.
std::string identify(const std::string &ptxas) {
  struct stat info = {};
  ::stat(ptxas.c_str(), &info);
  return fmt::format("{}:{}:{}", ptxas, info.st_size, info.st_mtime);
}

/// The cubin of a cache entry, if the entry is whole.
std::optional<std::string> readEntry(const std::string &path) {
  Result<std::string> text = readFile(path);
  if (!text.ok() || text->size() <= checksumDigits)
    return std::nullopt;
  std::string cubin = text->substr(checksumDigits);
  if (checksum(cubin) != text->substr(0, checksumDigits))
    return std::nullopt;
  return cubin;
}

Result<std::string> runPtxas(const std::string &ptxas, const std::string &ptx,
                             const std::string &arch) {
  Result<TemporaryFolder> folder = TemporaryFolder::create();
  if (!folder.ok())
    return folder.status();
  std::string input = folder->file("kernel.ptx");
  std::string output = folder->file("kernel.cubin");
  if (Status status = writeFileAtomically(input, {ptx}); !status.ok())
    return status;
  Result<ProcessResult> result =
      runProcess({ptxas, "-O3", "-arch=" + arch, input, "-o", output});
  if (!result.ok())
    return result.status();
  if (result->exitStatus != 0)
    return Status::failed(fmt::format("'{}' failed for {} with status {}: {}",
                                      ptxas, arch, result->exitStatus,
                                      result->output));
  return readFile(output);
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
  if (result->exitStatus != 0 || at == std::string::npos)
    return Status::failed(
        fmt::format("'{}' does not behave like ptxas", ptxas));
  size_t begin = at + std::string_view("release ").size();
  size_t end = result->output.find_first_not_of("0123456789.", begin);
  return result->output.substr(begin, end - begin);
}

std::string cacheFolder() {
  if (std::string cache = environment("XDG_CACHE_HOME"); !cache.empty())
    return cache + "/selvedge";
  if (std::string home = environment("HOME"); !home.empty())
    return home + "/.cache/selvedge";
  return "";
}

Result<std::string> assemblePtx(const std::string &ptx,
                                const std::string &arch) {
  Result<std::string> ptxas = locatePtxas();
  if (!ptxas.ok())
    return ptxas;
  std::string folder = cacheFolder();
  std::string key = checksum(arch + '\n' + identify(*ptxas) + '\n' + ptx);
  std::string path = fmt::format("{}/{}-{}.cubin", folder, key, arch);
  if (!folder.empty())
    if (std::optional<std::string> cubin = readEntry(path))
      return *cubin;
  Result<std::string> cubin = runPtxas(*ptxas, ptx, arch);
  if (!cubin.ok() || folder.empty())
    return cubin;
  std::error_code error;
  fs::create_directories(folder, error);
  // A cache that cannot be written costs time, nothing else.
  (void)writeFileAtomically(path, {checksum(*cubin), *cubin});
  return cubin;
}

} // namespace selvedge::inline runtime
