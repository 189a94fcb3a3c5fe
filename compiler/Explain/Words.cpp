// Values of the tile dialect in the words of the program.
// SPDX-License-Identifier: MIT
#include "compiler/Explain/Words.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"

#include <optional>

namespace selvedge::explain {

using namespace mlir;
using namespace selvedge::tile;

SourceText::SourceText(StringRef file, StringRef source) : main(file.str()) {
  source.split(files[main].lines, '\n');
}

Place SourceText::placeOf(Location loc) const {
  auto found = loc->findInstanceOf<FileLineColLoc>();
  if (!found || found.getLine() == 0)
    return {};
  std::string name = found.getFilename().str();
  auto [file, isNew] = files.try_emplace(name);
  if (isNew)
    if (auto buffer = llvm::MemoryBuffer::getFile(name)) {
      file->second.buffer = std::move(*buffer);
      file->second.buffer->getBuffer().split(file->second.lines, '\n');
    }
  ArrayRef<StringRef> lines = file->second.lines;
  if (found.getLine() > lines.size())
    return {};
  return {found.getLine(), found.getColumn(), name == main ? "" : name,
          lines[found.getLine() - 1].trim().str()};
}

ArrayRef<StringRef> SourceText::linesOf(const std::string &file) const {
  auto found = files.find(file.empty() ? main : file);
  return found == files.end() ? ArrayRef<StringRef>() : found->second.lines;
}

Value stripRepeats(Value v) {
  while (Operation *def = v.getDefiningOp()) {
    if (!isa<BroadcastOp, SplatOp>(def))
      break;
    v = def->getOperand(0);
  }
  return v;
}

SmallVector<Value> conjuncts(Value condition) {
  SmallVector<Value> parts;
  while (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    parts.push_back(both.getRhs());
    condition = both.getLhs();
  }
  parts.push_back(condition);
  return SmallVector<Value>(llvm::reverse(parts));
}

std::string wordsFor(AffineExpr expr, ArrayAttr dims) {
  if (auto c = dyn_cast<AffineConstantExpr>(expr))
    return std::to_string(c.getValue());
  if (auto s = dyn_cast<AffineSymbolExpr>(expr))
    return cast<StringAttr>(dims[s.getPosition()]).str();
  if (isa<AffineDimExpr>(expr))
    return "block";
  auto binary = cast<AffineBinaryOpExpr>(expr);
  const char *sign = binary.getKind() == AffineExprKind::Add   ? " + "
                     : binary.getKind() == AffineExprKind::Mul ? "*"
                     : binary.getKind() == AffineExprKind::Mod ? " % "
                                                               : " / ";
  return wordsFor(binary.getLHS(), dims) + sign +
         wordsFor(binary.getRHS(), dims);
}

std::string shapeWords(TensorArgAttr tensor, ArrayAttr dims) {
  std::string text = "[";
  for (AffineExpr extent : tensor.getShape().getResults())
    text += (text.size() > 1 ? ", " : "") + wordsFor(extent, dims);
  return text + "]";
}

std::vector<Tensor> tensorsOf(ProgramOp program) {
  std::vector<Tensor> tensors;
  for (auto arg : program.getTensors().getAsRange<TensorArgAttr>())
    tensors.push_back({arg.getName().str(), shapeWords(arg, program.getDims()),
                       stringifyRole(arg.getRole()).str(),
                       arg.getIsOptional()});
  return tensors;
}

std::string wordsFor(Attribute constant) {
  if (auto b = dyn_cast_or_null<BoolAttr>(constant))
    return b.getValue() ? "true" : "false";
  if (auto i = dyn_cast_or_null<IntegerAttr>(constant))
    return std::to_string(i.getInt());
  if (auto s = dyn_cast_or_null<StringAttr>(constant))
    return s.str();
  auto f = dyn_cast_or_null<FloatAttr>(constant);
  if (!f)
    return "...";
  if (f.getValue().isInfinity())
    return f.getValue().isNegative() ? "-inf" : "inf";
  llvm::SmallString<16> text;
  f.getValue().toString(text);
  StringRef shown(text);
  shown.consume_back(".0E+0");
  return shown.str();
}

/// A block argument: of the kernel by its name in the signature, of a loop by
/// the axis that starts there.
static std::string argumentWords(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  unsigned i = argument.getArgNumber();
  if (auto kernel = dyn_cast<KernelOp>(parent)) {
    ProgramOp program = kernel.getProgram();
    auto take = [&](size_t count) {
      bool here = i < count;
      if (!here)
        i -= count;
      return here;
    };
    if (take(program.getDims().size()))
      return cast<StringAttr>(program.getDims()[i]).str();
    if (take(program.getTensors().size()))
      return program.getTensorArg(i).getName().str();
    if (take(program.getScalars().size()))
      return program.getScalarArg(i).getName().str();
    return cast<IterAttr>(kernel.getRanges()[i]).getName().str();
  }
  auto loop = dyn_cast<scf::ForOp>(parent);
  if (loop && argument == loop.getInductionVar())
    for (Operation *user : argument.getUsers())
      if (auto range = dyn_cast<RangeOp>(user))
        return "start of " + axesOf(range.getType())[0].str();
  return "...";
}

namespace {

/// Sign and binding strength of a binary operation; strength 0 for others.
struct Infix {
  StringRef sign;
  int strength = 0;
};

/// The language's comparisons of numbers; it has no others.
Infix infixOf(arith::CmpFPredicate predicate) {
  switch (predicate) {
  case arith::CmpFPredicate::OEQ:
    return {" == ", 3};
  case arith::CmpFPredicate::UNE:
    return {" != ", 3};
  case arith::CmpFPredicate::OLT:
    return {" < ", 3};
  case arith::CmpFPredicate::OLE:
    return {" <= ", 3};
  case arith::CmpFPredicate::OGT:
    return {" > ", 3};
  case arith::CmpFPredicate::OGE:
    return {" >= ", 3};
  default:
    return {};
  }
}

Infix infixOf(Operation *op) {
  if (isa<arith::AddIOp, arith::AddFOp>(op))
    return {" + ", 4};
  if (isa<arith::SubIOp, arith::SubFOp>(op))
    return {" - ", 4};
  if (isa<arith::MulIOp, arith::MulFOp>(op))
    return {"*", 5};
  if (isa<arith::FloorDivSIOp, arith::DivSIOp, arith::DivUIOp>(op))
    return {" / ", 5};
  if (isa<arith::RemSIOp, arith::RemUIOp>(op))
    return {" % ", 5};
  if (isa<arith::AndIOp>(op))
    return {" && ", 2};
  if (isa<arith::OrIOp>(op))
    return {" || ", 1};
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return infixOf(compare.getPredicate());
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare)
    return {};
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::eq:
    return {" == ", 3};
  case arith::CmpIPredicate::ne:
    return {" != ", 3};
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::ult:
    return {" < ", 3};
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::ule:
    return {" <= ", 3};
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::ugt:
    return {" > ", 3};
  case arith::CmpIPredicate::sge:
  case arith::CmpIPredicate::uge:
    return {" >= ", 3};
  }
  return {};
}

