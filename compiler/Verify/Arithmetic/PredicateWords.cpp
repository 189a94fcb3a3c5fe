// What a predicate says, as text that is the same before and after lowering.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/PredicateWords.h"

#include "compiler/Verify/Arithmetic/Facts.h"
#include "dialect/Sm/Sm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

namespace selvedge::verify {

using namespace mlir;

/// What is not known from the signature alone.
static constexpr const char *unnamed = "_";

std::string tensorName(Value argument) {
  Operation *parent = argument.getParentBlock()->getParentOp();
  if (auto kernel = dyn_cast<tile::KernelOp>(parent))
    return kernel.getTensorArgOf(argument).getName().str();
  return cast<sm::KernelOp>(parent).getTensorName(argument).str();
}

std::string PredicateWords::of(Value value) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  std::string words = compute(value);
  return known[value] = words;
}

std::string PredicateWords::compute(Value value) {
  if (steps.contains(value))
    return unnamed;
  // That the word is the one of this tile verify-sm-async proves.
  if (Value posted = postedWord(value))
    return of(posted);
  // However a kernel computes which one of a range is its own.
  if (names.isCoordinate(value))
    return unnamed;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return ofArgument(argument);
  return ofOperation(value.getDefiningOp());
}

std::string PredicateWords::ofArgument(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  unsigned number = argument.getArgNumber();
  if (auto kernel = dyn_cast<tile::KernelOp>(parent)) {
    tile::ProgramOp program = kernel.getProgram();
    ArrayAttr dims = program.getDims();
    if (number < dims.size())
      return cast<StringAttr>(dims[number]).str();
    unsigned scalar = number - dims.size() - program.getTensors().size();
    if (number < program.getNumSharedArgs() &&
        scalar < program.getScalars().size())
      return program.getScalarArg(scalar).getName().str();
  }
  if (auto kernel = dyn_cast<sm::KernelOp>(parent)) {
    if (auto dim = dyn_cast<sm::DimArgAttr>(kernel.getArgs()[number]))
      return dim.getDim().str();
    if (auto scalar = dyn_cast<sm::ScalarArgAttr>(kernel.getArgs()[number]))
      return scalar.getScalar().str();
  }
  return unnamed;
}

std::string PredicateWords::ofLoad(Value tensor, ValueRange indices) {
  std::string name = tensorName(tensor);
  auto words = [&](size_t dim, Value index) -> std::string {
    if (!index.getType().isInteger())
      return of(index);
    return names.isNamed(name, dim) ? names.of(index) : unnamed;
  };
  SmallVector<std::string> list;
  for (auto [dim, index] : llvm::enumerate(indices))
    list.push_back(words(dim, index));
  return name + "[" + llvm::join(list, ", ") + "]";
}

/// The bulk copy that brings what a slot says it holds: that it does
/// verify-sm-async proves.
static sm::TmaLoadOp copyOf(sm::SlotOp slot) {
  for (Operation *user : slot.getRing().getUsers())
    if (auto other = dyn_cast<sm::SlotOp>(user);
        other && other.getType() == slot.getType())
      for (Operation *filling : other->getUsers())
        if (auto load = dyn_cast<sm::TmaLoadOp>(filling))
          return load;
  return {};
}

/// As of a load: rows and columns are those of the box.
std::string PredicateWords::ofRead(sm::ReadOp read) {
  auto slot = read.getBuffer().getDefiningOp<sm::SlotOp>();
  sm::TmaLoadOp load = slot ? copyOf(slot) : sm::TmaLoadOp();
  if (!load || slot.getIndices().size() != load.getIndices().size())
    return unnamed;
  std::string name = tensorName(load.getMap());
  auto kernel = read->getParentOfType<sm::KernelOp>();
  auto map = cast<sm::TensorMapArgAttr>(
      kernel.getArgs()[cast<BlockArgument>(load.getMap()).getArgNumber()]);
  sm::BufferType type = slot.getType();
  SmallVector<std::string> list;
  for (auto [dim, index] : llvm::enumerate(slot.getIndices()))
    list.push_back(dim + 1 == slot.getIndices().size() ? type.getColAxis().str()
                   : type.getRowDimension(map.getBox()) == dim
                       ? type.getRowAxis().str()
                   : names.isNamed(name, dim) ? names.of(index)
                                              : unnamed);
  return name + "[" + llvm::join(list, ", ") + "]";
}

std::string PredicateWords::ofOperation(Operation *op) {
  APInt constant;
  if (matchPattern(op, m_ConstantInt(&constant)))
    return llvm::toString(constant, 10, constant.getBitWidth() > 1);
  auto binary = [&](StringRef sign) {
    std::string a = of(op->getOperand(0)), b = of(op->getOperand(1));
    if (op->hasTrait<OpTrait::IsCommutative>() && b < a)
      std::swap(a, b);
    return "(" + a + " " + sign.str() + " " + b + ")";
  };
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case<tile::RangeOp>([](auto range) {
        return tile::axesOf(range.getType()).front().str();
      })
      .Case<sm::RangeOp>([](auto range) {
        return sm::layoutOf(range.getType()).getAxes()[0].getName().str();
      })
      .Case<tile::SplatOp, tile::BroadcastOp, sm::SplatOp, sm::BroadcastOp,
            sm::RelayoutOp, arith::ExtSIOp, arith::TruncIOp>(
          [&](auto same) { return of(same->getOperand(0)); })
      .Case<tile::LoadOp, sm::LoadOp>([&](auto load) {
        return ofLoad(load.getTensor(), load.getIndices());
      })
      .Case([&](sm::ReadOp read) { return ofRead(read); })
      .Case<tile::IsPresentOp, sm::IsPresentOp>([](auto present) {
        return "present " + tensorName(present.getTensor());
      })
      .Case([&](arith::CmpIOp compare) {
        return binary(arith::stringifyCmpIPredicate(compare.getPredicate()));
      })
      .Case<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivSIOp,
            arith::FloorDivSIOp, arith::RemSIOp, arith::MinSIOp, arith::MaxSIOp,
            arith::AndIOp, arith::OrIOp, arith::XOrIOp>(
          [&](auto) { return binary(op->getName().stripDialect()); })
      .Case([&](arith::SelectOp) {
        return "select(" +
               llvm::join(llvm::map_range(op->getOperands(),
                                          [&](Value v) { return of(v); }),
                          ", ") +
               ")";
      })
      .Default([](Operation *) { return unnamed; });
}

} // namespace selvedge::verify
