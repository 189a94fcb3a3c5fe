// The artefact container, whole and damaged.
// SPDX-License-Identifier: MIT
#include "selvedge/Artifact.h"
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

TEST(Artifact, flippedBytesOfTheHeaderNeverCrash) {
  std::string bytes = encodeArtifact(sample);
  for (size_t at = 0; at < bytes.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      auto decoded = decodeArtifact(damaged);
      // A smaller number of sections is a valid file without the last ones.
      if (at < 12) {
        EXPECT_FALSE(decoded.ok()) << at;
      }
    }
}

TEST(Artifact, overlapsAreRefused) {
  std::string bytes = encodeArtifact(sample);
  std::string overHeader = bytes;
  overHeader[16 + 8] = 15;
  EXPECT_FALSE(decodeArtifact(overHeader).ok());
  std::string overNeighbour = bytes;
  overNeighbour[16 + 24 + 8] = bytes[16 + 8];
  EXPECT_FALSE(decodeArtifact(overNeighbour).ok());
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
