// Checksums of files and keys of caches.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_RUNTIME_SRC_CHECKSUM_H
#define SELVEDGE_RUNTIME_SRC_CHECKSUM_H

#include <cstdint>
#include <cstring>
#include <string_view>

namespace selvedge::inline runtime {

/// FNV-1a of 128 bits: long enough that two programs never share a key. It is
/// no protection against somebody who wants two texts to agree.
class Checksum {
public:
  /// Adds text byte by byte: what follows may be added in other portions.
  void add(std::string_view text) {
    for (char c : text)
      mix(static_cast<unsigned char>(c));
  }
  /// Adds a whole text in words of 8 bytes, and its length: eight times as
  /// fast. Two texts of equal length that differ in one word never agree.
  void addWhole(std::string_view text) {
    size_t size = text.size();
    for (; text.size() >= sizeof(uint64_t);
         text.remove_prefix(sizeof(uint64_t))) {
      uint64_t word = 0;
      std::memcpy(&word, text.data(), sizeof(word));
      mix(word);
    }
    add(text);
    mix(size);
  }

  /// The halves of the result.
  uint64_t high() const { return static_cast<uint64_t>(hash >> 64); }
  uint64_t low() const { return static_cast<uint64_t>(hash); }

private:
  using Wide = unsigned __int128;

  void mix(uint64_t value) { hash = (hash ^ value) * prime; }

  static constexpr Wide prime = Wide(1) << 88 | 0x13b;
  Wide hash = Wide(0x6c62272e07bb0142) << 64 | 0x62b821756295c58d;
};

} // namespace selvedge::inline runtime

#endif // SELVEDGE_RUNTIME_SRC_CHECKSUM_H
