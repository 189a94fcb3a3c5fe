// arith and math operations: values, wrapping, uncertainty.
// SPDX-License-Identifier: MIT
#include "TestPrograms.h"

#include <cmath>
#include <gtest/gtest.h>

namespace selvedge::testing {
namespace {

/// Runs `body`, which makes %r of type f32 or i32 from %x and %y (tiles of
/// `type`) over the axis i.
HostTensor compute(const std::string &body, const std::vector<double> &x,
                   const std::vector<double> &y,
                   const std::string &type = "f32",
                   const std::string &resultType = "f32",
                   std::vector<double> xBounds = {}) {
  std::string tile = type == "f32" ? "!fi" : "!ni";
  std::string result = resultType == "f32" ? "!fi" : "!ni";
  std::string handle = "!tile.tensor<1, " + type + ">";
  Kernel kernel{{{"i", "N", "BM"}}, {"i:BM"}, ""};
  kernel.body = R"(
    %i = tile.range %i0 : !ni
    %Nt = tile.splat %N : i32 -> !ni
    %in = arith.cmpi slt, %i, %Nt : !ni
    %x = tile.load %xs[%i : !ni] where (%in : !pi) : )" +
                handle + " -> " + tile + R"(
    %y = tile.load %ys[%i : !ni] where (%in : !pi) : )" +
                handle + " -> " + tile + "\n" + body + R"(
    tile.store %r, %rs[%i : !ni] where (%in : !pi) : )" +
                result + ", !tile.tensor<1, " + resultType + ">";
  std::string init =
      resultType == "f32" ? "init = 0.0 : f32" : "init = 0 : i32";
  Program program{{"N"},
                  {{"xs", "in", type, {"N"}},
                   {"ys", "in", type, {"N"}},
                   {"rs", "out", resultType, {"N"}, init}},
                  {kernel}};
  int64_t n = static_cast<int64_t>(x.size());
  HostTensor xs = tensor("xs", {n}, x);
  xs.bounds = std::move(xBounds);
  Outcome outcome = run(program.text(), {{"N", n}}, {xs, tensor("ys", {n}, y)});
  EXPECT_EQ(outcome.diagnostics, "");
  HostTensor rs = outcome["rs"];
  rs.values.resize(x.size(), nan);
  rs.bounds.resize(x.size(), nan);
  return rs;
}

TEST(Elementwise, MagnitudesOfIntegers) {
  EXPECT_EQ(compute("%r = math.absi %x : !ni", {7, -7, 0, -2147483648.0},
                    {0, 0, 0, 0}, "i32", "i32")
                .values,
            (std::vector<double>{7, 7, 0, -2147483648.0}));
}

HostTensor computeIntegers(const std::string &op, const std::vector<double> &x,
                           const std::vector<double> &y) {
  return compute("%r = arith." + op + " %x, %y : !ni", x, y, "i32", "i32");
}

TEST(Elementwise, Integers) {
  std::vector<double> x{7, -7, 7, -7, 2147483647}, y{2, 2, -2, -2, 1};
  auto check = [&](const char *op, std::vector<double> wanted) {
    EXPECT_EQ(computeIntegers(op, x, y).values, wanted) << op;
  };
  check("addi", {9, -5, 5, -9, -2147483648.0});
  check("subi", {5, -9, 9, -5, 2147483646});
  check("muli", {14, -14, -14, 14, 2147483647});
  check("divsi", {3, -3, -3, 3, 2147483647});
  check("floordivsi", {3, -4, -4, 3, 2147483647});
  check("ceildivsi", {4, -3, -3, 4, 2147483647});
  check("remsi", {1, -1, 1, -1, 0});
  check("minsi", {2, -7, -2, -7, 1});
  check("maxsi", {7, 2, 7, -2, 2147483647});
  check("andi", {2, 0, 6, -8, 1});
  check("ori", {7, -5, -1, -1, 2147483647});
  check("xori", {5, -5, -7, 7, 2147483646});
}

TEST(Elementwise, DivisionByZeroDoesNotTrap) {
  for (const char *op : {"divsi", "floordivsi", "ceildivsi", "remsi"}) {
    computeIntegers(op, {1, -2147483648.0}, {0, -1});
  }
  EXPECT_EQ(computeIntegers("divsi", {-2147483648.0}, {-1}).values[0],
            -2147483648.0);
}

