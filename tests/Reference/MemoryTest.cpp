// Loads and stores: presence, gathers, initial values, temps, optional tensors.
// SPDX-License-Identifier: MIT
#include "TestPrograms.h"

#include <cmath>
#include <gtest/gtest.h>

namespace selvedge::testing {
namespace {

const char *const lanes = R"(
    %i = tile.range %i0 : !ni
    %Nt = tile.splat %N : i32 -> !ni
    %in = arith.cmpi slt, %i, %Nt : !ni
)";

/// One kernel over i in N.
Program overN(std::vector<Arg> tensors, std::string body) {
  return {{"N"},
          std::move(tensors),
          {{{{"i", "N", "BM"}}, {"i:BM"}, lanes + std::move(body)}}};
}

const char *const copyWhere = R"(
    %x = tile.load %xs[%i : !ni] where (%in : !pi) : !tile.tensor<1, f32> -> !fi
    %zero = arith.constant 0.0 : f32
    %z = tile.splat %zero : f32 -> !fi
    %positive = arith.cmpf ogt, %x, %z : !fi
    tile.store %x, %rs[%i : !ni] where (%in, %positive : !pi, !pi) : !fi, !tile.tensor<1, f32>
)";

TEST(Memory, UnstoredElementsKeepTheirInitialValue) {
  HostTensor xs = tensor("xs", {4}, {1, -2, nan, 4});
  Outcome zero = run(overN({{"xs", "in", "f32", {"N"}},
                            {"rs", "out", "f32", {"N"}, "init = 7.0 : f32"}},
                           copyWhere)
                         .text(),
                     {{"N", 4}}, {xs});
  EXPECT_EQ(zero.diagnostics, "");
  EXPECT_EQ(zero["rs"].values, (std::vector<double>{1, 7, 7, 4}));
  EXPECT_EQ(zero["rs"].dtype, "f32");
  EXPECT_EQ(zero["rs"].shape, (std::vector<int64_t>{4}));

  HostTensor old = tensor("rs", {4}, {10, 20, 30, 40});
  std::vector<double> kept{1, 20, 30, 4};
  Outcome keep = run(overN({{"xs", "in", "f32", {"N"}},
                            {"rs", "out", "f32", {"N"}, "init = \"keep\""}},
                           copyWhere)
                         .text(),
                     {{"N", 4}}, {xs, old});
  EXPECT_EQ(keep["rs"].values, kept);
  Outcome inout =
      run(overN({{"xs", "in", "f32", {"N"}}, {"rs", "inout", "f32", {"N"}}},
                copyWhere)
              .text(),
          {{"N", 4}}, {xs, old});
  EXPECT_EQ(inout["rs"].values, kept);
}

TEST(Memory, AbsentLanesArePoison) {
  // The predicate of the load is missing on the store: poison must show.
  Outcome outcome = run(overN({{"xs", "in", "f32", {"N"}},
                               {"rs", "out", "f32", {"N"}, "init = 0.0 : f32"}},
                              R"(
    %one = arith.constant 1 : i32
    %ones = tile.splat %one : i32 -> !ni
    %first = arith.cmpi slt, %i, %ones : !ni
    %x = tile.load %xs[%i : !ni] where (%first : !pi) : !tile.tensor<1, f32> -> !fi
    tile.store %x, %rs[%i : !ni] where (%in : !pi) : !fi, !tile.tensor<1, f32>
)")
                            .text(),
                        {{"N", 2}}, {tensor("xs", {2}, {1, 2})});
  ASSERT_EQ(outcome.diagnostics, "");
  EXPECT_EQ(outcome["rs"].values[0], 1);
  EXPECT_TRUE(std::isnan(outcome["rs"].values[1]));
}

TEST(Memory, ReportsTheElementsThatAreRead) {
  std::map<std::string, std::vector<uint8_t>> reads;
  ReferenceOptions options;
  options.reads = &reads;
  Outcome outcome = run(
      overN({{"xs", "in", "f32", {"N"}},
             {"unused", "in", "f32", {"N"}},
             {"rs", "out", "f32", {"N"}, "init = 0.0 : f32"}},
            R"(
    %two = arith.constant 2 : i32
    %twos = tile.splat %two : i32 -> !ni
    %first = arith.cmpi slt, %i, %twos : !ni
    %x = tile.load %xs[%i : !ni] where (%in, %first : !pi, !pi) : !tile.tensor<1, f32> -> !fi
    tile.store %x, %rs[%i : !ni] where (%in, %first : !pi, !pi) : !fi, !tile.tensor<1, f32>
)")
          .text(),
      {{"N", 4}},
      {tensor("xs", {4}, {1, 2, 3, 4}), tensor("unused", {4}, {1, 2, 3, 4})},
      options);
  ASSERT_EQ(outcome.diagnostics, "");
  EXPECT_EQ(reads.size(), 2u);
  EXPECT_EQ(reads["xs"], (std::vector<uint8_t>{1, 1, 0, 0}));
  EXPECT_EQ(reads["unused"], (std::vector<uint8_t>{0, 0, 0, 0}));
}

