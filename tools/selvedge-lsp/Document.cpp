// What the server knows of an open file.
// SPDX-License-Identifier: MIT
#include "tools/selvedge-lsp/Document.h"

using namespace llvm;
using selvedge::frontend::Token;

namespace selvedge::lsp {

File::File(std::string path, std::string text)
    : path(std::move(path)),
      diags(std::make_unique<frontend::Diagnostics>(this->path, text)) {
  tokens = frontend::lex(*diags);
  collect();
}

void File::add(size_t token, StringRef kind) {
  if (token < tokens.size() && tokens[token].kind == Token::Kind::Name &&
      !frontend::isReserved(tokens[token].text))
    definitions.push_back(
        {tokens[token].text, kind, token, itemBegin, itemEnd});
}

/// One past the item that begins at `begin`: the next `op` or `fn` outside of
/// braces.
static size_t endOfItem(const std::vector<Token> &tokens, size_t begin) {
  int depth = 0;
  for (size_t at = begin + 1; at < tokens.size(); ++at) {
    if (tokens[at].is("{"))
      ++depth;
    else if (tokens[at].is("}"))
      --depth;
    else if (depth <= 0 && (tokens[at].is("op") || tokens[at].is("fn")))
      return at;
  }
  return tokens.size();
}

void File::collect() {
  int depth = 0;
  for (size_t at = 0; at + 1 < tokens.size(); ++at) {
    StringRef text = textAt(at), next = textAt(at + 1);
    if (text == "{")
      ++depth;
    else if (text == "}")
      --depth;
    if (at >= itemEnd && (text == "op" || text == "fn")) {
      itemBegin = itemEnd = 0;
      add(at + 1, text);
      itemBegin = at;
      itemEnd = endOfItem(tokens, at);
      depth = 0;
      continue;
    }
    if (text == "kernel" || text == "let" || text == "var" || text == "temp" ||
        text == "view" || text == "fn") {
      if (next == "(") {
        add(at + 2, text);
        add(at + 4, text);
      } else {
        add(at + 1, text);
      }
    } else if (text == "launch") {
      add(at + 1, "launch size");
    } else if (text == "by") {
      add(at + 1, "block size");
    } else if (tokens[at].kind != Token::Kind::Name) {
      continue;
    } else if (next == "in") {
      add(at, "index");
    } else if (next == ":" && depth == 0) {
      add(at, textAt(at + 2) == "int" || textAt(at + 2) == "bool" ||
                      textAt(at + 2) == "float" || textAt(at + 2) == "type" ||
                      textAt(at + 2) == "{"
                  ? "parameter"
                  : "argument");
    } else if (next == "(" && depth == 1 && itemBegin < at &&
               (textAt(at - 1) == "{" || textAt(at - 1) == ";" ||
                textAt(at - 1) == "}")) {
      add(at, "hook");
    } else if (next == "," && at >= 1 && textAt(at - 1) == "(" &&
               textAt(at + 3) == ")" && textAt(at + 4) == "in") {
      add(at, "index");
      add(at + 2, "index");
    }
  }
}

std::optional<size_t> File::tokenAt(llvm::lsp::Position place) const {
  auto line = static_cast<unsigned>(place.line + 1);
  SMLoc loc = diags->place(line, static_cast<unsigned>(place.character + 1));
  if (!loc.isValid())
    return std::nullopt;
  for (size_t at = 0; at < tokens.size(); ++at) {
    const Token &token = tokens[at];
    if (token.text.data() <= loc.getPointer() &&
        loc.getPointer() <= token.end() &&
        (token.kind == Token::Kind::Name || token.kind == Token::Kind::String))
      return at;
  }
  return std::nullopt;
}

llvm::lsp::Range File::rangeOf(size_t token) const {
  auto place = [&](const char *at) {
    auto [line, column] = diags->lineAndColumn(SMLoc::getFromPointer(at));
    return llvm::lsp::Position(static_cast<int>(line) - 1,
                               static_cast<int>(column) - 1);
  };
  return {place(tokens[token].text.data()), place(tokens[token].end())};
}

const Definition *File::find(size_t token) const {
  StringRef name = tokens[token].text;
  const Definition *best = nullptr;
  for (const Definition &definition : definitions) {
    bool inScope =
        definition.scopeEnd == 0 ||
        (definition.scopeBegin <= token && token < definition.scopeEnd);
    if (definition.name != name || !inScope)
      continue;
    // The last one before the use; else, such as a dim's index, the first.
    if (!best || definition.token <= token)
      best = &definition;
  }
  return best;
}

const Definition *File::findItem(StringRef name) const {
  for (const Definition &definition : definitions)
    if (definition.name == name && definition.scopeEnd == 0)
      return &definition;
  return nullptr;
}

/// The lines of `//` above the line of `at`, without the slashes.
static std::string commentAbove(StringRef text, const char *at) {
  StringRef before(text.data(), static_cast<size_t>(at - text.data()));
  before = before.take_front(before.rfind('\n') + 1).rtrim('\n');
  std::string comment;
  while (!before.empty()) {
    StringRef line = before.rsplit('\n').second;
    if (!before.contains('\n'))
      line = before;
    if (!line.ltrim().starts_with("//"))
      break;
    comment = line.ltrim().drop_front(2).ltrim().str() + "\n" + comment;
    before = before.drop_back(line.size()).rtrim('\n');
  }
  return comment;
}

std::string File::describe(const Definition &definition) const {
  const Token &name = tokens[definition.token];
  size_t end = definition.token + 1;
  int depth = 0;
  // Up to what ends a declaration outside of brackets.
  for (; end + 1 < tokens.size(); ++end) {
    const Token &token = tokens[end];
    bool isItem = definition.kind == "op" || definition.kind == "kernel";
    if (token.is("(") || token.is("[") || (token.is("{") && !isItem))
      ++depth;
    else if (token.is(")") || token.is("]") || token.is("}"))
      --depth;
    bool ends = token.is(";") || (isItem && token.is("{")) ||
                (!isItem && token.is(",")) || token.is("by");
    if (depth < 0 || (depth == 0 && ends))
      break;
  }
  StringRef source(name.text.data(), static_cast<size_t>(tokens[end - 1].end() -
                                                         name.text.data()));
  std::string text = "```tile\n" + definition.kind.str() + " " +
                     source.rtrim().str() + "\n```";
  std::string comment = commentAbove(getText(), name.text.data());
  return comment.empty() || definition.scopeEnd != 0 ? text
                                                     : text + "\n\n" + comment;
}

} // namespace selvedge::lsp
