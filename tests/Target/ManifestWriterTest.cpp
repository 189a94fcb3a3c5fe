// The manifest writer against the runtime's reader.
// SPDX-License-Identifier: MIT
#include "compiler/Target/PTX/Manifest.h"
#include "dialect/Sm/Sm.h"
#include "selvedge/Manifest.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace selvedge;

namespace {

constexpr const char *signature = R"(
  dims ["B", "M", "G", "R"] tensors [
    #tile.tensor_arg<name = "q", role = in, elementType = bf16,
      shape = ()[s0, s1, s2, s3] -> (s0, s1, s2 * s3, 128)>,
    #tile.tensor_arg<name = "len", role = in, elementType = i32,
      shape = ()[s0, s1, s2, s3] -> (s0), isOptional = true>,
    #tile.tensor_arg<name = "o", role = out, elementType = f16,
      shape = ()[s0, s1, s2, s3] -> (s0), init = 0xFF800000 : f32>,
    #tile.tensor_arg<name = "acc", role = inout, elementType = f32,
      shape = ()[s0, s1, s2, s3] -> (s0), init = "keep">]
  scalars [
    #tile.scalar_arg<name = "scale", type = f32, value = 0.5 : f32>,
    #tile.scalar_arg<name = "W", type = i32, value = 4096 : i32>,
    #tile.scalar_arg<name = "c", type = f32>,
    #tile.scalar_arg<name = "half", type = i32,
      value = affine_map<()[s0, s1, s2, s3] -> (s1 floordiv 2)>>,
    #tile.scalar_arg<name = "all", type = f32,
      value = affine_map<()[s0, s1, s2, s3] -> (s1)>>]
  requires [
    #tile.require<tensor = "len", lo = ()[s0, s1, s2, s3] -> (0),
      hi = ()[s0, s1, s2, s3] -> (s1 - s0)>]
  params {T = bf16, D = 128 : i64, causal = false, name = "x"}
)";

class ManifestWriterTest : public testing::Test {
protected:
  ManifestWriterTest() {
    context.loadDialect<sm::SmDialect, tile::TileDialect>();
  }

  void parse(const std::string &text) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(module);
  }
  /// JSON of the plan with the signature above and the given variants.
  std::string write(const std::string &variants) {
    parse("sm.plan \"f\"" + std::string(signature) + "{" + variants + "}");
    auto text =
        ptx::writeManifest(*module->getOps<sm::PlanOp>().begin(), "sm_80", "1");
    if (!text)
      return "error: " + llvm::toString(text.takeError());
    return *text;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// A universal variant with one launch on the given grid.
std::string universal(const std::string &grid) {
  return R"(sm.variant <universal> when [] align 1 {
    sm.launch @k grid affine_map<()[s0, s1, s2, s3] -> ()" +
         grid + R"()> block 128 smem 1024 args [
      #sm.pointer<"q">, #sm.stride<"q", 2>, #sm.dim<"M">, #sm.scalar<"scale">]
  })";
}

} // namespace

TEST_F(ManifestWriterTest, ReaderAcceptsPlan) {
  std::string text =
      write(R"(sm.variant <program> when ["q", "o"] align 16 {})" +
            universal("s0 * (s1 ceildiv 64)"));
  auto manifest = parseManifest(text, ManifestKind::Program);
  ASSERT_TRUE(manifest.ok()) << manifest.status().message() << text;
  EXPECT_EQ(manifest->op, "f");
  EXPECT_EQ(manifest->arch, "sm_80");
  EXPECT_EQ(manifest->dims, (std::vector<std::string>{"B", "M", "G", "R"}));
  ASSERT_EQ(manifest->tensors.size(), 4u);
  EXPECT_EQ(manifest->tensors[0].shape.size(), 4u);
  EXPECT_TRUE(manifest->tensors[1].optional);
  EXPECT_TRUE(manifest->tensors[3].keepsUnstored);
  ASSERT_EQ(manifest->scalars.size(), 5u);
  EXPECT_EQ(manifest->scalars[0].defaultValue, 0.5);
  EXPECT_EQ(manifest->scalars[1].defaultValue, 4096);
  EXPECT_FALSE(manifest->scalars[2].defaultValue);
  EXPECT_FALSE(manifest->scalars[2].defaultOfDims);
  for (auto [i, value] : {std::pair(3, 150), {4, 300}}) {
    ASSERT_TRUE(manifest->scalars[i].defaultOfDims);
    EXPECT_EQ(*manifest->scalars[i].defaultOfDims->evaluate({1, 300, 1, 1},
                                                            manifest->dims),
              value);
  }
  ASSERT_EQ(manifest->variants.size(), 2u);
  EXPECT_EQ(manifest->variants[0].when.size(), 2u);
  EXPECT_EQ(manifest->variants[0].when[0].align, 16);
  const ManifestLaunch &launch = manifest->variants[1].launches.at(0);
  EXPECT_EQ(launch.kernel, "k");
  EXPECT_EQ(launch.block, 128);
  EXPECT_EQ(launch.smemBytes, 1024);
  ASSERT_EQ(launch.args.size(), 4u);
  EXPECT_EQ(launch.args[1].kind, ManifestArg::Kind::Stride);
  EXPECT_EQ(launch.args[1].dimension, 2u);
}

