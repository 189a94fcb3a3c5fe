// Launches that check what their op requires, on the driver of tests/tools.
// SPDX-License-Identifier: MIT
#include "selvedge/Op.h"
#include "tests/runtime/Fake.h"

#include <cstdlib>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>

using namespace selvedge;
using test::callDriver;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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
    {"name": "wide", "role": "in", "dtype": "i64", "shape": ["T"], "optional": true, "unique": true},
    {"name": "bytes", "role": "in", "dtype": "i8", "shape": ["T"], "optional": true},
    {"name": "o", "role": "out", "dtype": "f32", "shape": ["Q"], "optional": false}
  ],
  "scalars": [],
  "requires": [{"tensor": "cu", "lo": 0, "hi": "Q", "ordered": true}, {"tensor": "len", "lo": 1, "hi": {"mul": ["Q", 2]}},
               {"tensor": "table", "lo": 0, "hi": 99}, {"tensor": "wide", "lo": -1, "hi": 1099511627776}, {"tensor": "bytes", "lo": -3, "hi": 3}],
  "variants": [{"name": "universal", "when": [],
    "launches": [{"kernel": "packed", "grid": ["Q"], "block": 32, "smem": 0, "args": [{"pointer": "q"}]}]}]
})json";

/// Names of the kernels that were launched, and sizes of walks.
std::vector<std::string> launched;
std::vector<int32_t> walkBytes;

void watch(const char *kernel, std::array<unsigned, 3>, void **params) {
  launched.emplace_back(kernel);
  if (launched.back() != "packed")
    std::memcpy(&walkBytes.emplace_back(), params[4], 4);
}

