// tile.dot: presence, exact removal of masked lanes, non-finite data, bounds.
// SPDX-License-Identifier: MIT
#include "TestPrograms.h"

#include <chrono>
#include <cmath>
#include <gtest/gtest.h>

namespace selvedge::testing {
namespace {

/// r[M, N] = sum over k < K of a[M, k] b[k, N]; tiles are a[i, d], b[j, d].
/// `where` are the predicates of the dot, of %kept (d < len), %below (d <= i)
/// and %general (d <= i + j).
std::string product(const std::string &where, const std::string &depth,
                    const std::string &type = "f32") {
  std::string t = type == "f32" ? "f" : "b";
  // Three axes are slow: only where they are used.
  std::string general = where.find("%general") == std::string::npos ? "" : R"(
    %i3 = tile.broadcast %i : !ni -> !nijd
    %j3 = tile.broadcast %j : !nj -> !nijd
    %d3 = tile.broadcast %d : !nd -> !nijd
    %ij3 = arith.addi %i3, %j3 : !nijd
    %general = arith.cmpi sle, %d3, %ij3 : !nijd)";
  Kernel kernel{
      {{"i", "M", "BM"}, {"j", "N", "BN"}}, {"i:BM", "j:BN", "d:" + depth}, ""};
  kernel.body = R"(
    %zero = arith.constant 0 : i32
    %i = tile.range %i0 : !ni
    %j = tile.range %j0 : !nj
    %d = tile.range %zero : !nd
    %Mt = tile.splat %M : i32 -> !ni
    %Nt = tile.splat %N : i32 -> !nj
    %lent = tile.splat %len : i32 -> !nd
    %ip = arith.cmpi slt, %i, %Mt : !ni
    %jp = arith.cmpi slt, %j, %Nt : !nj
    %kept = arith.cmpi slt, %d, %lent : !nd
    %iid = tile.broadcast %i : !ni -> !nid
    %did = tile.broadcast %d : !nd -> !nid
    %below = arith.cmpi sle, %did, %iid : !nid
)" + general + R"(
    %x = tile.load %a[%i, %d : !ni, !nd] where (%ip : !pi) : !tile.tensor<2, )" +
                type + "> -> !" + t + R"(id
    %y = tile.load %b[%d, %j : !nd, !nj] where (%jp : !pj) : !tile.tensor<2, )" +
                type + "> -> !" + t + R"(jd
    %r = tile.dot %x, %y over ["d"] )" +
                where + " : !" + t + "id, !" + t + R"(jd -> !fij
    tile.store %r, %rs[%i, %j : !ni, !nj] where (%ip, %jp : !pi, !pj)
        : !fij, !tile.tensor<2, f32>)";
  Program program{{"M", "N", "len"},
                  {{"a", "in", type, {"M", depth}},
                   {"b", "in", type, {depth, "N"}},
                   {"rs", "out", "f32", {"M", "N"}, "init = 0.0 : f32"}},
                  {kernel}};
  return "#ijd = #tile.axes<\"i\", \"j\", \"d\">\n"
         "!nijd = tensor<?x?x?xi32, #ijd>\n!pijd = tensor<?x?x?xi1, #ijd>\n" +
         program.text();
}

TEST(Dot, SumsProducts) {
  std::string text = product("", "3");
  for (int64_t block : {1, 2, 3, 64}) {
    Outcome outcome = run(text, {{"M", 2}, {"N", 2}, {"len", 3}},
                          {tensor("a", {2, 3}, {1, 2, 3, 4, 5, 6}),
                           tensor("b", {3, 2}, {1, 0, 2, 1, 3, -1})},
                          {block});
    ASSERT_EQ(outcome.diagnostics, "");
    EXPECT_EQ(outcome["rs"].values, (std::vector<double>{14, -1, 32, -1}));
  }
}

TEST(Dot, LanesThatAreAbsentAlongTheSumDoNotContribute) {
  HostTensor a = tensor("a", {2, 3}, {1, 2, nan, 4, 5, inf});
  HostTensor b = tensor("b", {3, 2}, {1, 0, 2, 1, nan, -inf});
  Outcome outcome = run(product("where (%kept : !pd)", "3"),
                        {{"M", 2}, {"N", 2}, {"len", 2}}, {a, b});
  ASSERT_EQ(outcome.diagnostics, "");
  EXPECT_EQ(outcome["rs"].values, (std::vector<double>{5, 2, 14, 5}));
  // Over no lane at all the sum is 0.
  outcome = run(product("where (%kept : !pd)", "3"),
                {{"M", 2}, {"N", 2}, {"len", 0}}, {a, b});
  EXPECT_EQ(outcome["rs"].values, (std::vector<double>{0, 0, 0, 0}));
  EXPECT_EQ(outcome["rs"].bounds, (std::vector<double>{0, 0, 0, 0}));
}

