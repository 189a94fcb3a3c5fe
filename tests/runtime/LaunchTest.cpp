// Launches through the driver of tests/tools/FakeCuda.cpp: what is remembered
// between them changes nothing.
// SPDX-License-Identifier: MIT
#include "selvedge/DLPack.h"
#include "selvedge/Op.h"
#include "tests/runtime/Fake.h"

#include <atomic>
#include <bit>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <thread>

using namespace selvedge;
using test::fakeFunction;
using testing::HasSubstr;

static std::atomic<int> allocations = 0;

void *operator new(size_t bytes) {
  ++allocations;
  void *memory = std::malloc(bytes);
  if (!memory)
    std::abort();
  return memory;
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }

namespace {

/// A variant with tensor maps and a temp, one with vectors, one for the rest.
constexpr const char *program = R"json({
  "selvedge": 1, "compiler": "0.1.0", "op": "sum", "arch": "sm_80", "params": {},
  "dims": ["B", "N"],
  "tensors": [
    {"name": "x", "role": "in", "dtype": "bf16", "shape": ["B", "N", 64], "optional": false},
    {"name": "len", "role": "in", "dtype": "i32", "shape": ["B"], "optional": true},
    {"name": "t", "role": "temp", "dtype": "f32", "shape": ["B"]},
    {"name": "u", "role": "temp", "dtype": "f32", "shape": ["N"]},
    {"name": "y", "role": "out", "dtype": "f32", "shape": ["B", "N"], "optional": false}
  ],
  "scalars": [{"name": "scale", "dtype": "f32", "default": 2}, {"name": "window", "dtype": "i32", "default": -1}],
  "requires": [],
  "variants": [
    {"name": "bulk", "when": [{"tensor": "x", "align": 128}],
     "launches": [
       {"kernel": "bulk", "grid": [{"mul": ["B", "N"]}], "persistent": true, "block": 128, "smem": 0,
        "args": [{"pointer": "y"}, {"tensorMap": ["x", [1, 64, 64]]}, {"stride": ["y", 0]}, {"dim": "N"}, {"scalar": "scale"}, {"pointer": "u"}]},
       {"kernel": "rest", "grid": ["B"], "block": 32, "smem": 0,
        "args": [{"pointer": "t"}, {"scalar": "window"}, {"pointer": "len"}, {"counter": true}]}]},
    {"name": "aligned", "when": [{"tensor": "x", "align": 16}],
     "launches": [{"kernel": "aligned", "grid": ["N", "B"], "block": 32, "smem": 0,
        "args": [{"pointer": "x"}, {"stride": ["x", 1]}, {"pointer": "y"}, {"stride": ["len", 0]}, {"pointer": "len"}]}]},
    {"name": "universal", "when": [],
     "launches": [{"kernel": "universal", "grid": ["N", "B"], "block": 32, "smem": 0,
        "args": [{"pointer": "x"}, {"stride": ["x", 1]}, {"pointer": "y"}, {"scalar": "scale"}, {"dim": "B"}]}]}
  ]
})json";

/// What the driver saw of a launch. Counters, of which a plan says nothing,
/// are no parameters here.
struct Seen {
  std::string kernel;
  std::array<unsigned, 3> grid;
  std::vector<uint64_t> params;
  FakeCudaDescriptor descriptor;
  uint64_t counter = 0;

  bool operator==(const Seen &other) const {
    return kernel == other.kernel && grid == other.grid &&
           params == other.params;
  }
};

thread_local std::vector<Seen> *seen = nullptr;
const Manifest *manifest = nullptr;

const ManifestLaunch &launchOf(const std::string &kernel) {
  for (const ManifestVariant &variant : manifest->variants)
    for (const ManifestLaunch &launch : variant.launches)
      if (launch.kernel == kernel)
        return launch;
  std::abort();
}

/// Bytes that a kernel reads of a parameter.
size_t sizeOf(const ManifestArg &arg) {
  bool isWord = arg.kind == ManifestArg::Kind::Dim ||
                arg.kind == ManifestArg::Kind::Scalar;
  return isWord ? 4 : 8;
}

