// The lint on LLVM IR that the LLVM dialect cannot spell.
// SPDX-License-Identifier: MIT
#include "compiler/Target/PTX/Translate.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

using namespace selvedge;

/// What the lint says about a module; empty when it accepts it.
static std::string lint(llvm::StringRef text) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(text, diagnostic, context);
  EXPECT_TRUE(module) << diagnostic.getMessage().str();
  return module ? llvm::toString(ptx::lintFastMath(*module)) : "";
}

TEST(FastMathLint, AcceptsRoundingFlags) {
  EXPECT_EQ(lint("define float @f(float %x) {\n"
                 "  %y = fadd contract float %x, %x\n"
                 "  %z = fdiv arcp afn float %y, %x\n"
                 "  ret float %z\n}\n"),
            "");
}

TEST(FastMathLint, RefusesEachFlag) {
  for (std::string flag : {"nnan", "ninf", "nsz", "reassoc"}) {
    std::string message = lint("define float @f(float %x) {\n  %y = fmul " +
                               flag + " float %x, %x\n  ret float %y\n}\n");
    EXPECT_NE(message.find("@f: flags " + flag + " in"), std::string::npos)
        << message;
  }
}

TEST(FastMathLint, RefusesFlagsOfPhis) {
  std::string message =
      lint("define float @f(i1 %c, float %x, float %y) {\n"
           "entry:\n  br i1 %c, label %a, label %b\n"
           "a:\n  br label %b\n"
           "b:\n  %p = phi nnan float [%x, %entry], [%y, %a]\n"
           "  ret float %p\n}\n");
  EXPECT_NE(message.find("flags nnan"), std::string::npos) << message;
}

TEST(FastMathLint, RefusesNoFPClass) {
  EXPECT_NE(lint("declare void @f(float nofpclass(nan))\n")
                .find("nofpclass in the signature"),
            std::string::npos);
  EXPECT_NE(lint("declare float @g()\ndefine void @f() {\n"
                 "  %x = call nofpclass(inf) float @g()\n  ret void\n}\n")
                .find("nofpclass in"),
            std::string::npos);
}

TEST(FastMathLint, ListsAtMostTwenty) {
  std::string text = "define void @f(float %x) {\n";
  for (int i = 0; i < 23; ++i)
    text += "  %y" + std::to_string(i) + " = fadd nnan float %x, %x\n";
  EXPECT_NE(lint(text + "  ret void\n}\n").find("and 3 more"),
            std::string::npos);
}
