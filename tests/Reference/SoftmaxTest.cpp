// The softmax operations: rows without keys, -inf, +inf and NaN scores, sinks.
// SPDX-License-Identifier: MIT
#include "TestPrograms.h"

#include <cmath>
#include <gtest/gtest.h>

namespace selvedge::testing {
namespace {

/// Softmax over j < len of s[M, N] by blocks: o[M] = sum of weights times v[N],
/// lse[M], w[M, N] = the normalised weights. With `sink`, a score sk[M] enters
/// the sum.
std::string softmax(bool sink) {
  Kernel kernel{{{"i", "M", "BM"}}, {"i:BM", "j:BN"}, ""};
  kernel.body = R"(
    %zero = arith.constant 0 : i32
    %zf = arith.constant 0.0 : f32
    %mf = arith.constant 0xFF800000 : f32
    %i = tile.range %i0 : !ni
    %Mt = tile.splat %M : i32 -> !ni
    %ip = arith.cmpi slt, %i, %Mt : !ni
    %m0 = tile.splat %mf : f32 -> !fi
    %l0 = tile.splat %zf : f32 -> !fi
    %a0 = tile.splat %zf : f32 -> !fi
    %bn = tile.block_size "BN"
    %lent = tile.splat %len : i32 -> !nj
    %mk, %lk, %ak = scf.for %j0 = %zero to %len step %bn
        iter_args(%mi = %m0, %li = %l0, %ai = %a0) -> (!fi, !fi, !fi) : i32 {
      %j = tile.range %j0 : !nj
      %jp = arith.cmpi slt, %j, %lent : !nj
      %s = tile.load %ss[%i, %j : !ni, !nj] where (%ip, %jp : !pi, !pj) : !tile.tensor<2, f32> -> !fij
      %v = tile.load %vs[%j : !nj] where (%jp : !pj) : !tile.tensor<1, f32> -> !fj
      %e, %mn, %ln, %an = tile.softmax_update %s, %mi, %li rescales (%ai : !fi)
          over "j" where (%jp : !pj) : !fij, !fi, !fi -> !fij, !fi, !fi, !fi
      %acc = tile.dot %e, %v init %an : !fi over ["j"] where (%jp : !pj) : !fij, !fj -> !fi
      scf.yield %mn, %ln, %acc : !fi, !fi, !fi
    })";
  if (sink)
    kernel.body += R"(
    %x = tile.load %sk[%i : !ni] where (%ip : !pi) : !tile.tensor<1, f32> -> !fi
    %m, %l, %a = tile.softmax_include %x, %mk, %lk rescales (%ak : !fi)
        : !fi, !fi, !fi -> !fi, !fi, !fi)";
  std::string m = sink ? "%m" : "%mk", l = sink ? "%l" : "%lk",
              a = sink ? "%a" : "%ak";
  kernel.body += R"(
    %O = tile.softmax_normalize )" +
                 a + ", " + l + R"( : !fi, !fi -> !fi
    %L = tile.softmax_lse )" +
                 m + ", " + l + R"( : !fi, !fi -> !fi
    tile.store %O, %o[%i : !ni] where (%ip : !pi) : !fi, !tile.tensor<1, f32>
    tile.store %L, %lse[%i : !ni] where (%ip : !pi) : !fi, !tile.tensor<1, f32>
    scf.for %j0 = %zero to %len step %bn : i32 {
      %j = tile.range %j0 : !nj
      %jp = arith.cmpi slt, %j, %lent : !nj
      %s = tile.load %ss[%i, %j : !ni, !nj] where (%ip, %jp : !pi, !pj) : !tile.tensor<2, f32> -> !fij
      %p = tile.softmax_weight %s, )" +
                 m + ", " + l + R"( : !fij, !fi, !fi -> !fij
      tile.store %p, %w[%i, %j : !ni, !nj] where (%ip, %jp : !pi, !pj) : !fij, !tile.tensor<2, f32>
    })";
  Program program{{"M", "N", "len"},
                  {{"ss", "in", "f32", {"M", "N"}},
                   {"vs", "in", "f32", {"N"}},
                   {"sk", "in", "f32", {"M"}, "isOptional = true"},
                   {"o", "out", "f32", {"M"}, "init = 0.0 : f32"},
                   {"lse", "out", "f32", {"M"}, "init = 0.0 : f32"},
                   {"w", "out", "f32", {"M", "N"}, "init = 0.0 : f32"}},
                  {kernel}};
  return program.text();
}

Outcome compute(std::vector<double> scores, std::vector<double> values,
                int64_t rows, int64_t length, int64_t block = 2,
                std::vector<double> sink = {}) {
  auto n = static_cast<int64_t>(values.size());
  std::vector<HostTensor> inputs{tensor("ss", {rows, n}, std::move(scores)),
                                 tensor("vs", {n}, std::move(values))};
  bool hasSink = !sink.empty();
  if (hasSink)
    inputs.push_back(tensor("sk", {rows}, std::move(sink)));
  Outcome outcome =
      run(softmax(hasSink), {{"M", rows}, {"N", n}, {"len", length}}, inputs,
          {block});
  EXPECT_EQ(outcome.diagnostics, "");
  return outcome;
}

