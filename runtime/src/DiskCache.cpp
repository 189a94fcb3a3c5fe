// Results of compilations on disk, shared by processes.
// SPDX-License-Identifier: MIT
#include "selvedge/DiskCache.h"

#include "runtime/src/Checksum.h"
#include "selvedge/File.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>

namespace selvedge::inline runtime {

namespace fs = std::filesystem;

namespace {

constexpr size_t checksumDigits = 32;

std::string digits(const Checksum &sum) {
  return fmt::format("{:016x}{:016x}", sum.high(), sum.low());
}

} // namespace

std::string checksumOf(std::string_view text) {
  Checksum sum;
  sum.addWhole(text);
  return digits(sum);
}

std::string cacheFolder() {
  for (const auto &[variable, below] :
       {std::pair("XDG_CACHE_HOME", "/selvedge"),
        std::pair("HOME", "/.cache/selvedge")})
    if (const char *value = std::getenv(variable); value && *value)
      return std::string(value) + below;
  return "";
}

std::string identifyFile(const std::string &path) {
  struct stat info = {};
  ::stat(path.c_str(), &info);
  // The time of the last change of anything, which nobody can set back.
  return fmt::format("{}:{}:{}:{}.{}:{}.{}", path, info.st_ino, info.st_size,
                     info.st_mtim.tv_sec, info.st_mtim.tv_nsec,
                     info.st_ctim.tv_sec, info.st_ctim.tv_nsec);
}

std::string DiskCache::key(const std::vector<std::string_view> &parts,
                           std::string_view suffix) {
  Checksum sum;
  for (std::string_view part : parts) {
    // With its length, so that no two lists read the same.
    sum.add(fmt::format("{}:", part.size()));
    sum.add(part);
  }
  return fmt::format("{}-{}", digits(sum), suffix);
}

std::optional<std::string> DiskCache::read(const std::string &key) const {
  if (folder.empty())
    return std::nullopt;
  std::string path = folder + '/' + key;
  Result<std::string> text = readFile(path);
  if (!text.ok() || text->size() <= checksumDigits)
    return std::nullopt;
  std::string_view content = std::string_view(*text).substr(checksumDigits);
  if (checksumOf(content) != text->substr(0, checksumDigits))
    return std::nullopt;
  // It was used: prune() goes by this time.
  std::error_code ignored;
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
  return std::string(content);
}

void DiskCache::write(const std::string &key, std::string_view content) const {
  if (folder.empty())
    return;
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  if (writeFileAtomically(folder + '/' + key, {checksumOf(content), content})
          .ok())
    prune();
}

void DiskCache::prune() const {
  struct File {
    fs::path path;
    fs::file_time_type used;
    uint64_t bytes;
  };
  std::vector<File> files;
  uint64_t total = 0;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    // Another process may remove it meanwhile.
    std::error_code gone;
    File file{it->path(), it->last_write_time(gone), it->file_size(gone)};
    if (gone)
      continue;
    total += file.bytes;
    files.push_back(std::move(file));
  }
  std::ranges::sort(files, {}, &File::used);
  for (const File &file : files) {
    if (total <= limitBytes)
      return;
    fs::remove(file.path, error);
    total -= file.bytes;
  }
}

} // namespace selvedge::inline runtime
