// Attention as a whole: emulations in f32 and bf16 stay within the bounds, and
// the bounds are not much larger than their errors.
// SPDX-License-Identifier: MIT
#include "TestPrograms.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

namespace selvedge::testing {
namespace {

constexpr int64_t depth = 8;

struct Problem {
  int64_t m, n, length, shift;
  bool causal;
  HostTensor q, k, v;

  Problem(int64_t m, int64_t n, int64_t length, bool causal, int64_t shift,
          bool bfloat)
      : m(m), n(n), length(length), shift(shift), causal(causal),
        q(tensor("q", {m, depth}, randomNumbers(m * depth, 1, bfloat))),
        k(tensor("k", {n, depth}, randomNumbers(n * depth, 2, bfloat))),
        v(tensor("v", {n, depth}, randomNumbers(n * depth, 3, bfloat))) {}

  bool kept(int64_t i, int64_t j) const {
    return j < length && (!causal || j < i + shift);
  }

  Outcome reference(const std::string &type, int64_t block = 64) const {
    Outcome outcome =
        run(flashForward(type, causal),
            {{"M", m}, {"N", n}, {"len", length}, {"shift", shift}}, {q, k, v},
            {block}, {{"scale", scale}});
    EXPECT_EQ(outcome.diagnostics, "");
    return outcome;
  }

