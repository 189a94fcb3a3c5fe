// The artefact container, whole and damaged.
// SPDX-License-Identifier: MIT
#include "selvedge/Artifact.h"
#include "runtime/src/Checksum.h"
#include "runtime/src/Endian.h"
#include "selvedge/Op.h"

#include <filesystem>
#include <gtest/gtest.h>

using namespace selvedge;

namespace {

const Artifact sample = {"{}", "// ptx",
                         "\x7f"
                         "ELF"};

TEST(Artifact, roundTrip) {
  auto decoded = decodeArtifact(encodeArtifact(sample));
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  EXPECT_EQ(decoded->manifest, sample.manifest);
  EXPECT_EQ(decoded->ptx, sample.ptx);
  EXPECT_EQ(decoded->cubin, sample.cubin);
}

TEST(Artifact, cubinMayBeAbsent) {
  auto decoded = decodeArtifact(encodeArtifact({"{}", "ptx", ""}));
  ASSERT_TRUE(decoded.ok());
  EXPECT_TRUE(decoded->cubin.empty());
}

TEST(Artifact, everyTruncationIsAnError) {
  std::string bytes = encodeArtifact(sample);
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decodeArtifact(bytes.substr(0, size)).ok()) << size;
}

TEST(Artifact, everyFlippedBitIsAnError) {
  std::string bytes = encodeArtifact(sample);
  for (size_t at = 0; at < bytes.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      EXPECT_FALSE(decodeArtifact(damaged).ok()) << at;
    }
}

constexpr size_t headerBytes = 32, entryBytes = 24;

/// The bytes with a checksum that fits, as somebody would write them who wants
/// them to be read.
std::string seal(std::string bytes) {
  Checksum sum;
  sum.add(std::string_view(bytes).substr(12, 4));
  sum.addWhole(std::string_view(bytes).substr(headerBytes));
  std::string digits;
  appendLittle(digits, sum.low(), 8);
  appendLittle(digits, sum.high(), 8);
  return bytes.replace(16, 16, digits);
}

TEST(Artifact, sealedDamageNeverCrashes) {
  std::string bytes = encodeArtifact(sample);
  ASSERT_EQ(seal(bytes), bytes);
  for (size_t at = headerBytes; at < bytes.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      (void)decodeArtifact(seal(damaged));
    }
}

TEST(Artifact, overlapsAreRefused) {
  std::string bytes = encodeArtifact(sample);
  auto message = [](const std::string &damaged) {
    return decodeArtifact(seal(damaged)).status().message();
  };
  std::string overHeader = bytes;
  overHeader[headerBytes + 8] = 15;
  EXPECT_NE(message(overHeader).find("overlaps"), std::string::npos);
  std::string overNeighbour = bytes;
  overNeighbour[headerBytes + entryBytes + 8] = bytes[headerBytes + 8];
  EXPECT_NE(message(overNeighbour).find("overlaps"), std::string::npos);
}

TEST(Artifact, fileErrorsNameThePath) {
  std::string path = testing::TempDir() + "/artifact-test.svg";
  ASSERT_TRUE(writeArtifact(path, sample).ok());
  EXPECT_TRUE(readArtifact(path).ok());
  std::filesystem::resize_file(path, 20);
  auto damaged = readArtifact(path);
  ASSERT_FALSE(damaged.ok());
  EXPECT_NE(damaged.status().message().find(path), std::string::npos);
  std::filesystem::remove(path);
  EXPECT_FALSE(readArtifact(path).ok());
  EXPECT_FALSE(writeArtifact("/nonexistent/folder/x", sample).ok());
}

TEST(LoadPath, familiesOfArchitectures) {
  EXPECT_EQ(*chooseLoadPath("sm_80", 8, 0), LoadPath::Cubin);
  EXPECT_EQ(*chooseLoadPath("sm_80", 8, 9), LoadPath::Cubin);
  EXPECT_EQ(*chooseLoadPath("sm_80", 9, 0), LoadPath::Ptx);
  EXPECT_EQ(*chooseLoadPath("sm_80", 12, 0), LoadPath::Ptx);
  EXPECT_FALSE(chooseLoadPath("sm_80", 7, 5).ok());
  EXPECT_EQ(*chooseLoadPath("sm_90a", 9, 0), LoadPath::Cubin);
  EXPECT_FALSE(chooseLoadPath("sm_90a", 8, 9).ok());
  EXPECT_FALSE(chooseLoadPath("sm_90a", 10, 0).ok());
  for (const char *arch : {"", "sm_", "sm_a", "sm_80b", "compute_80", "80"})
    EXPECT_FALSE(chooseLoadPath(arch, 9, 0).ok()) << arch;
}

} // namespace
