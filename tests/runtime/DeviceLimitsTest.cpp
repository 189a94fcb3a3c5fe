// The variants that a GPU can launch, by the limits that its driver reports.
// SPDX-License-Identifier: MIT
#include "selvedge/Op.h"
#include "tests/runtime/Fake.h"

#include <cstdlib>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace selvedge;
using test::fakeFunction;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

constexpr int64_t most = 166912, least = 101376;

std::string variant(const std::string &name, const std::string &when,
                    int64_t bytes) {
  return fmt::format(
      R"json({{"name": "{0}", "when": [{1}], "launches": [
        {{"kernel": "f_{0}", "grid": [{{"mul": ["N", "S"]}}], "block": 32, "smem": {2}, "args": [{{"pointer": "y"}}, {{"dim": "S"}}]}}]}})json",
      name, when, bytes);
}

std::string manifestOf(const std::vector<std::string> &variants) {
  return fmt::format(R"json({{
  "selvedge": 1, "compiler": "0.1.0", "op": "f", "arch": "sm_80", "params": {{}},
  "dims": ["N", "S"],
  "tensors": [{{"name": "y", "role": "out", "dtype": "f32", "shape": ["N"], "optional": false}},
              {{"name": "part", "role": "temp", "dtype": "f32", "shape": ["S", 64]}}],
  "scalars": [], "requires": [],
  "launch": [{{"dim": "S", "lo": 1, "hi": 1024, "parts": [1048576]}}],
  "variants": [{}]}})json",
                     fmt::join(variants, ", "));
}

const std::string aligned = R"json({"tensor": "y", "align": 16})json";

/// What a compilation for all devices gives.
std::string forAll() {
  return manifestOf({variant("aligned", aligned, most),
                     variant("aligned_99k", aligned, least),
                     variant("universal", "", least + 1),
                     variant("universal_99k", "", 1024)});
}

thread_local std::vector<std::string> *launched = nullptr;

void watch(const char *kernel, std::array<unsigned, 3>, void **) {
  if (launched)
    launched->push_back(kernel);
}

LaunchArgs at(uintptr_t address) {
  LaunchArgs args;
  args.tensors["y"] =
      contiguousView(reinterpret_cast<void *>(address), DType::F32, {4});
  args.workspace = reinterpret_cast<void *>(0x10000);
  args.workspaceBytes = 1 << 20;
  return args;
}

struct DeviceLimits : testing::TestWithParam<FakeCudaGpu> {
  DeviceLimits() {
    auto setWatch = fakeFunction<FakeCudaSetWatch>("fakeCudaWatch");
    EXPECT_TRUE(setWatch) << "libcuda.so.1 is not the fake one";
    setWatch(watch);
    ::setenv("FAKE_CUDA_GPU", GetParam().name, 1);
    // Whatever ptxas there is: the driver takes any image.
    ::setenv("SELVEDGE_PTXAS", "/bin/true", 1);
    Result<Device> opened = Device::open();
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    device.emplace(*opened);
  }
  ~DeviceLimits() override {
    ::unsetenv("FAKE_CUDA_GPU");
    ::unsetenv("SELVEDGE_PTXAS");
    fakeFunction<FakeCudaSetWatch>("fakeCudaWatch")(nullptr);
  }

  bool hasMost() const { return GetParam().sharedMemory >= most; }
  Result<Op> load(const std::string &manifest) {
    return Op::load({manifest, "// PTX", "\177ELF"}, *device);
  }
  /// The kernel that is launched, or the error.
  static std::string launch(const Op &op, uintptr_t address) {
    std::vector<std::string> kernels;
    launched = &kernels;
    Status status = op.launch(at(address));
    launched = nullptr;
    return status.ok() ? kernels.at(0) : status.message();
  }

  std::optional<Device> device;
};

} // namespace

TEST_P(DeviceLimits, theDriverReportsThem) {
  EXPECT_EQ(device->name(), GetParam().name);
  EXPECT_EQ(device->multiprocessors(), GetParam().multiprocessors);
  EXPECT_EQ(device->sharedMemoryPerBlock(), GetParam().sharedMemory);
}

// Nothing that does not fit is loaded: the driver would refuse.
TEST_P(DeviceLimits, aLaunchTakesTheFirstVariantThatFits) {
  Result<Op> op = load(forAll());
  ASSERT_TRUE(op.ok()) << op.status().message();
  std::string suffix = hasMost() ? "" : "_99k";
  EXPECT_EQ(launch(*op, 0x20000), "f_aligned" + suffix);
  EXPECT_EQ(launch(*op, 0x20004), "f_universal" + suffix);
}

