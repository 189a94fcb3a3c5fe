// From form `lanes` to instructions: arithmetic.
// SPDX-License-Identifier: MIT
#include "compiler/Sim/Translator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

namespace selvedge::sim {

using namespace mlir;

static std::optional<FloatType> floatTypeOf(Type type) {
  return type.isF32()    ? std::optional(f32)
         : type.isF16()  ? std::optional(f16)
         : type.isBF16() ? std::optional(bf16)
                         : std::nullopt;
}

static uint8_t widthOf(Type type) {
  return isa<LLVM::LLVMPointerType>(type)
             ? 64
             : static_cast<uint8_t>(type.getIntOrFloatBitWidth());
}

bool Translator::intBinary(Operation *op) {
  using namespace arith;
  auto kind = llvm::TypeSwitch<Operation *, std::optional<Int>>(op)
                  .Case<AddIOp>([](auto) { return Int::Add; })
                  .Case<SubIOp>([](auto) { return Int::Sub; })
                  .Case<MulIOp>([](auto) { return Int::Mul; })
                  .Case<AndIOp>([](auto) { return Int::And; })
                  .Case<OrIOp>([](auto) { return Int::Or; })
                  .Case<XOrIOp>([](auto) { return Int::Xor; })
                  .Case<ShLIOp>([](auto) { return Int::Shl; })
                  .Case<ShRUIOp>([](auto) { return Int::ShrU; })
                  .Case<ShRSIOp>([](auto) { return Int::ShrS; })
                  .Case<DivUIOp>([](auto) { return Int::DivU; })
                  .Case<DivSIOp>([](auto) { return Int::DivS; })
                  .Case<RemUIOp>([](auto) { return Int::RemU; })
                  .Case<RemSIOp>([](auto) { return Int::RemS; })
                  .Case<CeilDivSIOp>([](auto) { return Int::CeilDivS; })
                  .Case<CeilDivUIOp>([](auto) { return Int::CeilDivU; })
                  .Case<FloorDivSIOp>([](auto) { return Int::FloorDivS; })
                  .Case<MinSIOp>([](auto) { return Int::MinS; })
                  .Case<MaxSIOp>([](auto) { return Int::MaxS; })
                  .Case<MinUIOp>([](auto) { return Int::MinU; })
                  .Case<MaxUIOp>([](auto) { return Int::MaxU; })
                  .Case<math::AbsIOp>([](auto) { return Int::AbsS; })
                  .Default(std::nullopt);
  if (!kind || !isa<IntegerType>(op->getResult(0).getType()))
    return false;
  Slot a = one(op->getOperand(0)),
       b = op->getNumOperands() == 1 ? a : one(op->getOperand(1));
  Instr &in = emit(Op::IntBinary, define(op->getResult(0)), a, b);
  in.kind = static_cast<uint8_t>(*kind);
  in.width = widthOf(op->getResult(0).getType());
  return true;
}

bool Translator::floatOp(Operation *op) {
  using namespace arith;
  auto type = floatTypeOf(op->getResult(0).getType());
  if (!type)
    return false;
  auto binary = llvm::TypeSwitch<Operation *, std::optional<Float>>(op)
                    .Case<AddFOp>([](auto) { return Float::Add; })
                    .Case<SubFOp>([](auto) { return Float::Sub; })
                    .Case<MulFOp>([](auto) { return Float::Mul; })
                    .Case<DivFOp>([](auto) { return Float::Div; })
                    .Case<MaximumFOp>([](auto) { return Float::Max; })
                    .Case<MinimumFOp>([](auto) { return Float::Min; })
                    .Case<MaxNumFOp>([](auto) { return Float::MaxNum; })
                    .Case<MinNumFOp>([](auto) { return Float::MinNum; })
                    .Default(std::nullopt);
  if (binary) {
    Slot a = one(op->getOperand(0)), b = one(op->getOperand(1));
    Instr &in = emit(Op::FloatBinary, define(op->getResult(0)), a, b);
    in.kind = static_cast<uint8_t>(*binary);
    in.other = *type;
    return true;
  }
  auto unary =
      llvm::TypeSwitch<Operation *, std::optional<Unary>>(op)
          .Case<NegFOp>([](auto) { return Unary::Neg; })
          .Case<math::AbsFOp>([](auto) { return Unary::Abs; })
          .Case<math::SqrtOp>([](auto) { return Unary::Sqrt; })
          .Case<math::RsqrtOp>([](auto) { return Unary::Rsqrt; })
          .Case<math::ExpOp>([](auto) { return Unary::Exp; })
          .Case<math::Exp2Op>([](auto) { return Unary::Exp2; })
          .Case<math::LogOp>([](auto) { return Unary::Log; })
          .Case<math::Log2Op>([](auto) { return Unary::Log2; })
          .Case<math::TanhOp>([](auto) { return Unary::Tanh; })
          .Case<math::FloorOp>([](auto) { return Unary::Floor; })
          .Case<math::CeilOp>([](auto) { return Unary::Ceil; })
          .Case<math::TruncOp>([](auto) { return Unary::Trunc; })
          .Case<math::RoundEvenOp>([](auto) { return Unary::RoundEven; })
          .Default(std::nullopt);
  if (unary) {
    Slot a = one(op->getOperand(0));
    Instr &in = emit(Op::FloatUnary, define(op->getResult(0)), a);
    in.kind = static_cast<uint8_t>(*unary);
    in.other = *type;
    return true;
  }
  if (!isa<math::FmaOp, LLVM::FMAOp>(op))
    return false;
  Slot a = one(op->getOperand(0)), b = one(op->getOperand(1)),
       c = one(op->getOperand(2));
  emit(Op::FloatFma, define(op->getResult(0)), a, b, c).other = *type;
  return true;
}

bool Translator::conversion(Operation *op) {
  using namespace arith;
  if (op->getNumOperands() != 1 || op->getNumResults() != 1)
    return false;
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  if (!from.isIntOrFloat() || !to.isIntOrFloat())
    return false;
  if (isa<BitcastOp>(op) && widthOf(to) <= 32) {
    // The same bits in the same register.
    bind(op->getResult(0), of(op->getOperand(0)));
    return true;
  }
  auto source = floatTypeOf(from), target = floatTypeOf(to);
  Slot a = one(op->getOperand(0));
  if (isa<ExtFOp, TruncFOp, LLVM::FPExtOp, LLVM::FPTruncOp>(op) && source &&
      target) {
    Instr &in = emit(Op::FloatConvert, define(op->getResult(0)), a);
    in.width = *source;
    in.other = *target;
    return true;
  }
  if (isa<SIToFPOp, UIToFPOp>(op) && target && widthOf(from) <= 32) {
    Instr &in = emit(Op::IntToFloat, define(op->getResult(0)), a);
    in.kind = isa<SIToFPOp>(op);
    in.width = widthOf(from);
    in.other = *target;
    return true;
  }
  if (isa<FPToSIOp, FPToUIOp>(op) && source && widthOf(to) <= 32) {
    Instr &in = emit(Op::FloatToInt, define(op->getResult(0)), a);
    in.kind = isa<FPToSIOp>(op);
    in.width = widthOf(to);
    in.other = *source;
    return true;
  }
  if (isa<ExtUIOp, ExtSIOp>(op)) {
    bool isSigned = isa<ExtSIOp>(op);
    Op code = isWide(to) ? (isSigned ? Op::ToWideSigned : Op::ToWide)
              : isSigned ? Op::SignExtend
                         : Op::ZeroExtend;
    Instr &in = emit(code, define(op->getResult(0)), a);
    in.width = widthOf(from);
    in.other = widthOf(to);
    return true;
  }
  if (!isa<TruncIOp>(op))
    return false;
  emit(isWide(from) ? Op::FromWide : Op::Truncate, define(op->getResult(0)), a)
      .width = widthOf(to);
  return true;
}

static Compare compareOf(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::eq:
    return Compare::Eq;
  case P::ne:
    return Compare::Ne;
  case P::slt:
    return Compare::LtS;
  case P::sle:
    return Compare::LeS;
  case P::sgt:
    return Compare::GtS;
  case P::sge:
    return Compare::GeS;
  case P::ult:
    return Compare::LtU;
  case P::ule:
    return Compare::LeU;
  case P::ugt:
    return Compare::GtU;
  case P::uge:
    return Compare::GeU;
  }
  llvm_unreachable("all predicates are handled");
}

