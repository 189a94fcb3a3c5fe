// GPUs, contexts and code that does not load, on the driver of tests/tools.
// SPDX-License-Identifier: MIT
#include "selvedge/Module.h"
#include "selvedge/Op.h"
#include "tests/runtime/Fake.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace selvedge;
using testing::AllOf;
using testing::HasSubstr;

namespace {

/// axpy on `device`, launched on a stream of `other`.
Status launchOn(const Device &device, const Device &other) {
  Result<Op> op = Op::load({test::axpyManifest, "", "\177ELF"}, device);
  if (!op.ok())
    return op.status();
  Result<void *> stream = other.createStream();
  if (!stream.ok())
    return stream.status();
  std::vector<float> x(4, 3), y(4);
  LaunchArgs args;
  args.tensors["x"] = contiguousView(x.data(), DType::F32, {1, 4});
  args.tensors["y"] = contiguousView(y.data(), DType::F32, {1, 4});
  Status status = op->launch(args, *stream);
  EXPECT_TRUE(other.destroyStream(*stream).ok());
  if (status.ok()) {
    EXPECT_EQ(y[3], 6);
  }
  return status;
}

TEST(Context, ordinals) {
  Result<Device> first = Device::open(0), second = Device::open(1);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(second->ordinal(), 1);
  EXPECT_NE(first->context(), second->context());
  EXPECT_TRUE(launchOn(*first, *first).ok());
  EXPECT_TRUE(launchOn(*second, *second).ok());
  EXPECT_THAT(Device::open(2).status().message(), HasSubstr("no GPU 2: 2"));
}

TEST(Context, contextsThatAreNotPrimary) {
  void *context = test::fakeFunction<FakeCudaContext>("fakeCudaContext")();
  Result<Device> device = Device::ofContext(context);
  ASSERT_TRUE(device.ok()) << device.status().message();
  EXPECT_EQ(device->ordinal(), 1);
  EXPECT_EQ(device->context(), context);
  EXPECT_TRUE(launchOn(*device, *device).ok());
  EXPECT_FALSE(Device::ofContext(nullptr).ok());
}

TEST(Context, streamsOfOtherContextsAreNamed) {
  Result<Device> first = Device::open(0), second = Device::open(1);
  ASSERT_TRUE(first.ok() && second.ok());
  Status status = launchOn(*first, *second);
  EXPECT_EQ(status.code(), ErrorCode::BadInput);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("another CUDA context"), HasSubstr("axpy_init")));
}

TEST(Context, bothRefusalsOfPtxAreTold) {
  Result<Device> device = Device::open(0);
  ASSERT_TRUE(device.ok());
  ::setenv("FAKE_CUDA_FAULT", "image", 1);
  ::setenv("SELVEDGE_PTXAS", "/nonexistent/ptxas", 1);
  Result<Module> module = Module::loadPtx(*device, ".version 8.0", "sm_80");
  ::unsetenv("FAKE_CUDA_FAULT");
  ::unsetenv("SELVEDGE_PTXAS");
  ASSERT_FALSE(module.ok());
  EXPECT_THAT(module.status().message(),
              AllOf(HasSubstr("bad PTX"), HasSubstr("/nonexistent/ptxas")));
}

} // namespace
