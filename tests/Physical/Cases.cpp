// Programs and data for the tests of physical execution.
// SPDX-License-Identifier: MIT
#include "Cases.h"

#include "compiler/Frontend/Frontend.h"
#include "compiler/Safety/Passes.h"
#include "compiler/Schedule/Passes.h"
#include "compiler/Verify/Passes.h"
#include "dialect/Sm/Sm.h"
#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <limits>
#include <random>

using namespace mlir;

namespace selvedge::testing {

HostTensor tensor(std::string name, std::vector<int64_t> shape,
                  std::vector<double> values) {
  HostTensor result;
  result.name = std::move(name);
  result.shape = std::move(shape);
  result.values = std::move(values);
  return result;
}

HostTensor randomTensor(std::string name, std::vector<int64_t> shape,
                        unsigned seed, double mean) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(static_cast<float>(mean));
  std::vector<double> values(count);
  for (double &value : values)
    value = normal(engine);
  return tensor(std::move(name), std::move(shape), std::move(values));
}

void addMasks(Case &test) {
  for (std::vector<Kit> *kits : {&test.kits, &test.edges})
    for (Kit &kit : *kits) {
      const std::vector<int64_t> &shape = kit.inputs[1].shape;
      kit.inputs.push_back(randomTensor("mask", {shape[0], shape[1]}, 10));
      // At the edge of a step each key counts.
      if (kits == &test.edges)
        for (double &value : kit.inputs.back().values)
          value = std::abs(value);
      // NaN is not more than 0.
      kit.inputs.back().values[3] = std::numeric_limits<double>::quiet_NaN();
    }
}

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

Case attention(const std::string &op, bool causal) {
  const int64_t b = 3, m = 70, n = 100, d = 40;
  auto sized = [&](int64_t m, int64_t n, double mean,
                   std::vector<double> lengths) {
    return std::vector<HostTensor>{randomTensor("q", {b, m, 1, d}, 1, mean),
                                   randomTensor("k", {b, n, 1, d}, 2, -mean),
                                   randomTensor("v", {b, n, 1, d}, 3),
                                   tensor("kv_len", {b}, std::move(lengths))};
  };
  auto data = [&](double mean) { return sized(m, n, mean, {n, 77, 0}); };
  Case test{op != "flash_fwd" ? op
            : causal          ? "causal"
                              : "dense",
            op == "masked" ? SELVEDGE_INPUTS "/masked.tile"
                           : SELVEDGE_TEMPLATES "/flash_fwd.tile",
            op,
            {{"D", "40"}},
            {{"B", b}, {"M", m}, {"G", 1}, {"R", 1}, {"N", n}},
            {}};
  if (op == "flash_fwd")
    test.bindings["causal"] = causal ? "true" : "false";
  test.kits.push_back({"normal", data(0)});
  // Scores far below the 0 that a zero fill gives.
  test.kits.push_back({"low", data(1)});
  // Fewer keys than the head has elements.
  test.kits.back().inputs[3].values = {n, 77, 23};
  if (op == "gemma")
    test.kits.back().scalars["W"] = 20;
  test.kits.push_back({"negative", data(0), {{"scale", -0.5}}});
  std::vector<HostTensor> full = data(0);
  full.pop_back();
  test.kits.push_back({"no lengths", full});
  std::vector<HostTensor> spoiled = data(0);
  spoiled[0].values[2 * d] = nan;
  spoiled[1].values[5 * d + 1] = inf;
  spoiled[2].values[(n + 3) * d] = nan;
  test.kits.push_back({"not finite", spoiled});
  std::vector<HostTensor> lying = data(0);
  lying[3].values = {n + 20, 2147483647, -5};
  test.kits.push_back({"broken promise", lying, {}, false});
  // Steps have 64 keys, the last one may have one; the first row of a causal
  // step has kv_len - M + 1.
  std::vector<double> lengths = causal || op != "flash_fwd"
                                    ? std::vector<double>{65, 68, 69}
                                    : std::vector<double>{65, 63, 64};
  test.edges.push_back(
      {"edges", sized(6, n, 0, lengths), {}, true, {{"M", 6}}});
  // Rings wrap twice in the full part.
  test.edges.push_back({"rounds",
                        sized(6, 300, 0, {300, 290, 20}),
                        {},
                        true,
                        {{"M", 6}, {"N", 300}}});
  if (op == "gemma")
    test.edges.push_back({"window",
                          sized(6, 300, 0, {300, 290, 280}),
                          {{"W", 260}},
                          true,
                          {{"M", 6}, {"N", 300}}});
  if (op == "masked") {
    addMasks(test);
    // What masked keys hold is nobody's business.
    Kit hidden = test.kits.front();
    hidden.name = "hidden";
    for (int64_t key = 0; key < b * n; ++key)
      if (!(hidden.inputs[4].values[key] > 0))
        hidden.inputs[2].values[key * d] = nan;
    test.kits.push_back(std::move(hidden));
  }
  return test;
}

