// Launches that check what their op requires, on the driver of tests/tools.
// SPDX-License-Identifier: MIT
#include "selvedge/Op.h"
#include "tests/runtime/Fake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>

using namespace selvedge;
using test::callDriver;
using testing::HasSubstr;

namespace {

/// One kernel; each way to require something of integers.
constexpr const char *program = R"json({
  "selvedge": 1, "compiler": "0.1.0", "op": "packed", "arch": "sm_80", "params": {},
  "dims": ["B", "C", "P", "Q", "T"],
  "tensors": [
    {"name": "q", "role": "in", "dtype": "f32", "shape": ["Q"], "optional": false},
    {"name": "cu", "role": "in", "dtype": "i32", "shape": [{"add": ["B", 1]}], "optional": false},
    {"name": "len", "role": "in", "dtype": "i32", "shape": ["B"], "optional": true, "broadcast": [0]},
    {"name": "table", "role": "in", "dtype": "i32", "shape": ["B", "C", "P"], "optional": true},
    {"name": "slots", "role": "in", "dtype": "i32", "shape": ["T"], "optional": true, "unique": true},
    {"name": "o", "role": "out", "dtype": "f32", "shape": ["Q"], "optional": false}
  ],
  "scalars": [],
  "requires": [{"tensor": "cu", "lo": 0, "hi": "Q", "ordered": true}, {"tensor": "len", "lo": 1, "hi": {"mul": ["Q", 2]}},
               {"tensor": "table", "lo": 0, "hi": 99}],
  "variants": [{"name": "universal", "when": [],
    "launches": [{"kernel": "packed", "grid": ["Q"], "block": 32, "smem": 0, "args": [{"pointer": "q"}]}]}]
})json";

int launches = 0;

class Validate : public testing::Test {
protected:
  void SetUp() override {
    Result<Device> opened = Device::open();
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    device.emplace(*opened);
    Result<Op> loaded = Op::load({program, "", "\177ELF"}, *device);
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    op.emplace(std::move(*loaded));
    launches = 0;
    setWatch(
        [](const char *, std::array<unsigned, 3>, void **) { ++launches; });
    args.dims = {{"B", 3}, {"C", 2}, {"P", 4}, {"T", 4}};
    args.tensors["q"] = contiguousView(numbers, DType::F32, {8});
    args.tensors["o"] = contiguousView(numbers + 8, DType::F32, {8});
    args.tensors["cu"] = contiguousView(cu.data(), DType::I32, {4});
  }
  void TearDown() override { setWatch(nullptr); }

  static void setWatch(FakeCudaWatch watch) {
    test::fakeFunction<FakeCudaSetWatch>("fakeCudaWatch")(watch);
  }
  /// "" where it launches, else the error; then it must not have launched.
  std::string launch(void *stream = nullptr) {
    int before = launches;
    Status status = op->launch(args, stream, {.validate = true});
    EXPECT_EQ(launches - before, status.ok() ? 1 : 0);
    if (!status.ok()) {
      EXPECT_EQ(status.code(), ErrorCode::BadInput);
    }
    return status.message();
  }

  std::optional<Device> device;
  std::optional<Op> op;
  float numbers[16] = {};
  std::vector<int32_t> cu = {0, 3, 3, 8};
  LaunchArgs args;
};

TEST_F(Validate, promisesThatAreKept) {
  std::vector<int32_t> len = {1, 16, 2}, slots = {3, -1, 0, -1};
  args.tensors["len"] = contiguousView(len.data(), DType::I32, {3});
  args.tensors["slots"] = contiguousView(slots.data(), DType::I32, {4});
  EXPECT_EQ(launch(), "");
}

TEST_F(Validate, segments) {
  cu = {2, 3, 1, 0};
  EXPECT_EQ(launch(),
            "tensor 'cu' at [2] is 1, less than 3 before it; segments "
            "are required; 2 elements break this");
  cu = {-1, 0, 9, 9};
  EXPECT_EQ(launch(), "tensor 'cu' at [0] is -1, outside the required 0..8; 3 "
                      "elements break this");
  cu = {0, 0, 0, 9};
  EXPECT_EQ(launch(), "tensor 'cu' at [3] is 9, outside the required 0..8");
  // A launch that does not ask relies on the caller.
  EXPECT_TRUE(op->launch(args).ok());
}

