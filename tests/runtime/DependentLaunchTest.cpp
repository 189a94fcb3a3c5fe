// Which launches of an op may begin while the one before ends, on the driver of
// tests/tools.
// SPDX-License-Identifier: MIT
#include "selvedge/Op.h"
#include "tests/runtime/Fake.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace selvedge;
using test::callDriver;
using test::fakeFunction;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

constexpr const char *chain = R"json({
  "selvedge": 1, "compiler": "0.1.0", "op": "chain", "arch": "sm_90a", "params": {},
  "dims": ["A", "B"],
  "tensors": [{"name": "y", "role": "out", "dtype": "f32", "shape": ["A", "B"], "optional": false}],
  "scalars": [], "requires": [],
  "variants": [{"name": "universal", "when": [], "launches": [
    {"kernel": "first", "grid": ["A"], "block": 32, "smem": 0, "args": [{"pointer": "y"}]},
    {"kernel": "second", "grid": ["B"], "dependent": true, "block": 32, "smem": 0, "args": [{"pointer": "y"}]},
    {"kernel": "third", "grid": [1], "dependent": true, "block": 32, "smem": 0, "args": [{"pointer": "y"}]},
    {"kernel": "last", "grid": [1], "block": 32, "smem": 0, "args": [{"pointer": "y"}]}]}]
})json";

std::vector<std::string> seen;

void watch(const char *kernel, std::array<unsigned, 3>, void **) {
  seen.push_back(kernel);
  if (fakeFunction<FakeCudaFlag>("fakeCudaIsDependent")())
    seen.back() += " early";
}

bool isSet(const char *variable, const char *value) {
  const char *text = std::getenv(variable);
  return text && std::string_view(text) == value;
}

class DependentLaunch : public testing::Test {
protected:
  void SetUp() override {
    ::setenv("FAKE_CUDA_CAPABILITY", "9.0", 1);
    device.emplace(*Device::open());
    Result<Op> loaded = Op::load({chain, "", "\177ELF"}, *device);
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    op.emplace(std::move(*loaded));
    fakeFunction<FakeCudaSetWatch>("fakeCudaWatch")(watch);
  }
  void TearDown() override {
    fakeFunction<FakeCudaSetWatch>("fakeCudaWatch")(nullptr);
    ::unsetenv("FAKE_CUDA_CAPABILITY");
  }

  /// What is launched for dims A and B.
  std::vector<std::string> launch(int64_t a, int64_t b,
                                  void *stream = nullptr) {
    LaunchArgs args;
    args.tensors["y"] =
        contiguousView(reinterpret_cast<void *>(0x1000), DType::F32, {a, b});
    seen.clear();
    // The second time from what is remembered.
    for (int i = 0; i < 2; ++i)
      EXPECT_TRUE(op->launch(args, stream).ok());
    std::vector<std::string> second(
        seen.begin() + static_cast<ptrdiff_t>(seen.size() / 2), seen.end());
    seen.resize(seen.size() / 2);
    EXPECT_EQ(seen, second);
    return second;
  }

  std::optional<Device> device;
  std::optional<Op> op;
};

TEST_F(DependentLaunch, notTheFirstOfAnOp) {
  if (isSet("SELVEDGE_PLAIN_LAUNCHES", "1"))
    GTEST_SKIP() << "launches are plain";
  EXPECT_THAT(launch(2, 3),
              ElementsAre("first", "second early", "third early", "last"));
  // Those over an empty grid are left out.
  EXPECT_THAT(launch(2, 0), ElementsAre("first", "third early", "last"));
  EXPECT_THAT(launch(0, 3), ElementsAre("second", "third early", "last"));
  EXPECT_THAT(launch(0, 0), ElementsAre("third", "last"));
}

/// Before CUDA 12.3 graphs know no such edges.
TEST_F(DependentLaunch, inGraphs) {
  if (isSet("SELVEDGE_PLAIN_LAUNCHES", "1"))
    GTEST_SKIP() << "launches are plain";
  bool isOld = isSet("FAKE_CUDA_VERSION", "12020");
  void *stream = *device->createStream(), *graph = nullptr;
  EXPECT_THAT(launch(1, 1, stream),
              ElementsAre("first", "second early", "third early", "last"));
  ASSERT_EQ(callDriver("cuStreamBeginCapture_v2", stream, 0), 0);
  EXPECT_THAT(launch(1, 1, stream),
              ElementsAre("first", isOld ? "second" : "second early",
                          isOld ? "third" : "third early", "last"));
  ASSERT_EQ(callDriver("cuStreamEndCapture", stream, &graph), 0);
  EXPECT_EQ(callDriver("cuGraphDestroy", graph), 0);
  EXPECT_TRUE(device->destroyStream(stream).ok());
}

/// As on a driver that has no cuLaunchKernelEx.
TEST_F(DependentLaunch, canBeTurnedOff) {
  if (!isSet("SELVEDGE_PLAIN_LAUNCHES", "1"))
    GTEST_SKIP() << "launches are not plain";
  EXPECT_THAT(launch(2, 3), ElementsAre("first", "second", "third", "last"));
}

TEST(DependentLaunchManifest, refusesAFirstOne) {
  std::string text(chain);
  std::string grid = R"("grid": ["A"], )";
  text.replace(text.find(grid), grid.size(), grid + R"("dependent": true, )");
  EXPECT_THAT(parseManifest(text).status().message(),
              HasSubstr("the first launch of a variant is not 'dependent'"));
  text.replace(text.find("true"), 4, "1");
  EXPECT_THAT(parseManifest(text).status().message(),
              HasSubstr("true or false"));
}

} // namespace