Case softmax() {
  const int64_t m = 6, n = 1030;
  Case test{"softmax",
            SELVEDGE_TEMPLATES "/softmax.tile",
            "softmax",
            {},
            {{"M", m}, {"N", n}},
            {}};
  test.kits.push_back({"normal", {randomTensor("x", {m, n}, 4)}});
  test.kits.push_back({"low", {randomTensor("x", {m, n}, 4, -40)}});
  HostTensor spoiled = randomTensor("x", {m, n}, 4);
  spoiled.values[3] = nan;
  spoiled.values[n + 3] = inf;
  std::fill_n(spoiled.values.begin() + 2 * n, n, -inf);
  std::fill_n(spoiled.values.begin() + 3 * n, n - 1, -inf);
  test.kits.push_back({"not finite", {spoiled}});
  for (int64_t edge : {1023, 1024, 1025})
    test.edges.push_back({"edge " + std::to_string(edge),
                          {randomTensor("x", {m, edge}, 4)},
                          {},
                          true,
                          {{"N", edge}}});
  return test;
}

Case matmul() {
  const int64_t m = 70, n = 51, k = 77;
  Case test{"matmul", SELVEDGE_TEMPLATES "/matmul.tile", "matmul",
            {},       {{"M", m}, {"N", n}, {"K", k}},    {}};
  HostTensor a = randomTensor("a", {m, k}, 5), b = randomTensor("b", {k, n}, 6);
  test.kits.push_back({"normal", {a, b}});
  a.values[3 * k + 2] = nan;
  b.values[4 * n + 7] = inf;
  test.kits.push_back({"not finite", {a, b}});
  for (int64_t edge : {63, 64, 65})
    test.edges.push_back(
        {"edge " + std::to_string(edge),
         {randomTensor("a", {m, edge}, 5), randomTensor("b", {edge, n}, 6)},
         {},
         true,
         {{"K", edge}}});
  // Rings wrap twice.
  test.edges.push_back(
      {"rounds",
       {randomTensor("a", {m, 200}, 5), randomTensor("b", {200, n}, 6)},
       {},
       true,
       {{"K", 200}}});
  // A block that lies inside both operands.
  test.edges.push_back(
      {"inside",
       {randomTensor("a", {128, 64}, 5), randomTensor("b", {64, 128}, 6)},
       {},
       true,
       {{"M", 128}, {"N", 128}, {"K", 64}}});
  return test;
}