TEST(Memory, GathersAndScalarIndices) {
  Program program{{"N", "R"},
                  {{"at", "in", "i32", {"N"}},
                   {"xs", "in", "f32", {"2", "R", "3"}},
                   {"rs", "out", "f32", {"N", "3"}, "init = 0.0 : f32"}},
                  {{{{"i", "N", "BM"}}, {"i:BM", "d:3"}, lanes + std::string(R"(
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %d = tile.range %zero : !nd
    %row = tile.load %at[%i : !ni] where (%in : !pi) : !tile.tensor<1, i32> -> !ni
    %Rt = tile.splat %R : i32 -> !ni
    %zt = tile.splat %zero : i32 -> !ni
    %below = arith.cmpi slt, %row, %Rt : !ni
    %above = arith.cmpi sge, %row, %zt : !ni
    %x = tile.load %xs[%one, %row, %d : i32, !ni, !nd]
        where (%in, %below, %above : !pi, !pi, !pi) : !tile.tensor<3, f32> -> !fid
    tile.store %x, %rs[%i, %d : !ni, !nd] where (%in, %below, %above : !pi, !pi, !pi)
        : !fid, !tile.tensor<2, f32>
)")}}};
  std::vector<double> xs(12);
  for (size_t i = 0; i < xs.size(); ++i)
    xs[i] = static_cast<double>(i);
  for (int64_t block : {1, 2, 64}) {
    Outcome outcome =
        run(program.text(), {{"N", 4}, {"R", 2}},
            {tensor("at", {4}, {1, 0, -5, 2}), tensor("xs", {2, 2, 3}, xs)},
            {block});
    ASSERT_EQ(outcome.diagnostics, "");
    EXPECT_EQ(outcome["rs"].values,
              (std::vector<double>{9, 10, 11, 6, 7, 8, 0, 0, 0, 0, 0, 0}));
  }
}

TEST(Memory, AStoreRepeatsItsValueAlongTheIndices) {
  Program program{{"N"},
                  {{"xs", "in", "f32", {"N"}},
                   {"rs", "out", "f32", {"N", "2"}, "init = 0.0 : f32"}},
                  {{{{"i", "N", "BM"}}, {"i:BM", "d:2"}, lanes + std::string(R"(
    %zero = arith.constant 0 : i32
    %d = tile.range %zero : !nd
    %x = tile.load %xs[%i : !ni] where (%in : !pi) : !tile.tensor<1, f32> -> !fi
    tile.store %x, %rs[%i, %d : !ni, !nd] where (%in : !pi) : !fi, !tile.tensor<2, f32>
)")}}};
  Outcome outcome =
      run(program.text(), {{"N", 2}}, {tensor("xs", {2}, {3, 5})});
  ASSERT_EQ(outcome.diagnostics, "");
  EXPECT_EQ(outcome["rs"].values, (std::vector<double>{3, 3, 5, 5}));
}

TEST(Memory, ScalarAccessesAndTempsBetweenKernels) {
  Program program{{"N"},
                  {{"xs", "in", "f32", {"N"}},
                   {"t", "temp", "f32", {"N"}},
                   {"rs", "out", "f32", {"N"}, "init = 0.0 : f32"}},
                  {{{{"i", "N", ""}}, {}, R"(
    %x = tile.load %xs[%i0 : i32] : !tile.tensor<1, f32> -> f32
    %y = arith.mulf %x, %x : f32
    tile.store %y, %t[%i0 : i32] : f32, !tile.tensor<1, f32>)"},
                   {{{"i", "N", ""}}, {}, R"(
    %one = arith.constant 1 : i32
    %last = arith.subi %N, %one : i32
    %from = arith.subi %last, %i0 : i32
    %x = tile.load %t[%from : i32] : !tile.tensor<1, f32> -> f32
    tile.store %x, %rs[%i0 : i32] : f32, !tile.tensor<1, f32>)"}}};
  Outcome outcome =
      run(program.text(), {{"N", 3}}, {tensor("xs", {3}, {1, 2, 3})});
  ASSERT_EQ(outcome.diagnostics, "");
  EXPECT_EQ(outcome["rs"].values, (std::vector<double>{9, 4, 1}));
  EXPECT_EQ(outcome.outputs.size(), 1u);
}

TEST(Memory, OptionalTensors) {
  Program program = overN({{"len", "in", "i32", {"1"}, "isOptional = true"},
                           {"rs", "out", "i32", {"N"}, "init = 0 : i32"}},
                          R"(
    %zero = arith.constant 0 : i32
    %has = tile.is_present %len : !tile.tensor<1, i32>
    %l = tile.load %len[%zero : i32] where (%has : i1) : !tile.tensor<1, i32> -> i32
    %n = arith.select %has, %l, %N : i32
    %nt = tile.splat %n : i32 -> !ni
    tile.store %nt, %rs[%i : !ni] where (%in : !pi) : !ni, !tile.tensor<1, i32>
)");
  Outcome with = run(program.text(), {{"N", 2}}, {tensor("len", {1}, {5})});
  EXPECT_EQ(with["rs"].values, (std::vector<double>{5, 5})) << with.diagnostics;
  Outcome without = run(program.text(), {{"N", 2}}, {});
  EXPECT_EQ(without["rs"].values, (std::vector<double>{2, 2}))
      << without.diagnostics;
}

TEST(Memory, InputsAreRoundedToTheirType) {
  Program program = overN({{"xs", "in", "bf16", {"N"}},
                           {"rs", "out", "bf16", {"N"}, "init = 0.0 : f32"}},
                          R"(
    %x = tile.load %xs[%i : !ni] where (%in : !pi) : !tile.tensor<1, bf16> -> !bi
    tile.store %x, %rs[%i : !ni] where (%in : !pi) : !bi, !tile.tensor<1, bf16>
)");
  Outcome outcome = run(program.text(), {{"N", 4}},
                        {tensor("xs", {4}, {257, 259, 1e39, 1e-45})});
  ASSERT_EQ(outcome.diagnostics, "");
  EXPECT_EQ(outcome["rs"].values, (std::vector<double>{256, 260, inf, 0}));
  EXPECT_EQ(outcome["rs"].bounds, (std::vector<double>{0, 0, 0, 0}));
}

TEST(Memory, SizesBoundByThePlan) {
  std::string text = overN({{"xs", "in", "f32", {"N"}},
                            {"rs", "out", "i32", {"N"}, "init = 0 : i32"}},
                           R"(
    %size = tile.block_size "BM"
    %s = tile.splat %size : i32 -> !ni
    tile.store %s, %rs[%i : !ni] where (%in : !pi) : !ni, !tile.tensor<1, i32>
)")
                         .text();
  const std::string axes = "block = \"BM\">] {";
  size_t at = text.find(axes);
  ASSERT_NE(at, std::string::npos);
  text.insert(at + axes.size() - 1, "sizes {i = 8 : i64} ");
  Outcome outcome = run(text, {{"N", 3}}, {tensor("xs", {3}, {1, 2, 3})});
  ASSERT_EQ(outcome.diagnostics, "");
  EXPECT_EQ(outcome["rs"].values, (std::vector<double>{8, 8, 8}));
}

TEST(Memory, IntegerInputsAreTruncatedAndSaturated) {
  Program program = overN({{"xs", "in", "i32", {"N"}},
                           {"rs", "out", "i32", {"N"}, "init = 0 : i32"}},
                          R"(
    %x = tile.load %xs[%i : !ni] where (%in : !pi) : !tile.tensor<1, i32> -> !ni
    tile.store %x, %rs[%i : !ni] where (%in : !pi) : !ni, !tile.tensor<1, i32>
)");
  Outcome outcome = run(program.text(), {{"N", 4}},
                        {tensor("xs", {4}, {-2.5, 1e300, -inf, nan})});
  ASSERT_EQ(outcome.diagnostics, "");
  EXPECT_EQ(outcome["rs"].values,
            (std::vector<double>{-2, 2147483647, -2147483648.0, 0}));
}

TEST(Memory, EmptyTensorsRunNoIteration) {
  Outcome outcome = run(overN({{"xs", "in", "f32", {"N"}},
                               {"rs", "out", "f32", {"N"}, "init = 0.0 : f32"}},
                              copyWhere)
                            .text(),
                        {{"N", 0}}, {tensor("xs", {0}, {})});
  EXPECT_EQ(outcome.diagnostics, "");
  EXPECT_EQ(outcome["rs"].values.size(), 0u);
}

} // namespace
} // namespace selvedge::testing
