// Tests of the lexer.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Lexer.h"

#include "gtest/gtest.h"

using namespace selvedge::frontend;

namespace {

std::vector<std::string> texts(llvm::StringRef source) {
  Diagnostics diags("t.tile", source);
  std::vector<std::string> result;
  for (const Token &token : lex(diags))
    result.push_back(token.text.str());
  result.pop_back(); // the end
  EXPECT_FALSE(diags.hasErrors()) << diags.rendered();
  return result;
}

using Texts = std::vector<std::string>;

TEST(Lexer, SplitsNamesNumbersAndMarks) {
  EXPECT_EQ(texts("let x_1=-3;"), (Texts{"let", "x_1", "=", "-", "3", ";"}));
}

TEST(Lexer, TakesTheLongestMark) {
  EXPECT_EQ(texts("a->b<=c+=d&&!e"),
            (Texts{"a", "->", "b", "<=", "c", "+=", "d", "&&", "!", "e"}));
}

TEST(Lexer, KeepsARangeApartFromAFraction) {
  EXPECT_EQ(texts("0..N 1.5 1e-5 2.5e+3"),
            (Texts{"0", "..", "N", "1.5", "1e-5", "2.5e+3"}));
}

TEST(Lexer, DropsComments) {
  EXPECT_EQ(texts("a // b\nc //"), (Texts{"a", "c"}));
}

TEST(Lexer, EndsAnEmptyTextWithAPlace) {
  Diagnostics diags("t.tile", "");
  std::vector<Token> tokens = lex(diags);
  ASSERT_EQ(tokens.size(), 1u);
  EXPECT_EQ(tokens[0].kind, Token::Kind::End);
  EXPECT_TRUE(tokens[0].loc().isValid());
}

TEST(Lexer, ReportsARunOfForeignBytesOnce) {
  Diagnostics diags("t.tile", llvm::StringRef("a \0\1\2 b", 7));
  EXPECT_EQ(lex(diags).size(), 3u);
  EXPECT_EQ(diags.errorCount(), 1u);
  EXPECT_NE(diags.rendered().find("unexpected byte 0x00"), std::string::npos);
}

} // namespace