Case partial() {
  const int64_t m = 13, n = 70;
  Case test{"partial",
            SELVEDGE_INPUTS "/partial.tile",
            "partial",
            {},
            {{"M", m}, {"N", n}},
            {}};
  test.kits.push_back({"normal", {randomTensor("x", {m, n}, 7)}});
  // The last column decides the maximum.
  HostTensor low = randomTensor("x", {m, n}, 7, -40);
  for (int64_t i = 0; i < m; ++i)
    low.values[i * n + n - 1] = -1;
  test.kits.push_back({"low", {low}});
  // No row is stored: all elements are those of the init kernels.
  test.kits.push_back({"no rows", {low}, {{"first", m}}});
  for (int64_t edge : {1023, 1024, 1025})
    test.edges.push_back({"edge " + std::to_string(edge),
                          {randomTensor("x", {m, edge}, 7, -1)},
                          {},
                          true,
                          {{"N", edge}}});
  return test;
}

Case filled() {
  const int64_t m = 13, n = 70;
  Case test{"filled", SELVEDGE_INPUTS "/filled.tile", "filled",
            {},       {{"M", m}, {"N", n}},           {}};
  test.kits.push_back({"normal", {randomTensor("x", {m, n}, 8)}});
  // The fill decides the maximum or the minimum, and what pads the block must
  // not.
  test.kits.push_back({"low", {randomTensor("x", {m, n}, 8, -40)}});
  // The last column decides.
  HostTensor low = randomTensor("x", {m, n}, 8, -40),
             high = randomTensor("x", {m, n}, 8, 40);
  for (int64_t i = 0; i < m; ++i) {
    low.values[i * n + n - 1] = -10;
    high.values[i * n + n - 1] = 20;
  }
  test.kits.push_back({"low, no fill", {low}, {{"first", 0}}});
  test.kits.push_back({"high, no fill", {high}, {{"first", 0}}});
  test.kits.push_back(
      {"all filled", {randomTensor("x", {m, n}, 8)}, {{"first", n}}});
  // More than all: what pads the block is never filled.
  test.kits.push_back(
      {"past all", {randomTensor("x", {m, n}, 8)}, {{"first", n + 5}}});
  for (int64_t edge : {1023, 1024, 1025})
    test.edges.push_back({"edge " + std::to_string(edge),
                          {randomTensor("x", {m, edge}, 8, -9)},
                          {},
                          true,
                          {{"N", edge}}});
  return test;
}

Case sums() {
  const int64_t m = 6, n = 2100;
  Case test{"sums", SELVEDGE_INPUTS "/sums.tile", "sums",
            {},     {{"M", m}, {"N", n}},         {}};
  test.kits.push_back({"normal", {randomTensor("x", {m, n}, 9)}});
  return test;
}

Case decay() {
  return {"decay", SELVEDGE_INPUTS "/decay.mlir", "decay", {}, {}, {}};
}

} // namespace

Case makeCase(const std::string &name) {
  if (name == "softmax")
    return softmax();
  if (name == "matmul")
    return matmul();
  if (name == "partial")
    return partial();
  if (name == "filled")
    return filled();
  if (name == "sums")
    return sums();
  if (name == "decay")
    return decay();
  bool isOp = name == "gemma" || name == "masked";
  return attention(isOp ? name : "flash_fwd", name == "causal");
}

Case makeRowCase(const std::string &variant) {
  const int64_t m = 3, n = variant == "upto2048"    ? 1032
                           : variant == "upto4096"  ? 2056
                           : variant == "upto16384" ? 8184
                                                    : 16392;
  Case test{"rows", SELVEDGE_TEMPLATES "/softmax.tile", "softmax", {}, {}, {}};
  test.dims = {{"M", m}, {"N", n}};
  test.kits.push_back({"normal", {randomTensor("x", {m, n}, 4)}});
  HostTensor spoiled = randomTensor("x", {m, n}, 4);
  spoiled.values[n - 1] = nan;
  std::fill_n(spoiled.values.begin() + n, n, -inf);
  std::fill_n(spoiled.values.begin() + 2 * n, n - 1, -inf);
  test.kits.push_back({"not finite", {spoiled}});
  return test;
}

