// Parsing of manifests, and everything malformed.
// SPDX-License-Identifier: MIT
#include "tests/runtime/TestManifest.h"

#include <gtest/gtest.h>

using namespace selvedge;
using test::attentionManifest;

namespace {

/// The manifest with the first `from` replaced by `to`.
std::string edited(std::string_view from, std::string_view to) {
  std::string text(attentionManifest);
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Manifest, parsesEverything) {
  auto manifest = parseManifest(attentionManifest);
  ASSERT_TRUE(manifest.ok()) << manifest.status().message();
  EXPECT_EQ(manifest->op, "attention");
  EXPECT_EQ(manifest->arch, "sm_80");
  EXPECT_EQ(manifest->dims.size(), 5u);
  EXPECT_EQ(manifest->tensors.size(), 6u);
  EXPECT_TRUE(manifest->hasParam("causal"));
  EXPECT_EQ(typeToString(*manifest, manifest->tensors[0]),
            "bf16[B, M, G*R, 64]");
  EXPECT_EQ(manifest->scalars[0].defaultValue, 0.125);
  EXPECT_FALSE(manifest->scalars[1].defaultValue.has_value());
  EXPECT_EQ(manifest->variants.size(), 2u);
  EXPECT_EQ(manifest->variants[0].launches[1].args.size(), 8u);
}

TEST(Manifest, signatureNeedsNoProgram) {
  std::string text = edited(R"("arch": "sm_80",)", "");
  text = text.substr(0, text.find(R"("variants")"));
  text.erase(text.rfind(','));
  text += "}";
  EXPECT_TRUE(parseManifest(text, ManifestKind::Signature).ok());
  EXPECT_FALSE(parseManifest(text).ok());
}

TEST(Manifest, saysWhetherMasksAreExact) {
  EXPECT_FALSE(parseManifest(attentionManifest)->exactMasks);
  auto with = [](std::string_view mode) {
    return parseManifest(
        edited(R"("arch": "sm_80",)",
               R"("arch": "sm_80", "mask": ")" + std::string(mode) + R"(",)"));
  };
  EXPECT_TRUE(with("exact")->exactMasks);
  EXPECT_FALSE(with("tile")->exactMasks);
  EXPECT_FALSE(with("some").ok());
}

TEST(Manifest, everyTruncationIsAnError) {
  for (size_t size = 0; size < attentionManifest.size(); ++size)
    EXPECT_FALSE(parseManifest(attentionManifest.substr(0, size)).ok()) << size;
}

struct Malformed {
  const char *from;
  const char *to;
  const char *culprit;
};

class MalformedManifest : public testing::TestWithParam<Malformed> {};

TEST_P(MalformedManifest, errorNamesTheKey) {
  const Malformed &param = GetParam();
  auto manifest = parseManifest(edited(param.from, param.to));
  ASSERT_FALSE(manifest.ok());
  EXPECT_NE(manifest.status().message().find(param.culprit), std::string::npos)
      << manifest.status().message();
}

INSTANTIATE_TEST_SUITE_P(
    Corpus, MalformedManifest,
    testing::Values(
        Malformed{R"("selvedge": 1)", R"("selvedge": 2)", "version 1"},
        Malformed{R"("selvedge": 1)", R"("selvedge": "1")", "selvedge"},
        Malformed{R"("op": "attention",)", "", "'op'"},
        Malformed{R"("op": "attention")", R"("op": 3)", "manifest.op"},
        Malformed{R"("D": 64)", R"("D": [])", "params.D"},
        Malformed{R"(["B", "M", "G", "R", "N"])", "3", "manifest.dims"},
        Malformed{R"(["B", "M", "G", "R", "N"])", R"(["B", "B"])", "'B'"},
        Malformed{R"("role": "in")", R"("role": "input")", "'input'"},
        Malformed{R"("dtype": "bf16")", R"("dtype": "bf17")", "'bf17'"},
        Malformed{R"("name": "k")", R"("name": "q")", "'q'"},
        Malformed{R"({"mul": ["G", "R"]})", R"({"mul": ["G"]})", ".mul"},
        Malformed{R"({"mul": ["G", "R"]})", R"({"pow": ["G", "R"]})",
                  "shape[2]"},
        Malformed{R"({"mul": ["G", "R"]})", R"("H")", "'H'"},
        Malformed{R"({"mul": ["G", "R"]})", "1.5", "shape[2]"},
        Malformed{R"({"mul": ["G", "R"]})", "9223372036854775808", "shape[2]"},
        Malformed{R"("optional": false)", R"("optional": 0)", "optional"},
        Malformed{R"("init": "-inf")", R"("init": "none")", "init"},
        Malformed{R"("dtype": "f32", "default")",
                  R"("dtype": "bf16", "default")", "bf16"},
        Malformed{R"("default": 0.125)", R"("default": true)", "default"},
        Malformed{R"({"tensor": "kv_len", "lo")", R"({"tensor": "k", "lo")",
                  "'k'"},
        Malformed{R"("lo": 0, )", "", "'lo'"},
        Malformed{R"("align": 16)", R"("align": 0)", "'align'"},
        Malformed{R"("align": 16)", R"("align": 24)", "power of two"},
        Malformed{R"("when": [])", R"("when": [{"tensor": "q", "align": 2}])",
                  "variants"},
        Malformed{R"("when": [])", R"("when": [{"dims": "M"}])", "variants"},
        Malformed{R"({"tensor": "q", "align": 16})",
                  R"({"dims": "M", "align": 16})", "'dims' only"},
        Malformed{R"({"tensor": "q", "align": 16})", R"({"dims": "z"})", "'z'"},
        Malformed{R"({"pointer": "q"})",
                  R"({"tensorMap": ["q", [1, 64, "R", 257]]})", "257"},
        Malformed{R"({"pointer": "q"})",
                  R"({"tensorMap": ["q", [1, 64, "R", 8], "flat"]})",
                  "'plain'"},
        Malformed{R"({"pointer": "q"})", R"({"tensorMap": ["q"]})",
                  "a tensor's name, a box and perhaps 'plain'"},
        Malformed{R"("grid": ["N"])", R"("grid": [])", "'grid'"},
        Malformed{R"("grid": ["N"])", R"("grid": [1, 1, 1, 1])", "'grid'"},
        Malformed{R"("block": 32)", R"("block": 2048)", "'block'"},
        Malformed{R"("smem": 65536)", R"("smem": -1)", "'smem'"},
        Malformed{R"({"pointer": "q"})", R"({"pointer": "z"})", "'z'"},
        Malformed{R"(["q", 1])", R"(["q", 4])", "dimension 4"},
        Malformed{R"({"dim": "M"})", R"({"dim": "scale"})", "'scale'"},
        Malformed{R"({"dim": "M"})", R"({"dim": "M", "x": 1})", "args[5]"},
        Malformed{R"({"dim": "M"})", R"({"size": "M"})", "args[5]"},
        Malformed{R"("op": "attention")", R"("op": "a", "op": "b")", "'op'"},
        Malformed{R"("op": "attention")", R"("op": "a", "ops": 1)", "'ops'"},
        Malformed{R"("block": 32)", R"("block": 32, "cluster": 2)",
                  "launches[0]: unknown key 'cluster'"},
        Malformed{R"("role": "in")", R"("role": "in", "strides": 1)",
                  "'strides'"},
        Malformed{R"("optional": false)",
                  R"("optional": false, "broadcast": [4])", "0..3"},
        Malformed{R"("optional": false)",
                  R"("optional": false, "unique": true)", "integers"},
        Malformed{R"("optional": false, "init")",
                  R"("optional": false, "broadcast": [0], "init")", "input"},
        Malformed{
            R"("variants": [)",
            R"("reduced": [{"dim": "X", "tensor": "q", "dimension": 0}], "variants": [)",
            "'X'"},
        Malformed{
            R"("variants": [)",
            R"("reduced": [{"dim": "M", "tensor": "o", "dimension": 0}], "variants": [)",
            "no input"},
        Malformed{
            R"("variants": [)",
            R"("reduced": [{"dim": "M", "tensor": "q", "dimension": 4}], "variants": [)",
            "0..3"},
        Malformed{R"("when": [],)", R"("when": [], "if": 1,)", "'if'"},
        Malformed{R"("lo": 0)", R"("lo": 0, "step": 1)", "'step'"},
        Malformed{R"("default": 0.125)", R"("default": 0.125, "lo": 1)",
                  "'lo'"}));

TEST(Manifest, deepExpressionsAreRefused) {
  std::string deep;
  for (int i = 0; i < 10000; ++i)
    deep += R"({"add":[1,)";
  deep += "1";
  for (int i = 0; i < 10000; ++i)
    deep += "]}";
  auto manifest = parseManifest(edited(R"({"mul": ["G", "R"]})", deep));
  ASSERT_FALSE(manifest.ok());
  EXPECT_NE(manifest.status().message().find("deeply"), std::string::npos);
}

TEST(Manifest, deepDocumentsDoNotOverflowTheStack) {
  std::string deep = std::string(500000, '[') + std::string(500000, ']');
  for (const std::string &text :
       {edited(R"("attention")", deep), edited(R"("D": 64)", R"("D": )" + deep),
        std::string(500000, '['), deep}) {
    auto manifest = parseManifest(text);
    ASSERT_FALSE(manifest.ok());
  }
}

} // namespace
