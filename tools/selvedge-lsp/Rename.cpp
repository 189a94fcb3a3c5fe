// Other names for what a file declares.
// SPDX-License-Identifier: MIT
#include "tools/selvedge-lsp/Rename.h"

#include "compiler/Frontend/Frontend.h"
#include "tools/selvedge-lsp/Names.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <map>

using namespace llvm;
using selvedge::frontend::Token;

namespace selvedge::lsp {

static Renaming refuse(const Twine &why) { return {{}, why.str()}; }

static std::string nameOf(StringRef path) {
  return sys::path::filename(path).str();
}

static size_t offsetOf(const File &file, size_t token) {
  return static_cast<size_t>(file.getTokens()[token].text.data() -
                             file.getText().data());
}

/// Whether `importer` reads `file`, directly or not.
static bool imports(const File &importer, const File &file) {
  frontend::Input input;
  input.fileName = importer.getPath();
  input.source = importer.getText();
  return any_of(frontend::importedFiles(input),
                [&](const frontend::SourceFile &source) {
                  return source.path == file.getPath() ||
                         sys::fs::equivalent(source.path, file.getPath());
                });
}

static bool hasName(const File &file, StringRef name) {
  return any_of(file.getTokens(), [&](const Token &token) {
    return token.kind == Token::Kind::Name && token.text == name;
  });
}

Renaming placesOf(const File &file, size_t token,
                  ArrayRef<const File *> others) {
  StringRef name = file.getTokens()[token].text;
  if (file.getTokens()[token].kind != Token::Kind::Name ||
      frontend::isReserved(name))
    return refuse("'" + name + "' is a word of the language, not a name");
  Names names(file.getPath(), file.getText());
  if (!names.getError().empty())
    return refuse("'" + name +
                  "' cannot be renamed while the file has syntax errors: " +
                  names.getError());
  std::optional<size_t> found = names.find(offsetOf(file, token));
  if (!found)
    return refuse("'" + name + "' is not declared in this file");
  const Symbol &symbol = names.getSymbols()[*found];
  if (!symbol.otherFile.empty())
    return refuse("'" + name + "' belongs to '" + nameOf(symbol.otherFile) +
                  "', which this file imports, too: rename it in all files by "
                  "hand");
  for (const File *other : others)
    if (!symbol.isLocal && hasName(*other, name) && imports(*other, file))
      return refuse("'" + name + "' is used in '" + nameOf(other->getPath()) +
                    "', too, which imports this file: rename it in all files "
                    "by hand");
  Renaming result;
  for (size_t at = 0; at < file.getTokens().size(); ++at)
    if (names.find(offsetOf(file, at)) == found)
      result.tokens.push_back(at);
  return result;
}

std::string renamed(const File &file, ArrayRef<size_t> tokens,
                    StringRef newName) {
  std::string text;
  const char *from = file.getText().begin();
  for (size_t at : tokens) {
    const Token &token = file.getTokens()[at];
    text.append(from, token.text.begin());
    text += newName;
    from = token.end();
  }
  return text.append(from, file.getText().end());
}

/// For each token the first one that means the same; none for what is no name.
static std::vector<std::optional<size_t>> meanings(const File &file) {
  Names names(file.getPath(), file.getText());
  std::vector<std::optional<size_t>> result;
  std::map<size_t, size_t> first;
  for (size_t at = 0; at < file.getTokens().size(); ++at) {
    std::optional<size_t> symbol = names.find(offsetOf(file, at));
    result.push_back(
        symbol ? std::optional(first.try_emplace(*symbol, at).first->second)
               : std::nullopt);
  }
  return result;
}

/// The first error of `after` that `before` does not have; lines are the same.
static std::string findNewError(const File &before, const File &after) {
  auto errorsOf = [](const File &file) {
    std::vector<llvm::lsp::Diagnostic> errors = diagnose(file);
    erase_if(errors, [](const llvm::lsp::Diagnostic &diagnostic) {
      return diagnostic.severity != llvm::lsp::DiagnosticSeverity::Error;
    });
    return errors;
  };
  std::map<int, size_t> known;
  for (const llvm::lsp::Diagnostic &error : errorsOf(before))
    ++known[error.range.start.line];
  for (const llvm::lsp::Diagnostic &error : errorsOf(after))
    if (known[error.range.start.line]-- == 0)
      return "line " + std::to_string(error.range.start.line + 1) + ": " +
             StringRef(error.message).split('\n').first.str();
  return "";
}

Renaming rename(const File &file, size_t token, StringRef newName,
                ArrayRef<const File *> others) {
  Renaming result = placesOf(file, token, others);
  StringRef oldName = file.getTokens()[token].text;
  if (!result.refusal.empty() || newName == oldName)
    return result;
  bool isName = !newName.empty() && !isDigit(newName.front()) &&
                all_of(newName, [](char c) { return isAlnum(c) || c == '_'; });
  if (!isName)
    return refuse("expects a name of letters, digits and '_', but got '" +
                  newName + "'");
  if (frontend::isReserved(newName))
    return refuse("'" + newName +
                  "' is a word of the language: choose another name");
  File after(file.getPath(), renamed(file, result.tokens, newName));
  auto before = meanings(file), now = meanings(after);
  for (size_t at = 0; at < std::min(before.size(), now.size()); ++at)
    if (before[at] != now[at])
      return refuse("'" + newName + "' is taken: line " +
                    Twine(file.rangeOf(at).start.line + 1) +
                    " would mean something else");
  if (std::string error = findNewError(file, after); !error.empty())
    return refuse("'" + newName + "' cannot be the name of '" + oldName +
                  "': " + error);
  return result;
}

} // namespace selvedge::lsp