void prepare(MLIRContext &context) {
  context.loadDialect<tile::TileDialect, sm::SmDialect, arith::ArithDialect,
                      math::MathDialect, scf::SCFDialect>();
  context.disableMultithreading();
  // A refused mutant is what the tests look for.
  context.getDiagEngine().registerHandler(
      [](Diagnostic &) { return success(); });
  [[maybe_unused]] static bool registered = [] {
    registerTransformsPasses();
    safety::registerSafetyPasses();
    schedule::registerSchedulePasses();
    verify::registerVerifyPasses();
    return true;
  }();
}

OwningOpRef<ModuleOp> build(MLIRContext &context, const Case &test) {
  std::ifstream stream(test.path);
  std::string source(std::istreambuf_iterator<char>(stream), {});
  // Programs that the language refuses.
  if (llvm::StringRef(test.path).ends_with(".mlir"))
    return parseSourceString<ModuleOp>(source, &context);
  std::string diagnostics;
  OwningOpRef<ModuleOp> module = frontend::buildModule(
      context, {test.path, source, test.op, &test.bindings}, diagnostics);
  EXPECT_TRUE(module) << diagnostics;
  return module;
}

bool transform(ModuleOp module, llvm::StringRef pipeline) {
  PassManager pm(module.getContext(), ModuleOp::getOperationName());
  if (failed(parsePassPipeline(pipeline, pm))) {
    ADD_FAILURE() << "not a pipeline: " << pipeline.str();
    return false;
  }
  return succeeded(pm.run(module));
}

static std::map<std::string, int64_t> dimsOf(const Case &test, const Kit &kit) {
  std::map<std::string, int64_t> dims = kit.dims;
  dims.insert(test.dims.begin(), test.dims.end());
  return dims;
}

Expected expect(ModuleOp module, const Case &test, const Kit &kit) {
  Expected expected;
  ReferenceOptions options;
  options.reads = &expected.loaded;
  options.checkPromises = kit.isPromised;
  std::string diagnostics;
  EXPECT_TRUE(interpretProgram(*module.getOps<tile::ProgramOp>().begin(),
                               dimsOf(test, kit), kit.scalars, kit.inputs,
                               expected.outputs, diagnostics, options))
      << diagnostics;
  return expected;
}

Outcome execute(ModuleOp module, const Case &test, const Kit &kit,
                const Expected &expected, physical::Poison poison,
                const std::string &variant) {
  physical::Options options;
  options.poison = poison;
  options.variant = variant;
  options.inside = &expected.loaded;
  Outcome run;
  bool done = physical::run(module, dimsOf(test, kit), kit.scalars, kit.inputs,
                            run.outputs, run.diagnostics, options);
  EXPECT_EQ(done, run.diagnostics.empty());
  return run;
}

std::string beyondBounds(const Outcome &run, const Expected &expected) {
  if (!run.diagnostics.empty())
    return run.diagnostics;
  for (auto [got, wanted] : llvm::zip_equal(run.outputs, expected.outputs))
    for (size_t i = 0; i < wanted.values.size(); ++i) {
      double bound = wanted.bounds.empty() ? 0 : wanted.bounds[i];
      double value = wanted.values[i];
      bool fine =
          std::isinf(bound) ||
          (std::isfinite(value) ? std::abs(got.values[i] - value) <= bound
                                : !std::isfinite(got.values[i]));
      if (!fine)
        return wanted.name + " at " + std::to_string(i) + ": got " +
               std::to_string(got.values[i]) + ", expected " +
               std::to_string(value) + " +- " + std::to_string(bound);
    }
  return "";
}

bool isSame(const Outcome &a, const Outcome &b) {
  if (a.diagnostics != b.diagnostics || a.outputs.size() != b.outputs.size())
    return false;
  for (auto [x, y] : llvm::zip(a.outputs, b.outputs))
    for (auto [p, q] : llvm::zip_equal(x.values, y.values))
      // NaN has no order, and its payload means nothing.
      if (std::memcmp(&p, &q, sizeof(p)) != 0 &&
          !(std::isnan(p) && std::isnan(q)))
        return false;
  return true;
}

} // namespace selvedge::testing
