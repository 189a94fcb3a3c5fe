// Characters to tokens.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Lexer.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace selvedge::frontend {
namespace {

bool startsName(char c) { return isAlpha(c) || c == '_'; }
bool continuesName(char c) { return isAlnum(c) || c == '_'; }

/// Length of the number at the start of `s`; sets `isFloat` for one with a
/// fraction or an exponent. The two dots of a range are not a fraction.
size_t lexNumber(StringRef s, bool &isFloat) {
  auto at = [&](size_t i) { return i < s.size() ? s[i] : '\0'; };
  size_t n = 0;
  while (isDigit(at(n)))
    ++n;
  if (at(n) == '.' && isDigit(at(n + 1))) {
    isFloat = true;
    for (++n; isDigit(at(n));)
      ++n;
  }
  if (at(n) == 'e' || at(n) == 'E') {
    size_t sign = at(n + 1) == '+' || at(n + 1) == '-' ? 1 : 0;
    if (isDigit(at(n + 1 + sign))) {
      isFloat = true;
      for (n += 1 + sign; isDigit(at(n));)
        ++n;
    }
  }
  return n;
}

/// Length of the punctuation mark at the start of `s`, 0 if there is none.
size_t lexPunct(StringRef s) {
  for (StringRef two :
       {"->", "..", "+=", "<=", ">=", "==", "!=", "&&", "||", "+:"})
    if (s.starts_with(two))
      return 2;
  return StringRef("(){}[]<>,;:=+-*/%!?.~").contains(s[0]) ? 1 : 0;
}

std::string describeByte(char c) {
  if (isPrint(c))
    return ("'" + Twine(c) + "'").str();
  return "byte 0x" + toHex(StringRef(&c, 1), /*LowerCase=*/true);
}

} // namespace

std::vector<Token> lex(Diagnostics &diags, StringRef text) {
  std::vector<Token> tokens;
  StringRef rest = text;
  auto take = [&](Token::Kind kind, size_t length) {
    tokens.push_back({kind, rest.take_front(length)});
    rest = rest.drop_front(length);
  };
  while (true) {
    rest = rest.ltrim(" \t\r\n\f\v");
    if (rest.empty() || diags.full())
      break;
    if (rest.starts_with("//")) {
      StringRef comment = rest.take_front(rest.find('\n'));
      if (size_t nul = comment.find('\0'); nul != StringRef::npos)
        diags.error(SMLoc::getFromPointer(comment.data() + nul),
                    "unexpected " + describeByte('\0'));
      rest = rest.drop_front(comment.size());
    } else if (startsName(rest[0])) {
      take(Token::Kind::Name, rest.take_while(continuesName).size());
    } else if (isDigit(rest[0])) {
      bool isFloat = false;
      size_t length = lexNumber(rest, isFloat);
      size_t tail = rest.drop_front(length).take_while(continuesName).size();
      if (tail != 0)
        diags.error(SMLoc::getFromPointer(rest.data() + length),
                    "expects a number, but got '" +
                        rest.take_front(std::min<size_t>(length + tail, 40)) +
                        "'");
      take(isFloat ? Token::Kind::Float : Token::Kind::Int, length);
      rest = rest.drop_front(tail);
    } else if (rest[0] == '"') {
      // The quotes are part of the token.
      size_t length = rest.find_first_of("\"\n", 1);
      if (length == StringRef::npos || rest[length] == '\n') {
        diags.error(SMLoc::getFromPointer(rest.data()),
                    "expects '\"' at the end of the text");
        rest = rest.drop_front(std::min(length, rest.size()));
      } else {
        take(Token::Kind::String, length + 1);
      }
    } else if (size_t length = lexPunct(rest)) {
      take(Token::Kind::Punct, length);
    } else {
      diags.error(SMLoc::getFromPointer(rest.data()),
                  "unexpected " + describeByte(rest[0]));
      // One error per run of such bytes.
      rest = rest.drop_while([](char c) {
        return !isSpace(c) && !continuesName(c) && c != '"' &&
               lexPunct(StringRef(&c, 1)) == 0;
      });
    }
  }
  const char *end = text.end();
  tokens.push_back({Token::Kind::End, StringRef(end, 0)});
  return tokens;
}

bool isReserved(StringRef word) {
  static const StringSet<> words = {
      "op",      "fn",       "kernel", "let",   "var",  "for",     "in",
      "by",      "if",       "else",   "where", "as",   "zeros",   "true",
      "false",   "inf",      "valid",  "super", "temp", "view",    "launch",
      "extends", "requires", "when",   "inout", "diff", "schedule"};
  return words.contains(word);
}

} // namespace selvedge::frontend