static uint8_t ordersOf(arith::CmpFPredicate predicate) {
  using P = arith::CmpFPredicate;
  switch (predicate) {
  case P::AlwaysFalse:
    return 0;
  case P::OEQ:
    return equal;
  case P::OGT:
    return greater;
  case P::OGE:
    return greater | equal;
  case P::OLT:
    return less;
  case P::OLE:
    return less | equal;
  case P::ONE:
    return less | greater;
  case P::ORD:
    return less | greater | equal;
  case P::UEQ:
    return unordered | equal;
  case P::UGT:
    return unordered | greater;
  case P::UGE:
    return unordered | greater | equal;
  case P::ULT:
    return unordered | less;
  case P::ULE:
    return unordered | less | equal;
  case P::UNE:
    return unordered | less | greater;
  case P::UNO:
    return unordered;
  case P::AlwaysTrue:
    return unordered | less | greater | equal;
  }
  llvm_unreachable("all predicates are handled");
}

bool Translator::comparison(Operation *op) {
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    if (!compare.getLhs().getType().isIntOrFloat())
      return false;
    Slot a = one(compare.getLhs()), b = one(compare.getRhs());
    Instr &in = emit(Op::IntCompare, define(op->getResult(0)), a, b);
    in.kind = static_cast<uint8_t>(compareOf(compare.getPredicate()));
    in.width = widthOf(compare.getLhs().getType());
    return true;
  }
  if (auto compare = dyn_cast<LLVM::ICmpOp>(op)) {
    if (compare.getPredicate() != LLVM::ICmpPredicate::eq &&
        compare.getPredicate() != LLVM::ICmpPredicate::ne)
      return false;
    Slot a = one(compare.getLhs()), b = one(compare.getRhs());
    Instr &in = emit(Op::IntCompare, define(op->getResult(0)), a, b);
    in.kind = static_cast<uint8_t>(
        compare.getPredicate() == LLVM::ICmpPredicate::eq ? Compare::Eq
                                                          : Compare::Ne);
    in.width = widthOf(compare.getLhs().getType());
    return true;
  }
  if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    auto type = floatTypeOf(compare.getLhs().getType());
    if (!type)
      return false;
    Slot a = one(compare.getLhs()), b = one(compare.getRhs());
    Instr &in = emit(Op::FloatCompare, define(op->getResult(0)), a, b);
    in.kind = ordersOf(compare.getPredicate());
    in.other = *type;
    return true;
  }
  auto select = dyn_cast<arith::SelectOp>(op);
  if (!select || !select.getCondition().getType().isInteger(1))
    return false;
  Slots x = of(select.getTrueValue()), y = of(select.getFalseValue());
  Slots result = make(select.getType());
  bind(select, result);
  for (auto [d, a, b] : llvm::zip_equal(result, x, y))
    emit(isWide(select.getType()) ? Op::SelectWide : Op::Select, d,
         one(select.getCondition()), a, b);
  return true;
}

