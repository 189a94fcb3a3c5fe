// Loops whose steps may be taken in any order.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Sm/OrderFree.h"

#include "dialect/Tile/Accumulate.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::sm;

namespace {

/// The constant that all lanes hold; null for none.
FloatAttr constantOf(Value value) {
  FloatAttr number;
  auto splat = value.getDefiningOp<SplatOp>();
  if (splat)
    value = splat.getValue();
  return matchPattern(value, m_Constant(&number)) ? number : FloatAttr();
}

/// How a value of a step depends on what the steps before left.
struct Form {
  enum Kind {
    Free,      ///< not at all
    Carried,   ///< it is a carried value
    Top,       ///< max(carried, free)
    Reference, ///< a top, or 0 where that is -inf
    Ahead,     ///< (free - reference) * factor
    Behind,    ///< (carried top - reference) * factor
    Weight,    ///< exp2(ahead), times something free, summed or not
    Alpha,     ///< exp2(behind)
    Scaled,    ///< carried * alpha
    Sum,       ///< scaled + weight
    PlainSum,  ///< carried + free
    Mixed      ///< any other way
  };
  Kind kind = Free;
  /// The carried value's place: for a top, or a sum.
  unsigned place = 0;
  /// The top that scales it, and the factor of the exponents.
  Value top = {};
  FloatAttr factor = {};

  bool hasScaleOf(const Form &other) const {
    return top == other.top && factor == other.factor;
  }
};

class Step {
public:
  explicit Step(scf::ForOp loop) : loop(loop) {}

  /// Whether `op` has an effect that does not depend on the steps before: it
  /// adds to memory, or hands registers on to products of its step.
  bool mayHaveEffect(Operation *op) {
    auto isFree = [&](Value v) { return of(v).kind == Form::Free; };
    if (auto store = dyn_cast<StoreOp>(op))
      return tile::addsToMemory(store) &&
             llvm::all_of(store->getOperands(), isFree);
    if (auto stage = dyn_cast<StageOp>(op))
      return isFree(stage.getSource()) &&
             llvm::all_of(stage.getBuffer().getUsers(), [&](Operation *user) {
               return user->getBlock() == loop.getBody();
             });
    return isMemoryEffectFree(op) || isa<LoadOp, CopyOp, MmaOp, BarrierOp>(op);
  }

  Form of(Value value) {
    auto [it, isNew] = known.try_emplace(value);
    if (!isNew)
      return it->second;
    Form form = compute(value);
    return known[value] = form;
  }

private:
  static Form mixed() { return {Form::Mixed}; }

