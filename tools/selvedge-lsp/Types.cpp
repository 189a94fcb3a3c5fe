// Element type and axes of a value, from the program that the front end makes.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Frontend.h"
#include "dialect/Tile/Tile.h"
#include "tools/selvedge-lsp/Document.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"

using namespace mlir;

namespace selvedge::lsp {

/// "f32[i, j]"; empty for what is no tile or number.
static std::string wordsOf(Type type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto tensor = dyn_cast<RankedTensorType>(type);
  Type element = tensor ? tensor.getElementType() : type;
  llvm::StringRef name = tile::nameOf(element);
  if (name.empty())
    return "";
  os << name;
  auto axes = tensor ? dyn_cast_or_null<tile::AxesAttr>(tensor.getEncoding())
                     : tile::AxesAttr();
  if (!axes)
    return text;
  os << '[';
  llvm::interleaveComma(axes.getNames(), os,
                        [&](StringAttr name) { os << name.getValue(); });
  os << ']';
  return text;
}

std::string typeOf(const File &file, const Definition &definition) {
  // The op that it is in, from the word `op` on.
  if (definition.scopeEnd == 0 ||
      !(definition.kind == "let" || definition.kind == "var"))
    return "";
  const std::vector<frontend::Token> &tokens = file.getTokens();
  size_t last = definition.token;
  while (last + 1 < tokens.size() && !tokens[last].is(";"))
    ++last;
  llvm::lsp::Position begin = file.rangeOf(definition.token).end,
                      end = file.rangeOf(last).start;
  frontend::Input input;
  input.fileName = file.getPath();
  input.source = file.getText();
  input.op = tokens[definition.scopeBegin + 1].text;
  MLIRContext context;
  std::string diagnostics, words;
  OwningOpRef<ModuleOp> module =
      frontend::buildModule(context, input, diagnostics);
  if (!module)
    return "";
  // The last value that is computed there is that of the whole expression.
  module->walk([&](Operation *op) {
    auto place = op->getLoc()->findInstanceOf<FileLineColLoc>();
    if (!place || op->getNumResults() == 0 ||
        place.getFilename().getValue() != file.getPath())
      return;
    llvm::lsp::Position at(static_cast<int>(place.getLine()) - 1,
                           static_cast<int>(place.getColumn()) - 1);
    if (at < begin || end < at)
      return;
    std::string found = wordsOf(op->getResult(0).getType());
    if (!found.empty())
      words = std::move(found);
  });
  return words;
}

} // namespace selvedge::lsp