TEST_F(ManifestWriterTest, ReaderAcceptsConditionsOnDims) {
  std::string text = write(R"(
      sm.variant <packed> when ["q"] align 16 dims affine_map<()[s0, s1, s2, s3] -> (s3 - 2, -(64 mod s3))> {
        sm.launch @k grid affine_map<()[s0, s1, s2, s3] -> (s0)> block 128 smem 0 args [
          #sm.tensor_map<"q" box[: 1, 64, 1, 64] pairs <1, 2 by "R" in groups>>,
          #sm.tensor_map<"q" box[: 1, 64, 1, 64] pairs <1, 2 by "R" in group>>,
          #sm.tensor_map<"q" box[: 1, 64, 1, 64] pairs <1, 2 by "R" in part>>]
      })" + universal("s0"));
  auto manifest = parseManifest(text, ManifestKind::Program);
  ASSERT_TRUE(manifest.ok()) << manifest.status().message() << text;
  const ManifestVariant &variant = manifest->variants.at(0);
  ASSERT_EQ(variant.dimConditions.size(), 2u);
  auto valueOf = [&](const DimExpr &expr, int64_t r) {
    return *expr.evaluate({1, 5, 1, r}, manifest->dims);
  };
  EXPECT_EQ(valueOf(variant.dimConditions[0], 4), 2);
  EXPECT_EQ(valueOf(variant.dimConditions[1], 4), 0);
  EXPECT_EQ(valueOf(variant.dimConditions[1], 3), -1);
  auto boxOf = [&](size_t map, int64_t r) {
    const std::vector<DimExpr> &box = variant.launches.at(0).args.at(map).box;
    return std::pair(valueOf(box.at(1), r), valueOf(box.at(2), r));
  };
  using Box = std::pair<int64_t, int64_t>;
  EXPECT_EQ(boxOf(0, 4), Box(16, 4));
  EXPECT_EQ(boxOf(0, 7), Box(9, 7));
  EXPECT_EQ(boxOf(0, 96), Box(1, 64));
  EXPECT_EQ(boxOf(1, 7), Box(1, 7));
  EXPECT_EQ(boxOf(2, 7), Box(1, 1));
  EXPECT_EQ(boxOf(2, 12), Box(1, 4));
  EXPECT_EQ(boxOf(2, 96), Box(1, 32));
}

TEST_F(ManifestWriterTest, SpellsValues) {
  std::string text = write(universal("s0"));
  for (const char *part :
       {"\"T\": \"bf16\"", "\"D\": 128", "\"causal\": false", "\"name\": \"x\"",
        "\"init\": \"-inf\"", "\"init\": \"keep\"", "\"default\": 0.5"})
    EXPECT_NE(text.find(part), std::string::npos) << part << text;
}

TEST_F(ManifestWriterTest, SpellsExpressions) {
  const std::pair<const char *, const char *> cases[] = {
      {"s1 floordiv 4", R"({"floordiv":["M",4]})"},
      {"s1 mod 4", R"({"mod":["M",4]})"},
      {"s0 * (s1 ceildiv 64)", R"({"mul":["B",{"ceildiv":["M",64]}]})"},
      {"s0 - s1", R"({"max":[0,{"sub":["B","M"]}]})"},
      {"s0 + 3", R"({"add":["B",3]})"},
      {"s0 * -2", R"({"max":[0,{"mul":["B",-2]}]})"},
      {"s0, s1 ceildiv 64", R"({"mul":["B",{"ceildiv":["M",64]}]})"},
      {"7", "7"},
  };
  for (auto [grid, expected] : cases) {
    std::string text = write(universal(grid));
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
    std::string wanted = std::string("\"grid\":[") + expected + "]";
    EXPECT_NE(text.find(wanted), std::string::npos) << grid << "\n" << text;
  }
}

TEST_F(ManifestWriterTest, RefusesWhatHasNoForm) {
  parse(R"(sm.plan "f" dims ["N"] tensors [] scalars [
      #tile.scalar_arg<name = "w", type = i32,
        value = affine_map<()[s0] -> (s0, s0)>>]
      requires [] params {} { sm.variant <universal> when [] align 1 {} })");
  auto text =
      ptx::writeManifest(*module->getOps<sm::PlanOp>().begin(), "sm_80", "1");
  ASSERT_FALSE(static_cast<bool>(text));
  EXPECT_NE(llvm::toString(text.takeError()).find("not one number"),
            std::string::npos);
}

TEST_F(ManifestWriterTest, SignatureOfProgram) {
  parse("tile.program @f" + std::string(signature) + "{}");
  auto text =
      ptx::writeSignature(*module->getOps<tile::ProgramOp>().begin(), "1");
  ASSERT_TRUE(static_cast<bool>(text));
  EXPECT_EQ(text->find("variants"), std::string::npos);
  auto manifest = parseManifest(*text, ManifestKind::Signature);
  ASSERT_TRUE(manifest.ok()) << manifest.status().message();
  EXPECT_EQ(manifest->tensors.size(), 4u);
  EXPECT_EQ(manifest->ranges.size(), 1u);
}
