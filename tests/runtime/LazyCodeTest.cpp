// Ops whose code is made when a launch needs it, on the driver of tests/tools.
// SPDX-License-Identifier: MIT
#include "selvedge/Op.h"
#include "tests/runtime/Fake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

using namespace selvedge;
using test::fakeFunction;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// Two variants; `align` is the condition of the first.
std::string hostProgram(const char *align) {
  return std::string(R"json({
  "selvedge": 1, "compiler": "0.1.0", "op": "f", "arch": "sm_80", "params": {},
  "dims": ["N"],
  "tensors": [{"name": "y", "role": "out", "dtype": "f32", "shape": ["N"], "optional": false}],
  "scalars": [], "requires": [],
  "variants": [
    {"name": "aligned", "when": [{"tensor": "y", "align": )json") +
         align + R"json(}],
     "launches": [{"kernel": "f_aligned", "grid": ["N"], "block": 32, "smem": 0, "args": [{"pointer": "y"}]}]},
    {"name": "universal", "when": [],
     "launches": [{"kernel": "f_universal", "grid": ["N"], "block": 32, "smem": 0, "args": [{"pointer": "y"}]}]}
  ]
})json";
}

/// Counts what is asked for.
struct Recorder : LazyCode {
  const std::string &manifest() const override { return program; }
  Result<VariantCode> compile(size_t variant) override {
    asked.push_back(variant);
    if (!failure.ok())
      return failure;
    if (!whole.empty())
      return VariantCode{{whole, "", "\177ELF"}, /*isWhole=*/true};
    return VariantCode{{program, "", "\177ELF"}};
  }

  std::string program = hostProgram("16"), whole;
  std::vector<size_t> asked;
  Status failure;
};

thread_local std::vector<std::string> *launched = nullptr;

void watch(const char *kernel, std::array<unsigned, 3>, void **) {
  if (launched)
    launched->push_back(kernel);
}

struct LazyOp : testing::Test {
  LazyOp() {
    fakeFunction<FakeCudaSetWatch>("fakeCudaWatch")(watch);
    Result<Device> device = Device::open();
    EXPECT_TRUE(device.ok()) << device.status().message();
    Result<Op> loaded = Op::load(code, *device);
    EXPECT_TRUE(loaded.ok()) << loaded.status().message();
    op.emplace(std::move(*loaded));
  }
  ~LazyOp() override {
    fakeFunction<FakeCudaSetWatch>("fakeCudaWatch")(nullptr);
  }

  static LaunchArgs at(uintptr_t address, int64_t n = 4) {
    LaunchArgs args;
    args.tensors["y"] =
        contiguousView(reinterpret_cast<void *>(address), DType::F32, {n});
    return args;
  }
  /// The kernel that is launched, or the error.
  std::string launch(uintptr_t address, int64_t n = 4) {
    std::vector<std::string> kernels;
    launched = &kernels;
    Status status = op->launch(at(address, n));
    launched = nullptr;
    return status.ok() ? kernels.at(0) : status.message();
  }

  std::shared_ptr<Recorder> code = std::make_shared<Recorder>();
  std::optional<Op> op;
};

} // namespace

TEST_F(LazyOp, compilesWhatALaunchTakes) {
  EXPECT_TRUE(code->asked.empty());
  EXPECT_EQ(*op->workspaceSize(at(0x10000)), 0u);
  EXPECT_TRUE(code->asked.empty());
  EXPECT_EQ(launch(0x10000), "f_aligned");
  EXPECT_EQ(launch(0x20000), "f_aligned");
  EXPECT_THAT(code->asked, ElementsAre(0));
  EXPECT_EQ(launch(0x10004), "f_universal");
  EXPECT_EQ(launch(0x10000), "f_aligned");
  EXPECT_THAT(code->asked, ElementsAre(0, 1));
}

TEST_F(LazyOp, prepareCompilesAndDoesNotLaunch) {
  std::vector<std::string> kernels;
  launched = &kernels;
  EXPECT_TRUE(op->prepare(at(0x10004)).ok());
  launched = nullptr;
  EXPECT_TRUE(kernels.empty());
  EXPECT_THAT(code->asked, ElementsAre(1));
  EXPECT_EQ(launch(0x10004), "f_universal");
  EXPECT_THAT(code->asked, ElementsAre(1));
}

TEST_F(LazyOp, failuresAreToldAndTriedAgain) {
  code->failure = Status::failed("refused");
  EXPECT_THAT(launch(0x10000), HasSubstr("refused"));
  EXPECT_THAT(launch(0x10000), HasSubstr("refused"));
  code->failure = Status();
  EXPECT_EQ(launch(0x10000), "f_aligned");
  EXPECT_THAT(code->asked, ElementsAre(0, 0, 0));
}

