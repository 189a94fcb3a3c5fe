// What the compiler knows of a value, without compiling to code.
// SPDX-License-Identifier: MIT
#include "tools/selvedge-lsp/Values.h"

#include "compiler/Explain/Words.h"
#include "compiler/Frontend/Frontend.h"
#include "compiler/Safety/Passes.h"
#include "dialect/Tile/Provenance.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;
using selvedge::frontend::BoundValue;
using selvedge::frontend::Token;

namespace selvedge::lsp {

namespace {

/// "f32[i, j]"; empty for what is no tile or number.
std::string wordsOf(Type type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto tensor = dyn_cast<RankedTensorType>(type);
  llvm::StringRef name = tile::nameOf(getElementTypeOrSelf(type));
  auto axes = tensor ? dyn_cast_or_null<tile::AxesAttr>(tensor.getEncoding())
                     : tile::AxesAttr();
  os << name;
  if (name.empty() || !axes)
    return text;
  os << '[';
  llvm::interleaveComma(axes.getNames(), os,
                        [&](StringAttr name) { os << name.getValue(); });
  os << ']';
  return text;
}

/// "line 24", or "base.tile:24" in another file.
std::string whereOf(const File &file, Location loc) {
  auto place = loc->findInstanceOf<FileLineColLoc>();
  if (!place || place.getLine() == 0)
    return "";
  llvm::StringRef name = place.getFilename().getValue();
  std::string line = std::to_string(place.getLine());
  return name == file.getPath() ? "line " + line
                                : name.rsplit('/').second.str() + ":" + line;
}

/// Whether a predicate only says where a tile that is a whole dimension ends:
/// `D < 64` of 64 lanes.
bool isWholeDimension(Value predicate) {
  auto compare =
      explain::stripRepeats(predicate).getDefiningOp<arith::CmpIOp>();
  auto range = compare ? explain::stripRepeats(compare.getLhs())
                             .getDefiningOp<tile::RangeOp>()
                       : tile::RangeOp();
  auto kernel =
      range ? range->getParentOfType<tile::KernelOp>() : tile::KernelOp();
  if (!kernel)
    return false;
  StringAttr name = tile::axesOf(range.getType())[0];
  std::string end = explain::wordsFor(compare.getRhs());
  auto axes = kernel.getAxes().getAsRange<tile::AxisAttr>();
  return llvm::any_of(axes, [&](tile::AxisAttr axis) {
    return axis.getName() == name && std::to_string(axis.getExtent()) == end;
  });
}

/// The predicates that tell the elements of a program apart.
SmallVector<Value> withoutEnds(ValueRange presence) {
  SmallVector<Value> rest(presence);
  llvm::erase_if(rest, isWholeDimension);
  return rest;
}

/// A predicate in the words of the program. Bounds that the front end makes of
/// parts and segments are longer than anybody reads: their line says more.
std::string shortWordsOf(Value predicate, StringRef clause) {
  constexpr size_t longest = 60;
  std::string words = explain::wordsFor(predicate);
  if (words.size() <= longest && !StringRef(words).contains("..."))
    return "`" + words + "`";
  auto axes = tile::axesOf(explain::stripRepeats(predicate).getType());
  if (!clause.empty() || axes.empty())
    return "a condition holds";
  return "`" + axes[0].str() + "` is in its range";
}

/// "`j < N` (line 24) and `j < kv_len[b]` (valid, line 11)"; empty where all
/// lanes are present.
std::string wordsOf(const File &file, ValueRange presence) {
  std::string text;
  for (Value predicate : presence) {
    std::string clause = explain::clauseOf(predicate), where;
    if (Operation *op = explain::stripRepeats(predicate).getDefiningOp())
      where = whereOf(file, op->getLoc());
    std::string origin =
        clause + (clause.empty() || where.empty() ? "" : ", ") + where;
    text += (text.empty() ? "" : " and ") + shortWordsOf(predicate, clause) +
            (origin.empty() ? "" : " (" + origin + ")");
  }
  return text;
}

/// What `explain` says of a load or a mask; empty for others.
std::string wordsOf(const File &file, Operation *op,
                    const tile::SafetyNote &note) {
  std::string text, presence;
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    bool isFilled = load.getFill() == tile::Fill::Zero;
    text = "Load of `" + note.subject + "`: absent lanes " +
           (isFilled ? "hold zero" : "hold anything, nothing reads them");
    presence = wordsOf(file, withoutEnds(load.getPresence()));
  } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
    text = "Mask of " + note.subject + ": absent lanes become " +
           explain::wordsFor(explain::stripRepeats(select.getFalseValue()));
    presence = wordsOf(file, explain::conjuncts(select.getCondition()));
  } else {
    return "";
  }
  StringRef reason = note.reason;
  reason.consume_front("zero, by ");
  std::string why = reason == "unread" ? "" : reason.str();
  if (std::optional<Location> consumer = tile::consumerOf(op->getLoc()))
    why += (why.empty() ? "" : ", ") + whereOf(file, *consumer);
  if (!why.empty())
    text += " (" + why + ")";
  return text + (presence.empty() ? ". No lane is absent."
                                  : ". Present where " + presence + ".");
}

