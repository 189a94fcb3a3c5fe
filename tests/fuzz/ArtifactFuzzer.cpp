// Fuzzes the reader of artefacts.
// SPDX-License-Identifier: MIT
#include "runtime/src/Checksum.h"
#include "runtime/src/Endian.h"
#include "selvedge/Artifact.h"

#include <cstdint>
#include <cstdlib>

using namespace selvedge;

namespace {

/// The bytes as a container of `count` sections whose checksum fits.
std::string seal(std::string_view rest, unsigned char count) {
  std::string number;
  appendLittle(number, count, 4);
  Checksum sum;
  sum.add(number);
  sum.addWhole(rest);
  std::string bytes = "SELVEDGE";
  appendLittle(bytes, 2, 4);
  bytes += number;
  appendLittle(bytes, sum.low(), 8);
  appendLittle(bytes, sum.high(), 8);
  return bytes.append(rest);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char *>(data), size);
  (void)decodeArtifact(bytes);
  if (size == 0)
    return 0;
  Result<Artifact> sealed = decodeArtifact(seal(bytes.substr(1), data[0] % 8));
  if (!sealed.ok())
    return 0;
  // What was read is written and read again.
  Result<Artifact> again = decodeArtifact(encodeArtifact(*sealed));
  if (!again.ok() || again->manifest != sealed->manifest ||
      again->ptx != sealed->ptx || again->cubin != sealed->cubin)
    std::abort();
  return 0;
}
