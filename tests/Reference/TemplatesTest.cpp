// The templates, from source text to results.
// SPDX-License-Identifier: MIT
#include "TestPrograms.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

namespace selvedge::testing {
namespace {

CompileRequest request(const std::string &file, const std::string &op,
                       std::map<std::string, std::string> bindings = {}) {
  CompileRequest result;
  result.fileName = file;
  std::ifstream stream(std::string(SELVEDGE_TEMPLATES) + "/" + file);
  EXPECT_TRUE(stream.good()) << file;
  result.source.assign(std::istreambuf_iterator<char>(stream), {});
  result.op = op;
  result.bindings = std::move(bindings);
  return result;
}

Outcome runTemplate(const CompileRequest &request,
                    const std::map<std::string, int64_t> &dims,
                    const std::vector<HostTensor> &inputs,
                    const std::map<std::string, double> &scalars = {}) {
  Outcome outcome;
  runReference(request, dims, scalars, inputs, outcome.outputs,
               outcome.diagnostics);
  EXPECT_EQ(outcome.diagnostics, "");
  return outcome;
}

TEST(Templates, Matmul) {
  const int64_t m = 70, n = 3, k = 130;
  HostTensor a = tensor("a", {m, k}, randomNumbers(m * k, 1, true));
  HostTensor b = tensor("b", {k, n}, randomNumbers(k * n, 2, true));
  Outcome outcome = runTemplate(request("matmul.tile", "matmul"),
                                {{"M", m}, {"N", n}, {"K", k}}, {a, b});
  ASSERT_EQ(outcome["c"].dtype, "bf16");
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      float kernel = 0;
      for (int64_t l = 0; l < k; ++l) {
        double product = a.values[i * k + l] * b.values[l * n + j];
        sum += product;
        kernel += static_cast<float>(product);
      }
      double got = outcome["c"].values[i * n + j];
      double bound = outcome["c"].bounds[i * n + j];
      EXPECT_NEAR(got, sum, 1e-12);
      EXPECT_LE(std::abs(toBFloat(kernel) - got), bound);
      EXPECT_LE(bound, 0x1p-8 * std::abs(got) + 0x1p-8);
    }
}

TEST(Templates, Softmax) {
  HostTensor x =
      tensor("x", {3, 4}, {1, 2, 3, 4, -inf, -inf, -inf, -inf, 1, nan, 2, 3});
  Outcome outcome = runTemplate(request("softmax.tile", "softmax"),
                                {{"M", 3}, {"N", 4}}, {x});
  const std::vector<double> &y = outcome["y"].values;
  double sum = std::exp(-3) + std::exp(-2) + std::exp(-1) + 1;
  for (int64_t j = 0; j < 4; ++j) {
    EXPECT_NEAR(y[j], std::exp(x.values[j] - 4) / sum, 1e-14);
    EXPECT_EQ(y[4 + j], 0);
    EXPECT_TRUE(std::isnan(y[8 + j]));
  }
}

/// Attention over q[B, M, G R, D] by its definition, in fp64; `keep` says which
/// keys a row of a sequence sees.
template <typename Score, typename Keep>
std::vector<double> attention(const HostTensor &q, const HostTensor &k,
                              const HostTensor &v, int64_t shared, Score score,
                              Keep keep) {
  int64_t heads = q.shape[2], depth = q.shape[3], n = k.shape[1];
  std::vector<double> o;
  for (int64_t b = 0; b < q.shape[0]; ++b)
    for (int64_t i = 0; i < q.shape[1]; ++i)
      for (int64_t h = 0; h < heads; ++h) {
        std::vector<double> row(depth);
        double sum = 0;
        for (int64_t j = 0; j < n; ++j) {
          if (!keep(b, i, j))
            continue;
          double s = 0;
          int64_t key = ((b * n + j) * (heads / shared) + h / shared) * depth;
          for (int64_t d = 0; d < depth; ++d)
            s += q.values[((b * q.shape[1] + i) * heads + h) * depth + d] *
                 k.values[key + d];
          double weight = std::exp(score(s / std::sqrt(double(depth))));
          sum += weight;
          for (int64_t d = 0; d < depth; ++d)
            row[d] += weight * v.values[key + d];
        }
        for (double x : row)
          o.push_back(sum == 0 ? 0 : x / sum);
      }
  return o;
}

class Attention : public ::testing::Test {
protected:
  static constexpr int64_t batch = 2, m = 70, groups = 2, shared = 2, n = 90,
                           depth = 16;
  HostTensor q = random("q", {batch, m, groups * shared, depth}, 1);
  HostTensor k = random("k", {batch, n, groups, depth}, 2);
  HostTensor v = random("v", {batch, n, groups, depth}, 3);
  HostTensor lengths = tensor("kv_len", {batch}, {90, 33});
  std::map<std::string, int64_t> dims{
      {"B", batch}, {"M", m}, {"G", groups}, {"R", shared}, {"N", n}};

