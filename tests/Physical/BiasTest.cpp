// finfo.min as an additive bias is data: rows of it have defined results, in
// every form.
// SPDX-License-Identifier: MIT
#include "Cases.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>

namespace selvedge::testing {
namespace {

constexpr int64_t rows = 5, keys = 70;
constexpr double inf = std::numeric_limits<double>::infinity();

struct Type {
  const char *name;
  double lowest;
};

class Bias : public ::testing::TestWithParam<Type> {
protected:
  static double x(int64_t i, int64_t j) {
    return 0.5 * std::sin(static_cast<double>(3 * i + 7 * j));
  }
  static double v(int64_t j) { return 0.25 * static_cast<double>(j % 9); }

  static HostTensor make(const std::string &name, std::vector<int64_t> shape,
                         std::vector<double> values) {
    HostTensor tensor;
    tensor.name = name;
    tensor.shape = std::move(shape);
    tensor.values = std::move(values);
    return tensor;
  }

  /// Row 0 has no bias, rows 1 and 2 one plane of the lowest number, rows 3 and
  /// 4 two; rows 2 and 4 spare key 5.
  static Case makeCase() {
    std::vector<double> scores, bias, more, values;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < keys; ++j) {
        bool isSpared = i == 0 || ((i == 2 || i == 4) && j == 5);
        scores.push_back(x(i, j));
        bias.push_back(isSpared ? 0 : GetParam().lowest);
        more.push_back(isSpared || i < 3 ? 0 : GetParam().lowest);
      }
    for (int64_t j = 0; j < keys; ++j)
      values.push_back(v(j));
    Case test{"bias",
              SELVEDGE_INPUTS "/bias.tile",
              "biased",
              {{"T", GetParam().name}},
              {{"M", rows}, {"N", keys}},
              {}};
    test.kits.push_back(
        {"lowest",
         {make("x", {rows, keys}, scores), make("bias", {rows, keys}, bias),
          make("more", {rows, keys}, more), make("v", {keys}, values)}});
    return test;
  }

  /// What the softmax of row `i` without a bias gives for `v`, and its LSE.
  static std::pair<double, double> softmax(int64_t i) {
    double sum = 0, weighted = 0;
    for (int64_t j = 0; j < keys; ++j) {
      sum += std::exp(x(i, j));
      weighted += std::exp(x(i, j)) * v(j);
    }
    return {weighted / sum, std::log(sum)};
  }

  static void check(const std::vector<HostTensor> &outputs) {
    const std::vector<double> &y = outputs[0].values, &lse = outputs[1].values;
    double lowest = GetParam().lowest;
    EXPECT_NEAR(y[0], softmax(0).first, 1e-5);
    EXPECT_NEAR(lse[0], softmax(0).second, 1e-5);
    // One key is left: its weight is 1, that of the others exactly 0.
    for (int64_t i : {2, 4}) {
      EXPECT_EQ(y[i], v(5));
      EXPECT_NEAR(lse[i], x(i, 5), 1e-6);
    }
    if (lowest > -1e5) {
      // f16: the sums keep some bits of the scores.
      for (int64_t i : {1, 3}) {
        EXPECT_NEAR(y[i], softmax(i).first, 2e-2);
        EXPECT_NEAR(lse[i], (i == 1 ? 1 : 2) * lowest + softmax(i).second,
                    2e-2);
      }
      return;
    }
    // The scores vanish beside the bias: all keys weigh the same.
    double mean = 0;
    for (int64_t j = 0; j < keys; ++j)
      mean += v(j) / keys;
    EXPECT_NEAR(y[1], mean, 1e-5);
    EXPECT_NEAR(lse[1] / lowest, 1, 1e-6);
    EXPECT_TRUE(std::isfinite(lse[1]));
    // The sum of two is -inf, and a row of only such scores is without keys.
    EXPECT_EQ(y[3], 0);
    EXPECT_EQ(lse[3], -inf);
  }

  void checkForm(const std::string &pipeline) {
    Case test = makeCase();
    mlir::MLIRContext context;
    prepare(context);
    mlir::OwningOpRef<mlir::ModuleOp> program = build(context, test);
    ASSERT_TRUE(program);
    Expected expected = expect(*program, test, test.kits[0]);
    if (pipeline.empty())
      return check(expected.outputs);
    ASSERT_TRUE(transform(*program, pipeline));
    for (physical::Poison poison : physical::poisonKinds) {
      SCOPED_TRACE(physical::nameOf(poison).str());
      Outcome run = execute(*program, test, test.kits[0], expected, poison);
      ASSERT_EQ(run.diagnostics, "");
      check(run.outputs);
      EXPECT_EQ(beyondBounds(run, expected), "");
    }
  }
};

const std::string bound =
    (exactPipeline + "," + claimsPipeline + "," + simplifyPipeline).str();

TEST_P(Bias, Logical) { checkForm(""); }
TEST_P(Bias, Tile) { checkForm(bound); }
TEST_P(Bias, Seq) { checkForm(bound + "," + seqPipeline.str()); }

INSTANTIATE_TEST_SUITE_P(Types, Bias,
                         ::testing::Values(Type{"f16", -65504.0},
                                           Type{"bf16", -3.3895313892515355e38},
                                           Type{"f32", -3.4028234663852886e38}),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace selvedge::testing
