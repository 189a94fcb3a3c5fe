// Tests of the front end's interface.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Frontend.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

using namespace selvedge::frontend;

namespace {

constexpr llvm::StringRef kTwoOps =
    "// Not a part of it.\n\n"
    "// Copies x.\n"
    "// Twice.\n"
    "op copy(x: f32[N], // input\n"
    "        c: f32 = 2)\n"
    "  -> (y: f32[N] out_init(0)) {\n"
    "  kernel main(i in N by BN) { y[i] = x[i]; }\n"
    "}\n"
    "op other() extends copy { }\n";

TEST(Frontend, ListsOpsWithSignatureAndComment) {
  std::vector<OpInfo> ops;
  std::string text;
  ASSERT_TRUE(listOps({"t.tile", kTwoOps, "", nullptr}, ops, text)) << text;
  ASSERT_EQ(ops.size(), 2u);
  EXPECT_EQ(ops[0].name, "copy");
  EXPECT_EQ(ops[0].signature,
            "op copy(x: f32[N], c: f32 = 2) -> (y: f32[N] out_init(0))");
  EXPECT_EQ(ops[0].comment, "Copies x.\nTwice.");
  EXPECT_EQ(ops[1].comment, "");
}

TEST(Frontend, BuildsTheFirstOpOrTheNamedOne) {
  mlir::MLIRContext ctx;
  for (llvm::StringRef op : {"", "copy", "other"}) {
    std::string text;
    auto module = buildModule(ctx, {"t.tile", kTwoOps, op, nullptr}, text);
    ASSERT_TRUE(module) << text;
    EXPECT_EQ(text, "");
    EXPECT_TRUE(module->lookupSymbol(op.empty() ? "copy" : op));
  }
}

TEST(Frontend, PrintsWhatParsesAgain) {
  mlir::MLIRContext ctx;
  std::string text, first, second;
  auto module = buildModule(ctx, {"t.tile", kTwoOps, "", nullptr}, text);
  ASSERT_TRUE(module) << text;
  llvm::raw_string_ostream(first) << *module;
  auto again = mlir::parseSourceString<mlir::ModuleOp>(first, &ctx);
  ASSERT_TRUE(again);
  llvm::raw_string_ostream(second) << *again;
  EXPECT_EQ(first, second);
}

TEST(Frontend, KeepsPlacesOfTheSource) {
  mlir::MLIRContext ctx;
  std::string text;
  auto module = buildModule(ctx, {"t.tile", kTwoOps, "", nullptr}, text);
  ASSERT_TRUE(module) << text;
  bool found = false;
  module->walk([&](mlir::Operation *op) {
    if (op->getName().getStringRef() != "tile.store")
      return;
    auto loc = mlir::cast<mlir::FileLineColLoc>(op->getLoc());
    found = loc.getFilename() == "t.tile" && loc.getLine() == 8;
  });
  EXPECT_TRUE(found);
}

TEST(Frontend, GivesAReasonForEveryRefusal) {
  mlir::MLIRContext ctx;
  for (llvm::StringRef source :
       {"", "op", "op f", "op f(", "{{{{", "op f() -> () { }",
        "op f() -> (y: f32[N] out_init(0)) { kernel k() { y[0] = 1; } }",
        "\xff\xfe", "fn f() = 1;"}) {
    std::string text;
    auto module = buildModule(ctx, {"t.tile", source, "", nullptr}, text);
    EXPECT_EQ(static_cast<bool>(module), text.empty()) << source.str() << text;
  }
}

} // namespace