  static HostTensor random(const char *name, std::vector<int64_t> shape,
                           unsigned seed) {
    size_t count = 1;
    for (int64_t extent : shape)
      count *= extent;
    return tensor(name, shape, randomNumbers(count, seed, true));
  }

  /// Everything past a sequence's length becomes NaN.
  void spoilOutside() {
    for (HostTensor *t : {&k, &v})
      for (int64_t b = 0; b < batch; ++b) {
        int64_t row = groups * depth, begin = b * n * row;
        auto length = static_cast<int64_t>(lengths.values[b]);
        std::fill(t->values.begin() + begin + length * row,
                  t->values.begin() + begin + n * row, nan);
      }
  }

  void expectOutput(const Outcome &outcome, const std::vector<double> &wanted) {
    const HostTensor &o = outcome["o"];
    ASSERT_EQ(o.values.size(), wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      ASSERT_NEAR(o.values[i], wanted[i], 1e-6) << i;
      ASSERT_LT(o.bounds[i], 0.06) << i;
    }
  }
};

TEST_F(Attention, Dense) {
  Outcome outcome = runTemplate(
      request("flash_fwd.tile", "flash_fwd", {{"D", "16"}}), dims, {q, k, v});
  expectOutput(outcome, attention(
                            q, k, v, shared, [](double s) { return s; },
                            [](int64_t, int64_t, int64_t) { return true; }));
}

TEST_F(Attention, CausalWithLengths) {
  auto keep = [&](int64_t b, int64_t i, int64_t j) {
    return j < lengths.values[b] && j <= i + lengths.values[b] - m;
  };
  std::vector<double> wanted =
      attention(q, k, v, shared, [](double s) { return s; }, keep);
  spoilOutside();
  Outcome outcome = runTemplate(
      request("flash_fwd.tile", "flash_fwd", {{"D", "16"}, {"causal", "true"}}),
      dims, {q, k, v, lengths});
  expectOutput(outcome, wanted);
  // The second sequence has fewer keys than rows: its first rows see none.
  EXPECT_EQ(outcome["lse"].values[groups * shared * m], -inf);
}

TEST_F(Attention, Gemma) {
  auto score = [](double s) { return 50 * std::tanh(s / 50); };
  auto keep = [&](int64_t b, int64_t i, int64_t j) {
    double offset = lengths.values[b] - m;
    return j < lengths.values[b] && j <= i + offset && j > i + offset - 7;
  };
  std::vector<double> wanted = attention(q, k, v, shared, score, keep);
  spoilOutside();
  Outcome outcome =
      runTemplate(request("flash_fwd.tile", "gemma", {{"D", "16"}}), dims,
                  {q, k, v, lengths}, {{"W", 7}});
  expectOutput(outcome, wanted);
}

TEST_F(Attention, BadRequests) {
  std::vector<HostTensor> outputs;
  std::string diagnostics;
  CompileRequest broken = request("flash_fwd.tile", "flash_fwd");
  broken.source = "op f(";
  EXPECT_FALSE(runReference(broken, dims, {}, {}, outputs, diagnostics));
  EXPECT_NE(diagnostics.find("flash_fwd.tile:1"), std::string::npos)
      << diagnostics;
  diagnostics.clear();
  lengths.values[1] = 91;
  EXPECT_FALSE(
      runReference(request("flash_fwd.tile", "flash_fwd", {{"D", "16"}}), dims,
                   {}, {q, k, v, lengths}, outputs, diagnostics));
  EXPECT_EQ(diagnostics,
            "error: element 1 of tensor 'kv_len' is 91, but the op "
            "requires it in 0..90\n");
}

} // namespace
} // namespace selvedge::testing