TEST_P(DeviceLimits, launchSizesCountItsMultiprocessors) {
  Result<Op> op = load(forAll());
  ASSERT_TRUE(op.ok()) << op.status().message();
  auto bytes = [&](int multiprocessors) {
    return *workspaceSize(op->manifest(), at(0x20000), multiprocessors);
  };
  EXPECT_EQ(*op->workspaceSize(at(0x20000)), bytes(GetParam().multiprocessors));
  EXPECT_NE(bytes(GetParam().multiprocessors),
            bytes(GetParam().multiprocessors * 2));
}

TEST_P(DeviceLimits, nothingChangesWhereAllFits) {
  std::string fits = manifestOf(
      {variant("aligned", aligned, least), variant("universal", "", least)});
  Result<Op> op = load(fits);
  ASSERT_TRUE(op.ok()) << op.status().message();
  EXPECT_EQ(op->manifest().variants.size(), 2u);
}

TEST_P(DeviceLimits, anArtefactThatDoesNotFitSaysWhatDoes) {
  Result<Op> op = load(manifestOf(
      {variant("aligned", aligned, 2048), variant("universal", "", 131072)}));
  if (hasMost()) {
    EXPECT_TRUE(op.ok()) << op.status().message();
    return;
  }
  ASSERT_FALSE(op.ok());
  EXPECT_EQ(op.status().code(), ErrorCode::Unavailable);
  EXPECT_EQ(op.status().message(),
            fmt::format("this artefact of op 'f' does not run on {}: kernel "
                        "'f_universal' of its variant 'universal' needs 131072 "
                        "bytes of shared memory per thread block, and the GPU "
                        "has 101376; compile it for this GPU, with "
                        "--shared-memory 101376 or in process",
                        GetParam().name));
}

namespace {

/// Counts what is asked for, by position in its manifest.
struct Recorder : LazyCode {
  const std::string &manifest() const override { return program; }
  Result<VariantCode> compile(size_t variant) override {
    asked.push_back(variant);
    return VariantCode{{next.empty() ? program : next, "// PTX", "\177ELF"}};
  }
  std::string program = forAll(), next;
  std::vector<size_t> asked;
};

} // namespace

TEST_P(DeviceLimits, onlyWhatFitsIsCompiled) {
  auto code = std::make_shared<Recorder>();
  Result<Op> op = Op::load(code, *device);
  ASSERT_TRUE(op.ok()) << op.status().message();
  launch(*op, 0x20004);
  launch(*op, 0x20000);
  if (hasMost())
    EXPECT_THAT(code->asked, ElementsAre(2, 0));
  else
    EXPECT_THAT(code->asked, ElementsAre(3, 1));
}

// A program that was compiled again may need more than the one before.
TEST_P(DeviceLimits, aProgramThatNoLongerFitsIsRefused) {
  auto code = std::make_shared<Recorder>();
  Result<Op> op = Op::load(code, *device);
  ASSERT_TRUE(op.ok()) << op.status().message();
  code->next = manifestOf(
      {variant("aligned", aligned, 1024), variant("a", aligned, 1024),
       variant("b", aligned, 1024), variant("universal", "", most)});
  std::string result = launch(*op, 0x20000);
  if (hasMost())
    EXPECT_EQ(result, "f_aligned");
  else
    EXPECT_THAT(result, AllOf(HasSubstr("'f_universal'"), HasSubstr("166912")));
}

INSTANTIATE_TEST_SUITE_P(Gpus, DeviceLimits, testing::ValuesIn(fakeCudaGpus),
                         [](const auto &info) {
                           std::string name = info.param.name;
                           std::erase_if(name, [](char c) { return c == ' '; });
                           return name;
                         });

TEST(LoadPaths, codeForSm80RunsOnAll) {
  for (const FakeCudaGpu &gpu : fakeCudaGpus) {
    Result<LoadPath> path = chooseLoadPath("sm_80", gpu.major, gpu.minor);
    ASSERT_TRUE(path.ok()) << gpu.name;
    // Cubins are compatible within a major version.
    EXPECT_EQ(*path, gpu.major == 8 ? LoadPath::Cubin : LoadPath::Ptx)
        << gpu.name;
    EXPECT_FALSE(chooseLoadPath("sm_90a", gpu.major, gpu.minor).ok());
  }
}
