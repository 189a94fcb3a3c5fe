// tile.reduce: identities, presence, NaN, integers, bounds.
// SPDX-License-Identifier: MIT
#include "TestPrograms.h"

#include <cmath>
#include <gtest/gtest.h>

namespace selvedge::testing {
namespace {

/// r[M] = reduction of the present x[M, j < len] with `kind`.
std::string reduction(const std::string &kind, const std::string &type,
                      const std::string &extra = "") {
  std::string t = type == "f32" ? "f" : "n";
  Kernel kernel{{{"i", "M", "BM"}}, {"i:BM", "j:5"}, ""};
  kernel.body = R"(
    %zero = arith.constant 0 : i32
    %i = tile.range %i0 : !ni
    %j = tile.range %zero : !nj
    %Mt = tile.splat %M : i32 -> !ni
    %lent = tile.splat %len : i32 -> !nj
    %ip = arith.cmpi slt, %i, %Mt : !ni
    %jp = arith.cmpi slt, %j, %lent : !nj
    %x = tile.load %xs[%i, %j : !ni, !nj] where (%ip, %jp : !pi, !pj) : !tile.tensor<2, )" +
                type + "> -> !" + t + "ij\n" + extra + R"(
    %r = tile.reduce )" +
                kind + R"( %x over ["j"] where (%jp)" +
                (extra.empty() ? " : !pj" : ", %kept : !pj, !pij") + ") : !" +
                t + "ij -> !" + t + R"(i
    tile.store %r, %rs[%i : !ni] where (%ip : !pi) : !)" +
                t + "i, !tile.tensor<1, " + type + ">";
  Program program{{"M", "len"},
                  {{"xs", "in", type, {"M", "5"}},
                   {"rs",
                    "out",
                    type,
                    {"M"},
                    type == "f32" ? "init = 0.0 : f32" : "init = 0 : i32"}},
                  {kernel}};
  return program.text();
}

HostTensor reduceFloats(const std::string &kind, int64_t len) {
  HostTensor xs = tensor("xs", {3, 5},
                         {1, 2.5, -4, nan, nan, //
                          5, nan, 1, nan, inf,  //
                          -inf, 1, 2, 3, 4});
  Outcome outcome = run(reduction(kind, "f32"), {{"M", 3}, {"len", len}}, {xs});
  EXPECT_EQ(outcome.diagnostics, "");
  return outcome["rs"];
}

TEST(Reduce, Floats) {
  HostTensor sum = reduceFloats("add", 3);
  EXPECT_EQ(sum.values[0], -0.5);
  EXPECT_LE(sum.bounds[0], 5 * 2 * 0x1p-24 * 7.5 + 0x1p-25);
  EXPECT_TRUE(std::isnan(sum.values[1]));
  EXPECT_EQ(sum.values[2], -inf);
  HostTensor max = reduceFloats("max", 3);
  EXPECT_EQ(max.values[0], 2.5);
  EXPECT_TRUE(std::isnan(max.values[1]));
  EXPECT_EQ(max.values[2], 2);
  HostTensor min = reduceFloats("min", 3);
  EXPECT_EQ(min.values[0], -4);
  EXPECT_TRUE(std::isnan(min.values[1]));
  EXPECT_EQ(min.values[2], -inf);
  EXPECT_EQ(max.bounds, (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(min.bounds, (std::vector<double>{0, 0, 0}));
}

TEST(Reduce, OverNothingIsTheIdentity) {
  EXPECT_EQ(reduceFloats("add", 0).values, (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(reduceFloats("max", 0).values,
            (std::vector<double>{-inf, -inf, -inf}));
  EXPECT_EQ(reduceFloats("min", 0).values,
            (std::vector<double>{inf, inf, inf}));
}

TEST(Reduce, Integers) {
  HostTensor xs = tensor("xs", {1, 5}, {2147483647, 1, -7, 99, 99});
  auto reduce = [&](const char *kind, int64_t len) {
    return run(reduction(kind, "i32"), {{"M", 1}, {"len", len}}, {xs})["rs"]
        .values.at(0);
  };
  EXPECT_EQ(reduce("add", 2), -2147483648.0);
  EXPECT_EQ(reduce("max", 3), 2147483647);
  EXPECT_EQ(reduce("min", 3), -7);
  EXPECT_EQ(reduce("max", 0), -2147483648.0);
  EXPECT_EQ(reduce("min", 0), 2147483647);
}

TEST(Reduce, PresenceDecidedByARoundingError) {
  std::string kept = R"(
    %half = arith.constant 0.5 : f32
    %h = tile.splat %half : f32 -> !fij
    %kept = arith.cmpf ogt, %x, %h : !fij)";
  HostTensor xs = tensor("xs", {2, 5}, {1, 0.5001, 2, 0, 0, 1, 3, 2, 0, 0});
  xs.bounds.assign(10, 0.001);
  auto reduce = [&](const char *kind) {
    Outcome outcome =
        run(reduction(kind, "f32", kept), {{"M", 2}, {"len", 5}}, {xs});
    EXPECT_EQ(outcome.diagnostics, "");
    return outcome["rs"];
  };
  EXPECT_NEAR(reduce("add").bounds[0], 0.5, 0.01);
  EXPECT_LT(reduce("add").bounds[1], 0.01);
  EXPECT_EQ(reduce("max").bounds[0], inf);
  EXPECT_LT(reduce("max").bounds[1], 0.01);
}

} // namespace
} // namespace selvedge::testing
