// Statuses and messages of the compiler's entry points.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/Compiler.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string_view>

using namespace selvedge;

namespace {

CompileRequest request(const std::string &source) {
  CompileRequest result;
  result.fileName = "test.tile";
  result.source = source;
  result.arch = "sm_80";
  return result;
}

constexpr const char *copy = R"(// Copies a vector.
op copy(x: f32[N]) -> (y: f32[N] out_init(0)) {
  kernel main(i in N by BN) {
    y[i] = x[i];
  }
}
)";

} // namespace

TEST(Compiler, UnknownArchNamesTheKnown) {
  CompileRequest r = request(copy);
  r.arch = "sm_70";
  CompileResult result = compile(r);
  EXPECT_EQ(result.status, CompileStatus::BadInput);
  for (const char *part : {"'sm_70'", "sm_80", "sm_90a"})
    EXPECT_NE(result.diagnostics.find(part), std::string::npos)
        << result.diagnostics;
}

TEST(Compiler, SyntaxErrorNamesThePlace) {
  CompileResult result = compile(request("op copy(\n  x: f32[N]]\n"));
  EXPECT_EQ(result.status, CompileStatus::BadInput);
  EXPECT_NE(result.diagnostics.find("test.tile:2:"), std::string::npos)
      << result.diagnostics;
  EXPECT_NE(result.diagnostics.find("^"), std::string::npos);
}

TEST(Compiler, EmptySource) {
  EXPECT_EQ(compile(request("")).status, CompileStatus::BadInput);
  EXPECT_EQ(describe(request("")).status, CompileStatus::BadInput);
}

TEST(Compiler, MissingPtxasGivesAHint) {
  CompileRequest r = request(copy);
  r.ptxas = "/nonexistent/ptxas";
  CompileResult result = compile(r);
  EXPECT_EQ(result.status, CompileStatus::BadInput);
  EXPECT_NE(result.diagnostics.find("/nonexistent/ptxas"), std::string::npos)
      << result.diagnostics;
}

TEST(Compiler, DescribeNeedsNoArch) {
  CompileRequest r = request(copy);
  r.arch.clear();
  CompileResult result = describe(r);
  ASSERT_EQ(result.status, CompileStatus::Ok) << result.diagnostics;
  EXPECT_NE(result.manifest.find("\"op\": \"copy\""), std::string::npos);
  EXPECT_EQ(result.manifest.find("variants"), std::string::npos);
}

TEST(Compiler, DescribeTellsSumsInAnyOrder) {
  CompileResult result = describe(request(R"(
    op sums(x: f32[M, N]) -> (direct: f32[N] out_init(0), through: f32[N] out_init(0), rows: f32[M] out_init(0)) {
      temp t: f32[N] out_init(0);
      kernel add(i in M by BM, j in N by BN) { t[j] += sum(x[i, j], i); direct[j] += sum(x[i, j], i); }
      kernel copy(j in N by BN) { through[j] = t[j] * 2.0; }
      kernel alone(i in M by BM) { for j in N by CN { rows[i] += sum(x[i, j], j); } }
    })"));
  ASSERT_EQ(result.status, CompileStatus::Ok);
  for (const char *name : {"t", "direct", "through", "rows"}) {
    size_t at = result.manifest.find(fmt::format("\"name\": \"{}\"", name));
    ASSERT_NE(at, std::string::npos) << result.manifest;
    std::string_view tensor(result.manifest);
    tensor = tensor.substr(at, tensor.find('}', at) - at);
    EXPECT_EQ(tensor.find("\"anyOrder\": true") != tensor.npos,
              std::string_view(name) != "rows")
        << tensor;
  }
}

TEST(Compiler, ListsOps) {
  std::vector<OpSummary> ops;
  ASSERT_EQ(listOps(request(copy), ops).status, CompileStatus::Ok);
  ASSERT_EQ(ops.size(), 1u);
  EXPECT_EQ(ops[0].name, "copy");
  EXPECT_NE(ops[0].comment.find("Copies a vector."), std::string::npos);
}

TEST(Compiler, CompilesToPtx) {
  CompileResult result = compile(request(copy), /*withCubin=*/false);
  ASSERT_EQ(result.status, CompileStatus::Ok) << result.diagnostics;
  EXPECT_NE(result.ptx.find(".target sm_80"), std::string::npos);
  EXPECT_NE(result.manifest.find("\"variants\""), std::string::npos);
  EXPECT_TRUE(result.cubin.empty());
  ASSERT_EQ(result.phases.size(), 3u);
  EXPECT_EQ(result.phases[0].first, "frontend");
  EXPECT_EQ(result.phases[1].first, "passes");
  EXPECT_EQ(result.phases[2].first, "ptx");
}

TEST(Compiler, SameInputSameOutput) {
  CompileResult first = compile(request(copy), /*withCubin=*/false);
  CompileResult second = compile(request(copy), /*withCubin=*/false);
  EXPECT_EQ(first.ptx, second.ptx);
  EXPECT_EQ(first.manifest, second.manifest);
}

TEST(Compiler, EmitsEveryTextStage) {
  const std::pair<Emit, const char *> stages[] = {
      {Emit::Tile, "tile.kernel"},    {Emit::SmSeq, "sm.kernel"},
      {Emit::SmAsync, "sm.kernel"},   {Emit::SmFinal, "sm.kernel"},
      {Emit::SmLanes, "llvm.func"},   {Emit::Llvm, "ptx_kernel"},
      {Emit::Ptx, ".visible .entry"}, {Emit::Manifest, "\"launches\""},
  };
  for (auto [stage, part] : stages) {
    std::string text;
    CompileResult result = emitText(request(copy), stage, text);
    EXPECT_EQ(result.status, CompileStatus::Ok) << result.diagnostics;
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
}