TEST(Elementwise, IntegerComparisons) {
  auto check = [&](const char *predicate, std::vector<double> wanted) {
    HostTensor r = compute(std::string("%c = arith.cmpi ") + predicate +
                               ", %x, %y : !ni\n"
                               "%r = arith.extui %c : !pi to !ni",
                           {1, 2, 3, -1}, {2, 2, 2, 2}, "i32", "i32");
    EXPECT_EQ(r.values, wanted) << predicate;
  };
  check("eq", {0, 1, 0, 0});
  check("ne", {1, 0, 1, 1});
  check("slt", {1, 0, 0, 1});
  check("sle", {1, 1, 0, 1});
  check("sgt", {0, 0, 1, 0});
  check("sge", {0, 1, 1, 0});
  check("ult", {1, 0, 0, 0});
  check("uge", {0, 1, 1, 1});
}

TEST(Elementwise, IntegerCasts) {
  HostTensor r = compute(R"(
    %c = arith.cmpi slt, %x, %y : !ni
    %s = arith.extsi %c : !pi to !ni
    %low = arith.trunci %x : !ni to tensor<?xi8, #i>
    %wide = arith.extsi %low : tensor<?xi8, #i> to !ni
    %at = arith.index_cast %wide : !ni to tensor<?xindex, #i>
    %back = arith.index_cast %at : tensor<?xindex, #i> to !ni
    %r = arith.addi %s, %back : !ni)",
                         {300, -1}, {0, 0}, "i32", "i32");
  EXPECT_EQ(r.values, (std::vector<double>{44, -2}));
}

TEST(Elementwise, Floats) {
  std::vector<double> x{3, -2, 0.5, inf, nan}, y{2, 4, -0.25, 1, 1};
  auto check = [&](const std::string &op, std::vector<double> wanted) {
    HostTensor r = compute("%r = " + op + " : !fi", x, y);
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (std::isnan(wanted[i]))
        EXPECT_TRUE(std::isnan(r.values[i])) << op << i;
      else
        EXPECT_EQ(r.values[i], wanted[i]) << op << i;
      EXPECT_LE(r.bounds[i], std::isfinite(wanted[i])
                                 ? 3e-6 * std::max(1.0, std::abs(wanted[i]))
                                 : 0)
          << op << i;
    }
  };
  check("arith.addf %x, %y", {5, 2, 0.25, inf, nan});
  check("arith.subf %x, %y", {1, -6, 0.75, inf, nan});
  check("arith.mulf %x, %y", {6, -8, -0.125, inf, nan});
  check("arith.divf %x, %y", {1.5, -0.5, -2, inf, nan});
  check("arith.maximumf %x, %y", {3, 4, 0.5, inf, nan});
  check("arith.minimumf %x, %y", {2, -2, -0.25, 1, nan});
  check("arith.negf %x", {-3, 2, -0.5, -inf, nan});
  check("math.absf %x", {3, 2, 0.5, inf, nan});
  check("math.floor %x", {3, -2, 0, inf, nan});
  check("math.ceil %x", {3, -2, 1, inf, nan});
  check("math.exp %x", {std::exp(3), std::exp(-2), std::exp(0.5), inf, nan});
  check("math.exp2 %x", {8, 0.25, std::exp2(0.5), inf, nan});
  check("math.log %x", {std::log(3), nan, std::log(0.5), inf, nan});
  check("math.log2 %x", {std::log2(3), nan, -1, inf, nan});
  check("math.tanh %x", {std::tanh(3), std::tanh(-2), std::tanh(0.5), 1, nan});
  check("math.sqrt %x", {std::sqrt(3), nan, std::sqrt(0.5), inf, nan});
  check("math.rsqrt %x", {1 / std::sqrt(3), nan, 1 / std::sqrt(0.5), 0, nan});
}

TEST(Elementwise, FloatComparisonsAreOrderedAsNamed) {
  auto check = [&](const char *predicate, std::vector<double> wanted) {
    HostTensor r = compute(std::string("%c = arith.cmpf ") + predicate +
                               ", %x, %y : !fi\n"
                               "%r = arith.extui %c : !pi to !ni",
                           {1, 2, nan, -inf}, {2, 2, 2, -inf}, "f32", "i32");
    EXPECT_EQ(r.values, wanted) << predicate;
    EXPECT_EQ(r.bounds, (std::vector<double>{0, 0, 0, 0})) << predicate;
  };
  check("oeq", {0, 1, 0, 1});
  check("une", {1, 0, 1, 0});
  check("one", {1, 0, 0, 0});
  check("olt", {1, 0, 0, 0});
  check("ult", {1, 0, 1, 0});
  check("oge", {0, 1, 0, 1});
  check("uge", {0, 1, 1, 1});
  check("uno", {0, 0, 1, 0});
  check("ord", {1, 1, 0, 1});
}

