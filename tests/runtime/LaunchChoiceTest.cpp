// Launches of a plan that are chosen one by one.
// SPDX-License-Identifier: MIT
#include "selvedge/Plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace selvedge;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// Two kernels: the first reads x, the second writes y; a variant for short
/// rows comes before the one for aligned tensors.
constexpr const char *program = R"json({
  "selvedge": 1, "compiler": "0.1.0", "op": "f", "arch": "sm_90a", "params": {},
  "dims": ["M", "N"],
  "tensors": [
    {"name": "x", "role": "in", "dtype": "f32", "shape": ["M", "N"], "optional": false},
    {"name": "t", "role": "temp", "dtype": "f32", "shape": ["M", "N"]},
    {"name": "y", "role": "out", "dtype": "f32", "shape": ["M", "N"], "optional": false}
  ],
  "scalars": [], "requires": [],
  "variants": [
    {"name": "packed", "when": [{"tensor": "x", "align": 16}, {"tensor": "y", "align": 16}, {"dims": {"sub": [8, "N"]}}],
     "launches": [
       {"kernel": "read_packed", "grid": [1], "block": 32, "smem": 0, "when": [{"tensor": "x", "align": 16}], "args": [{"tensorMap": ["x", [1, 4]]}]},
       {"kernel": "write_packed", "grid": ["M"], "dependent": true, "block": 32, "smem": 0, "when": [{"tensor": "y", "align": 16}], "args": [{"pointer": "y"}]},
       {"kernel": "note_packed", "grid": [1], "block": 32, "smem": 0, "when": [], "args": [{"pointer": "y"}]}]},
    {"name": "aligned", "when": [{"tensor": "x", "align": 16}, {"tensor": "y", "align": 16}],
     "launches": [
       {"kernel": "read_aligned", "grid": [1], "block": 32, "smem": 0, "when": [{"tensor": "x", "align": 16}], "args": [{"pointer": "x"}]},
       {"kernel": "write_aligned", "grid": ["M"], "dependent": true, "block": 32, "smem": 0, "when": [{"tensor": "y", "align": 16}], "args": [{"pointer": "y"}]},
       {"kernel": "note_aligned", "grid": [1], "block": 32, "smem": 0, "when": [], "args": [{"pointer": "y"}]}]},
    {"name": "universal", "when": [],
     "launches": [
       {"kernel": "read_universal", "grid": [1], "block": 32, "smem": 0, "when": [], "args": [{"pointer": "x"}]},
       {"kernel": "write_universal", "grid": ["M"], "dependent": true, "block": 32, "smem": 0, "when": [], "args": [{"pointer": "y"}]},
       {"kernel": "note_universal", "grid": [1], "block": 32, "smem": 0, "when": [], "args": [{"pointer": "y"}]}]}
  ]
})json";

/// What is launched for N columns, with x and y aligned or not, and in words.
std::vector<std::string> choose(const std::string &text, int64_t n,
                                bool isAlignedX, bool isAlignedY) {
  Manifest manifest = *parseManifest(text);
  auto view = [&](uintptr_t address, bool isAligned) {
    return contiguousView(
        reinterpret_cast<void *>(address + (isAligned ? 0 : 4)), DType::F32,
        {2, n});
  };
  LaunchArgs args;
  args.tensors["x"] = view(0x1000, isAlignedX);
  args.tensors["y"] = view(0x2000, isAlignedY);
  args.workspace = reinterpret_cast<void *>(0x10000);
  args.workspaceBytes = 4096;
  Result<Plan> plan = planLaunch(manifest, args);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  std::vector<std::string> chosen = {variantName(manifest, *plan)};
  for (const PlannedLaunch &planned : plan->launches) {
    chosen.push_back(planned.launch->kernel);
    EXPECT_EQ(planned.launch,
              &manifest.variants[planned.variant].launches[chosen.size() - 2]);
  }
  return chosen;
}

std::string replaced(std::string text, const std::string &from,
                     const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

} // namespace

