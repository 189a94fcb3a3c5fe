// Ops of a file that are not built: their errors are warnings.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/OtherOps.h"

#include <optional>

namespace selvedge::frontend {
namespace {

const OpDecl *baseOf(const FileAst &file, const OpDecl &op) {
  for (const OpDecl &other : file.ops)
    if (!op.base.empty() && other.name == op.base)
      return &other;
  return nullptr;
}

/// Values for parameters that have none of their own; nothing where they cannot
/// be guessed.
std::optional<Bindings> guessParameters(const FileAst &file,
                                        const OpDecl &first) {
  Bindings bindings;
  std::set<llvm::StringRef> fixed;
  size_t depth = 0;
  for (const OpDecl *op = &first; op && depth++ < file.ops.size();
       op = baseOf(file, *op)) {
    for (const ParamDecl &param : op->params) {
      if (param.defaultValue || fixed.count(param.name))
        continue;
      if (param.types.empty() && param.kind != "bool")
        return std::nullopt;
      bindings[param.name.str()] =
          param.types.empty() ? "false" : param.types.front().str();
    }
    for (const BindDecl &bind : op->binds)
      fixed.insert(bind.name);
  }
  return bindings;
}

} // namespace

void checkOtherOps(mlir::MLIRContext *ctx, Diagnostics &diags,
                   const FileAst &file, const OpDecl &built) {
  for (const OpDecl &op : file.ops) {
    if (&op == &built || op.isImported)
      continue;
    if (std::optional<Bindings> bindings = guessParameters(file, op)) {
      Diagnostics::AsWarnings scope(diags);
      Elaborator(ctx, diags, file).run(op, &*bindings);
    }
  }
}

} // namespace selvedge::frontend