std::string words(Value v, int outer);

/// The operands of a modulo, which the front end writes x - x / c * c.
std::optional<std::pair<Value, Value>> moduloOf(Operation *op) {
  auto minus = dyn_cast<arith::SubIOp>(op);
  auto times =
      minus ? minus.getRhs().getDefiningOp<arith::MulIOp>() : arith::MulIOp();
  auto over = times ? times.getLhs().getDefiningOp<arith::FloorDivSIOp>()
                    : arith::FloorDivSIOp();
  if (!over || over.getLhs() != minus.getLhs() ||
      over.getRhs() != times.getRhs())
    return std::nullopt;
  return std::pair(over.getLhs(), over.getRhs());
}

std::string callWords(StringRef name, ValueRange operands) {
  std::string text = name.str() + "(";
  for (auto [i, operand] : llvm::enumerate(operands))
    text += (i ? ", " : "") + words(operand, 0);
  return text + ")";
}

/// `t[i, j]`.
std::string elementWords(LoadOp load) {
  std::string text = words(load.getTensor(), 0) + "[";
  for (auto [i, index] : llvm::enumerate(load.getIndices()))
    text += (i ? ", " : "") + words(index, 0);
  return text + "]";
}

/// An optional tensor's element or its default is written as the element.
std::string selectWords(arith::SelectOp select) {
  if (stripRepeats(select.getCondition()).getDefiningOp<IsPresentOp>())
    return words(select.getTrueValue(), 9);
  return callWords("select", select->getOperands());
}

