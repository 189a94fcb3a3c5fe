// math-to-nvvm: math functions to NVPTX approximations.
// SPDX-License-Identifier: MIT
#include "compiler/Target/PTX/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

namespace selvedge::ptx {

#define GEN_PASS_DEF_MATHTONVVM
#include "compiler/Target/PTX/Passes.h.inc"

using namespace mlir;

namespace {

constexpr double kLog2E = 1.4426950408889634;
constexpr double kLn2 = 0.6931471805599453;

/// Builds f32 expressions at one place. No operation carries fast-math flags.
class Emitter {
public:
  Emitter(OpBuilder &builder, Location loc) : b(builder), loc(loc) {}

  Value constant(double value) {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
  }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
  Value fma(Value x, Value y, Value z) {
    return math::FmaOp::create(b, loc, x, y, z);
  }
  Value call(StringRef intrinsic, ValueRange args) {
    return LLVM::CallIntrinsicOp::create(b, loc, b.getF32Type(),
                                         b.getStringAttr(intrinsic), args)
        .getResults();
  }
  Value exp2(Value x) { return call("llvm.nvvm.ex2.approx.ftz.f32", x); }
  Value exp(Value x) { return exp2(mul(x, constant(kLog2E))); }
  Value log2(Value x) { return call("llvm.nvvm.lg2.approx.f", x); }
  Value log(Value x) { return mul(log2(x), constant(kLn2)); }
  Value rsqrt(Value x) { return call("llvm.nvvm.rsqrt.approx.f", x); }
  Value div(Value x, Value y) { return call("llvm.nvvm.div.full", {x, y}); }
  Value tanh(Value x);

private:
  OpBuilder &b;
  Location loc;
};

} // namespace

/// 1 - 2 / (exp(2|x|) + 1) loses the leading digits of a small x, so below 0.55
/// an odd polynomial (least squares with the weights of the relative error)
/// takes over. Saturation needs no test: exp gives Inf, 2 / Inf = 0. NaN fails
/// the comparison and passes through exp.
Value Emitter::tanh(Value x) {
  Value magnitude = math::AbsFOp::create(b, loc, x);
  Value e = exp2(mul(magnitude, constant(2 * kLog2E)));
  Value q = call("llvm.nvvm.rcp.approx.ftz.f", add(e, constant(1)));
  Value large =
      math::CopySignOp::create(b, loc, fma(q, constant(-2), constant(1)), x);
  Value s = mul(x, x);
  Value p = constant(0x1.0c89d2p-6);
  for (double coefficient : {-0x1.af3e54p-5, 0x1.10cbfp-3, -0x1.55543cp-2})
    p = fma(p, s, constant(coefficient));
  Value small = fma(mul(p, s), x, x);
  Value isSmall = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT,
                                        magnitude, constant(0.55));
  return arith::SelectOp::create(b, loc, isSmall, small, large);
}

/// The f32 expression for `op` with the given f32 operands, or null.
static Value emitFunction(Operation *op, Emitter &emit, ValueRange in) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<math::ExpOp>([&](auto) { return emit.exp(in[0]); })
      .Case<math::Exp2Op>([&](auto) { return emit.exp2(in[0]); })
      .Case<math::LogOp>([&](auto) { return emit.log(in[0]); })
      .Case<math::Log2Op>([&](auto) { return emit.log2(in[0]); })
      .Case<math::RsqrtOp>([&](auto) { return emit.rsqrt(in[0]); })
      .Case<math::TanhOp>([&](auto) { return emit.tanh(in[0]); })
      .Case<arith::DivFOp>([&](auto) { return emit.div(in[0], in[1]); })
      .Default(Value());
}

/// True for functions that PTX has under the upstream lowering.
static bool isNativeFunction(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
             math::CountLeadingZerosOp, math::CountTrailingZerosOp,
             math::CtPopOp, math::FloorOp, math::FmaOp, math::IsFiniteOp,
             math::IsInfOp, math::IsNaNOp, math::RoundEvenOp, math::SqrtOp,
             math::TruncOp>(op);
}

/// True when the operation allows an approximate quotient.
static bool isApproximateDivision(Operation *op) {
  auto div = dyn_cast<arith::DivFOp>(op);
  if (!div)
    return false;
  arith::FastMathFlags flags = div.getFastmath();
  return arith::bitEnumContainsAny(flags, arith::FastMathFlags::arcp |
                                              arith::FastMathFlags::afn);
}

static LogicalResult lowerFunction(Operation *op) {
  Type type = op->getResult(0).getType();
  if (!type.isF32() && !type.isF16() && !type.isBF16())
    return op->emitOpError("has no NVPTX lowering for type ") << type;
  OpBuilder builder(op);
  SmallVector<Value> operands(op->getOperands());
  if (!type.isF32())
    for (Value &v : operands)
      v = arith::ExtFOp::create(builder, op->getLoc(), builder.getF32Type(), v);
  Emitter emit(builder, op->getLoc());
  Value result = emitFunction(op, emit, operands);
  if (!result)
    return op->emitOpError("has no NVPTX lowering");
  if (!type.isF32())
    result = arith::TruncFOp::create(builder, op->getLoc(), type, result);
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
  return success();
}

namespace {

struct MathToNVVM : impl::MathToNVVMBase<MathToNVVM> {
  void runOnOperation() override {
    SmallVector<Operation *> worklist;
    getOperation()->walk([&](Operation *op) {
      bool isMath = isa<math::MathDialect>(op->getDialect());
      if ((isMath && !isNativeFunction(op)) || isApproximateDivision(op))
        worklist.push_back(op);
    });
    for (Operation *op : worklist)
      if (failed(lowerFunction(op)))
        signalPassFailure();
  }
};

} // namespace

} // namespace selvedge::ptx
