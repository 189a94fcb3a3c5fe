// Results of compilations on disk, shared by processes.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DISKCACHE_H
#define SELVEDGE_DISKCACHE_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace selvedge::inline runtime {

/// Folder of all caches: $XDG_CACHE_HOME/selvedge or ~/.cache/selvedge; empty,
/// which means none, when neither variable is set.
std::string cacheFolder();

/// Which file it is, without reading it: path, inode, size and times of
/// change, of which the last one cannot be set.
std::string identifyFile(const std::string &path);

/// Which build of the program or library it is whose code or data is at
/// `inside`: the build id that the linker wrote, whatever the file is called
/// and whenever it was copied; without one identifyFile().
std::string identifyCode(const void *inside);

/// The checksum of a text, in digits.
std::string checksumOf(std::string_view text);

/// Files in cacheFolder(). Entries carry a checksum and are renamed into place,
/// so that concurrent processes and torn files do no harm.
class DiskCache {
public:
  /// Of all files in the folder, those not used for longest are removed beyond
  /// `limitBytes`.
  explicit DiskCache(uint64_t limitBytes = uint64_t(1) << 30)
      : folder(cacheFolder()), limitBytes(limitBytes) {}

  /// The name for what `parts` determine, together and in order; it ends in
  /// `suffix`.
  static std::string key(const std::vector<std::string_view> &parts,
                         std::string_view suffix);

  /// The entry, if it is there and whole.
  std::optional<std::string> read(const std::string &key) const;
  /// Adds an entry. A cache that cannot be written costs time, nothing else.
  void write(const std::string &key, std::string_view content) const;

private:
  void prune() const;

  std::string folder;
  uint64_t limitBytes;
};

} // namespace selvedge::inline runtime

#endif // SELVEDGE_DISKCACHE_H
