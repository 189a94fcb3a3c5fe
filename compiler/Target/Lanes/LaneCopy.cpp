// Emits the code of one thread of a kernel: copies to shared memory.
// SPDX-License-Identifier: MIT
#include "compiler/Target/Lanes/LaneEmitter.h"

namespace selvedge::lanes {

using namespace mlir;
using namespace selvedge::sm;

/// What `cp.async` with a source size moves.
static constexpr int64_t asyncBytes = 16;
/// Accesses of a rolled copy that are in flight together.
static constexpr int64_t rowsPerRound = 4;

static int64_t bytesPerAccess(CopyAsyncOp copy) {
  Type element = copy.getBuffer().getType().getElementType();
  return static_cast<int64_t>(copy.getVector()) * bytesOf(element);
}

void LaneEmitter::storeShared(Value to, ArrayRef<Value> values) {
  Type element = values.front().getType();
  Value vector = values.front();
  if (values.size() > 1) {
    vector = LLVM::PoisonOp::create(
        b, loc(),
        VectorType::get({static_cast<int64_t>(values.size())}, element));
    for (auto [i, v] : llvm::enumerate(values))
      vector = LLVM::InsertElementOp::create(b, loc(), vector, v, i32(i));
  }
  LLVM::StoreOp::create(b, loc(), vector, to, bytesOf(element) * values.size());
}

/// Threads to which the layout gives what others have copy nothing.
void LaneEmitter::emitCopy(CopyAsyncOp copy) {
  {
    OpBuilder::InsertionGuard guard(b);
    if (Value owner = isOwner(copy.getLayout())) {
      auto branch = scf::IfOp::create(b, loc(), TypeRange(), owner, false);
      b.setInsertionPointToStart(branch.thenBlock());
    }
    if (canRoll(copy))
      emitRolledCopy(copy);
    else
      emitUnrolledCopy(copy);
  }
  intrinsic("llvm.nvvm.cp.async.commit.group", {}, {});
}

void LaneEmitter::emitUnrolledCopy(CopyAsyncOp copy) {
  BufferType type = copy.getBuffer().getType();
  LayoutAttr layout = copy.getLayout();
  AxisLayoutAttr rowAxis = layout.getAxes()[0], colAxis = layout.getAxes()[1];
  Value base = bufferBases[copy.getBuffer()];
  Type element = type.getElementType();
  for (const Access &access :
       accesses(layout, copy.getTensor(), copy.getIndices(), copy.getPresence(),
                copy.getVector(), &LaneEmitter::stepPointer)) {
    SmallVector<int64_t> position = layout.unflatten(access.regs.front());
    SharedIndex row(threadPart(rowAxis), rowAxis.regOffset(position[0])),
        col(threadPart(colAxis), colAxis.regOffset(position[1]));
    Value to = sharedAddress(type, base, row, col);
    auto copyAsync = [&](Value present) {
      Value size =
          present ? arith::SelectOp::create(b, loc(), present, i32(16), i32(0))
                        .getResult()
                  : i32(16);
      inlineAsm({}, {to, access.pointer, size},
                "cp.async.cg.shared.global [$0], [$1], 16, $2;",
                "r,l,r,~{memory}");
    };
    if (bytesPerAccess(copy) != asyncBytes) {
      storeShared(to, loadAccess(access, element));
    } else if (access.isUniform()) {
      copyAsync(access.present.front());
    } else {
      auto branch = scf::IfOp::create(b, loc(), TypeRange(),
                                      conjunction(access.present), true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      copyAsync({});
      b.setInsertionPointToStart(branch.elseBlock());
      Registers single;
      for (int64_t i = 0; i < static_cast<int64_t>(access.regs.size()); ++i) {
        Value pointer = bytesAhead(access.pointer,
                                   static_cast<int32_t>(i * bytesOf(element)));
        llvm::append_range(single, loadWords(pointer, access.present[i],
                                             bytesOf(element), element));
      }
      storeShared(to, single);
    }
  }
}

//===-- Rolled copies -----------------------------------------------------===//

namespace {

/// The one result of an operation on registers that can be repeated anywhere.
bool isElementwise(Operation *op) {
  return op && isa<arith::ArithDialect>(op->getDialect()) &&
         isMemoryEffectFree(op) && op->getNumRegions() == 0 &&
         op->getNumResults() == 1;
}

/// Whether `v` can be computed at one register along `axis` alone.
bool canEvaluate(Value v, StringAttr axis) {
  LayoutAttr layout = layoutOf(v.getType());
  if (!layout || layout.indexOf(axis) < 0)
    return true;
  Operation *def = v.getDefiningOp();
  return isa_and_nonnull<RangeOp, SplatOp>(def) ||
         ((isa_and_nonnull<BroadcastOp>(def) || isElementwise(def)) &&
          llvm::all_of(def->getOperands(), [&](Value operand) {
            return canEvaluate(operand, axis);
          }));
}

} // namespace

/// Element by element a thread moves up to 64 elements, each with its own
/// address and predicates: in straight line they fill the register file.
bool LaneEmitter::canRoll(CopyAsyncOp copy) {
  AxisLayoutAttr rowAxis = copy.getLayout().getAxes()[0];
  auto canEvaluateAll = [&](ValueRange values) {
    return llvm::all_of(
        values, [&](Value v) { return canEvaluate(v, rowAxis.getName()); });
  };
  return bytesPerAccess(copy) != asyncBytes &&
         rowAxis.getNumRegs() % rowsPerRound == 0 &&
         rowAxis.getNumRegs() > rowsPerRound &&
         canEvaluateAll(copy.getIndices()) &&
         canEvaluateAll(copy.getPresence());
}

void LaneEmitter::emitRolledCopy(CopyAsyncOp copy) {
  BufferType type = copy.getBuffer().getType();
  LayoutAttr layout = copy.getLayout();
  AxisLayoutAttr rowAxis = layout.getAxes()[0], colAxis = layout.getAxes()[1];
  auto loop = scf::ForOp::create(b, loc(), i32(0), i32(rowAxis.getNumRegs()),
                                 i32(rowsPerRound));
  keepRolled(loop);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  // All loads first: they travel together.
  int64_t width = copy.getVector();
  SmallVector<std::pair<Value, Registers>> loaded;
  for (int64_t i = 0; i < rowsPerRound; ++i) {
    RegisterPlace place(
        layout, regOffset(rowAxis, add(loop.getInductionVar(), i32(i))));
    Value row = add(threadPart(rowAxis), place.rowOffset);
    for (int64_t reg = 0; reg < colAxis.getNumRegs(); reg += width) {
      Access access;
      for (int64_t r = reg; r < reg + width; ++r) {
        place.enter(r);
        if (r == reg)
          access.pointer = elementPointer(copy.getTensor(),
                                          evaluate(copy.getIndices(), place));
        access.present.push_back(
            conjunction(evaluate(copy.getPresence(), place)));
        access.regs.push_back(r);
      }
      SharedIndex col(threadPart(colAxis), colAxis.regOffset(reg));
      Value to = sharedAddress(type, bufferBases[copy.getBuffer()], row, col);
      loaded.push_back({to, loadAccess(access, type.getElementType())});
    }
  }
  for (auto &[to, values] : loaded)
    storeShared(to, values);
}

Value LaneEmitter::regOffset(AxisLayoutAttr axis, Value reg) {
  Value offset = i32(0);
  for (auto [size, stride] :
       llvm::zip_equal(axis.getRegSizes(), axis.getRegStrides())) {
    Value digit = reg;
    if (size != axis.getNumRegs()) {
      digit = arith::RemUIOp::create(b, loc(), reg, i32(size));
      reg = arith::DivUIOp::create(b, loc(), reg, i32(size));
    }
    offset = add(offset, mul(digit, i32(stride)));
  }
  return offset;
}

LaneEmitter::Registers LaneEmitter::evaluate(ValueRange values,
                                             RegisterPlace &place) {
  Registers result;
  for (Value v : values)
    result.push_back(evaluate(v, place));
  return result;
}

Value LaneEmitter::evaluate(Value v, RegisterPlace &place) {
  LayoutAttr own = layoutOf(v.getType());
  if (!own)
    return lane1(v);
  StringAttr rowName = place.layout.getAxes()[0].getName();
  if (own.indexOf(rowName) < 0)
    return laneOf(v, place.layout, place.colReg);
  if (Value known = place.known.lookup(v))
    return known;
  Operation *def = v.getDefiningOp();
  Value result;
  if (auto range = dyn_cast<RangeOp>(def)) {
    Value base = add(lane1(range.getStart()), threadPart(own.getAxes()[0]));
    result = add(base, place.rowOffset);
  } else if (isa<SplatOp, BroadcastOp>(def)) {
    result = evaluate(def->getOperand(0), place);
  } else {
    result = scalarOp(*def, evaluate(def->getOperands(), place));
  }
  return place.known[v] = result;
}

} // namespace selvedge::lanes
