// The C interface: nulls, short buffers and errors of all kinds have a status.
// SPDX-License-Identifier: MIT
#include "selvedge/selvedge.h"

#include "selvedge/Artifact.h"
#include "selvedge/DLPack.h"
#include "tests/runtime/Fake.h"

#include <array>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tuple>
#include <vector>

using namespace selvedge;
using testing::HasSubstr;

namespace {

/// axpy, loaded from memory, and tensors for it.
class CApi : public testing::Test {
public:
  void SetUp() override {
    bytes = encodeArtifact({test::axpyManifest, "ptx", "\177ELF"});
    op = selvedge_load_memory(bytes.data(), bytes.size(), 0);
    ASSERT_TRUE(op) << selvedge_last_error();
    for (dlpack::Tensor *tensor : {&x, &y}) {
      *tensor = {};
      tensor->device = {2, 0};
      tensor->ndim = 2;
      tensor->dtype = {2, 32, 1};
      tensor->shape = shape;
    }
    x.data = in;
    y.data = out;
  }
  void TearDown() override { selvedge_unload(op); }

  selvedge_status launch() { return selvedge_launch(op, &arguments, nullptr); }

  std::string bytes;
  selvedge_op *op = nullptr;
  float in[4] = {1, 2, 3, 4}, out[4] = {};
  int64_t shape[2] = {2, 2};
  dlpack::Tensor x, y;
  selvedge_tensor tensors[2] = {{"x", &x}, {"y", &y}};
  selvedge_scalar scalars[1] = {{"a", 3}};
  selvedge_dim dims[1] = {{"N", 2}};
  selvedge_arguments arguments = {tensors, 2, scalars, 1, nullptr, 0, dims, 1};
};

TEST_F(CApi, launches) {
  ASSERT_EQ(launch(), SELVEDGE_OK) << selvedge_last_error();
  EXPECT_EQ(out[3], 12);
  uint64_t size = 1;
  EXPECT_EQ(selvedge_workspace_size(op, &arguments, &size), SELVEDGE_OK);
  EXPECT_EQ(size, 0u);
  EXPECT_STREQ(selvedge_version(), SELVEDGE_VERSION_TEXT);
}

TEST_F(CApi, validates) {
  int32_t lengths[2] = {2, 3};
  dlpack::Tensor len = x;
  len.ndim = 1;
  len.dtype = {0, 32, 1};
  len.data = lengths;
  selvedge_tensor all[3] = {tensors[0], tensors[1], {"len", &len}};
  arguments.tensors = all;
  arguments.tensor_count = 3;
  auto validated = [&] {
    return selvedge_launch_validated(op, &arguments, nullptr);
  };
  EXPECT_EQ(validated(), SELVEDGE_BAD_INPUT);
  EXPECT_STREQ(selvedge_last_error(),
               "tensor 'len' at [1] is 3, outside the required 0..2");
  EXPECT_EQ(out[0], 0);
  lengths[1] = 1;
  ASSERT_EQ(validated(), SELVEDGE_OK) << selvedge_last_error();
  EXPECT_EQ(out[2], 9);
  EXPECT_EQ(selvedge_launch_validated(nullptr, &arguments, nullptr),
            SELVEDGE_BAD_INPUT);
  EXPECT_EQ(selvedge_launch_validated(op, nullptr, nullptr),
            SELVEDGE_BAD_INPUT);
}

TEST_F(CApi, dimsAreCompared) {
  dims[0].value = 3;
  EXPECT_EQ(launch(), SELVEDGE_BAD_INPUT);
  EXPECT_THAT(selvedge_last_error(), HasSubstr("expected 3 (N, given)"));
  EXPECT_EQ(selvedge_last_status(), SELVEDGE_BAD_INPUT);
  dims[0].name = "Q";
  EXPECT_EQ(launch(), SELVEDGE_BAD_INPUT);
  EXPECT_THAT(selvedge_last_error(), HasSubstr("no dimension 'Q'"));
}

TEST_F(CApi, shapesOfOutputs) {
  const selvedge_signature *signature = selvedge_op_signature(op);
  size_t last = selvedge_tensor_count(signature) - 1;
  int64_t extents[2] = {};
  // y itself is not there, and x is on no GPU of this machine.
  x.device = {1, 7};
  arguments.tensor_count = 1;
  shape[0] = 5;
  ASSERT_EQ(selvedge_tensor_shape(signature, &arguments, last, extents),
            SELVEDGE_OK)
      << selvedge_last_error();
  EXPECT_EQ(extents[0], 5);
  EXPECT_EQ(extents[1], 2);
  arguments.tensor_count = 0;
  EXPECT_EQ(selvedge_tensor_shape(signature, &arguments, last, extents),
            SELVEDGE_BAD_INPUT);
  EXPECT_EQ(selvedge_tensor_shape(signature, &arguments, last + 1, extents),
            SELVEDGE_BAD_INPUT);
  EXPECT_EQ(selvedge_tensor_shape(signature, nullptr, last, extents),
            SELVEDGE_BAD_INPUT);
  arguments.tensor_count = 1;
  tensors[0].tensor = nullptr;
  EXPECT_EQ(selvedge_tensor_shape(signature, &arguments, last, extents),
            SELVEDGE_BAD_INPUT);
  EXPECT_THAT(selvedge_last_error(), HasSubstr("address of tensor 0"));
}

TEST_F(CApi, nullsAreErrors) {
  uint64_t size = 0;
  EXPECT_EQ(selvedge_load(nullptr, 0), nullptr);
  EXPECT_STREQ(selvedge_last_error(), "the path is null");
  EXPECT_EQ(selvedge_load_memory(nullptr, 5, 0), nullptr);
  EXPECT_EQ(selvedge_load_in_context(bytes.data(), bytes.size(), nullptr),
            nullptr);
  EXPECT_EQ(selvedge_launch(nullptr, &arguments, nullptr), SELVEDGE_BAD_INPUT);
  EXPECT_EQ(selvedge_launch(op, nullptr, nullptr), SELVEDGE_BAD_INPUT);
  EXPECT_EQ(selvedge_workspace_size(op, &arguments, nullptr),
            SELVEDGE_BAD_INPUT);
  EXPECT_EQ(selvedge_workspace_size(nullptr, &arguments, &size),
            SELVEDGE_BAD_INPUT);
  EXPECT_EQ(selvedge_describe(nullptr, &arguments, nullptr, 0),
            SELVEDGE_BAD_INPUT);
  EXPECT_STREQ(selvedge_origin(nullptr), "");
  EXPECT_EQ(selvedge_op_signature(nullptr), nullptr);
  selvedge_unload(nullptr);
  selvedge_free_signature(nullptr);
  for (auto spoil : std::vector<void (*)(CApi &)>{
           [](CApi &t) { t.arguments.tensors = nullptr; },
           [](CApi &t) { t.arguments.scalars = nullptr; },
           [](CApi &t) { t.arguments.dims = nullptr; },
           [](CApi &t) { t.tensors[1].name = nullptr; },
           [](CApi &t) { t.tensors[1].tensor = nullptr; },
           [](CApi &t) { t.scalars[0].name = nullptr; },
           [](CApi &t) { t.dims[0].name = nullptr; },
           [](CApi &t) { t.x.shape = nullptr; },
           [](CApi &t) { t.x.data = nullptr; }}) {
    auto [keptTensors, keptScalar, keptDim, keptX, kept] =
        std::tuple(std::to_array(tensors), scalars[0], dims[0], x, arguments);
    spoil(*this);
    EXPECT_EQ(launch(), SELVEDGE_BAD_INPUT);
    EXPECT_STRNE(selvedge_last_error(), "");
    std::copy(keptTensors.begin(), keptTensors.end(), tensors);
    scalars[0] = keptScalar;
    dims[0] = keptDim;
    x = keptX;
    arguments = kept;
  }
}

TEST_F(CApi, signatures) {
  const selvedge_signature *signature = selvedge_op_signature(op);
  EXPECT_STREQ(selvedge_signature_name(signature), "axpy");
  EXPECT_STREQ(selvedge_signature_arch(signature), "sm_80");
  ASSERT_EQ(selvedge_tensor_count(signature), 3u);
  selvedge_tensor_info info;
  ASSERT_EQ(selvedge_get_tensor(signature, 1, &info), SELVEDGE_OK);
  EXPECT_STREQ(info.name, "len");
  EXPECT_STREQ(info.type, "i32[M]");
  EXPECT_EQ(info.role, SELVEDGE_IN);
  EXPECT_EQ(info.optional, 1);
  EXPECT_EQ(info.rank, 1u);
  EXPECT_EQ(info.code, 0);
  EXPECT_EQ(info.bits, 32);
  selvedge_scalar_info scalar;
  ASSERT_EQ(selvedge_get_scalar(signature, 0, &scalar), SELVEDGE_OK);
  EXPECT_STREQ(scalar.name, "a");
  EXPECT_EQ(scalar.default_value, 2);
  ASSERT_EQ(selvedge_dim_count(signature), 2u);
  EXPECT_STREQ(selvedge_get_dim(signature, 1), "N");
  EXPECT_EQ(selvedge_get_dim(signature, 2), nullptr);
  EXPECT_EQ(selvedge_get_tensor(signature, 3, &info), SELVEDGE_BAD_INPUT);
  EXPECT_EQ(selvedge_get_tensor(nullptr, 0, &info), SELVEDGE_BAD_INPUT);
  EXPECT_EQ(selvedge_tensor_count(nullptr), 0u);
}

TEST_F(CApi, damagedArtefacts) {
  bytes.back() ^= 1;
  EXPECT_EQ(selvedge_decode_signature(bytes.data(), bytes.size()), nullptr);
  EXPECT_THAT(selvedge_last_error(), HasSubstr("damaged"));
  EXPECT_EQ(selvedge_load_memory(bytes.data(), bytes.size(), 0), nullptr);
  EXPECT_EQ(selvedge_load_memory(bytes.data(), 0, 0), nullptr);
  EXPECT_EQ(selvedge_load("/nonexistent", 0), nullptr);
  EXPECT_EQ(selvedge_last_status(), SELVEDGE_BAD_INPUT);
  bytes.back() ^= 1;
  EXPECT_EQ(selvedge_load_memory(bytes.data(), bytes.size(), 9), nullptr);
  EXPECT_EQ(selvedge_last_status(), SELVEDGE_UNAVAILABLE);
}

TEST_F(CApi, shortBuffers) {
  std::string path = testing::TempDir() + "/c-api-test.selv";
  ASSERT_TRUE(writeArtifact(path, {test::axpyManifest, "ptx", "\177ELF"}).ok());
  char text[1000];
  ASSERT_EQ(selvedge_describe(path.c_str(), &arguments, text, sizeof(text)),
            SELVEDGE_OK)
      << selvedge_last_error();
  size_t length = std::strlen(text);
  EXPECT_EQ(selvedge_describe(path.c_str(), &arguments, text, length + 1),
            SELVEDGE_OK);
  EXPECT_EQ(selvedge_describe(path.c_str(), &arguments, text, length),
            SELVEDGE_SHORT_BUFFER);
  EXPECT_EQ(std::strlen(text), length - 1);
  EXPECT_THAT(selvedge_last_error(), HasSubstr(std::to_string(length + 1)));
  EXPECT_EQ(selvedge_describe(path.c_str(), &arguments, nullptr, 0),
            SELVEDGE_SHORT_BUFFER);
}

// A count that no memory holds is no exception of the caller's.
TEST_F(CApi, exceptionsDoNotLeave) {
  arguments.tensor_count = SIZE_MAX / 2;
  EXPECT_EQ(launch(), SELVEDGE_FAILED);
  EXPECT_STRNE(selvedge_last_error(), "");
}

} // namespace
