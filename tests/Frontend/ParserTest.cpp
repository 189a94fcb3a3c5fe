// Tests of the parser.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Parser.h"

#include "gtest/gtest.h"

using namespace selvedge::frontend;

namespace {

/// The tree as text, fully bracketed.
std::string print(const Expr &e) {
  auto list = [&](size_t from) {
    std::string text;
    for (size_t i = from; i < e.args.size(); ++i)
      text += (i > from ? "," : "") + print(*e.args[i]);
    return text;
  };
  std::string name = e.name.str();
  switch (e.kind) {
  case Expr::Kind::Unary:
    return "(" + name + print(*e.args[0]) + ")";
  case Expr::Kind::Binary:
    return "(" + print(*e.args[0]) + name + print(*e.args[1]) + ")";
  case Expr::Kind::Call:
    return name + "(" + list(0) + ")";
  case Expr::Kind::Method:
    return print(*e.args[0]) + "." + name + "(" + list(1) + ")";
  case Expr::Kind::Index:
    return print(*e.args[0]) + "[" + list(1) + "]";
  case Expr::Kind::Pair:
    return "<" + list(0) + ">";
  case Expr::Kind::Cast:
    return "(" + print(*e.args[0]) + " as " + name + ")";
  case Expr::Kind::Where:
    return "(" + print(*e.args[0]) + " where " + print(*e.args[1]) + ")";
  case Expr::Kind::Else:
    return "(" + print(*e.args[0]) + " else " + print(*e.args[1]) + ")";
  case Expr::Kind::If:
    return "if(" + list(0) + ")";
  case Expr::Kind::Zeros:
    return "zeros " + name + "[" + list(0) + "]";
  default:
    return name;
  }
}

std::string expression(const std::string &text) {
  Diagnostics diags("t.tile", "fn f() = " + text + ";");
  FileAst file = parseFile(diags);
  EXPECT_FALSE(diags.hasErrors()) << diags.rendered();
  return file.fns.empty() ? "" : print(*file.fns[0].body);
}

TEST(Parser, BindsOperatorsByStrength) {
  EXPECT_EQ(expression("a + b * c"), "(a+(b*c))");
  EXPECT_EQ(expression("a - b - c"), "((a-b)-c)");
  EXPECT_EQ(expression("!a || b && c < d + 1"), "((!a)||(b&&(c<(d+1))))");
  EXPECT_EQ(expression("-a * b"), "((-a)*b)");
}

TEST(Parser, CastBindsTighterThanOperators) {
  EXPECT_EQ(expression("a * b as T"), "(a*(b as T))");
  EXPECT_EQ(expression("f(x) as T as U"), "((f(x) as T) as U)");
}

TEST(Parser, WhereAndElseBindLoosest) {
  EXPECT_EQ(expression("a + b where c && d else 0"),
            "(((a+b) where (c&&d)) else 0)");
}

TEST(Parser, ReadsIndicesMethodsAndPairs) {
  EXPECT_EQ(expression("x[b, (g, u), :, i + 1]"), "x[b,<g,u>,:,(i+1)]");
  EXPECT_EQ(expression("sm.update(s, acc)"), "sm.update(s,acc)");
  EXPECT_EQ(expression("zeros f32[i, D]"), "zeros f32[i,D]");
  EXPECT_EQ(expression("if a < b { c } else { d }"), "if((a<b),c,d)");
}

TEST(Parser, ReadsASignature) {
  Diagnostics diags("t.tile",
                    "op f<T: {bf16, f16} = bf16, D: int = 2 * 3>(\n"
                    "  k: T[b in B, G*R, D] valid b < 3, n: i32[B]? = N,\n"
                    "  c: f32 = 1) requires n in 0..N\n"
                    "-> (o: T[B] out_init(keep) overflow(inf)) { }");
  FileAst file = parseFile(diags);
  ASSERT_FALSE(diags.hasErrors()) << diags.rendered();
  ASSERT_EQ(file.ops.size(), 1u);
  const OpDecl &op = file.ops[0];
  ASSERT_EQ(op.params.size(), 2u);
  EXPECT_EQ(op.params[0].types.size(), 2u);
  ASSERT_EQ(op.inputs.size(), 3u);
  EXPECT_EQ(op.inputs[0].dims[0].binder, "b");
  EXPECT_TRUE(op.inputs[0].valid);
  EXPECT_TRUE(op.inputs[1].isOptional);
  EXPECT_FALSE(op.inputs[2].isTensor);
  EXPECT_EQ(op.requirements.size(), 1u);
  ASSERT_EQ(op.outputs.size(), 1u);
  EXPECT_TRUE(op.outputs[0].initKeep);
  EXPECT_EQ(op.outputs[0].overflow, "inf");
}

TEST(Parser, ReportsSeveralErrorsAndKeepsTheRest) {
  Diagnostics diags("t.tile", "fn f() = ;\nop g() -> () {\n"
                              "  kernel a(i in N by) { }\n"
                              "  kernel b(i in N) { let = 1; let x = 2; }\n"
                              "}\nfn h() = 1;");
  FileAst file = parseFile(diags);
  EXPECT_EQ(diags.errorCount(), 3u) << diags.rendered();
  ASSERT_EQ(file.ops.size(), 1u);
  ASSERT_EQ(file.ops[0].kernels.size(), 2u);
  EXPECT_EQ(file.ops[0].kernels[1].body.size(), 1u);
  EXPECT_EQ(file.fns.size(), 1u);
}

TEST(Parser, RefusesEveryPrefixOfAProgramWithoutCrashing) {
  std::string program =
      "op f<T: {bf16} = bf16>(x: T[i in M, N] valid i < 3, c: f32 = -inf)\n"
      "-> (y: T[M] out_init(0)) {\n  fn g(a, b) = select(a < b, a, b);\n"
      "  kernel k(i in M by BM, (g, u) in (G, R)) {\n"
      "    var t = zeros f32[i]; for j in 0..N by BN { t += x[i, j] as f32; }\n"
      "    if true { y[i] = t as T; } else { y[i] = (t where i < 3) as T; }\n"
      "  }\n}\n";
  for (size_t length = 0; length < program.size() - 2; ++length) {
    Diagnostics diags("t.tile", llvm::StringRef(program).take_front(length));
    FileAst file = parseFile(diags);
    EXPECT_TRUE(diags.hasErrors() || file.ops.empty()) << length;
  }
}

} // namespace