// The whole may have other conditions: they count from then on.
TEST_F(LazyOp, aWholeTakesThePlaceOfTheRest) {
  EXPECT_EQ(launch(0x10010), "f_aligned");
  const Manifest &before = op->manifest();
  code->whole = hostProgram("32");
  EXPECT_EQ(launch(0x10004), "f_universal");
  EXPECT_THAT(code->asked, ElementsAre(0, 1));
  EXPECT_EQ(op->manifest().variants[0].when[0].align, 32);
  EXPECT_EQ(before.variants[0].when[0].align, 16) << "it lives on";
  EXPECT_EQ(launch(0x20020), "f_aligned");
  EXPECT_THAT(code->asked, ElementsAre(0, 1));
}

// Other block sizes of one variant, say.
TEST_F(LazyOp, anotherProgramTakesThePlaceOfTheFirst) {
  EXPECT_EQ(launch(0x10010), "f_aligned");
  code->program = hostProgram("32");
  EXPECT_EQ(launch(0x10004), "f_universal");
  EXPECT_EQ(op->manifest().variants[0].when[0].align, 32);
  EXPECT_THAT(code->asked, ElementsAre(0, 1));
  EXPECT_EQ(launch(0x10010), "f_aligned") << "what is prepared stays";
  EXPECT_THAT(code->asked, ElementsAre(0, 1));
  EXPECT_EQ(launch(0x20020, 8), "f_aligned");
  EXPECT_THAT(code->asked, ElementsAre(0, 1, 0));
}

TEST_F(LazyOp, aWholeThatCannotBeReadChangesNothing) {
  code->whole = "{";
  EXPECT_THAT(launch(0x10000), HasSubstr("manifest"));
  code->whole = hostProgram("64");
  EXPECT_EQ(launch(0x10010), "f_universal");
}

TEST_F(LazyOp, threadsCompileAVariantOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (uintptr_t k = 0; k < 100; ++k)
        EXPECT_TRUE(op->launch(at(0x10000 + k * 4)).ok());
    });
  for (std::thread &thread : threads)
    thread.join();
  std::vector<size_t> asked = code->asked;
  std::ranges::sort(asked);
  EXPECT_THAT(asked, ElementsAre(0, 1));
}

/// Two kernels, of which each needs another tensor aligned.
static std::string twoKernels() {
  return R"json({
  "selvedge": 1, "compiler": "0.1.0", "op": "f", "arch": "sm_80", "params": {},
  "dims": ["N"],
  "tensors": [{"name": "x", "role": "in", "dtype": "f32", "shape": ["N"], "optional": false},
              {"name": "y", "role": "out", "dtype": "f32", "shape": ["N"], "optional": false}],
  "scalars": [], "requires": [],
  "variants": [
    {"name": "aligned", "when": [{"tensor": "x", "align": 16}, {"tensor": "y", "align": 16}],
     "launches": [
       {"kernel": "read_aligned", "grid": ["N"], "block": 32, "smem": 0, "when": [{"tensor": "x", "align": 16}], "args": [{"pointer": "x"}]},
       {"kernel": "write_aligned", "grid": ["N"], "block": 32, "smem": 0, "when": [{"tensor": "y", "align": 16}], "args": [{"pointer": "y"}]}]},
    {"name": "universal", "when": [],
     "launches": [
       {"kernel": "read_universal", "grid": ["N"], "block": 32, "smem": 0, "when": [], "args": [{"pointer": "x"}]},
       {"kernel": "write_universal", "grid": ["N"], "block": 32, "smem": 0, "when": [], "args": [{"pointer": "y"}]}]}
  ]
})json";
}

// Kernels of two variants in one launch: both are compiled, once.
TEST_F(LazyOp, mixedLaunchesCompileBothVariants) {
  code->program = twoKernels();
  Result<Device> device = Device::open();
  ASSERT_TRUE(device.ok()) << device.status().message();
  Result<Op> mixed = Op::load(code, *device);
  ASSERT_TRUE(mixed.ok()) << mixed.status().message();
  LaunchArgs args = at(0x10004);
  args.tensors["x"] = at(0x20000).tensors["y"];
  std::vector<std::string> kernels;
  launched = &kernels;
  for (int i = 0; i < 2; ++i)
    EXPECT_TRUE(mixed->launch(args).ok());
  launched = nullptr;
  EXPECT_THAT(kernels, ElementsAre("read_aligned", "write_universal",
                                   "read_aligned", "write_universal"));
  EXPECT_THAT(code->asked, ElementsAre(0, 1));
}
