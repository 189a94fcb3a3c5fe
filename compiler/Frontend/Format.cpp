// The layout of source text, from its tokens and what lies between them.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Format.h"
#include "compiler/Frontend/Lexer.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSwitch.h"

#include <algorithm>
#include <vector>

using namespace llvm;

namespace selvedge::frontend {

namespace {

/// A token or a comment, and what stood before it.
struct Piece {
  Token token;
  bool isComment = false;
  unsigned newlines = 0;
  unsigned spaces = 0;

  StringRef text() const { return token.text; }
};

/// What an open bracket holds.
enum class Bracket { Round, Square, Block, Types, Params };

class Formatter {
public:
  explicit Formatter(std::vector<Piece> pieces) : pieces(std::move(pieces)) {}
  std::string run();

private:
  void open(const Piece &piece);
  void close(const Piece &piece);
  /// Spaces at the beginning of the line of piece `at`.
  unsigned indentAt(size_t at) const;
  /// Spaces between two pieces of a line.
  unsigned spacesAt(size_t at) const;
  bool needsSpace(size_t at) const;
  bool isUnary(size_t at) const;
  /// Whether a line stays empty before piece `at`: not at the edge of a block.
  bool hasBlankLine(size_t at) const {
    return pieces[at].newlines > 1 && pieces[at - 1].text() != "{" &&
           pieces[at].text() != "}";
  }
  /// An arithmetic operator that has no spaces around it.
  bool isTight(size_t at) const;
  /// Whether `<` or `>` at `at` is a bracket of parameters.
  bool isParams(size_t at) const;

