// Little-endian integers in byte strings.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_RUNTIME_SRC_ENDIAN_H
#define SELVEDGE_RUNTIME_SRC_ENDIAN_H

#include <cstdint>
#include <string>
#include <string_view>

namespace selvedge::inline runtime {

/// The `bytes` bytes at `offset` as an unsigned integer; the caller has checked
/// the bounds.
inline uint64_t readLittle(std::string_view text, size_t offset, int bytes) {
  uint64_t value = 0;
  for (int i = bytes; i-- > 0;)
    value = value << 8 |
            static_cast<unsigned char>(text[offset + static_cast<size_t>(i)]);
  return value;
}

/// Appends the low `bytes` bytes of `value`.
inline void appendLittle(std::string &text, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    text += static_cast<char>(value >> 8 * i & 255);
}

} // namespace selvedge::inline runtime

#endif // SELVEDGE_RUNTIME_SRC_ENDIAN_H