  static constexpr float scale = 0.35355339f;
};

/// A kernel's result: o[m * depth] and lse[m].
struct Emulated {
  std::vector<double> o, lse;
};

/// The online softmax in f32 with weights in base 2, by blocks; `narrow` rounds
/// weights and outputs.
template <typename Narrow>
Emulated emulate(const Problem &p, int64_t block, Narrow narrow) {
  const float log2e = 1.44269504f;
  Emulated result;
  for (int64_t i = 0; i < p.m; ++i) {
    float max = -INFINITY, sum = 0, acc[depth] = {};
    for (int64_t j0 = 0; j0 < p.length; j0 += block) {
      std::vector<float> scores;
      float newMax = max;
      for (int64_t j = j0; j < std::min(p.length, j0 + block); ++j) {
        float dot = 0;
        for (int64_t d = 0; d < depth; ++d)
          dot += static_cast<float>(p.q.values[i * depth + d]) *
                 static_cast<float>(p.k.values[j * depth + d]);
        scores.push_back(p.kept(i, j) ? dot : -INFINITY);
        newMax = std::max(newMax, scores.back());
      }
      float reference = newMax == -INFINITY ? 0 : newMax;
      float k = p.scale * log2e, alpha = exp2f((max - reference) * k);
      sum *= alpha;
      for (float &a : acc)
        a *= alpha;
      for (size_t t = 0; t < scores.size(); ++t) {
        float weight = exp2f(scores[t] * k - reference * k);
        sum += weight;
        for (int64_t d = 0; d < depth; ++d)
          acc[d] += narrow(weight) *
                    static_cast<float>(p.v.values[(j0 + t) * depth + d]);
      }
      max = newMax;
    }
    for (float a : acc)
      result.o.push_back(sum == 0 ? 0 : narrow(a / sum));
    result.lse.push_back(sum == 0 ? -INFINITY : max * p.scale + logf(sum));
  }
  return result;
}

/// Checks containment and returns the largest error and the largest bound.
std::pair<double, double> compare(const HostTensor &reference,
                                  const std::vector<double> &kernel) {
  double error = 0, bound = 0;
  EXPECT_EQ(reference.values.size(), kernel.size());
  for (size_t i = 0; i < kernel.size(); ++i) {
    if (!std::isfinite(reference.values[i])) {
      EXPECT_FALSE(std::isfinite(kernel[i])) << i;
      continue;
    }
    double apart = std::abs(reference.values[i] - kernel[i]);
    EXPECT_LE(apart, reference.bounds[i]) << reference.name << ' ' << i;
    error = std::max(error, apart);
    bound = std::max(bound, reference.bounds[i]);
  }
  return {error, bound};
}

TEST(Flash, MatchesTheDefinition) {
  Problem p(7, 9, 8, true, 1, false);
  Outcome outcome = p.reference("f32", 4);
  for (int64_t i = 0; i < p.m; ++i) {
    std::vector<double> scores(p.n, -inf);
    double sum = 0;
    for (int64_t j = 0; j < p.n; ++j)
      if (p.kept(i, j)) {
        scores[j] = 0;
        for (int64_t d = 0; d < depth; ++d)
          scores[j] += p.q.values[i * depth + d] * p.k.values[j * depth + d];
        scores[j] *= Problem::scale;
        sum += std::exp(scores[j]);
      }
    EXPECT_NEAR(outcome["lse"].values[i], std::log(sum), 1e-12);
    for (int64_t d = 0; d < depth; ++d) {
      double o = 0;
      for (int64_t j = 0; j < p.n; ++j)
        o += std::exp(scores[j]) / sum * p.v.values[j * depth + d];
      EXPECT_NEAR(outcome["o"].values[i * depth + d], o, 1e-12);
    }
  }
}

TEST(Flash, BlockSizesChangeNothingButRounding) {
  for (bool causal : {false, true}) {
    Problem p(70, 100, 90, causal, 5, true);
    Outcome wanted = p.reference("bf16", 64);
    for (int64_t block : {1, 3, 16, 200}) {
      Outcome got = p.reference("bf16", block);
      for (const char *name : {"o", "lse"})
        for (size_t i = 0; i < wanted[name].values.size(); ++i)
          ASSERT_NEAR(wanted[name].values[i], got[name].values[i], 1e-12);
    }
  }
}

TEST(Flash, NothingOutsideReachesAResult) {
  Problem clean(5, 12, 7, true, 1, true), dirty = clean;
  // Keys past the length, and the values of keys no row may see.
  for (int64_t j = 6; j < 12; ++j)
    for (int64_t d = 0; d < depth; ++d)
      dirty.v.values[j * depth + d] = d % 2 ? nan : inf;
  for (int64_t j = 7; j < 12; ++j)
    for (int64_t d = 0; d < depth; ++d)
      dirty.k.values[j * depth + d] = nan;
  // Key 4 is seen by the last row only; its value must not reach the others.
  dirty.v.values[4 * depth] = nan;
  for (int64_t block : {2, 64}) {
    Outcome a = clean.reference("bf16", block),
            b = dirty.reference("bf16", block);
    for (int64_t i = 0; i < 5; ++i) {
      EXPECT_EQ(a["lse"].values[i], b["lse"].values[i]);
      for (int64_t d = 0; d < depth; ++d) {
        double got = b["o"].values[i * depth + d];
        if (i == 4 && d == 0)
          EXPECT_TRUE(std::isnan(got));
        else
          EXPECT_EQ(a["o"].values[i * depth + d], got) << i << ' ' << d;
      }
    }
  }
}

TEST(Flash, RowsWithoutKeys) {
  Problem p(3, 4, 4, true, 0, true);
  Outcome outcome = p.reference("bf16");
  EXPECT_EQ(outcome["lse"].values[0], -inf);
  EXPECT_EQ(outcome["o"].values[0], 0);
  EXPECT_EQ(outcome["o"].bounds[0], 0);
  EXPECT_TRUE(std::isfinite(outcome["lse"].values[1]));
  Problem none(3, 4, 0, false, 0, true);
  outcome = none.reference("bf16");
  EXPECT_EQ(outcome["lse"].values, (std::vector<double>{-inf, -inf, -inf}));
  EXPECT_EQ(outcome["o"].values, std::vector<double>(3 * depth, 0.0));
}

TEST(Flash, BoundsHoldSinglePrecision) {
  Problem p(32, 300, 290, true, 40, false);
  Outcome outcome = p.reference("f32");
  for (int64_t block : {16, 64, 128}) {
    Emulated kernel = emulate(p, block, [](float x) { return x; });
    auto [error, bound] = compare(outcome["o"], kernel.o);
    EXPECT_LT(bound, 1e-4);
    std::tie(error, bound) = compare(outcome["lse"], kernel.lse);
    EXPECT_LT(bound, 2e-4);
  }
}

TEST(Flash, BoundsHoldBFloatAndAreTight) {
  for (int64_t keys : {16, 64, 256, 1024}) {
    Problem p(32, keys, keys, false, 0, true);
    Outcome outcome = p.reference("bf16");
    for (int64_t block : {16, 64, 128}) {
      Emulated kernel = emulate(p, block, toBFloat);
      auto [error, bound] = compare(outcome["o"], kernel.o);
      // Weights are off by at most 2^-8 of themselves, outputs by half an ulp;
      // with few keys the worst case is nearly met, with many it averages out.
      EXPECT_LT(bound, 0.02) << keys;
      EXPECT_LT(bound, 12 * error) << keys;
      std::tie(error, bound) = compare(outcome["lse"], kernel.lse);
      EXPECT_LT(bound, 1e-4);
    }
  }
}

TEST(Flash, BoundsAreOfTheStatedOrder) {
  const int64_t keys = 200;
  Problem p(16, keys, keys, false, 0, true);
  Outcome outcome = p.reference("bf16");
  Problem sizes = p;
  for (double &v : sizes.v.values)
    v = std::abs(v);
  Outcome mean = sizes.reference("bf16");
  for (size_t i = 0; i < outcome["o"].bounds.size(); ++i)
    EXPECT_LT(outcome["o"].bounds[i],
              1.1 * 0x1p-8 * mean["o"].values[i] +
                  0x1p-8 * std::abs(outcome["o"].values[i]));
}

// Weights just below 1 are rounded finely with the maximum as reference, and
// twice as coarsely where a kernel's reference makes them a little more than 1.
TEST(Flash, WeightsRelativeToAnyReference) {
  for (int step = 1; step <= 16; ++step) {
    float key = toBFloat(-0.0055f * static_cast<float>(step));
    Problem p(1, 2, 2, false, 0, true);
    p.q.values.assign(depth, 0);
    p.k.values.assign(2 * depth, 0);
    p.v.values.assign(2 * depth, 0);
    p.q.values[0] = 1;
    p.k.values[depth] = key;
    p.v.values[depth] = 1;
    Outcome r = p.reference("bf16");
    double weight = std::exp(key * static_cast<double>(Problem::scale));
    for (double factor = 1; factor < 2; factor += 1.0 / 4096) {
      auto rounded = toBFloat(static_cast<float>(weight * factor));
      auto o = toBFloat(static_cast<float>(rounded / (factor * (1 + weight))));
      EXPECT_LE(std::abs(o - r["o"].values[0]), r["o"].bounds[0])
          << "factor " << factor << ", key " << key;
    }
  }
}

} // namespace
} // namespace selvedge::testing