void watch(const char *kernel, std::array<unsigned, 3> grid, void **params) {
  if (!seen)
    return;
  Seen &one = seen->emplace_back(Seen{kernel, grid, {}, {}, 0});
  for (const ManifestArg &arg : launchOf(kernel).args) {
    std::memcpy(&one.params.emplace_back(0), *params, sizeOf(arg));
    if (arg.kind == ManifestArg::Kind::TensorMap)
      std::memcpy(&one.descriptor, *params, sizeof(one.descriptor));
    if (arg.kind == ManifestArg::Kind::Counter)
      std::swap(one.params.back(), one.counter);
    ++params;
  }
}

int descriptors() {
  return fakeFunction<FakeCudaCount>("fakeCudaDescriptors")();
}

void *address(uintptr_t value) { return reinterpret_cast<void *>(value); }

/// B = 2, N = 100.
LaunchArgs goodArgs() {
  LaunchArgs args;
  args.tensors["x"] =
      contiguousView(address(0x10000), DType::BF16, {2, 100, 64});
  args.tensors["y"] = contiguousView(address(0x40000), DType::F32, {2, 100});
  args.workspace = address(0x80000);
  args.workspaceBytes = 768;
  return args;
}

class Launch : public testing::Test {
protected:
  void SetUp() override {
    auto setWatch = fakeFunction<FakeCudaSetWatch>("fakeCudaWatch");
    ASSERT_TRUE(setWatch) << "libcuda.so.1 is not the fake one";
    Result<Device> device = Device::open();
    ASSERT_TRUE(device.ok()) << device.status().message();
    Result<Op> loaded = Op::load({program, "", "\177ELF"}, *device);
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    op.emplace(std::move(*loaded));
    manifest = &op->manifest();
    setWatch(watch);
  }

  /// Launches; empty, with the error in `error`, where that fails.
  std::vector<Seen> launch(const LaunchArgs &args, void *stream = nullptr) {
    std::vector<Seen> result;
    seen = &result;
    error = op->launch(args, stream).message();
    seen = nullptr;
    return result;
  }

  /// The same from planLaunch(), which remembers nothing.
  std::vector<Seen> expect(const LaunchArgs &args) {
    Result<Plan> plan = planLaunch(op->manifest(), args);
    error = plan.status().message();
    std::vector<Seen> result;
    if (!plan.ok())
      return result;
    for (PlannedLaunch &planned : plan->launches) {
      if (planned.launch->persistent)
        planned.grid[0] = std::min(planned.grid[0], 4u);
      result.push_back(
          {planned.launch->kernel, planned.grid, planned.params, {}, 0});
    }
    return result;
  }

  /// Launches after goodArgs(), so that something is remembered, and compares.
  std::vector<Seen> launchChanged(const LaunchArgs &args) {
    EXPECT_EQ(launch(goodArgs()).size(), 2u) << error;
    std::vector<Seen> result = launch(args);
    std::string ours = error;
    EXPECT_EQ(result, expect(args));
    EXPECT_EQ(ours, error);
    return result;
  }

  std::optional<Op> op;
  std::string error;
};

TEST_F(Launch, steadyStateAllocatesNothing) {
  LaunchArgs args = goodArgs();
  args.scalars["window"] = 3;
  std::vector<TensorView> views = {args.tensors["y"], args.tensors["x"]};
  std::vector<TensorRef> refs = {
      {"y", views[0].data, views[0].dtype, views[0].shape, views[0].strides},
      {"x", views[1].data, views[1].dtype, views[1].shape, {}, true}};
  LaunchView view{refs, {}, {}, args.workspace, args.workspaceBytes};
  int before = 0;
  for (int i = 0; i < 100; ++i) {
    // The first rounds meet all signatures and addresses.
    if (i == 2)
      before = allocations;
    refs[1].data = address(0x10000 + (i % 2) * 0x1000u);
    args.tensors["x"].data = address(i % 2 ? 0x10010 : 0x10000);
    ASSERT_TRUE(op->launch(args).ok());
    ASSERT_TRUE(op->launch(view).ok());
  }
  EXPECT_EQ(allocations, before);
}

TEST_F(Launch, changedPointer) {
  LaunchArgs args = goodArgs();
  args.tensors["x"].data = address(0x20000);
  args.tensors["y"].data = address(0x50000);
  args.workspace = address(0x90000);
  std::vector<Seen> all = launchChanged(args);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].params[0], 0x50000u);
  EXPECT_EQ(all[0].descriptor.address, address(0x20000));
  EXPECT_EQ(all[1].params[0], 0x90000u);
}

