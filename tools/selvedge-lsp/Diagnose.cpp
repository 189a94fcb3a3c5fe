// Errors and warnings of the front end as the protocol has them.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Frontend.h"
#include "dialect/Tile/Tile.h"
#include "tools/selvedge-lsp/Document.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/Regex.h"

#include <set>

using namespace llvm;
using llvm::lsp::Diagnostic;
using llvm::lsp::DiagnosticSeverity;

namespace selvedge::lsp {

/// A rendered message and its notes: "FILE:LINE:COLUMN: error: text".
static void parseRendered(const File &file, StringRef rendered,
                          std::vector<Diagnostic> &out) {
  Regex head("^(.*):([0-9]+):([0-9]+): (error|warning|note): (.*)$");
  Regex whole("^(.*): (error|warning|note): (.*)$");
  Regex note("^note: (.*)$");
  SmallVector<StringRef> lines, parts;
  rendered.split(lines, '\n');
  for (StringRef line : lines) {
    int row = 1, column = 1;
    StringRef kind, text, name;
    if (head.match(line, &parts)) {
      name = parts[1];
      parts[2].getAsInteger(10, row);
      parts[3].getAsInteger(10, column);
      kind = parts[4];
      text = parts[5];
    } else if (whole.match(line, &parts)) {
      name = parts[1];
      kind = parts[2];
      text = parts[3];
    } else if (note.match(line, &parts)) {
      kind = "note";
      text = parts[1];
    } else {
      continue;
    }
    if (kind == "note") {
      if (!out.empty())
        out.back().message += "\n" + text.str();
      continue;
    }
    Diagnostic diagnostic;
    // What is wrong in another file is told at the beginning of this one.
    bool isHere = name == file.getPath();
    llvm::lsp::Position place(isHere ? row - 1 : 0, isHere ? column - 1 : 0);
    diagnostic.range = llvm::lsp::Range(place);
    if (std::optional<size_t> token =
            isHere ? file.tokenAt(place) : std::nullopt)
      diagnostic.range = file.rangeOf(*token);
    else
      diagnostic.range.end.character += 1;
    diagnostic.severity = kind == "error" ? DiagnosticSeverity::Error
                                          : DiagnosticSeverity::Warning;
    diagnostic.source = "selvedge";
    diagnostic.message = isHere ? text.str() : (name + ": " + text).str();
    out.push_back(std::move(diagnostic));
  }
}

std::vector<Diagnostic> diagnose(const File &file) {
  frontend::Input input;
  input.fileName = file.getPath();
  input.source = file.getText();
  std::vector<frontend::OpInfo> ops;
  std::string rendered;
  std::vector<Diagnostic> all, unique;
  if (!frontend::listOps(input, ops, rendered)) {
    parseRendered(file, rendered, all);
    return all;
  }
  for (const frontend::OpInfo &op : ops) {
    mlir::MLIRContext context;
    rendered.clear();
    input.op = op.name;
    frontend::buildModule(context, input, rendered);
    parseRendered(file, rendered, all);
  }
  std::set<std::tuple<int, int, std::string>> seen;
  for (Diagnostic &diagnostic : all)
    if (seen.emplace(diagnostic.range.start.line,
                     diagnostic.range.start.character, diagnostic.message)
            .second)
      unique.push_back(std::move(diagnostic));
  return unique;
}

} // namespace selvedge::lsp