/// The passes that decide what absent lanes hold.
bool makeSafe(ModuleOp module) {
  PassManager pm(module.getContext());
  safety::addObligations(pm);
  return succeeded(pm.run(module));
}

/// A part of the text, both ends included.
using Part = std::pair<llvm::lsp::Position, llvm::lsp::Position>;

bool isIn(const File &file, Location loc, const Part &part) {
  auto place = loc->findInstanceOf<FileLineColLoc>();
  if (!place || place.getFilename().getValue() != file.getPath())
    return false;
  llvm::lsp::Position at(static_cast<int>(place.getLine()) - 1,
                         static_cast<int>(place.getColumn()) - 1);
  return !(at < part.first) && !(part.second < at);
}

/// Of the value that `name` gets, if it is one, and of the operations that
/// `part` is made of, in the op `op`.
std::string describe(const File &file, StringRef op,
                     std::optional<llvm::lsp::Position> name,
                     const Part &part) {
  MLIRContext context;
  ScopedDiagnosticHandler quiet(&context,
                                [](mlir::Diagnostic &) { return success(); });
  std::string text, diagnostics;
  frontend::Input input;
  input.fileName = file.getPath();
  input.source = file.getText();
  input.op = op;
  input.onBinding = [&](const BoundValue &bound) {
    if (!name || bound.file != file.getPath() ||
        static_cast<int>(bound.line) != name->line + 1 ||
        static_cast<int>(bound.column) != name->character + 1)
      return;
    std::string type = wordsOf(bound.value.getType());
    std::string presence = wordsOf(file, withoutEnds(bound.presence));
    if (!type.empty())
      text = "`" + type + "`, " +
             (presence.empty() ? "present in all lanes"
                               : "present where " + presence);
  };
  OwningOpRef<ModuleOp> module =
      frontend::buildModule(context, input, diagnostics);
  if (!module || !makeSafe(*module))
    return text;
  module->walk([&](Operation *operation) {
    std::optional<tile::SafetyNote> note = tile::noteOf(operation->getLoc());
    if (!note || !isIn(file, operation->getLoc(), part))
      return;
    std::string words = wordsOf(file, operation, *note);
    if (!words.empty() && !StringRef(text).contains(words))
      text += (text.empty() ? "" : "\n\n") + words;
  });
  return text;
}

} // namespace

std::string describeValue(const File &file, size_t token,
                          const Definition &definition) {
  const std::vector<Token> &tokens = file.getTokens();
  std::optional<llvm::lsp::Position> name;
  size_t first = token + 1, last = first;
  if (definition.kind == "let" || definition.kind == "var") {
    name = file.rangeOf(definition.token).start;
    first = last = definition.token + 1;
    while (last + 1 < tokens.size() && !tokens[last].is(";"))
      ++last;
  } else if (!tokens[first].is("[")) {
    return "";
  }
  Part part(file.rangeOf(first).start, file.rangeOf(last).start);
  // The op that the name is in; a function of the file may be of any.
  StringRef op;
  for (const Definition &other : file.getDefinitions())
    if (other.kind == "op" && other.scopeEnd == 0 && other.token <= token)
      op = other.name;
  return describe(file, op, name, part);
}

} // namespace selvedge::lsp