TEST_F(Launch, descriptorsAreEncodedOncePerAddress) {
  LaunchArgs args = goodArgs();
  int before = descriptors();
  for (int i = 0; i < 300; ++i) {
    args.tensors["x"].data = address(0x10000 + (i % 3) * 0x1000u);
    std::vector<Seen> all = launch(args);
    ASSERT_EQ(all.size(), 2u);
    ASSERT_EQ(all[0].descriptor.address, args.tensors["x"].data);
  }
  EXPECT_EQ(descriptors(), before + 3);
  // More addresses than are kept.
  for (uintptr_t i = 0; i < 300; ++i) {
    args.tensors["x"].data = address(0x10000 + i * 0x1000u);
    ASSERT_EQ(launch(args)[0].descriptor.address, args.tensors["x"].data);
  }
}

TEST_F(Launch, changedShape) {
  LaunchArgs args = goodArgs();
  args.tensors["x"] = contiguousView(address(0x10000), DType::BF16, {1, 3, 64});
  args.tensors["y"] = contiguousView(address(0x40000), DType::F32, {1, 3});
  std::vector<Seen> all = launchChanged(args);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].grid[0], 3u);
  EXPECT_EQ(all[0].descriptor.extents[1], 3u);
  EXPECT_EQ(all[0].params[3], 3u);

  args.tensors["y"].shape[1] = 4;
  EXPECT_TRUE(launchChanged(args).empty());
  EXPECT_THAT(error, HasSubstr("tensor 'y' dimension 1 has extent 4"));
}

TEST_F(Launch, changedStride) {
  LaunchArgs args = goodArgs();
  args.tensors["x"].strides = {200 * 64, 128, 1};
  std::vector<Seen> all = launchChanged(args);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].kernel, "bulk");
  EXPECT_EQ(all[0].descriptor.strides[0], 256u);

  args.tensors["x"].strides[1] = 8 * 9;
  EXPECT_EQ(launchChanged(args).at(0).kernel, "aligned");
  args.tensors["x"].strides[1] = 68;
  EXPECT_EQ(launchChanged(args).at(0).kernel, "universal");
  args = goodArgs();
  args.tensors["y"].strides[0] = 50;
  EXPECT_TRUE(launchChanged(args).empty());
  EXPECT_THAT(error, HasSubstr("strides overlap"));
  args.tensors["y"].strides = {100};
  EXPECT_TRUE(launchChanged(args).empty());
  EXPECT_THAT(error, HasSubstr("2 extents but 1 strides"));
}

TEST_F(Launch, changedAlignment) {
  LaunchArgs args = goodArgs();
  auto kernel = [&](uintptr_t x) {
    args.tensors["x"].data = address(x);
    std::vector<Seen> all = launchChanged(args);
    return all.empty() ? error : all[0].kernel;
  };
  EXPECT_EQ(kernel(0x10100), "bulk");
  EXPECT_EQ(kernel(0x10080), "bulk");
  EXPECT_EQ(kernel(0x10040), "aligned");
  EXPECT_EQ(kernel(0x10010), "aligned");
  EXPECT_EQ(kernel(0x10008), "universal");
  EXPECT_EQ(kernel(0x10002), "universal");
  EXPECT_THAT(kernel(0x10001), HasSubstr("not aligned to its element size"));
  EXPECT_THAT(kernel(0), HasSubstr("null pointer"));
}

TEST_F(Launch, changedRest) {
  LaunchArgs args = goodArgs();
  args.workspaceBytes = 767;
  launchChanged(args);
  EXPECT_THAT(error, HasSubstr("767"));
  args = goodArgs();
  args.workspace = address(0x80080);
  launchChanged(args);
  EXPECT_THAT(error, HasSubstr("not aligned to 256 bytes"));
  args = goodArgs();
  args.tensors["x"].dtype = DType::F16;
  launchChanged(args);
  EXPECT_THAT(error, HasSubstr("has dtype f16"));
  args = goodArgs();
  args.dims["N"] = 99;
  launchChanged(args);
  EXPECT_THAT(error, HasSubstr("99"));
  args = goodArgs();
  args.tensors["len"] = contiguousView(address(0x100), DType::I32, {2});
  EXPECT_EQ(launchChanged(args).at(1).params.at(2), 0x100u);
  args.tensors.erase("y");
  launchChanged(args);
  EXPECT_THAT(error, HasSubstr("tensor 'y' is missing"));
}