TEST(Softmax, WeightedMean) {
  double a = std::exp(1.0), b = std::exp(2.0), c = std::exp(-1.0);
  for (int64_t block : {1, 2, 3, 64}) {
    Outcome r = compute({1, 2, -1}, {10, 20, 30}, 1, 3, block);
    EXPECT_NEAR(r["o"].values[0], (10 * a + 20 * b + 30 * c) / (a + b + c),
                1e-12);
    EXPECT_NEAR(r["lse"].values[0], std::log(a + b + c), 1e-12);
    EXPECT_NEAR(r["w"].values[2], c / (a + b + c), 1e-14);
    EXPECT_LT(r["o"].bounds[0], 20 * 3e-5);
    EXPECT_LT(r["lse"].bounds[0], 2e-5);
    EXPECT_LT(r["w"].bounds[2], 2e-5);
  }
}

TEST(Softmax, RowsWithoutKeys) {
  Outcome r = compute({nan, nan, nan, nan}, {nan, nan}, 2, 0);
  EXPECT_EQ(r["o"].values, (std::vector<double>{0, 0}));
  EXPECT_EQ(r["lse"].values, (std::vector<double>{-inf, -inf}));
  EXPECT_EQ(r["o"].bounds, (std::vector<double>{0, 0}));
  EXPECT_EQ(r["lse"].bounds, (std::vector<double>{0, 0}));
}

TEST(Softmax, ScoresOfMinusInfinity) {
  // A row of nothing else counts as without keys, whatever precedes others.
  Outcome r = compute({-inf, -inf, -inf, -inf, //
                       -inf, -inf, 3, -inf},
                      {1, 2, 5, 4}, 2, 4);
  EXPECT_EQ(r["o"].values[0], 0);
  EXPECT_EQ(r["lse"].values[0], -inf);
  EXPECT_EQ(r["o"].values[1], 5);
  EXPECT_EQ(r["lse"].values[1], 3);
  EXPECT_EQ(r["w"].values, (std::vector<double>{0, 0, 0, 0, 0, 0, 1, 0}));
}

TEST(Softmax, InfinityAndNaNSpoilTheirRowOnly) {
  for (double bad : {inf, nan})
    for (int64_t block : {1, 2, 64}) {
      Outcome r = compute({1, bad, 2, 1, 0, 0}, {1, 1, 1}, 2, 3, block);
      EXPECT_TRUE(std::isnan(r["o"].values[0]));
      EXPECT_TRUE(std::isnan(r["lse"].values[0]));
      EXPECT_TRUE(std::isnan(r["w"].values[0]));
      EXPECT_NEAR(r["o"].values[1], 1, 1e-12);
      EXPECT_TRUE(std::isfinite(r["lse"].values[1]));
    }
}

TEST(Softmax, KeysPastTheLengthDoNotExist) {
  Outcome r = compute({1, 1, nan, inf}, {2, 4, nan, inf}, 1, 2, 64);
  EXPECT_NEAR(r["o"].values[0], 3, 1e-12);
  EXPECT_EQ(r["w"].values[2], 0);
}

TEST(Softmax, SinkEntersTheSumOnly) {
  double e = std::exp(1.0);
  Outcome r = compute({0, 1, 2, 3}, {1, 1}, 2, 2, 1, {1, -inf});
  EXPECT_NEAR(r["o"].values[0], (1 + e) / (1 + 2 * e), 1e-12);
  EXPECT_NEAR(r["lse"].values[0], std::log(1 + 2 * e), 1e-12);
  EXPECT_NEAR(r["o"].values[1], 1, 1e-12);
  // Without keys the sink is all there is.
  r = compute({nan, nan}, {nan}, 2, 0, 1, {0.5, -inf});
  EXPECT_EQ(r["o"].values, (std::vector<double>{0, 0}));
  EXPECT_EQ(r["lse"].values, (std::vector<double>{0.5, -inf}));
}

TEST(Softmax, TheSmallestFloatAsAMaskLeavesBoundsTight) {
  const double low = -0x1.fffffep127;
  for (int64_t block : {1, 2, 4}) {
    Outcome r =
        compute({low, low, 1, 2, 2, 1, low, low}, {1, 1, 3, 5}, 2, 4, block);
    double e = std::exp(1.0);
    EXPECT_NEAR(r["o"].values[0], (3 + 5 * e) / (1 + e), 1e-12);
    EXPECT_NEAR(r["o"].values[1], 1, 1e-12);
    for (int i : {0, 1}) {
      EXPECT_LT(r["o"].bounds[i], 1e-4);
      EXPECT_LT(r["lse"].bounds[i], 1e-4);
    }
    EXPECT_LT(r["w"].bounds[0], 1e-30);
  }
}

TEST(Softmax, HugeScoresStayExact) {
  Outcome r = compute({3e38, -3e38, -1e30, -2e30}, {1, 2}, 2, 2);
  EXPECT_EQ(r["o"].values, (std::vector<double>{1, 1}));
  EXPECT_EQ(r["w"].values, (std::vector<double>{1, 0, 1, 0}));
}

TEST(Softmax, ScoresBeyondTheRangeHaveNoWeightBesideOthers) {
  // A bias of the smallest float, twice: -Inf in f32, not in every kernel.
  HostTensor scores = tensor("ss", {2, 2}, {-inf, 1, -inf, -inf});
  scores.bounds = {inf, 0, inf, inf};
  for (int64_t block : {1, 2}) {
    Outcome r = run(softmax(false), {{"M", 2}, {"N", 2}, {"len", 2}},
                    {scores, tensor("vs", {2}, {8, 4})}, {block});
    ASSERT_EQ(r.diagnostics, "");
    EXPECT_EQ(r["o"].values[0], 4);
    EXPECT_LT(r["o"].bounds[0], 1e-4);
    EXPECT_EQ(r["o"].bounds[1], inf);
    EXPECT_EQ(r["lse"].bounds[1], inf);
  }
}

} // namespace
} // namespace selvedge::testing