TEST(LaunchChoice, wholeVariantsComeFirst) {
  EXPECT_THAT(
      choose(program, 8, true, true),
      ElementsAre("packed", "read_packed", "write_packed", "note_packed"));
  EXPECT_THAT(
      choose(program, 12, true, true),
      ElementsAre("aligned", "read_aligned", "write_aligned", "note_aligned"));
}

TEST(LaunchChoice, eachByWhatItNeeds) {
  EXPECT_THAT(choose(program, 8, true, false),
              ElementsAre("packed and universal", "read_packed",
                          "write_universal", "note_packed"));
  EXPECT_THAT(choose(program, 8, false, true),
              ElementsAre("packed and universal", "read_universal",
                          "write_packed", "note_packed"));
  // Conditions of dims are those of all launches of a variant.
  EXPECT_THAT(choose(program, 12, true, false),
              ElementsAre("aligned and universal", "read_aligned",
                          "write_universal", "note_aligned"));
}

TEST(LaunchChoice, whatNeedsNothingIsNoReason) {
  EXPECT_THAT(choose(program, 8, false, false),
              ElementsAre("universal", "read_universal", "write_universal",
                          "note_universal"));
}

/// A tensor map that cannot be is as a tensor that is not aligned.
TEST(LaunchChoice, tensorMaps) {
  std::string text = replaced(program, "[1, 4]", R"([1, {"sub": [4, "N"]}])");
  EXPECT_THAT(
      choose(text, 8, true, true),
      ElementsAre("aligned", "read_aligned", "write_aligned", "note_aligned"));
  EXPECT_THAT(choose(text, 8, true, false),
              ElementsAre("aligned and universal", "read_aligned",
                          "write_universal", "note_aligned"));
}

TEST(LaunchChoice, isOfTheManifest) {
  auto message = [](const std::string &text) {
    return parseManifest(text).status().message();
  };
  EXPECT_EQ(message(program), "");
  EXPECT_TRUE(parseManifest(program)->choosesLaunches);
  const std::string own = R"("when": [{"tensor": "y", "align": 16}], "args")";
  EXPECT_THAT(message(replaced(program, own, R"("args")")),
              HasSubstr("where a launch has 'when' all have"));
  EXPECT_THAT(
      message(replaced(program, own,
                       R"("when": [{"tensor": "y", "align": 8}], "args")")),
      HasSubstr("is no condition of the variant"));
  EXPECT_THAT(
      message(replaced(program, own, R"("when": [{"dims": 1}], "args")")),
      HasSubstr("tensor"));
  std::string fewer = program;
  size_t at = fewer.rfind(",\n       {\"kernel\": \"note_universal\"");
  fewer.erase(at, fewer.find("]}]}", at) + 2 - at);
  EXPECT_THAT(message(fewer), HasSubstr("equally many launches"));
}

/// A variant for M of at most 1 that is one kernel, before all others.
TEST(LaunchChoice, isNotOfVariantsTakenWhole) {
  std::string text = replaced(
      program, R"("variants": [)",
      R"("variants": [{"name": "single", "when": [{"tensor": "x", "align": 16}, {"dims": {"sub": [1, "M"]}}],
     "launches": [{"kernel": "all_single", "grid": [1], "block": 32, "smem": 0, "args": [{"pointer": "x"}, {"pointer": "y"}]}]},)");
  EXPECT_EQ(parseManifest(text).status().message(), "");
  // M is 2.
  EXPECT_THAT(choose(text, 8, true, false),
              ElementsAre("packed and universal", "read_packed",
                          "write_universal", "note_packed"));
  std::string forTwo =
      replaced(text, R"({"sub": [1, "M"]})", R"({"sub": [2, "M"]})");
  EXPECT_THAT(choose(forTwo, 8, true, false),
              ElementsAre("single", "all_single"));
  EXPECT_THAT(choose(forTwo, 8, false, true),
              ElementsAre("packed and universal", "read_universal",
                          "write_packed", "note_packed"));
  // Without a condition of dims it has to be like the others.
  std::string always = replaced(text, R"(, {"dims": {"sub": [1, "M"]}})", "");
  EXPECT_THAT(parseManifest(always).status().message(),
              HasSubstr("equally many launches"));
}