  Form compute(Value value) {
    if (loop.isDefinedOutsideOfLoop(value))
      return {};
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() != loop.getBody())
        return mixed();
      unsigned number = argument.getArgNumber();
      return number == 0 ? Form{} : Form{Form::Carried, number - 1};
    }
    Operation *op = value.getDefiningOp();
    if (op->getNumRegions() > 0)
      return mixed();
    if (llvm::all_of(op->getOperands(),
                     [&](Value v) { return of(v).kind == Form::Free; }))
      return {};
    return llvm::TypeSwitch<Operation *, Form>(op)
        .Case([&](arith::MaximumFOp max) {
          Form a = of(max.getLhs()), b = of(max.getRhs());
          if (b.kind == Form::Carried)
            std::swap(a, b);
          return a.kind == Form::Carried && b.kind == Form::Free
                     ? Form{Form::Top, a.place, value}
                     : mixed();
        })
        .Case([&](arith::SelectOp select) { return ofSelect(select); })
        .Case([&](arith::SubFOp sub) { return ofDifference(sub); })
        .Case([&](arith::MulFOp mul) {
          Form product = ofProduct(mul.getLhs(), mul.getRhs());
          return product.kind == Form::Mixed
                     ? ofProduct(mul.getRhs(), mul.getLhs())
                     : product;
        })
        .Case([&](math::Exp2Op exp) {
          Form form = of(exp.getOperand());
          if (!form.factor ||
              (form.kind != Form::Ahead && form.kind != Form::Behind))
            return mixed();
          form.kind = form.kind == Form::Ahead ? Form::Weight : Form::Alpha;
          return form;
        })
        .Case<BroadcastOp, RelayoutOp>(
            [&](auto same) { return of(same.getSource()); })
        .Case([&](ConvertOp narrow) { return weight(of(narrow.getSource())); })
        .Case([&](ReduceOp reduce) {
          return reduce.getKind() == tile::Combine::Add
                     ? weight(of(reduce.getSource()))
                     : mixed();
        })
        .Case([&](arith::AddFOp add) {
          Form a = of(add.getLhs()), b = of(add.getRhs());
          Form sum = ofSum(a, b);
          return sum.kind == Form::Mixed ? ofSum(b, a) : sum;
        })
        .Case([&](MmaOp mma) {
          Form a = ofOperand(mma.getLhs()), b = ofOperand(mma.getRhs());
          if (b.kind != Form::Free)
            std::swap(a, b);
          if (b.kind != Form::Free)
            return mixed();
          return ofSum(of(mma.getInit()), a);
        })
        .Default([](Operation *) { return mixed(); });
  }

  /// Of a product's operand: a buffer may hold registers of the step.
  Form ofOperand(Value value) {
    for (Operation *user : value.getUsers())
      if (auto stage = dyn_cast<StageOp>(user);
          stage && stage.getBuffer() == value &&
          of(stage.getSource()).kind != Form::Free)
        return mixed();
    return of(value);
  }

  static Form weight(Form form) {
    return form.kind == Form::Weight ? form : mixed();
  }

  Form ofSelect(arith::SelectOp select) {
    Form form = of(select.getFalseValue());
    auto isEmpty = select.getCondition().getDefiningOp<arith::CmpFOp>();
    FloatAttr zero = constantOf(select.getTrueValue());
    FloatAttr bound = isEmpty ? constantOf(isEmpty.getRhs()) : FloatAttr();
    if (form.kind != Form::Top || !bound || !zero ||
        !zero.getValue().isZero() ||
        isEmpty.getPredicate() != arith::CmpFPredicate::OEQ ||
        isEmpty.getLhs() != form.top || !bound.getValue().isInfinity() ||
        !bound.getValue().isNegative())
      return mixed();
    form.kind = Form::Reference;
    return form;
  }

  Form ofDifference(arith::SubFOp sub) {
    Form from = of(sub.getLhs()), form = of(sub.getRhs());
    if (form.kind != Form::Reference)
      return mixed();
    if (from.kind == Form::Free)
      form.kind = Form::Ahead;
    else if (from.kind == Form::Carried && from.place == form.place)
      form.kind = Form::Behind;
    else
      return mixed();
    return form;
  }

  Form ofProduct(Value lhs, Value rhs) {
    Form a = of(lhs), b = of(rhs);
    if ((a.kind == Form::Ahead || a.kind == Form::Behind) && !a.factor) {
      a.factor = constantOf(rhs);
      return a.factor ? a : mixed();
    }
    if (a.kind == Form::Weight && b.kind == Form::Free)
      return a;
    if (a.kind != Form::Carried || b.kind != Form::Alpha)
      return mixed();
    b.kind = Form::Scaled;
    b.place = a.place;
    return b;
  }

  static Form ofSum(Form to, const Form &added) {
    if (to.kind == Form::Carried && added.kind == Form::Free)
      return {Form::PlainSum, to.place};
    if (to.kind == Form::Weight && added.kind == Form::Weight &&
        to.hasScaleOf(added))
      return to;
    if (to.kind != Form::Scaled || added.kind != Form::Weight ||
        !to.hasScaleOf(added))
      return mixed();
    to.kind = Form::Sum;
    return to;
  }

  scf::ForOp loop;
  llvm::DenseMap<Value, Form> known;
};

/// What becomes of a carried value: its kind, and for scaled sums the place of
/// the top and the factor. Loops that continue each other must agree.
using Update = std::tuple<Form::Kind, unsigned, Attribute>;

class Checker {
public:
  Checker(KernelOp kernel, StringRef why) : kernel(kernel), why(why) {}

  LogicalResult run() {
    return failure(
        kernel.walk([&](scf::ForOp loop) { return WalkResult(check(loop)); })
            .wasInterrupted());
  }

private:
  LogicalResult check(scf::ForOp loop) {
    // Others have no tiles that bulk copies could bring in another order.
    if (loop.getBody()->getOps<CopyOp>().empty())
      return success();
    Step step(loop);
    for (Operation &op : loop.getBody()->without_terminator())
      if (!step.mayHaveEffect(&op))
        return op.emitOpError("may not be in a step that ") << why;
    SmallVector<Update> &mine = updates[loop];
    auto yields = cast<scf::YieldOp>(loop.getBody()->getTerminator());
    for (auto [i, value] : llvm::enumerate(yields.getOperands())) {
      Form form = step.of(value);
      bool isKept = form.kind == Form::Carried || form.kind == Form::Top ||
                    form.kind == Form::PlainSum;
      bool isScaled = form.kind == Form::Sum;
      unsigned top = isScaled ? step.of(form.top).place : 0;
      // The scale is that of the top which the next step finds.
      if (form.place != i || !(isKept || isScaled) ||
          (isScaled && yields.getOperand(top) != form.top))
        return emitError(value.getLoc(),
                         "expects a maximum, a sum, or a sum in the scale of a "
                         "maximum, which steps may add to in any order, for "
                         "carried value ")
               << i << " of a loop that " << why;
      mine.push_back({form.kind, top, form.factor});
    }
    for (auto [i, init] : llvm::enumerate(loop.getInitArgs()))
      if (auto before = init.getDefiningOp<scf::ForOp>();
          before &&
          (cast<OpResult>(init).getResultNumber() != i ||
           updates[before].size() <= i || updates[before][i] != mine[i]))
        return loop.emitOpError("expects to continue what the loop before "
                                "does, in a kernel that ")
               << why;
    return success();
  }

  KernelOp kernel;
  StringRef why;
  llvm::DenseMap<Operation *, SmallVector<Update>> updates;
};

} // namespace

LogicalResult checkOrderFree(KernelOp kernel, StringRef why) {
  return Checker(kernel, why).run();
}

} // namespace selvedge::verify
