// The front end: text of a `.tile` file to a module of the tile dialect.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Frontend.h"
#include "compiler/Frontend/Elaborator.h"
#include "compiler/Frontend/OtherOps.h"
#include "compiler/Frontend/Parser.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace selvedge::frontend {
namespace {

const OpDecl *findOp(const FileAst &file, StringRef name, Diagnostics &diags) {
  SmallVector<StringRef> names;
  std::map<StringRef, const OpDecl *> seen;
  for (const OpDecl &op : file.ops) {
    names.push_back(op.name);
    auto [first, isNew] = seen.try_emplace(op.name, &op);
    if (isNew)
      continue;
    // What this file defines is easier to change than what it imports.
    bool isClash = op.isImported && !first->second->isImported;
    diags.error(isClash ? first->second->loc : op.loc,
                "op '" + op.name + "' is defined twice");
    diags.note(isClash ? op.loc : first->second->loc,
               isClash ? "an imported one is here" : "the first one is here");
  }
  if (diags.hasErrors())
    return nullptr;
  for (const OpDecl &op : file.ops)
    if (name.empty() ? !op.isImported : op.name == name)
      return &op;
  if (file.ops.empty())
    diags.error({}, "the file has no op");
  else if (name.empty())
    diags.error({}, "the file has no op of its own",
                "--op chooses one that it imports: " + llvm::join(names, ", "));
  else
    diags.error({}, "the file has no op '" + name + "'",
                didYouMean(name, names));
  return nullptr;
}

/// One line: comments dropped, white space collapsed.
std::string oneLine(StringRef text) {
  std::string line;
  while (!text.empty()) {
    StringRef row;
    std::tie(row, text) = text.split('\n');
    row = row.take_front(row.find("//"));
    SmallVector<StringRef> words;
    llvm::SplitString(row, words, " \t\r\f\v");
    for (StringRef word : words) {
      bool glued = line.empty() || line.back() == '(' || word.starts_with(")");
      line += (glued ? "" : " ") + word.str();
    }
  }
  return line;
}

/// The comment block that ends on the line above `op`.
std::string commentAbove(StringRef source, const OpDecl &op) {
  StringRef before(source.data(), op.signatureText.data() - source.data());
  SmallVector<StringRef> lines;
  before.split(lines, '\n');
  lines.pop_back(); // the op's own line
  std::string comment;
  while (!lines.empty() && lines.back().ltrim().starts_with("//")) {
    StringRef text = lines.pop_back_val().trim().drop_front(2);
    text.consume_front(" ");
    comment = text.str() + (comment.empty() ? "" : "\n") + comment;
  }
  return comment;
}

} // namespace

OwningOpRef<ModuleOp> buildModule(MLIRContext &ctx, const Input &in,
                                  std::string &diagnostics) {
  ctx.loadDialect<tile::TileDialect, arith::ArithDialect, math::MathDialect,
                  scf::SCFDialect>();
  Diagnostics diags(in.fileName, in.source);
  llvm::scope_exit render([&] { diagnostics += diags.rendered(); });
  FileAst file = parseWithImports(diags, in.importFolders);
  if (diags.hasErrors())
    return {};
  StringRef name = in.op;
  bool isGradient = name.starts_with("grad(") && name.ends_with(")");
  if (isGradient)
    name = name.drop_front(strlen("grad(")).drop_back();
  const OpDecl *op = findOp(file, name, diags);
  if (!op)
    return {};
  Elaborator elaborator(&ctx, diags, file);
  if (in.onBinding)
    elaborator.onBinding = [&](SMLoc loc, Value value, ValueRange presence) {
      auto [line, column] = diags.lineAndColumn(loc);
      in.onBinding({diags.file(loc), line, column, value, presence});
    };
  OwningOpRef<ModuleOp> module = elaborator.run(*op, in.bindings, isGradient);
  if (diags.hasErrors())
    return {};
  // What the verifier refuses is a defect of the front end: say so.
  std::string verifierText;
  ScopedDiagnosticHandler handler(&ctx, [&](Diagnostic &d) {
    verifierText += d.str() + "\n";
    return success();
  });
  if (!module || failed(verify(*module))) {
    diags.error(op->loc, "internal error: the emitted module is not valid",
                StringRef(verifierText).trim());
    return {};
  }
  checkOtherOps(&ctx, diags, file, *op);
  return module;
}

std::vector<SourceFile> importedFiles(const Input &in) {
  std::vector<SourceFile> read;
  // Most files import nothing, and need not be parsed to tell.
  if (!in.source.contains("import"))
    return read;
  Diagnostics diags(in.fileName, in.source);
  parseWithImports(diags, in.importFolders, &read);
  return read;
}

bool listOps(const Input &in, std::vector<OpInfo> &ops,
             std::string &diagnostics) {
  Diagnostics diags(in.fileName, in.source);
  FileAst file = parseWithImports(diags, in.importFolders);
  for (const OpDecl &op : file.ops)
    if (!op.isImported)
      ops.push_back({op.name.str(), oneLine(op.signatureText),
                     commentAbove(diags.text(), op)});
  diagnostics += diags.rendered();
  return !diags.hasErrors();
}

} // namespace selvedge::frontend