/// The parameter: a fault of the driver that leaves the check to the host.
class Validate : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    Result<Device> opened = Device::open();
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    device.emplace(*opened);
    Result<Op> loaded = Op::load({program, "", "\177ELF"}, *device);
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    op.emplace(std::move(*loaded));
    // Only now: the kernels of checks are loaded by the first check.
    ::setenv("FAKE_CUDA_FAULT", GetParam(), 1);
    setWatch(watch);
    args.dims = {{"B", 3}, {"C", 2}, {"P", 4}, {"T", 4}};
    args.tensors["q"] = contiguousView(numbers, DType::F32, {8});
    args.tensors["o"] = contiguousView(numbers + 8, DType::F32, {8});
    args.tensors["cu"] = contiguousView(cu.data(), DType::I32, {4});
  }
  void TearDown() override {
    setWatch(nullptr);
    ::unsetenv("FAKE_CUDA_FAULT");
  }

  static bool isOnDevice() {
    const char *isOnHost = std::getenv("SELVEDGE_HOST_VALIDATION");
    return !*GetParam() && !isOnHost;
  }

  static void setWatch(FakeCudaWatch watch) {
    test::fakeFunction<FakeCudaSetWatch>("fakeCudaWatch")(watch);
  }
  /// "" where it launches, else the error; then it must not have launched.
  std::string launch(void *stream = nullptr) {
    launched.clear();
    walkBytes.clear();
    Status status = op->launch(args, stream, {.validate = true});
    EXPECT_EQ(std::ranges::count(launched, "packed"), status.ok() ? 1 : 0);
    std::erase(launched, "packed");
    if (!isOnDevice()) {
      EXPECT_THAT(launched, IsEmpty());
    }
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

INSTANTIATE_TEST_SUITE_P(Where, Validate,
                         testing::Values("", "image", "memory"),
                         [](const auto &info) {
                           return *info.param ? "no_" + std::string(info.param)
                                              : "device";
                         });

TEST_P(Validate, promisesThatAreKept) {
  std::vector<int32_t> len = {1, 16, 2}, slots = {3, -1, 0, -1};
  args.tensors["len"] = contiguousView(len.data(), DType::I32, {3});
  args.tensors["slots"] = contiguousView(slots.data(), DType::I32, {4});
  EXPECT_EQ(launch(), "");
  if (isOnDevice()) {
    EXPECT_THAT(launched, ElementsAre("selvedge_outside", "selvedge_outside",
                                      "selvedge_outside", "selvedge_repeated"));
  }
}

TEST_P(Validate, segments) {
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

TEST_P(Validate, uniqueOnes) {
  std::vector<int32_t> slots = {7, -1, 7, 7};
  args.tensors["slots"] = contiguousView(slots.data(), DType::I32, {4});
  EXPECT_EQ(launch(), "tensor 'slots' at [2] is 7, as at [0]; unique ones are "
                      "required; 2 elements break this");
}

TEST_P(Validate, wideOnes) {
  std::vector<int64_t> wide = {int64_t(1) << 40, -1, 0, -1};
  args.tensors["wide"] = contiguousView(wide.data(), DType::I64, {4});
  EXPECT_EQ(launch(), "");
  // Equal to another in the lower half only.
  wide[3] = int64_t(1) << 33;
  EXPECT_EQ(launch(), "");
  wide[3] = int64_t(1) << 40;
  EXPECT_EQ(launch(), "tensor 'wide' at [3] is 1099511627776, as at [0]; "
                      "unique ones are required");
  wide = {INT64_MIN, -1, INT64_MAX, -1};
  EXPECT_EQ(launch(), "tensor 'wide' at [0] is -9223372036854775808, outside "
                      "the required -1..1099511627776; 2 elements break this");
}

TEST_P(Validate, bytesAreCheckedOnTheHost) {
  std::vector<int8_t> bytes = {3, -3, 0, 4};
  args.tensors["bytes"] = contiguousView(bytes.data(), DType::I8, {4});
  EXPECT_EQ(launch(), "tensor 'bytes' at [3] is 4, outside the required -3..3");
  if (isOnDevice()) {
    EXPECT_THAT(launched, ElementsAre("selvedge_outside", "selvedge_outside"));
  }
}

/// More than the memory that is kept for checks.
TEST_P(Validate, manyElements) {
  std::vector<int32_t> slots(10000);
  std::iota(slots.begin(), slots.end(), 0);
  args.dims["T"] = 10000;
  args.tensors["slots"] = contiguousView(slots.data(), DType::I32, {10000});
  EXPECT_EQ(launch(), "");
  slots[9999] = slots[5000] = 17;
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(launch(), "tensor 'slots' at [5000] is 17, as at [17]; unique "
                        "ones are required; 2 elements break this");
}

TEST_P(Validate, oneElementThatStandsForAll) {
  int32_t len = 0;
  args.tensors["len"] = contiguousView(&len, DType::I32, {1});
  EXPECT_EQ(launch(), "tensor 'len' at [0] is 0, outside the required 1..16; 3 "
                      "elements break this");
  len = 16;
  EXPECT_EQ(launch(), "");
}

TEST_P(Validate, nothingToCheck) {
  args.tensors["len"] = {nullptr, DType::I32, {0}, {1}};
  args.dims["B"] = 0;
  args.tensors["cu"].shape = {1};
  EXPECT_EQ(launch(), "");
}

/// Each place of a tensor is found, whatever its strides are, and nothing
/// between the elements is looked at.
TEST_P(Validate, stridesOfAnyKind) {
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
    if (isOnDevice()) {
      EXPECT_THAT(walkBytes, ElementsAre(0, 0, AnyOf(0, 16, 32)));
    }
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

TEST_P(Validate, stridesBeyondMemory) {
  args.tensors["table"] = {
      cu.data(), DType::I32, {3, 2, 4}, {INT64_MAX / 2, 1, 1}};
  Status status = op->launch(args, nullptr, {.validate = true});
  EXPECT_THAT(status.message(), HasSubstr("cannot copy from the GPU"));
}

/// A kernel would lose the context.
TEST_P(Validate, addressesThatAreNotMapped) {
  launched.clear();
  for (int64_t stride : {0, 1, 3}) {
    args.tensors["cu"] = {
        reinterpret_cast<void *>(64), DType::I32, {4}, {stride}};
    Status status = op->launch(args, nullptr, {.validate = true});
    EXPECT_THAT(status.message(), HasSubstr("cannot copy from the GPU"));
  }
  EXPECT_THAT(launched, IsEmpty());
}

TEST_P(Validate, streamsOfOtherContexts) {
  Result<Device> other = Device::open(1);
  ASSERT_TRUE(other.ok());
  void *stream = *other->createStream();
  EXPECT_THAT(op->launch(args, stream, {.validate = true}).message(),
              HasSubstr("another CUDA context"));
  EXPECT_TRUE(other->destroyStream(stream).ok());
}

/// What the first op has loaded serves others of the context.
TEST_P(Validate, codeIsLoadedOncePerContext) {
  if (!isOnDevice())
    GTEST_SKIP() << "there is no code";
  Result<Device> same = Device::open();
  ASSERT_TRUE(same.ok());
  Result<Op> second = Op::load({program, "", "\177ELF"}, *same);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(launch(), "");
  launched.clear();
  ::setenv("FAKE_CUDA_FAULT", "image", 1);
  EXPECT_TRUE(second->validate(ArgsView(args).get(), nullptr).ok());
  EXPECT_THAT(launched, ElementsAre("selvedge_outside", "selvedge_outside"));
}

TEST_P(Validate, checksThatFailOnTheDevice) {
  ::setenv("FAKE_CUDA_FAULT", "refuse", 1);
  cu = {0, 9, 0, 0};
  EXPECT_THAT(op->validate(ArgsView(args).get(), nullptr).message(),
              "tensor 'cu' at [1] is 9, outside the required 0..8");
}

TEST_P(Validate, argumentsAreCheckedFirst) {
  args.tensors["cu"].data = nullptr;
  EXPECT_EQ(launch(), "tensor 'cu' has a null pointer");
}

TEST_P(Validate, streamsThatAreCaptured) {
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
