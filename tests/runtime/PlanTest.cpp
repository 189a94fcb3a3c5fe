// Dims, variants and parameters of a launch, without a GPU.
// SPDX-License-Identifier: MIT
#include "selvedge/Plan.h"
#include "dialect/Tile/Limits.h"
#include "tests/runtime/TestManifest.h"

#include <bit>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>

using namespace selvedge;

static_assert(maxDim == tile::maxExtent,
              "the runtime and the compiler agree on the largest dim");

namespace {

void *address(uintptr_t value) { return reinterpret_cast<void *>(value); }

/// B=2, M=100, G=2, R=3, N=7.
LaunchArgs goodArgs() {
  LaunchArgs args;
  args.tensors["q"] =
      contiguousView(address(0x1000), DType::BF16, {2, 100, 6, 64});
  args.tensors["k"] =
      contiguousView(address(0x2000), DType::BF16, {2, 7, 2, 64});
  args.tensors["o"] =
      contiguousView(address(0x3000), DType::BF16, {2, 100, 6, 64});
  args.scalars["window"] = -5;
  args.workspace = address(0x10000);
  args.workspaceBytes = 768;
  return args;
}

std::string failure(const LaunchArgs &args) {
  static const Manifest manifest = test::parsedAttention();
  auto plan = planLaunch(manifest, args);
  EXPECT_FALSE(plan.ok());
  return plan.status().message();
}

void expectContains(const std::string &text,
                    std::initializer_list<const char *> parts) {
  for (const char *part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
}

TEST(Plan, packsParameters) {
  Manifest manifest = test::parsedAttention();
  auto plan = planLaunch(manifest, goodArgs());
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(plan->variant, 0u);
  ASSERT_EQ(plan->launches.size(), 2u);
  const PlannedLaunch &main = plan->launches[1];
  EXPECT_EQ(main.grid, (std::array<uint32_t, 3>{2, 2, 1}));
  // Temps: partial takes 32 bytes, rounded to 256; sums follows.
  std::vector<uint64_t> expected = {0x1000,
                                    6 * 64,
                                    0,
                                    0,
                                    0x10100,
                                    100,
                                    std::bit_cast<uint32_t>(0.125f),
                                    static_cast<uint32_t>(-5)};
  EXPECT_EQ(main.params, expected);
}

/// An odd last extent of a temp costs no vector access; only what a caller
/// brings can lack alignment.
TEST(Plan, rowsOfTempsAreAligned) {
  auto strides = [](DType dtype, std::vector<int64_t> shape) {
    return tempStrides(dtype, shape);
  };
  using Strides = std::vector<int64_t>;
  EXPECT_EQ(strides(DType::F32, {3, 5, 7}), (Strides{40, 8, 1}));
  EXPECT_EQ(strides(DType::F32, {3, 5, 8}), (Strides{40, 8, 1}));
  EXPECT_EQ(strides(DType::BF16, {4, 9}), (Strides{16, 1}));
  EXPECT_EQ(strides(DType::U8, {4, 1}), (Strides{16, 1}));
  EXPECT_EQ(strides(DType::F64, {0, 3}), (Strides{4, 1}));
  // There is one row only.
  EXPECT_EQ(strides(DType::F32, {7}), (Strides{1}));
  Manifest manifest = *parseManifest(R"json({
    "selvedge": 1, "compiler": "0.1.0", "op": "f", "arch": "sm_80", "params": {}, "dims": ["M", "N"],
    "tensors": [{"name": "y", "role": "out", "dtype": "f32", "shape": ["N"], "optional": false},
                {"name": "t", "role": "temp", "dtype": "f32", "shape": ["M", "N"]}],
    "scalars": [], "requires": [],
    "variants": [
      {"name": "aligned", "when": [{"tensor": "t", "align": 16}],
       "launches": [{"kernel": "a", "grid": [1], "block": 32, "smem": 0, "args": [{"stride": ["t", 0]}, {"stride": ["t", 1]}]}]},
      {"name": "universal", "when": [], "launches": [{"kernel": "u", "grid": [1], "block": 32, "smem": 0, "args": []}]}]
  })json");
  LaunchArgs args;
  args.tensors["y"] =
      contiguousView(reinterpret_cast<void *>(0x1000), DType::F32, {4095});
  args.dims["M"] = 3;
  args.workspace = reinterpret_cast<void *>(0x10000);
  args.workspaceBytes = *workspaceSize(manifest, args);
  EXPECT_EQ(args.workspaceBytes, 3u * 4096 * 4);
  auto plan = planLaunch(manifest, args);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(variantName(manifest, *plan), "aligned");
  EXPECT_EQ(plan->launches[0].params, (std::vector<uint64_t>{4096, 1}));
}

TEST(Plan, workspaceIsAligned) {
  Manifest manifest = test::parsedAttention();
  auto bytes = workspaceSize(manifest, goodArgs());
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(*bytes, 768u);
  LaunchArgs args = goodArgs();
  args.workspaceBytes = 767;
  expectContains(failure(args), {"767", "768"});
  args = goodArgs();
  args.workspace = address(0x10010);
  expectContains(failure(args), {"aligned"});
}

TEST(Plan, oneElementStandsForAll) {
  Manifest manifest = test::parsedAttention();
  // With the stride 0 no row is contiguous.
  manifest.variants[0].when.clear();
  auto strideOf = [&](int64_t extent) -> int64_t {
    LaunchArgs args = goodArgs();
    args.tensors["kv_len"] =
        contiguousView(address(0x4000), DType::I32, {extent});
    auto plan = planLaunch(manifest, args);
    EXPECT_EQ(plan.ok(), extent == 2 || manifest.tensors[2].mayBroadcast(0));
    constexpr size_t stride = 3;
    return plan.ok()
               ? static_cast<int64_t>(plan->launches.back().params.at(stride))
               : -1;
  };
  EXPECT_EQ(strideOf(2), 1);
  EXPECT_EQ(strideOf(1), -1);
  manifest.tensors[2].broadcasts = {true};
  EXPECT_EQ(strideOf(2), 1);
  EXPECT_EQ(strideOf(1), 0);
}

TEST(BindDims, sumsAreAskedForByOne) {
  Manifest manifest = test::parsedAttention();
  manifest.dims.push_back("d_kv_len_0");
  constexpr size_t sum = 5, keyLengths = 2;
  manifest.tensors[keyLengths].broadcasts = {true};
  manifest.reducedDims = {{sum, keyLengths, 0}};
  auto bound = [&](int64_t extent,
                   const std::map<std::string, int64_t> &fixed) {
    std::vector<int64_t> shape{extent};
    return bindDims(manifest, {{keyLengths, shape}}, fixed);
  };
  // Like the input, unless the caller says so.
  EXPECT_EQ(*(*bound(1, {{"B", 4}}))[sum], 1);
  EXPECT_EQ(*(*bound(4, {{"B", 4}}))[sum], 4);
  EXPECT_EQ(*(*bound(1, {{"B", 4}, {"d_kv_len_0", 4}}))[sum], 4);
  EXPECT_EQ(*(*bound(4, {{"B", 4}, {"d_kv_len_0", 1}}))[sum], 1);
  EXPECT_EQ(*(*bindDims(manifest, {}, {{"B", 4}}))[sum], 4);
  EXPECT_FALSE((*bindDims(manifest, {}, {{"M", 4}}))[sum]);
  auto other = bound(4, {{"B", 4}, {"d_kv_len_0", 3}});
  ASSERT_FALSE(other.ok());
  expectContains(other.status().message(),
                 {"'d_kv_len_0' is 3", "4", "'kv_len'"});
}

TEST(Plan, emptyGridIsSkipped) {
  Manifest manifest = test::parsedAttention();
  LaunchArgs args = goodArgs();
  args.tensors["k"] =
      contiguousView(address(0x2000), DType::BF16, {2, 0, 2, 64});
  auto plan = planLaunch(manifest, args);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  ASSERT_EQ(plan->launches.size(), 1u);
  EXPECT_EQ(plan->launches[0].launch->kernel, "main");
}

TEST(Plan, gridLimit) {
  LaunchArgs args = goodArgs();
  args.tensors["q"] =
      contiguousView(address(0x1000), DType::BF16, {70000, 100, 6, 64});
  args.tensors["k"] =
      contiguousView(address(0x1000), DType::BF16, {70000, 7, 2, 64});
  args.tensors["o"] = args.tensors["q"];
  args.workspaceBytes = 1 << 30;
  expectContains(failure(args), {"grid y", "main", "70000"});
}

TEST(Plan, variantSelection) {
  Manifest manifest = test::parsedAttention();
  auto variant = [&](auto edit) {
    LaunchArgs args = goodArgs();
    edit(args);
    auto plan = planLaunch(manifest, args);
    EXPECT_TRUE(plan.ok()) << plan.status().message();
    return plan.ok() ? plan->variant : 99;
  };
  using Args = LaunchArgs;
  EXPECT_EQ(variant([](Args &) {}), 0u);
  // The base pointer.
  EXPECT_EQ(variant([](Args &a) { a.tensors["q"].data = address(0x1008); }),
            1u);
  // A stride of 8 bytes.
  EXPECT_EQ(variant([](Args &a) { a.tensors["q"].strides[1] = 6 * 64 + 4; }),
            1u);
  // The same stride where the extent is 1 does not matter.
  EXPECT_EQ(variant([](Args &a) {
              for (const char *name : {"q", "o"})
                a.tensors[name] =
                    contiguousView(address(0x1000), DType::BF16, {2, 1, 6, 64});
              a.tensors["q"].strides[1] = 3;
            }),
            0u);
  // The last dimension has to be contiguous.
  EXPECT_EQ(variant([](Args &a) { a.tensors["q"].strides[3] = 8; }), 1u);
  // A tensor without a condition may have any strides.
  EXPECT_EQ(variant([](Args &a) { a.tensors["k"].strides = {1, 3, 5, 7}; }),
            0u);
  // An optional tensor that is present and unaligned.
  EXPECT_EQ(variant([](Args &a) {
              a.tensors["kv_len"] =
                  contiguousView(address(0x5004), DType::I32, {2});
            }),
            1u);
}

/// Thread blocks that take one tile after another count past the last one.
TEST(Plan, persistentGridLimit) {
  std::string text(test::attentionManifest);
  std::string grid = R"("grid": ["N"], )";
  text.replace(text.find(grid), grid.size(),
               R"("grid": [{"mul": ["N", 65537]}], "persistent": true, )");
  Manifest manifest = *parseManifest(text);
  for (int64_t n : {32766, 32767}) {
    LaunchArgs args = goodArgs();
    args.tensors["k"] =
        contiguousView(address(0x2000), DType::BF16, {2, n, 2, 64});
    args.workspaceBytes = 4096;
    auto plan = planLaunch(manifest, args);
    EXPECT_EQ(plan.ok(), n == 32766) << n;
  }
}

/// A variant for a few rows of several heads, whose boxes are of the dims.
TEST(Plan, variantForDims) {
  std::string text(test::attentionManifest);
  std::string variants = R"("variants": [)";
  text.insert(text.find(variants) + variants.size(), R"json(
    {"name": "packed", "when": [{"tensor": "q", "align": 16}, {"dims": {"sub": ["R", 2]}},
       {"dims": {"sub": [32, "M"]}}],
     "launches": [
       {"kernel": "packed", "grid": [{"ceildiv": [{"mul": ["M", "R"]}, 64]}], "block": 128, "smem": 0,
        "args": [{"tensorMap": ["q", [1, {"max": [1, {"floordiv": [64, "R"]}]}, {"min": [64, "R"]}, 64]]},
                 {"tensorMap": ["q", [1, 1, {"gcd": [64, "R"]}, 64]]}]}]},)json");
  Manifest manifest = *parseManifest(text);
  for (int64_t m : {1, 16, 32, 33, 200})
    for (int64_t r : {1, 3, 4, 7, 12, 64, 96, 128}) {
      LaunchArgs args = goodArgs();
      for (const char *name : {"q", "o"})
        args.tensors[name] =
            contiguousView(address(0x1000), DType::BF16, {2, m, 2 * r, 64});
      args.workspaceBytes = 4096;
      auto plan = planLaunch(manifest, args);
      ASSERT_TRUE(plan.ok()) << plan.status().message();
      bool isPacked = m <= 32 && r > 1;
      EXPECT_EQ(plan->variant, isPacked ? 0u : 1u) << "M " << m << ", R " << r;
      if (!isPacked)
        continue;
      const auto &maps = plan->launches.at(0).maps;
      EXPECT_EQ(maps.at(0).box,
                (std::vector<int64_t>{1, std::max<int64_t>(1, 64 / r),
                                      std::min<int64_t>(64, r), 64}));
      EXPECT_EQ(maps.at(1).box,
                (std::vector<int64_t>{1, 1, std::gcd(64, r), 64}));
    }
}

/// Variants for rows of some length, the first that is long enough.
TEST(Plan, variantForLengths) {
  std::string text(test::attentionManifest);
  std::string variants = R"("variants": [)", added;
  for (const char *limit : {"2048", "16384"})
    added +=
        std::string(R"json({"name": "upto)json") + limit +
        R"json(", "when": [{"tensor": "q", "align": 16}, {"dims": {"sub": [)json" +
        limit + R"json(, "M"]}}], "launches": []},)json";
  text.insert(text.find(variants) + variants.size(), added);
  Manifest manifest = *parseManifest(text);
  auto variantFor = [&](int64_t m, uint64_t start) {
    LaunchArgs args = goodArgs();
    for (const char *name : {"q", "o"})
      args.tensors[name] =
          contiguousView(address(start), DType::BF16, {2, m, 6, 64});
    args.workspaceBytes = 1 << 20;
    auto plan = planLaunch(manifest, args);
    EXPECT_TRUE(plan.ok()) << plan.status().message();
    return manifest.variants.at(plan->variant).name;
  };
  EXPECT_EQ(variantFor(1, 0x1000), "upto2048");
  EXPECT_EQ(variantFor(2048, 0x1000), "upto2048");
  EXPECT_EQ(variantFor(2049, 0x1000), "upto16384");
  EXPECT_EQ(variantFor(16384, 0x1000), "upto16384");
  EXPECT_EQ(variantFor(16385, 0x1000), "aligned");
  EXPECT_EQ(variantFor(2048, 0x1002), "universal");
}

/// Where a box would be larger than the driver takes, another variant is.
TEST(Plan, variantForBoxes) {
  std::string text(test::attentionManifest);
  std::string variants = R"("variants": [)";
  text.insert(text.find(variants) + variants.size(), R"json(
    {"name": "bulk", "when": [], "launches": [
       {"kernel": "bulk", "grid": [1], "block": 128, "smem": 0, "args": [{"tensorMap": ["q", [1, "M", {"sub": ["R", 1]}, 64]]}]}]},)json");
  Manifest manifest = *parseManifest(text);
  auto variant = [&](int64_t m, int64_t r) {
    LaunchArgs args = goodArgs();
    for (const char *name : {"q", "o"})
      args.tensors[name] =
          contiguousView(address(0x1000), DType::BF16, {2, m, 2 * r, 64});
    args.workspaceBytes = 4096;
    auto plan = planLaunch(manifest, args);
    EXPECT_TRUE(plan.ok()) << plan.status().message();
    return plan.ok() ? plan->variant : 99;
  };
  EXPECT_EQ(variant(256, 2), 0u);
  EXPECT_EQ(variant(257, 2), 1u);
  EXPECT_EQ(variant(256, 1), 1u);
}

/// Boxes of rows are swizzled, those of vectors are not; of integers there are
/// boxes, too.
TEST(Plan, plainMaps) {
  std::string text(test::attentionManifest);
  std::string variants = R"("variants": [)";
  text.insert(text.find(variants) + variants.size(), R"json(
    {"name": "bulk", "when": [], "launches": [
       {"kernel": "bulk", "grid": [1], "block": 128, "smem": 0,
        "args": [{"tensorMap": ["k", [1, 64, 1, 64]]}, {"tensorMap": ["kv_len", [32], "plain"]}]}]},)json");
  auto manifest = parseManifest(text);
  ASSERT_TRUE(manifest.ok()) << manifest.status().message();
  LaunchArgs args = goodArgs();
  args.tensors["kv_len"] = contiguousView(address(0x4000), DType::I32, {2});
  auto plan = planLaunch(*manifest, args);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  ASSERT_EQ(manifest->variants.at(plan->variant).name, "bulk");
  const auto &maps = plan->launches.at(0).maps;
  EXPECT_TRUE(maps.at(0).isSwizzled);
  EXPECT_FALSE(maps.at(1).isSwizzled);
}

/// A descriptor takes every stride from 0 on: keys of one head that stand for
/// those of all, but no rows from the last to the first.
TEST(Plan, variantForStrides) {
  std::string text(test::attentionManifest);
  std::string variants = R"("variants": [)";
  text.insert(text.find(variants) + variants.size(), R"json(
    {"name": "bulk", "when": [], "launches": [
       {"kernel": "bulk", "grid": [1], "block": 128, "smem": 0, "args": [{"tensorMap": ["k", [1, 64, 1, 64]]}]}]},)json");
  Manifest manifest = *parseManifest(text);
  auto variant = [&](size_t dimension, int64_t stride) {
    LaunchArgs args = goodArgs();
    args.tensors["k"].strides.at(dimension) = stride;
    auto plan = planLaunch(manifest, args);
    EXPECT_TRUE(plan.ok()) << plan.status().message();
    return plan.ok() ? manifest.variants.at(plan->variant).name : "";
  };
  EXPECT_EQ(variant(2, 64), "bulk");
  for (size_t repeated : {0, 1, 2})
    EXPECT_EQ(variant(repeated, 0), "bulk") << repeated;
  EXPECT_NE(variant(1, -64), "bulk");
  EXPECT_NE(variant(1, 68), "bulk");
  EXPECT_NE(variant(3, 0), "bulk");
}

TEST(Plan, outputsMayRunBackwards) {
  Manifest manifest = test::parsedAttention();
  LaunchArgs args = goodArgs();
  args.tensors["o"].strides[1] = -6 * 64;
  auto plan = planLaunch(manifest, args);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  // What is infinite was meant.
  args.scalars["scale"] = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(planLaunch(manifest, args).ok());
}

TEST(Plan, badArguments) {
  LaunchArgs args = goodArgs();
  args.tensors.erase("k");
  expectContains(failure(args), {"'k'", "missing", "bf16[B, N, G, 64]"});

  args = goodArgs();
  args.tensors["z"] = args.tensors["q"];
  expectContains(failure(args), {"'z'"});

  args = goodArgs();
  args.tensors["sums"] = args.tensors["q"];
  expectContains(failure(args), {"'sums'", "temp"});

  args = goodArgs();
  args.tensors["q"].dtype = DType::F16;
  expectContains(failure(args), {"'q'", "f16", "bf16"});

  args = goodArgs();
  args.tensors["q"].data = nullptr;
  expectContains(failure(args), {"'q'", "null"});

  args = goodArgs();
  args.tensors["q"].data = address(0x1001);
  expectContains(failure(args), {"'q'", "aligned"});

  args = goodArgs();
  args.tensors["o"].strides[1] = 0;
  expectContains(failure(args), {"'o'", "overlap"});
  args.tensors["o"].strides[1] = -6 * 64 + 1;
  expectContains(failure(args), {"'o'", "overlap"});
  args.tensors["o"].strides[1] = std::numeric_limits<int64_t>::min();
  expectContains(failure(args), {"'o'", "overlap"});

  args = goodArgs();
  args.scalars["scale"] = 1e300;
  expectContains(failure(args), {"'scale'", "1e+300", "f32"});
  args.scalars["scale"] = -1e39;
  expectContains(failure(args), {"'scale'", "f32"});

  args = goodArgs();
  args.tensors["q"].strides.pop_back();
  expectContains(failure(args), {"'q'", "strides"});

  args = goodArgs();
  args.scalars.erase("window");
  expectContains(failure(args), {"'window'", "i32"});

  args = goodArgs();
  args.scalars["window"] = 0.5;
  expectContains(failure(args), {"'window'", "0.5"});

  args = goodArgs();
  args.scalars["zoom"] = 1;
  expectContains(failure(args), {"'zoom'"});
}

TEST(BindDims, conflictNamesTensorDimensionAndValues) {
  LaunchArgs args = goodArgs();
  args.tensors["k"].shape[0] = 5;
  expectContains(failure(args), {"'k'", "dimension 0", "5", "2", "'q'"});

  args = goodArgs();
  args.tensors["q"].shape[3] = 128;
  expectContains(failure(args), {"'q'", "dimension 3", "128", "64"});

  args = goodArgs();
  args.tensors["q"].shape[2] = 7;
  args.tensors["o"].shape[2] = 7;
  expectContains(failure(args), {"'q'", "dimension 2", "7", "G = 2"});

  args = goodArgs();
  args.tensors["k"].shape.pop_back();
  args.tensors["k"].strides.pop_back();
  expectContains(failure(args), {"'k'", "rank 3", "rank 4"});

  args = goodArgs();
  args.dims["N"] = 8;
  expectContains(failure(args), {"'k'", "dimension 1", "7", "8", "given"});

  args = goodArgs();
  args.dims["H"] = 8;
  expectContains(failure(args), {"'H'", "B, M, G, R, N"});
}

TEST(BindDims, anExtentOfOneMayStandForAny) {
  Manifest manifest = test::parsedAttention();
  manifest.tensors[2].broadcasts = {true};
  std::vector<int64_t> one = {1}, three = {3}, k = {2, 7, 2, 64};
  // Whoever comes first, another tensor says what B is.
  auto dims = bindDims(manifest, {{2, one}, {1, k}}, {});
  ASSERT_TRUE(dims.ok()) << dims.status().message();
  EXPECT_EQ((*dims)[0], 2);
  dims = bindDims(manifest, {{2, one}}, {{"B", 5}});
  ASSERT_TRUE(dims.ok()) << dims.status().message();
  EXPECT_EQ((*dims)[0], 5);
  // Where none does it is 1.
  dims = bindDims(manifest, {{2, one}}, {});
  ASSERT_TRUE(dims.ok()) << dims.status().message();
  EXPECT_EQ((*dims)[0], 1);
  EXPECT_FALSE(bindDims(manifest, {{2, three}, {1, k}}, {}).ok());
}

TEST(BindDims, productNeedsAFactor) {
  Manifest manifest = test::parsedAttention();
  std::vector<int64_t> shape = {1, 2, 12, 64};
  auto dims = bindDims(manifest, {{0, shape}}, {});
  ASSERT_TRUE(dims.ok());
  EXPECT_FALSE((*dims)[2].has_value());
  EXPECT_FALSE(requireAllDims(manifest, *dims).ok());
  dims = bindDims(manifest, {{0, shape}}, {{"R", 4}, {"N", 1}});
  ASSERT_TRUE(dims.ok());
  EXPECT_EQ((*dims)[2], 3);
  EXPECT_TRUE(requireAllDims(manifest, *dims).ok());
}

TEST(BindDims, productLimit) {
  const int64_t g = 1 << 16, r = 1 << 15; // g * r = 2^31
  LaunchArgs args = goodArgs();
  args.tensors["q"] =
      contiguousView(address(0x1000), DType::BF16, {2, 100, g * r, 64});
  args.tensors["o"] =
      contiguousView(address(0x3000), DType::BF16, {2, 100, g * r, 64});
  args.tensors["k"] =
      contiguousView(address(0x2000), DType::BF16, {2, 7, g, 64});
  expectContains(failure(args), {"tensor 'q' dimension 2", "2147483648",
                                 "outside 0..2147467263"});
}

TEST(BindDims, limits) {
  Manifest manifest = test::parsedAttention();
  EXPECT_TRUE(bindDims(manifest, {}, {{"M", maxDim}}).ok());
  EXPECT_FALSE(bindDims(manifest, {}, {{"M", maxDim + 1}}).ok());
  EXPECT_FALSE(bindDims(manifest, {}, {{"M", -1}}).ok());
  std::vector<int64_t> shape = {maxDim + 1, 2, 12, 64};
  EXPECT_FALSE(bindDims(manifest, {{0, shape}}, {}).ok());
}

} // namespace