/// `x ^ true` is the negation.
std::string xorWords(arith::XOrIOp op) {
  auto one = stripRepeats(op.getRhs()).getDefiningOp<arith::ConstantOp>();
  if (one && getElementTypeOrSelf(op.getType()).isInteger(1))
    return "!(" + words(op.getLhs(), 0) + ")";
  return "...";
}

/// The sum that tile-exact-compares computes in 64 bits and bounds to 32.
Value stripWidth(Value v) {
  auto narrowed = v.getDefiningOp<arith::TruncIOp>();
  if (!narrowed)
    return v;
  v = narrowed.getIn();
  while (Operation *def = v.getDefiningOp()) {
    if (!isa<arith::MinSIOp, arith::MaxSIOp>(def) ||
        !def->getOperand(1).getDefiningOp<arith::ConstantOp>())
      break;
    v = def->getOperand(0);
  }
  return v;
}

/// `a - b <= c` as programs write it: `a <= b + c`.
std::optional<std::string> differenceWords(arith::CmpIOp compare) {
  auto minus = stripRepeats(compare.getLhs()).getDefiningOp<arith::SubIOp>();
  if (!minus || moduloOf(minus))
    return std::nullopt;
  return words(minus.getLhs(), 3) + infixOf(compare).sign.str() +
         words(minus.getRhs(), 3) + " + " + words(compare.getRhs(), 3);
}

/// `outer` is the strength of the operation around.
std::string words(Value v, int outer) {
  v = stripWidth(stripRepeats(v));
  Operation *def = v.getDefiningOp();
  if (!def)
    return argumentWords(cast<BlockArgument>(v));
  if (auto range = dyn_cast<RangeOp>(def))
    return axesOf(range.getType())[0].str();
  if (auto c = dyn_cast<arith::ConstantOp>(def))
    return wordsFor(Attribute(c.getValue()));
  if (auto load = dyn_cast<LoadOp>(def))
    return elementWords(load);
  if (auto present = dyn_cast<IsPresentOp>(def))
    return words(present.getTensor(), 9) + " is given";
  if (auto select = dyn_cast<arith::SelectOp>(def))
    return selectWords(select);
  if (isa<ConvertOp, arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp,
          arith::ExtSIOp, arith::ExtUIOp>(def))
    return words(def->getOperand(0), outer);
  if (isa<arith::FPToSIOp>(def)) {
    std::string text = words(def->getOperand(0), 9) + " as i32";
    return outer >= 5 ? "(" + text + ")" : text;
  }
  if (isa<arith::MaxSIOp>(def))
    return callWords("max", def->getOperands());
  if (isa<arith::MinSIOp>(def))
    return callWords("min", def->getOperands());
  if (auto negation = dyn_cast<arith::XOrIOp>(def))
    return xorWords(negation);
  if (auto modulo = moduloOf(def)) {
    std::string text =
        words(modulo->first, 4) + " % " + words(modulo->second, 5);
    return outer >= 5 ? "(" + text + ")" : text;
  }
  Infix infix = infixOf(def);
  if (!infix.strength)
    return "...";
  // Sums are collected from zero on.
  if (isa<arith::AddIOp>(def))
    if (auto zero = def->getOperand(0).getDefiningOp<arith::ConstantIntOp>();
        zero && zero.value() == 0)
      return words(def->getOperand(1), outer);
  if (auto compare = dyn_cast<arith::CmpIOp>(def))
    if (std::optional<std::string> text = differenceWords(compare))
      return infix.strength <= outer ? "(" + *text + ")" : *text;
  // The right side of a difference or quotient binds tighter.
  std::string text = words(def->getOperand(0), infix.strength - 1) +
                     infix.sign.str() +
                     words(def->getOperand(1), infix.strength);
  return infix.strength <= outer ? "(" + text + ")" : text;
}

} // namespace

std::string wordsFor(Value v) { return words(v, 0); }

std::string clauseOf(Value predicate) {
  Operation *def = stripRepeats(predicate).getDefiningOp();
  auto named = def ? def->getLoc()->findInstanceOf<NameLoc>() : NameLoc();
  return named ? named.getName().str() : std::string();
}

} // namespace selvedge::explain