TEST_F(Launch, changedScalar) {
  LaunchArgs args = goodArgs();
  for (double value : {1.0, 5.0, 0.5}) {
    args.scalars["scale"] = value;
    args.scalars["window"] = -3;
    std::vector<Seen> all = launchChanged(args);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].params[4],
              std::bit_cast<uint32_t>(static_cast<float>(value)));
    EXPECT_EQ(all[1].params[1], uint32_t(-3));
  }
  args.scalars["scale"] = 1e300;
  launchChanged(args);
  EXPECT_THAT(error, HasSubstr("scalar 'scale' is 1e+300, beyond"));
  args.scalars["scale"] = 1;
  args.scalars["window"] = 1.5;
  launchChanged(args);
  EXPECT_THAT(error, HasSubstr("scalar 'window' is 1.5, expected an i32"));
}

TEST_F(Launch, streamsHaveCountersOfTheirOwn) {
  auto counter = [&](uintptr_t stream) {
    return launch(goodArgs(), address(stream)).at(1).counter;
  };
  uint64_t first = counter(0), second = counter(0x100);
  EXPECT_NE(first, 0u);
  EXPECT_NE(first, second);
  EXPECT_EQ(counter(0), first);
  EXPECT_EQ(counter(0x100), second);
}

/// Arguments with up to three random changes.
LaunchArgs randomArgs(std::mt19937 &random) {
  auto pick = [&](auto... values) {
    std::common_type_t<decltype(values)...> all[] = {values...};
    return all[random() % sizeof...(values)];
  };
  LaunchArgs args = goodArgs();
  TensorView &x = args.tensors["x"], &y = args.tensors["y"];
  for (int change = 0; change < pick(0, 1, 2, 3); ++change)
    switch (random() % 10) {
    case 0:
      x.data = address(pick(0x10000u, 0x10008u, 0x10010u, 0x30000u, 0u));
      break;
    case 1:
      x.shape[1] = y.shape[1] = pick(1, 2, 100, 0);
      break;
    case 2:
      x.strides[1] = pick(64, 65, 72, 0);
      break;
    case 3:
      x.strides[2] = pick(1, 2);
      break;
    case 4:
      y.shape[pick(0, 1)] = pick(1, 2, 3);
      break;
    case 5:
      y.strides[0] = pick(99, 100, 128);
      break;
    case 6:
      args.scalars[pick("scale", "window", "other")] = pick(1.0, 2.0, 2.5);
      break;
    case 7:
      args.workspace = address(pick(0u, 0x80000u, 0x80100u, 0x80010u));
      break;
    case 8:
      args.tensors["len"] = contiguousView(address(pick(0x100u, 0x104u)),
                                           DType::I32, {pick(1, 2)});
      break;
    case 9:
      args.dims[pick("B", "N")] = pick(2, 100);
      break;
    }
  return args;
}

TEST_F(Launch, anySequenceDoesWhatThePlansSay) {
  std::mt19937 random(1);
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    LaunchArgs args = randomArgs(random);
    std::vector<Seen> result = launch(args);
    std::string ours = error;
    ASSERT_EQ(result, expect(args)) << "round " << i;
    ASSERT_EQ(ours, error) << "round " << i;
    accepted += ours.empty();
  }
  EXPECT_GT(accepted, 5000);
}

TEST_F(Launch, threadsDoNotDisturbEachOther) {
  std::atomic<int> wrong = 0;
  auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < 2000; ++i) {
      LaunchArgs args = goodArgs();
      uintptr_t place = 0x10000 + random() % 200 * 0x100;
      args.tensors["x"] = contiguousView(address(place), DType::BF16,
                                         {2, 1 + int64_t(random() % 50), 64});
      int64_t n = args.tensors["x"].shape[1];
      args.tensors["y"] = contiguousView(address(place), DType::F32, {2, n});
      std::vector<Seen> result;
      seen = &result;
      bool ok = op->launch(args).ok();
      seen = nullptr;
      if (!ok || result.size() != 2 || result[0].params[0] != place ||
          result[0].descriptor.address != address(place) ||
          result[0].descriptor.extents[1] != uint64_t(n))
        ++wrong;
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i)
    threads.emplace_back(work, i);
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

} // namespace