  std::vector<Piece> pieces;
  /// By piece: `<` and `>` that are brackets.
  std::vector<bool> params;
  /// By piece: braces that hold types.
  std::vector<bool> types;
  SmallVector<Bracket> brackets;
  /// Whether the last token ended a statement, an item or a block's head.
  bool endedStatement = true;
};

/// Words behind which a bracket is no call.
bool isKeyword(StringRef word) {
  return StringSwitch<bool>(word)
      .Cases(
          {"op", "fn", "kernel", "let", "var", "for", "in", "by", "if", "else"},
          true)
      .Cases({"where", "as", "valid", "temp", "view", "launch", "extends",
              "requires", "when", "inout", "import", "backward", "zeros"},
             true)
      .Default(false);
}

bool isArithmetic(StringRef text) {
  return text == "+" || text == "-" || text == "*" || text == "/" ||
         text == "%";
}

} // namespace

/// Comments and tokens in order.
static std::vector<Piece> split(StringRef source,
                                const std::vector<Token> &tokens) {
  std::vector<Piece> pieces;
  const char *from = source.begin();
  Piece next;
  auto push = [&](Piece piece) {
    pieces.push_back(piece);
    next = Piece();
  };
  for (const Token &token : tokens) {
    StringRef gap(from, static_cast<size_t>(token.text.data() - from));
    while (!gap.empty()) {
      if (gap.starts_with("//")) {
        StringRef comment = gap.take_until([](char c) { return c == '\n'; });
        Piece piece = next;
        piece.token.text = comment.rtrim();
        piece.isComment = true;
        push(piece);
        gap = gap.drop_front(comment.size());
        continue;
      }
      if (gap[0] == '\n') {
        ++next.newlines;
        next.spaces = 0;
      } else {
        ++next.spaces;
      }
      gap = gap.drop_front();
    }
    from = token.end();
    if (token.kind == Token::Kind::End)
      break;
    Piece piece = next;
    piece.token = token;
    push(piece);
  }
  return pieces;
}

void Formatter::open(const Piece &piece) {
  size_t at = static_cast<size_t>(&piece - pieces.data());
  StringRef text = piece.text();
  if (text == "(")
    brackets.push_back(Bracket::Round);
  else if (text == "[")
    brackets.push_back(Bracket::Square);
  else if (text == "{")
    brackets.push_back(types[at] ? Bracket::Types : Bracket::Block);
  else if (text == "<" && params[at])
    brackets.push_back(Bracket::Params);
}

void Formatter::close(const Piece &piece) {
  size_t at = static_cast<size_t>(&piece - pieces.data());
  StringRef text = piece.text();
  if ((text == ")" || text == "]" || text == "}" ||
       (text == ">" && params[at])) &&
      !brackets.empty())
    brackets.pop_back();
}

bool Formatter::isParams(size_t at) const {
  if (pieces[at].text() == ">")
    return !brackets.empty() && brackets.back() == Bracket::Params;
  return at >= 2 && pieces[at].text() == "<" &&
         pieces[at - 1].token.kind == Token::Kind::Name &&
         (pieces[at - 2].text() == "op" || pieces[at - 2].text() == "extends");
}

bool Formatter::isUnary(size_t at) const {
  StringRef text = pieces[at].text();
  if (text == "!" || text == "~")
    return true;
  if (text != "-" || at == 0)
    return text == "-";
  const Piece &last = pieces[at - 1];
  if (last.isComment)
    return false;
  if (last.token.kind == Token::Kind::Name)
    return isKeyword(last.text());
  return last.token.kind == Token::Kind::Punct && last.text() != ")" &&
         last.text() != "]" && last.text() != "}";
}

bool Formatter::isTight(size_t at) const {
  return isArithmetic(pieces[at].text()) && !isUnary(at) &&
         at + 1 < pieces.size() && pieces[at].spaces == 0 &&
         pieces[at].newlines == 0 && pieces[at + 1].spaces == 0 &&
         pieces[at + 1].newlines == 0;
}

bool Formatter::needsSpace(size_t at) const {
  const Piece &last = pieces[at - 1], &next = pieces[at];
  StringRef a = last.text(), b = next.text();
  if (b == ")" || b == "]" || b == "," || b == ";" || b == "?" || b == ".")
    return false;
  if (a == "(" || a == "[" || a == "." || a == "..")
    return false;
  if (b == ".." || isTight(at - 1) || isTight(at) || isUnary(at - 1))
    return false;
  if (params[at] || (a == "<" && params[at - 1]))
    return false;
  if (b == "}")
    return !types[at] && a != "{";
  if (a == "{")
    return !types[at - 1];
  if (b == ":")
    return a == ",";
  bool isWord = last.token.kind == Token::Kind::Name;
  // A call: of a name, of `f<...>`, of what a call gives.
  if (b == "(")
    return !(isWord && !isKeyword(a)) && a != "]" && a != ")" &&
           !(a == ">" && params[at - 1]);
  if (b == "[")
    return !(isWord && !isKeyword(a)) && a != "]" && a != ")";
  return true;
}

unsigned Formatter::spacesAt(size_t at) const {
  const Piece &last = pieces[at - 1], &next = pieces[at];
  StringRef a = last.text(), b = next.text();
  if (next.isComment)
    return std::max(1u, next.spaces);
  if (!needsSpace(at))
    return 0;
  // Columns that an author aligned.
  bool mayAlign = a == ";" || a == "," || b == "=" || b == "valid" ||
                  b == "out_init" || b == "where" || b == "{";
  return mayAlign ? std::max(1u, next.spaces) : 1;
}

unsigned Formatter::indentAt(size_t at) const {
  size_t depth = brackets.size();
  StringRef text = pieces[at].text();
  bool closes =
      text == ")" || text == "]" || text == "}" || (text == ">" && params[at]);
  if (closes && depth > 0)
    --depth;
  unsigned blocks = 0;
  bool continues = false;
  for (size_t i = 0; i < depth; ++i) {
    if (brackets[i] == Bracket::Block)
      ++blocks;
    else
      continues = true;
  }
  // A statement that goes on; of an op's head only what is in brackets.
  if (blocks > 0 && !endedStatement && !closes && text != "{")
    continues = true;
  return 2 * blocks + (continues ? 4 : 0);
}

std::string Formatter::run() {
  params.assign(pieces.size(), false);
  types.assign(pieces.size(), false);
  // Which brackets are which, before spaces are asked for.
  for (size_t at = 0; at < pieces.size(); ++at) {
    if (pieces[at].isComment)
      continue;
    StringRef text = pieces[at].text();
    params[at] = (text == "<" || text == ">") && isParams(at);
    auto isTypes = [](Bracket b) {
      return b == Bracket::Params || b == Bracket::Types;
    };
    types[at] = (text == "{" || text == "}") && !brackets.empty() &&
                isTypes(brackets.back());
    open(pieces[at]);
    close(pieces[at]);
  }
  brackets.clear();
  std::string text;
  for (size_t at = 0; at < pieces.size(); ++at) {
    const Piece &piece = pieces[at];
    bool startsLine = at == 0 || piece.newlines > 0;
    if (startsLine) {
      if (at > 0)
        text += hasBlankLine(at) ? "\n\n" : "\n";
      text.append(indentAt(at), ' ');
    } else {
      text.append(spacesAt(at), ' ');
    }
    text += piece.text();
    if (piece.isComment)
      continue;
    close(piece);
    open(piece);
    endedStatement =
        piece.text() == ";" || piece.text() == "{" || piece.text() == "}";
  }
  return pieces.empty() ? text : text + "\n";
}

bool formatSource(StringRef fileName, StringRef source, std::string &text,
                  std::string &diagnostics) {
  Diagnostics diags(fileName, source);
  std::vector<Token> tokens = lex(diags);
  if (diags.hasErrors()) {
    diagnostics += diags.rendered();
    return false;
  }
  text = Formatter(split(diags.text(), tokens)).run();
  return true;
}

} // namespace selvedge::frontend
