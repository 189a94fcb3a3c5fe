// The bytes of a tensor between canaries, and what a launch did to them.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_GUARDEDIMAGE_H
#define SELVEDGE_TOOLS_SELVEDGE_GUARDEDIMAGE_H

#include "tools/selvedge/Layout.h"
#include "tools/selvedge/Poison.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace selvedge::cli {

/// What device memory is to hold: a canary, the box of a layout with its gaps,
/// and another canary.
class GuardedImage {
public:
  /// Bytes of a canary; a multiple of 256, which keeps tensors aligned.
  static constexpr size_t guardBytes = 4096;

  /// Fills canaries and gaps, and the elements too, with `poison`. Canaries and
  /// gaps of None are random: zeros would not show that a zero was written.
  GuardedImage(DType dtype, Layout layout, Poison poison);

  /// Stores the elements of a contiguous tensor. Those that `chosen` marks with
  /// 0 stay as they are; an empty one marks none.
  void store(std::span<const std::byte> contiguous,
             std::span<const uint8_t> chosen = {});

  /// The bytes to upload.
  std::span<const std::byte> bytes() const { return image; }
  /// The tensor, for an image that starts at `base`.
  TensorView view(void *base) const;

  /// Compares downloaded bytes with those uploaded. Canaries and gaps must not
  /// have changed, elements only of a tensor that is not `readOnly`. An error
  /// names the tensor, the place, and the bytes there.
  Status check(const std::string &name, std::span<const std::byte> now,
               bool readOnly) const;

  /// The elements as a contiguous tensor.
  std::vector<std::byte> load(std::span<const std::byte> now) const;

private:
  size_t elementSize() const { return static_cast<size_t>(sizeOf(dtype)); }

  DType dtype;
  Layout layout;
  /// Byte offset in the image of every element.
  std::vector<size_t> offsets;
  std::vector<std::byte> image;
};

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_GUARDEDIMAGE_H
