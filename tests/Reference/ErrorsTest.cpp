// What the reference refuses, and how it says so.
// SPDX-License-Identifier: MIT
#include "TestPrograms.h"

#include <gtest/gtest.h>

namespace selvedge::testing {
namespace {

Program withBody(std::string body, std::string promises = {}) {
  return {{"N"},
          {{"xs", "in", "f32", {"N"}},
           {"ns", "in", "i32", {"N"}, "isOptional = true"},
           {"rs", "out", "f32", {"N"}, "init = 0.0 : f32"}},
          {{{{"i", "N", "BM"}}, {"i:BM"}, std::move(body)}},
          {},
          std::move(promises)};
}

std::string
errorOf(const Program &program,
        std::vector<HostTensor> inputs = {tensor("xs", {2}, {1, 2})},
        std::map<std::string, int64_t> dims = {{"N", 2}}) {
  Outcome outcome = run(program.text(), dims, inputs);
  EXPECT_TRUE(outcome.outputs.empty());
  return outcome.diagnostics;
}

void expectIn(const std::string &part, const std::string &text) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Errors, PresentLaneOutsideTheShape) {
  std::string text = errorOf(withBody(R"(
    %two = arith.constant 2 : i32
    %t = tile.splat %two : i32 -> !ni
    %i = tile.range %i0 : !ni
    %at = arith.addi %i, %t : !ni
    %x = tile.load %xs[%at : !ni] : !tile.tensor<1, f32> -> !fi)"));
  expectIn("test.mlir:", text);
  expectIn("error: 'tile.load' accesses tensor 'xs' at [2], but its shape is "
           "[2]",
           text);
  text = errorOf(withBody(R"(
    %minus = arith.constant -1 : i32
    %x = arith.constant 1.0 : f32
    tile.store %x, %rs[%minus : i32] : f32, !tile.tensor<1, f32>)"));
  expectIn("'tile.store' accesses tensor 'rs' at [-1]", text);
}

TEST(Errors, UnknownOperation) {
  std::string text = errorOf(withBody(R"(
    %x = arith.constant 1.0 : f32
    %y = math.atan %x : f32)"));
  expectIn("'math.atan' is not an operation that the reference executes", text);
}

TEST(Errors, UnknownAxis) {
  expectIn("axis 'j'", errorOf(withBody("%j = tile.range %i0 : !nj")));
}

TEST(Errors, TensorThatWasNotPassed) {
  std::string text = errorOf(withBody(R"(
    %n = tile.load %ns[%i0 : i32] : !tile.tensor<1, i32> -> i32)"));
  expectIn("tensor 'ns', which was not passed", text);
}

TEST(Errors, WritesToInputs) {
  std::string text = errorOf(withBody(R"(
    %x = arith.constant 1.0 : f32
    tile.store %x, %xs[%i0 : i32] : f32, !tile.tensor<1, f32>)"));
  expectIn("'tile.store' writes input 'xs'", text);
}

TEST(Errors, StoredTwice) {
  std::string text = errorOf(withBody(R"(
    %x = arith.constant 1.0 : f32
    tile.store %x, %rs[%i0 : i32] : f32, !tile.tensor<1, f32>
    tile.store %x, %rs[%i0 : i32] : f32, !tile.tensor<1, f32>)"));
  expectIn("stores element 0 of tensor 'rs' twice in one kernel", text);
}

TEST(Errors, LoopStep) {
  std::string text = errorOf(withBody(R"(
    %zero = arith.constant 0 : i32
    scf.for %j = %zero to %N step %zero : i32 {
    })"));
  expectIn("'scf.for' has step 0", text);
}

TEST(Errors, Arguments) {
  Program program = withBody("");
  HostTensor xs = tensor("xs", {2}, {1, 2});
  expectIn("tensor 'xs' is missing", errorOf(program, {}));
  expectIn("dim 'N' is missing", errorOf(program, {xs}, {}));
  expectIn("dim 'N' is -1", errorOf(program, {xs}, {{"N", -1}}));
  expectIn("tensor 'xs' has shape [2], but the dims give [3]",
           errorOf(program, {xs}, {{"N", 3}}));
  expectIn("tensor 'xs' has more than 1073741824 elements",
           errorOf(program, {xs}, {{"N", 2000000000}}));
  expectIn("tensor 'xs' has 1 elements",
           errorOf(program, {tensor("xs", {2}, {1})}));
  xs.dtype = "bf16";
  expectIn("tensor 'xs' has type bf16, but the op takes f32",
           errorOf(program, {xs}));
  program.scalars = {"scale"};
  expectIn("scalar 'scale' is missing", errorOf(program));
}

TEST(Errors, BrokenPromise) {
  Program program =
      withBody("", "#tile.require<tensor = \"ns\", lo = ()[s0] -> (0), hi = "
                   "()[s0] -> (s0)>");
  std::vector<HostTensor> inputs{tensor("xs", {2}, {1, 2}),
                                 tensor("ns", {2}, {2, 3})};
  expectIn("element 1 of tensor 'ns' is 3, but the op requires it in 0..2",
           errorOf(program, inputs));
}

TEST(Errors, TheFirstFailingIterationIsReported) {
  Program program = withBody(R"(
    %x = tile.load %ns[%i0 : i32] : !tile.tensor<1, i32> -> i32
    %y = tile.load %xs[%x : i32] : !tile.tensor<1, f32> -> f32)");
  program.kernels[0].ranges[0].block = "";
  program.kernels[0].axes.clear();
  std::vector<double> indices(64), values(64, 0.0);
  for (size_t i = 0; i < indices.size(); ++i)
    indices[i] = i < 5 ? 0 : 100 + static_cast<double>(i);
  for (int repeat = 0; repeat < 20; ++repeat)
    expectIn("at [105]",
             errorOf(program,
                     {tensor("xs", {64}, values), tensor("ns", {64}, indices)},
                     {{"N", 64}}));
}

} // namespace
} // namespace selvedge::testing