TEST(Dot, AMaskOfOneOperandRemovesNaNOfTheOther) {
  // d <= i: row 0 never sees b[1..2], whatever it holds; row 1 sees b[1].
  HostTensor a = tensor("a", {3, 3}, {1, nan, nan, 1, 2, nan, 1, 2, 3});
  HostTensor b = tensor("b", {3, 2}, {1, 10, nan, 20, 3, inf});
  Outcome outcome = run(product("where (%below : !pid)", "3"),
                        {{"M", 3}, {"N", 2}, {"len", 3}}, {a, b});
  ASSERT_EQ(outcome.diagnostics, "");
  const std::vector<double> &r = outcome["rs"].values;
  EXPECT_EQ(r[0], 1);
  EXPECT_EQ(r[1], 10);
  EXPECT_TRUE(std::isnan(r[2]));
  EXPECT_EQ(r[3], 50);
  EXPECT_TRUE(std::isnan(r[4]));
  EXPECT_EQ(r[5], inf);
}

TEST(Dot, NonFiniteDataReachesWhatDependsOnIt) {
  HostTensor a = tensor("a", {3, 2}, {1, nan, inf, 0, 1, 1});
  HostTensor b = tensor("b", {2, 2}, {0, 1, 2, inf});
  Outcome outcome =
      run(product("", "2"), {{"M", 3}, {"N", 2}, {"len", 2}}, {a, b});
  ASSERT_EQ(outcome.diagnostics, "");
  const std::vector<double> &r = outcome["rs"].values;
  EXPECT_TRUE(std::isnan(r[0]));
  EXPECT_TRUE(std::isnan(r[1]));
  EXPECT_TRUE(std::isnan(r[2])); // inf * 0
  EXPECT_TRUE(std::isnan(r[3])); // inf * 1 + 0 * inf
  EXPECT_EQ(r[4], 2);
  EXPECT_EQ(r[5], inf);
  for (size_t i : {0, 1, 2, 3, 5})
    EXPECT_EQ(outcome["rs"].bounds[i], 0);
}

TEST(Dot, PredicateOverBothOperands) {
  HostTensor a = tensor("a", {2, 3}, {1, 1, nan, 1, 1, 1});
  HostTensor b = tensor("b", {3, 2}, {1, 1, 2, 2, 4, 4});
  Outcome outcome = run(product("where (%general : !pijd)", "3"),
                        {{"M", 2}, {"N", 2}, {"len", 3}}, {a, b});
  ASSERT_EQ(outcome.diagnostics, "");
  EXPECT_EQ(outcome["rs"].values, (std::vector<double>{1, 3, 3, 7}));
}

TEST(Dot, BoundsHoldSinglePrecisionSums) {
  const int64_t m = 9, n = 11, k = 96;
  for (const char *type : {"f32", "bf16"}) {
    bool bfloat = std::string(type) == "bf16";
    HostTensor a = tensor("a", {m, k}, randomNumbers(m * k, 1, bfloat));
    HostTensor b = tensor("b", {k, n}, randomNumbers(k * n, 2, bfloat));
    Outcome outcome =
        run(product("", "96", type), {{"M", m}, {"N", n}, {"len", k}}, {a, b});
    ASSERT_EQ(outcome.diagnostics, "");
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        float sum = 0;
        double size = 0;
        for (int64_t l = 0; l < k; ++l) {
          float x = a.values[i * k + l], y = b.values[l * n + j];
          sum += x * y;
          size += std::abs(x * y);
        }
        double bound = outcome["rs"].bounds[i * n + j];
        EXPECT_LE(std::abs(sum - outcome["rs"].values[i * n + j]), bound);
        EXPECT_LE(bound, 2.1 * k * 0x1p-24 * size);
      }
  }
}

TEST(Dot, SumsThatMayOverflowOnTheWayAreUnbounded) {
  double big = std::ldexp(1, 127);
  Outcome outcome =
      run(product("", "3"), {{"M", 2}, {"N", 1}, {"len", 3}},
          {tensor("a", {2, 3}, {big, big, -big, big, -big / 2, 0}),
           tensor("b", {3, 1}, {1, 1, 1})});
  ASSERT_EQ(outcome.diagnostics, "");
  EXPECT_EQ(outcome["rs"].values, (std::vector<double>{big, big / 2}));
  EXPECT_EQ(outcome["rs"].bounds[0], inf);
  EXPECT_LT(outcome["rs"].bounds[1], big);
}

TEST(Dot, IsFastEnough) {
  const int64_t n = 512;
  HostTensor a = tensor("a", {n, n}, randomNumbers(n * n, 1));
  HostTensor b = tensor("b", {n, n}, randomNumbers(n * n, 2));
  auto start = std::chrono::steady_clock::now();
  Outcome outcome =
      run(product("", "512"), {{"M", n}, {"N", n}, {"len", n}}, {a, b});
  std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - start;
  EXPECT_EQ(outcome.diagnostics, "");
  // Generous: other processes share the machine. A fifth of a second is usual.
  EXPECT_LT(elapsed.count(), 20);
  RecordProperty("seconds", std::to_string(elapsed.count()));
}

} // namespace
} // namespace selvedge::testing
