// The bytes of a tensor between canaries, and what a launch did to them.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/GuardedImage.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace selvedge::cli {

namespace {

/// "7f c0 00 00": at most eight bytes from `at` on.
std::string hexBytes(std::span<const std::byte> bytes, size_t at) {
  std::string text;
  for (std::byte byte :
       bytes.subspan(at, std::min<size_t>(8, bytes.size() - at)))
    text += fmt::format("{}{:02x}", text.empty() ? "" : " ",
                        std::to_integer<unsigned>(byte));
  return text;
}

} // namespace

GuardedImage::GuardedImage(DType dtype, Layout givenLayout, Poison poison)
    : dtype(dtype), layout(std::move(givenLayout)) {
  image.resize(2 * guardBytes +
               static_cast<size_t>(layout.box) * elementSize());
  for (int64_t place : layout.places())
    offsets.push_back(guardBytes + static_cast<size_t>(place) * elementSize());
  fillPoison(poison == Poison::None ? Poison::Random : poison, dtype, image);
  if (poison == Poison::None)
    for (size_t offset : offsets)
      std::memset(image.data() + offset, 0, elementSize());
}

void GuardedImage::store(std::span<const std::byte> contiguous,
                         std::span<const uint8_t> chosen) {
  for (size_t i = 0; i < offsets.size(); ++i)
    if (chosen.empty() || chosen[i])
      std::memcpy(image.data() + offsets[i],
                  contiguous.data() + i * elementSize(), elementSize());
}

TensorView GuardedImage::view(void *base) const {
  auto *origin = static_cast<std::byte *>(base) + guardBytes +
                 static_cast<size_t>(layout.offset) * elementSize();
  return {origin, dtype, layout.given, layout.strides};
}

Status GuardedImage::check(const std::string &name,
                           std::span<const std::byte> now,
                           bool readOnly) const {
  std::vector<bool> isElement(image.size(), false);
  for (size_t offset : offsets)
    std::fill_n(isElement.begin() + static_cast<ptrdiff_t>(offset),
                elementSize(), true);
  for (size_t i = 0; i < image.size(); ++i) {
    if (now[i] == image[i] || (isElement[i] && !readOnly))
      continue;
    bool before = i < guardBytes;
    bool after = i >= image.size() - guardBytes;
    const char *what = isElement[i]      ? "to input"
                       : before || after ? "outside"
                                         : "between the rows of";
    // Whole elements are easier to read.
    size_t at = i - i % elementSize();
    return Status::failed(fmt::format(
        "a kernel wrote {} '{}' at byte {} of {}: found {}, expected {}", what,
        name, static_cast<int64_t>(at) - static_cast<int64_t>(guardBytes),
        image.size() - 2 * guardBytes, hexBytes(now, at), hexBytes(image, at)));
  }
  return Status();
}

std::vector<std::byte>
GuardedImage::load(std::span<const std::byte> now) const {
  std::vector<std::byte> contiguous(offsets.size() * elementSize());
  for (size_t i = 0; i < offsets.size(); ++i)
    std::memcpy(contiguous.data() + i * elementSize(), now.data() + offsets[i],
                elementSize());
  return contiguous;
}

} // namespace selvedge::cli