bool Translator::arithmetic(Operation *op) {
  if (auto constantOp = dyn_cast<arith::ConstantOp>(op)) {
    Attribute value = constantOp.getValue();
    auto dense = dyn_cast<DenseElementsAttr>(value);
    if (dense && !dense.isSplat())
      return false;
    if (dense)
      value = dense.getSplatValue<Attribute>();
    uint64_t bits = 0;
    unsigned width = 0;
    if (auto number = dyn_cast<IntegerAttr>(value)) {
      bits = number.getValue().getZExtValue();
      width = number.getValue().getBitWidth();
    } else if (auto number = dyn_cast<FloatAttr>(value)) {
      bits = number.getValue().bitcastToAPInt().getZExtValue();
      width = number.getValue().bitcastToAPInt().getBitWidth();
    } else {
      return false;
    }
    if (dense)
      for (unsigned at = width; at < 32; at *= 2)
        bits |= bits << at;
    bool wide = isWide(op->getResult(0).getType());
    bind(op->getResult(0),
         Slots(countOf(op->getResult(0).getType()), constant(bits, wide)));
    return true;
  }
  if (op->getNumResults() != 1)
    return false;
  return intBinary(op) || floatOp(op) || conversion(op) || comparison(op);
}

} // namespace selvedge::sim