TEST_F(Validate, uniqueOnes) {
  std::vector<int32_t> slots = {7, -1, 7, 7};
  args.tensors["slots"] = contiguousView(slots.data(), DType::I32, {4});
  EXPECT_EQ(launch(), "tensor 'slots' at [2] is 7, as at [0]; unique ones are "
                      "required; 2 elements break this");
}

TEST_F(Validate, oneElementThatStandsForAll) {
  int32_t len = 0;
  args.tensors["len"] = contiguousView(&len, DType::I32, {1});
  EXPECT_EQ(launch(), "tensor 'len' at [0] is 0, outside the required 1..16; 3 "
                      "elements break this");
  len = 16;
  EXPECT_EQ(launch(), "");
}

TEST_F(Validate, nothingToCheck) {
  args.tensors["len"] = {nullptr, DType::I32, {0}, {1}};
  args.dims["B"] = 0;
  args.tensors["cu"].shape = {1};
  EXPECT_EQ(launch(), "");
}

/// Each place of a tensor is found, whatever its strides are, and nothing
/// between the elements is looked at.
TEST_F(Validate, stridesOfAnyKind) {
  struct Case {
    std::array<int64_t, 3> strides;
    int64_t first;
  };
  std::vector<Case> cases = {
      {{8, 4, 1}, 0},   {{1, 3, 6}, 0},     {{4, 12, 1}, 0},
      {{40, 20, 5}, 0}, {{20, 10, 2}, 3},   {{-8, -4, -1}, 23},
      {{8, -4, 1}, 4},  {{0, 4, 1}, 0},     {{1, 1, 1}, 0},
      {{2, 1, 1}, 0},   {{100, 7, -2}, 6},  {{3, 100, 10}, 0},
      {{100, 2, 7}, 1}, {{-50, 25, 0}, 100}};
  for (const Case &one : cases) {
    std::vector<int32_t> memory(500, 1000);
    auto at = [&](int64_t b, int64_t c, int64_t p) -> int32_t & {
      return memory[static_cast<size_t>(one.first + b * one.strides[0] +
                                        c * one.strides[1] +
                                        p * one.strides[2])];
    };
    for (int64_t i = 0; i < 24; ++i)
      at(i / 8, i / 4 % 2, i % 4) = 50;
    args.tensors["table"] = {memory.data() + one.first,
                             DType::I32,
                             {3, 2, 4},
                             {one.strides.begin(), one.strides.end()}};
    EXPECT_EQ(launch(), "") << testing::PrintToString(one.strides);
    for (int64_t i = 0; i < 24; ++i) {
      int32_t &place = at(i / 8, i / 4 % 2, i % 4);
      place = 100;
      // The first index of those that share the place.
      int64_t first = 0;
      while (&at(first / 8, first / 4 % 2, first % 4) != &place)
        ++first;
      EXPECT_THAT(
          launch(),
          HasSubstr("'table' at " +
                    indexToString(std::array<int64_t, 3>{3, 2, 4}, first) +
                    " is 100, outside the required 0..99"))
          << testing::PrintToString(one.strides);
      place = 50;
    }
  }
}

TEST_F(Validate, stridesBeyondMemory) {
  args.tensors["table"] = {
      cu.data(), DType::I32, {3, 2, 4}, {INT64_MAX / 2, 1, 1}};
  Status status = op->launch(args, nullptr, {.validate = true});
  EXPECT_THAT(status.message(), HasSubstr("cannot copy from the GPU"));
  EXPECT_EQ(launches, 0);
}

TEST_F(Validate, argumentsAreCheckedFirst) {
  args.tensors["cu"].data = nullptr;
  EXPECT_EQ(launch(), "tensor 'cu' has a null pointer");
}

TEST_F(Validate, streamsThatAreCaptured) {
  void *stream = *device->createStream(), *graph = nullptr;
  ASSERT_EQ(callDriver("cuStreamBeginCapture_v2", stream, 0), 0);
  EXPECT_EQ(launch(stream),
            "a launch that is captured cannot be validated, as that waits for "
            "the stream; validate one before the capture");
  EXPECT_TRUE(op->launch(args, stream).ok());
  ASSERT_EQ(callDriver("cuStreamEndCapture", stream, &graph), 0);
  callDriver("cuGraphDestroy", graph);
  EXPECT_EQ(launch(stream), "");
  EXPECT_TRUE(device->destroyStream(stream).ok());
}

} // namespace
