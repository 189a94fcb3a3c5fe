// Sizes that each launch chooses.
// SPDX-License-Identifier: MIT
#include "selvedge/Plan.h"

#include <gtest/gtest.h>

using namespace selvedge;

namespace {

/// S multiplies a kernel of B*4 thread blocks and splits a range of N.
constexpr std::string_view text = R"json({
  "selvedge": 1, "compiler": "0.1.0", "op": "decode", "arch": "sm_80",
  "params": {}, "dims": ["B", "N", "S"],
  "tensors": [
    {"name": "x", "role": "in", "dtype": "f32", "shape": ["B", "N"]},
    {"name": "part", "role": "temp", "dtype": "f32", "shape": ["S", "B"]}],
  "scalars": [], "requires": [],
  "launch": [{"dim": "S", "lo": 1, "hi": 16, "parts": ["N"]}],
  "variants": [{"name": "universal", "when": [], "launches": [
    {"kernel": "parts", "grid": [{"mul": [{"mul": ["S", "B"]}, 4]}], "block": 32, "smem": 0, "args": [{"dim": "S"}]},
    {"kernel": "add", "grid": ["B"], "block": 32, "smem": 0, "args": []}]}]
})json";

/// S for some dims, -1 for an error.
int64_t chosen(int64_t batch, int64_t length, int multiprocessors,
               std::optional<int64_t> given = std::nullopt,
               bool persistent = false) {
  Manifest manifest = *parseManifest(text);
  manifest.variants[0].launches[0].persistent = persistent;
  DimValues dims = {batch, length, given};
  return chooseLaunchSizes(manifest, dims, multiprocessors).ok() ? *dims[2]
                                                                 : -1;
}

TEST(LaunchSizes, blocksFillTheGpuTwice) {
  EXPECT_EQ(chosen(1, 1 << 20, 40), 16);
  EXPECT_EQ(chosen(1, 1 << 20, 20), 10);
  EXPECT_EQ(chosen(4, 1 << 20, 40), 5);
  EXPECT_EQ(chosen(100, 1 << 20, 40), 1);
}

TEST(LaunchSizes, persistentBlocksFillItOnceAndBalance) {
  EXPECT_EQ(chosen(1, 1 << 20, 40, {}, true), 10);
  EXPECT_EQ(chosen(4, 1 << 20, 40, {}, true), 4);
  EXPECT_EQ(chosen(100, 1 << 20, 40, {}, true), 4);
  EXPECT_EQ(chosen(100, 3 * 2048, 40, {}, true), 3);
  EXPECT_EQ(chosen(100, 2047, 40, {}, true), 1);
  EXPECT_EQ(chosen(4, 1000, 40, {}, true), 2);
}

TEST(LaunchSizes, partsThatBalanceMoveLittle) {
  Manifest manifest = *parseManifest(text);
  manifest.variants[0].launches[0].persistent = true;
  // Temps of 4, 160 and 1024 bytes per row and part beside rows of 32 KB.
  auto of = [&](int64_t elements) {
    manifest.tensors[1].shape.resize(2);
    manifest.tensors[1].shape.push_back(DimExpr::constant(elements));
    DimValues dims = {100, 8192, std::nullopt};
    return chooseLaunchSizes(manifest, dims, 40).ok() ? *dims[2] : -1;
  };
  EXPECT_EQ(of(1), 4);
  EXPECT_EQ(of(40), 2);
  EXPECT_EQ(of(256), 1);
}

TEST(LaunchSizes, partsAreNotSmall) {
  EXPECT_EQ(chosen(2, 1000, 40), 3);
  EXPECT_EQ(chosen(1, 511, 40), 3);
  // Where few multiprocessors have work they are smaller.
  EXPECT_EQ(chosen(1, 1000, 40), 5);
  EXPECT_EQ(chosen(1, 511, 20), 2);
  EXPECT_EQ(chosen(1, 255, 40), 1);
  EXPECT_EQ(chosen(1, 0, 40), 1);
  // Several per multiprocessor are larger.
  EXPECT_EQ(chosen(1, 12 * 512, 40), 12);
  EXPECT_EQ(chosen(1, 8 * 512, 40), 10);
}

TEST(LaunchSizes, manyPartsAreLarge) {
  Manifest manifest = *parseManifest(text);
  manifest.variants[0].launches[0].persistent = true;
  manifest.launchSizes[0].hi = 128;
  auto of = [&](int64_t elements) {
    DimValues dims = {1, elements, std::nullopt};
    return chooseLaunchSizes(manifest, dims, 132).ok() ? *dims[2] : -1;
  };
  EXPECT_EQ(of(4096), 16);
  EXPECT_EQ(of(8192), 16);
  EXPECT_EQ(of(20 * 1024), 20);
  EXPECT_EQ(of(1 << 20), 33);
  manifest.variants[0].launches[0].persistent = false;
  EXPECT_EQ(of(4096), 16);
  EXPECT_EQ(of(6144), 24);
  EXPECT_EQ(of(8192), 32);
  EXPECT_EQ(of(12 * 1024), 32);
}

TEST(LaunchSizes, callersChooseWithinTheRange) {
  EXPECT_EQ(chosen(1, 1000, 40, 16), 16);
  EXPECT_EQ(chosen(1, 1000, 40, 17), -1);
  EXPECT_EQ(chosen(1, 1000, 40, 0), -1);
}

TEST(LaunchSizes, workspaceAndGridAgree) {
  Manifest manifest = *parseManifest(text);
  LaunchArgs args;
  args.tensors["x"] =
      contiguousView(reinterpret_cast<void *>(0x1000), DType::F32, {2, 4096});
  auto bytes = workspaceSize(manifest, args, 64);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(*bytes, 256u); // 8 parts of 2 rows
  args.workspace = reinterpret_cast<void *>(0x10000);
  args.workspaceBytes = *bytes;
  auto plan = planLaunch(manifest, args, 64);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(plan->launches[0].grid[0], 64u);
  EXPECT_EQ(plan->launches[0].params[0], 8u);
}

TEST(LaunchSizes, aSmallWorkspaceHasFewParts) {
  Manifest manifest = *parseManifest(text);
  LaunchArgs args;
  args.tensors["x"] = contiguousView(reinterpret_cast<void *>(0x1000),
                                     DType::F32, {40, 1 << 20});
  args.workspace = reinterpret_cast<void *>(0x10000);
  args.workspaceBytes = 512; // 3 parts of 40 rows
  auto plan = planLaunch(manifest, args, 960);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(plan->launches[0].params[0], 3u);
  args.dims["S"] = 12;
  EXPECT_FALSE(planLaunch(manifest, args, 960).ok());
}

TEST(LaunchSizes, keysAreChecked) {
  for (auto [from, to] : {std::pair("\"hi\": 16", "\"hi\": 0"),
                          std::pair("\"dim\": \"S\"", "\"dim\": \"T\""),
                          std::pair("\"lo\": 1", "\"lo\": 0"),
                          std::pair("\"parts\": [\"N\"]", "\"parts\": [\"T\"]"),
                          std::pair("\"parts\": [\"N\"]", "\"part\": 1")}) {
    std::string broken(text);
    broken.replace(broken.find(from), std::string(from).size(), to);
    EXPECT_FALSE(parseManifest(broken).ok()) << to;
  }
}

} // namespace