TEST(Elementwise, Conversions) {
  HostTensor r = compute(R"(
    %n = arith.fptosi %x : !fi to !ni
    %f = arith.sitofp %n : !ni to !fi
    %b = tile.convert %f sat : !fi -> !bi
    %r = arith.extf %b : !bi to !fi)",
                         {2.75, -2.75, 257, 16777217}, {0, 0, 0, 0});
  EXPECT_EQ(r.values, (std::vector<double>{2, -2, 257, 16777216}));
  // 257 has 9 significant bits: half an ulp of bf16 there is 1.
  EXPECT_EQ(r.bounds, (std::vector<double>{0, 0, 1, 0}));
}

TEST(Elementwise, NarrowingSaturatesOrOverflows) {
  auto narrow = [&](const char *overflow, const char *to, double x) {
    std::string type = std::string("!") + to + "i";
    HostTensor r =
        compute("%c = tile.convert %x " + std::string(overflow) + " : !fi -> " +
                    type + "\n%r = arith.extf %c : " + type + " to !fi",
                {x}, {0});
    EXPECT_EQ(r.bounds[0], 0) << x;
    return r.values[0];
  };
  EXPECT_EQ(narrow("sat", "h", 1e6), 65504);
  EXPECT_EQ(narrow("sat", "h", -1e6), -65504);
  EXPECT_EQ(narrow("inf", "h", 1e6), inf);
  EXPECT_EQ(narrow("inf", "h", 65504), 65504);
  EXPECT_EQ(narrow("sat", "h", -inf), -inf);
  EXPECT_EQ(narrow("sat", "b", 0x1.fffffep127), 0x1.fep127);
  EXPECT_EQ(narrow("inf", "b", 0x1.fffffep127), inf);
  EXPECT_TRUE(std::isnan(narrow("sat", "b", nan)));
}

TEST(Elementwise, SelectTakesTheChosenSideOnly) {
  HostTensor r = compute(R"(
    %c = arith.cmpf olt, %x, %y : !fi
    %r = arith.select %c, %x, %y : !pi, !fi)",
                         {1, nan}, {2, 5});
  EXPECT_EQ(r.values, (std::vector<double>{1, 5}));
  EXPECT_EQ(r.bounds, (std::vector<double>{0, 0}));
}

TEST(Elementwise, SelectByAnUnsureConditionCoversBothSides) {
  std::string body = R"(
    %c = arith.cmpf olt, %x, %y : !fi
    %hundred = arith.constant 100.0 : f32
    %h = tile.splat %hundred : f32 -> !fi
    %r = arith.select %c, %x, %h : !pi, !fi)";
  HostTensor r =
      compute(body, {1, 1}, {1.5, 1.001}, "f32", "f32", {0.01, 0.01});
  EXPECT_EQ(r.bounds[0], 0.01);
  EXPECT_GE(r.bounds[1], 99);
}

TEST(Elementwise, UnsureBooleansDecidedByASureOneAreSure) {
  HostTensor r = compute(R"(
    %c = arith.cmpf olt, %x, %y : !fi
    %false = arith.constant false
    %f = tile.splat %false : i1 -> !pi
    %both = arith.andi %c, %f : !pi
    %r = arith.extui %both : !pi to !ni)",
                         {1}, {1}, "f32", "i32", {0.5});
  EXPECT_EQ(r.bounds[0], 0);
}

TEST(Elementwise, ControlFlow) {
  HostTensor r = compute(R"(
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %three = arith.constant 3 : i32
    %t = scf.for %n = %zero to %three step %one iter_args(%a = %x) -> (!fi) : i32 {
      %odd = arith.andi %n, %one : i32
      %isOdd = arith.cmpi eq, %odd, %one : i32
      %b = scf.if %isOdd -> !fi {
        %m = arith.mulf %a, %a : !fi
        scf.yield %m : !fi
      } else {
        %s = arith.addf %a, %y : !fi
        scf.yield %s : !fi
      }
      scf.yield %b : !fi
    }
    %r = arith.negf %t : !fi)",
                         {2}, {1});
  EXPECT_EQ(r.values[0], -10);
  EXPECT_EQ(r.bounds[0], 0);
}

} // namespace
} // namespace selvedge::testing
