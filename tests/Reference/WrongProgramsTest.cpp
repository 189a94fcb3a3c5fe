// Forwards that are wrong by one fail the comparison with the right one,
// whatever the data. SPDX-License-Identifier: MIT
#include "TestPrograms.h"

#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <map>

namespace selvedge::testing {
namespace {

constexpr int64_t rows = 37, keys = 45, dim = 16, batches = 2;

/// One way to be wrong: text of the template and what stands there instead.
struct Mistake {
  const char *name, *right, *wrong;
  const char *causal = "true";
};

const Mistake mistakes[] = {
    {"last key dropped", "j <= i + kv_len[b] - M;",
     "j <= i + kv_len[b] - M && j < kv_len[b] - 1;"},
    {"first key dropped", "j <= i + kv_len[b] - M;",
     "j <= i + kv_len[b] - M && j > 0;"},
    {"a zero key counted",
     "o[b, i, (g, u), :] =", "sm.include(0.0, acc); o[b, i, (g, u), :] ="},
    {"causal one short", "j <= i + kv_len[b] - M;", "j < i + kv_len[b] - M;"},
    {"causal one far", "j <= i + kv_len[b] - M;",
     "j <= i + 1 + kv_len[b] - M;"},
    {"causal aligned top-left", "j <= i + kv_len[b] - M;", "j <= i;"},
    {"keys past the length", "valid j < kv_len[b]", "", "false"},
    {"lse in log2", "sm.lse()", "sm.lse() * 1.4426950408889634"},
    {"scale squared", "* scale,", "* scale * scale,"},
};

std::string replaceAll(std::string text, const std::string &from,
                       const std::string &to) {
  EXPECT_NE(text.find(from), std::string::npos) << from;
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// Queries times `spread`, keys plus `shift`: scores from tiny to peaked, sums
/// of weights from far below to far above 1.
struct DataKit {
  const char *name;
  double spread, shift;
};

const DataKit kits[] = {{"normal", 1, 0},
                        {"flat", 1e-3, 0},
                        {"peaked", 1.5, 0},
                        {"shifted", 1, -2}};

Outcome runForward(const std::string &source, const DataKit &kit,
                   const std::string &causal) {
  auto numbers = [](int64_t extent, unsigned seed, double factor,
                    double shift) {
    std::vector<double> values =
        randomNumbers(batches * extent * dim, seed, true);
    for (double &v : values)
      v = toBFloat(static_cast<float>(v * factor + shift));
    return values;
  };
  std::vector<HostTensor> inputs{
      tensor("q", {batches, rows, 1, dim}, numbers(rows, 1, kit.spread, 0)),
      tensor("k", {batches, keys, 1, dim}, numbers(keys, 2, 1, kit.shift)),
      tensor("v", {batches, keys, 1, dim}, numbers(keys, 3, 1, 0)),
      tensor("kv_len", {batches}, {keys, keys - 4})};
  CompileRequest request;
  request.fileName = "flash_fwd.tile";
  request.source = source;
  request.op = "flash_fwd";
  request.bindings = {{"D", std::to_string(dim)}, {"causal", causal}};
  Outcome outcome;
  runReference(request,
               {{"B", batches}, {"M", rows}, {"N", keys}, {"G", 1}, {"R", 1}},
               {}, inputs, outcome.outputs, outcome.diagnostics);
  EXPECT_EQ(outcome.diagnostics, "");
  return outcome;
}

/// Elements that a comparison within the bounds of `right` refuses.
size_t countRefused(const Outcome &right, const Outcome &wrong) {
  size_t refused = 0;
  for (const char *name : {"o", "lse"})
    for (size_t i = 0; i < right[name].values.size(); ++i) {
      double want = right[name].values[i], got = wrong[name].values[i];
      bool same = want == got || (!std::isfinite(want) && !std::isfinite(got));
      refused += !same && !(std::abs(want - got) <= right[name].bounds[i]);
    }
  return refused;
}

TEST(WrongPrograms, AreRefusedWithEveryData) {
  std::ifstream stream(std::string(SELVEDGE_TEMPLATES) + "/flash_fwd.tile");
  const std::string source(std::istreambuf_iterator<char>(stream), {});
  for (const DataKit &kit : kits) {
    std::map<std::string, Outcome> right;
    for (const char *causal : {"true", "false"}) {
      right[causal] = runForward(source, kit, causal);
      EXPECT_EQ(countRefused(right[causal], runForward(source, kit, causal)),
                0u);
    }
    for (const Mistake &mistake : mistakes) {
      Outcome wrong =
          runForward(replaceAll(source, mistake.right, mistake.wrong), kit,
                     mistake.causal);
      EXPECT_GT(countRefused(right[mistake.causal], wrong), 0u)
          << mistake.name << ", " << kit.name << " data";
    }
  }
}

} // namespace
} // namespace selvedge::testing
