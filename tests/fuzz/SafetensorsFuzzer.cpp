// Fuzzes the safetensors reader.
// SPDX-License-Identifier: MIT
#include "selvedge/Safetensors.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto bytes = std::as_bytes(std::span(data, size));
  auto parsed = selvedge::parseSafetensors(bytes, "fuzz");
  if (!parsed.ok())
    return 0;
  // Touch what the reader hands out, so that a wrong bound is seen.
  unsigned sum = 0;
  for (const selvedge::SafetensorsEntry &entry : parsed->tensors)
    for (std::byte byte : entry.data)
      sum += static_cast<unsigned>(byte);
  return sum == 1 ? -1 : 0;
}
