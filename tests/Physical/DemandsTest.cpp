// A demand that scheduling drops is missed, even where no other operation of
// the kernel speaks of it any more.
// SPDX-License-Identifier: MIT
#include "Cases.h"
#include "MutantEdits.h"

#include "compiler/Verify/Passes.h"
#include "dialect/Sm/Sm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

#include <gtest/gtest.h>
#include <optional>

using namespace mlir;

namespace selvedge::testing {
namespace {

/// The presence of a load or sink; none for other operations.
std::optional<MutableOperandRange> presenceOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<MutableOperandRange>>(op)
      .Case<sm::LoadOp, sm::CopyOp, sm::MmaOp, sm::ReduceOp>(
          [](auto sink) { return sink.getPresenceMutable(); })
      .Default([](Operation *) { return std::nullopt; });
}

std::vector<StringAttr> axesOf(Value predicate) {
  std::vector<StringAttr> axes;
  if (sm::isRegisterTile(predicate.getType()))
    for (sm::AxisLayoutAttr axis : sm::layoutOf(predicate.getType()).getAxes())
      axes.push_back(axis.getName());
  return axes;
}

/// Drops predicate `number` of those that mention axes, in program order; or
/// all with its axes, of copies and their readers alike.
struct DropDemand : PassWrapper<DropDemand, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DropDemand)
  DropDemand(int number, bool everywhere, bool &isDone, StringRef variant = "")
      : number(number), everywhere(everywhere), isDone(isDone),
        variant(variant) {}

  void runOnOperation() override {
    std::vector<StringAttr> dropped;
    int count = 0;
    auto drop = [&](auto isWanted) {
      getOperation()->walk([&](Operation *op) {
        auto kernel = op->getParentOfType<sm::KernelOp>();
        if (!kernel || !kernel.getSymName().ends_with(variant))
          return;
        std::optional<MutableOperandRange> list = presenceOf(op);
        for (unsigned i = list ? list->size() : 0; i-- > 0;)
          if (auto axes = axesOf((*list)[i].get());
              !axes.empty() && isWanted(axes))
            list->erase(i);
      });
    };
    drop([&](const std::vector<StringAttr> &axes) {
      bool isIt = count++ == number;
      if (isIt)
        dropped = axes;
      return isIt;
    });
    isDone = !dropped.empty();
    if (everywhere)
      drop(
          [&](const std::vector<StringAttr> &axes) { return axes == dropped; });
  }

  int number;
  bool everywhere;
  bool &isDone;
  /// What the names of the kernels end with that lose it.
  StringRef variant;
};

/// Takes guard `number` away: a select on equal floats.
struct DropGuard : PassWrapper<DropGuard, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DropGuard)
  DropGuard(int number, bool &isDone) : number(number), isDone(isDone) {}

  void runOnOperation() override {
    int count = 0;
    isDone = false;
    getOperation()->walk([&](arith::SelectOp select) {
      auto compare =
          source(select.getCondition()).getDefiningOp<arith::CmpFOp>();
      bool isGuard =
          compare && compare.getPredicate() == arith::CmpFPredicate::OEQ;
      if (!isGuard || count++ != number)
        return;
      select.replaceAllUsesWith(select.getFalseValue());
      select.erase();
      isDone = true;
    });
  }

  int number;
  bool &isDone;
};

/// A fault in the bound of a predicate.
enum class Bound { OneMore, OneLess, Extent };

/// The compare with another bound; null if it has none to change.
Value rebound(OpBuilder &b, Value predicate, Bound fault) {
  if (fault != Bound::Extent)
    return shifted(b, predicate,
                   fault == Bound::OneMore ? Fault::Widen : Fault::Narrow);
  // A length that a tensor holds, where it is there, becomes the extent.
  auto compare = predicate.getDefiningOp<arith::CmpIOp>();
  auto length = compare
                    ? source(compare.getRhs()).getDefiningOp<arith::SelectOp>()
                    : nullptr;
  if (!length)
    return {};
  Value extent = sm::SplatOp::create(
      b, compare.getLoc(), compare.getRhs().getType(), length.getFalseValue());
  return arith::CmpIOp::create(b, compare.getLoc(), compare.getPredicate(),
                               compare.getLhs(), extent);
}

/// Gives predicate `number` of those with a bound another one.
struct ReboundDemand : PassWrapper<ReboundDemand, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReboundDemand)
  ReboundDemand(int number, Bound fault, bool &isDone)
      : number(number), fault(fault), isDone(isDone) {}

  void runOnOperation() override {
    isDone = false;
    int count = 0;
    getOperation()->walk([&](Operation *op) {
      std::optional<MutableOperandRange> list = presenceOf(op);
      OpBuilder b(op);
      for (unsigned i = 0; list && !isDone && i < list->size(); ++i)
        if (!axesOf((*list)[i].get()).empty())
          if (Value other = rebound(b, (*list)[i].get(), fault);
              other && count++ == number) {
            (*list)[i].set(other);
            isDone = true;
          }
    });
  }

  int number;
  Bound fault;
  bool &isDone;
};

/// Reads integers of a tensor with one index at its first element instead, or
/// exchanges the first two integers of the caller.
enum class Edit { FirstElement, Exchanged };
struct EditIntegers : PassWrapper<EditIntegers, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(EditIntegers)
  EditIntegers(Edit edit, bool &isDone) : edit(edit), isDone(isDone) {}

  void runOnOperation() override {
    isDone = false;
    getOperation()->walk([&](sm::KernelOp kernel) {
      if (edit == Edit::Exchanged)
        return exchange(kernel);
      kernel.walk([&](sm::LoadOp load) {
        if (!load.getType().isInteger() || load.getIndices().size() != 1)
          return;
        OpBuilder b(load);
        load.getIndicesMutable()[0].set(
            arith::ConstantIntOp::create(b, load.getLoc(), 0, 32));
        isDone = true;
      });
    });
  }

  void exchange(sm::KernelOp kernel) {
    SmallVector<Value> scalars;
    for (auto [attr, argument] :
         llvm::zip_equal(kernel.getArgs(), kernel.getBody().getArguments()))
      if (isa<sm::ScalarArgAttr>(attr) && argument.getType().isInteger())
        scalars.push_back(argument);
    if (scalars.size() < 2)
      return;
    for (OpOperand &use : llvm::make_early_inc_range(scalars[0].getUses()))
      use.set(scalars[1]);
    isDone = true;
  }

  Edit edit;
  bool &isDone;
};

/// Lets predicates of products and reductions, and what is masked by them,
/// speak of a place: index tile number `number` of those that compares use
/// begins `by` later wherever predicates use it.
struct MoveMask : PassWrapper<MoveMask, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MoveMask)
  MoveMask(int number, int64_t by, bool &isDone)
      : number(number), by(by), isDone(isDone) {}

  void runOnOperation() override {
    int count = 0;
    isDone = false;
    getOperation()->walk([&](sm::RangeOp range) {
      SmallVector<OpOperand *> uses;
      for (OpOperand &use : range->getUses())
        if (isa<arith::SubIOp, arith::CmpIOp, sm::BroadcastOp>(use.getOwner()))
          uses.push_back(&use);
      // Rows: the steps that a block takes follow from where its rows are.
      bool isRows =
          sm::layoutOf(range.getType()).getAxes()[0].getName() == "i" &&
          llvm::any_of(uses, [](OpOperand *use) {
            return isa<sm::BroadcastOp>(use->getOwner());
          });
      if (!isRows || count++ != number)
        return;
      OpBuilder b(range);
      Value shift = arith::ConstantIntOp::create(b, range.getLoc(), by, 32);
      Value start =
          arith::AddIOp::create(b, range.getLoc(), range.getStart(), shift);
      Value moved =
          sm::RangeOp::create(b, range.getLoc(), range.getType(), start);
      for (OpOperand *use : uses)
        if (isa<sm::BroadcastOp>(use->getOwner()))
          use->set(moved);
      isDone = true;
    });
  }

  int number;
  int64_t by;
  bool &isDone;
};

/// Drops all predicates of the sinks of one step, and what is masked by them:
/// of step `number` of those with some.
struct DropStepMasks : PassWrapper<DropStepMasks, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DropStepMasks)
  DropStepMasks(int number, bool &isDone) : number(number), isDone(isDone) {}

  void runOnOperation() override {
    int count = 0;
    isDone = false;
    getOperation()->walk([&](Block *block) {
      SmallVector<Operation *> sinks;
      for (Operation &op : *block)
        if (isa<sm::ReduceOp, sm::MmaOp>(op) && !presenceOf(&op)->empty())
          sinks.push_back(&op);
      if (sinks.empty() || count++ != number)
        return;
      for (Operation *sink : sinks)
        presenceOf(sink)->clear();
      for (Operation &op : llvm::make_early_inc_range(*block))
        if (auto select = dyn_cast<arith::SelectOp>(op);
            select && sm::isRegisterTile(select.getType()) &&
            !source(select.getCondition()).getDefiningOp<arith::CmpFOp>()) {
          select.replaceAllUsesWith(select.getTrueValue());
          select.erase();
        }
      isDone = true;
    });
  }

  int number;
  bool &isDone;
};

/// Lets mask `number` remove one lane more than its sink leaves out.
struct NarrowMask : PassWrapper<NarrowMask, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(NarrowMask)
  NarrowMask(int number, bool &isDone) : number(number), isDone(isDone) {}

  void runOnOperation() override {
    int count = 0;
    isDone = false;
    getOperation()->walk([&](arith::SelectOp select) {
      std::optional<APFloat> absent = constantOf(select.getFalseValue());
      SmallVector<Value> parts;
      leaves(select.getCondition(), parts);
      bool isMask =
          absent && absent->isInfinity() && llvm::all_of(parts, [](Value part) {
            return part.getDefiningOp<arith::CmpIOp>();
          });
      for (Value part : parts) {
        if (!isMask || count++ != number)
          continue;
        OpBuilder b(select);
        Value wrong = rebuilt(b, select.getCondition(), part, Fault::Narrow);
        if (!wrong)
          continue;
        select.getConditionMutable().assign(wrong);
        isDone = true;
        break;
      }
    });
  }

  int number;
  bool &isDone;
};

/// Says that a kernel was lowered from one that there is not.
struct ForgeSource : PassWrapper<ForgeSource, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ForgeSource)

  void runOnOperation() override {
    auto kernel = *getOperation().getOps<sm::KernelOp>().begin();
    kernel.setSourceAttr(tile::SourceAttr::get(
        &getContext(),
        SymbolRefAttr::get(&getContext(), "other",
                           FlatSymbolRefAttr::get(&getContext(), "main")),
        kernel.getSource()->getVersion()));
  }
};

class Demands : public ::testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    prepare(context);
    program = build(context, makeCase(GetParam()));
    ASSERT_TRUE(program);
    ASSERT_TRUE(transform(
        *program,
        (exactPipeline + "," + claimsPipeline + "," + simplifyPipeline).str()));
  }

  /// Whether the lowering is accepted with `drop` between its parts; null for
  /// none.
  bool accepts(std::unique_ptr<Pass> drop) {
    OwningOpRef<ModuleOp> module = program->clone();
    OpPassManager lowering(ModuleOp::getOperationName());
    EXPECT_TRUE(succeeded(parsePassPipeline(seqPipeline, lowering)));
    if (drop)
      lowering.addPass(std::move(drop));
    EXPECT_TRUE(succeeded(parsePassPipeline(asyncPipeline, lowering)));
    PassManager pm(&context);
    pm.addPass(verify::createVerifySmDemands(std::move(lowering)));
    // A mask is loaded twice, for the lanes of the product and for those of the
    // copy: that one of the two has a demand the bounds must say.
    if (GetParam() == std::string("masked"))
      pm.addPass(verify::createVerifySmBounds());
    return succeeded(pm.run(*module));
  }

  /// The same of execution with small sizes.
  bool executes(std::unique_ptr<Pass> edit) {
    OwningOpRef<ModuleOp> module = program->clone();
    OpPassManager lowering(ModuleOp::getOperationName());
    EXPECT_TRUE(succeeded(parsePassPipeline(seqPipeline, lowering)));
    if (edit)
      lowering.addPass(std::move(edit));
    EXPECT_TRUE(succeeded(parsePassPipeline(asyncPipeline, lowering)));
    PassManager pm(&context);
    pm.addPass(verify::createVerifySmOutputs(std::move(lowering)));
    return succeeded(pm.run(*module));
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> program;
};

TEST_P(Demands, AreExecuted) { EXPECT_TRUE(executes(nullptr)); }

TEST_P(Demands, AreHandedOn) { EXPECT_TRUE(accepts(nullptr)); }

TEST_P(Demands, DroppedAreMissed) {
  for (bool everywhere : {false, true}) {
    bool isDone = true;
    for (int number = 0; isDone; ++number) {
      bool isAccepted =
          accepts(std::make_unique<DropDemand>(number, everywhere, isDone));
      EXPECT_EQ(isAccepted, !isDone) << "predicate " << number;
      EXPECT_TRUE(number > 0 || isDone);
    }
  }
}

TEST_P(Demands, OtherBoundsAreMissed) {
  for (Bound fault : {Bound::OneMore, Bound::OneLess, Bound::Extent}) {
    bool isDone = true;
    for (int number = 0; isDone; ++number) {
      bool isAccepted =
          accepts(std::make_unique<ReboundDemand>(number, fault, isDone));
      EXPECT_EQ(isAccepted, !isDone) << "bound " << number;
      EXPECT_TRUE(number > 0 || isDone || fault == Bound::Extent);
    }
  }
}

TEST_P(Demands, DroppedGuardsAreMissed) {
  bool isDone = true;
  for (int number = 0; isDone; ++number) {
    bool isAccepted = accepts(std::make_unique<DropGuard>(number, isDone));
    EXPECT_EQ(isAccepted, !isDone) << "guard " << number;
  }
}

/// The same of guards in the program, once they are there.
TEST_P(Demands, DroppedGuardsAreMissedOnTile) {
  OwningOpRef<ModuleOp> safe = build(context, makeCase(GetParam()));
  ASSERT_TRUE(safe && transform(*safe, exactPipeline));
  bool isDone = true;
  for (int number = -1; isDone; ++number) {
    OwningOpRef<ModuleOp> copy(safe->clone());
    OpPassManager split(ModuleOp::getOperationName());
    ASSERT_TRUE(succeeded(parsePassPipeline(claimsPipeline, split)));
    split.addPass(std::make_unique<DropGuard>(number, isDone));
    PassManager pm(&context);
    pm.addPass(verify::createVerifyTileGuards(std::move(split)));
    bool isAccepted = succeeded(pm.run(*copy));
    EXPECT_EQ(isAccepted, !isDone) << "guard " << number;
    isDone |= number < 0;
  }
}

/// Rows of a mask that begin later than those of the scores, by one or by a
/// warpgroup's.
TEST_P(Demands, MovedMasksAreMissed) {
  for (int64_t by : {1, 64}) {
    bool isDone = true;
    for (int number = 0; isDone; ++number) {
      bool isAccepted =
          executes(std::make_unique<MoveMask>(number, by, isDone));
      EXPECT_EQ(isAccepted, !isDone) << "rows " << number << " by " << by;
    }
  }
}

/// A step whose masks are all gone, so that nothing in the kernel speaks of
/// them.
TEST_P(Demands, UnmaskedStepsAreMissed) {
  bool isDone = true;
  for (int number = 0; isDone; ++number) {
    bool isAccepted = executes(std::make_unique<DropStepMasks>(number, isDone));
    EXPECT_EQ(isAccepted, !isDone) << "step " << number;
  }
}

/// Masks that remove what is present.
TEST_P(Demands, NarrowMasksAreMissed) {
  bool isDone = true;
  for (int number = 0; isDone; ++number) {
    // Behind its full part a window has begun in every row; columns that the
    // program fills itself are filled again.
    std::string name = GetParam();
    if ((name == "gemma" && (number == 5 || number == 11)) ||
        (name == "filled" && (number == 1 || number == 3)))
      continue;
    bool isAccepted = executes(std::make_unique<NarrowMask>(number, isDone));
    EXPECT_EQ(isAccepted, !isDone) << "mask " << number;
  }
}

/// Whether a predicate compares with a length that a tensor may hold.
arith::CmpIOp comparesLength(Value predicate) {
  auto compare = predicate.getDefiningOp<arith::CmpIOp>();
  return compare && source(compare.getRhs()).getDefiningOp<arith::SelectOp>()
             ? compare
             : nullptr;
}

/// What the verifiers of the program itself would take for the program: lengths
/// that include one more key; values loaded past them.
TEST_P(Demands, OtherProgramsAreMissed) {
  OwningOpRef<ModuleOp> written = build(context, makeCase(GetParam()));
  ASSERT_TRUE(written);
  for (bool isBound : {false, true}) {
    OwningOpRef<ModuleOp> module(written->clone());
    bool isDone = false;
    if (!isBound)
      module->walk([&](arith::CmpIOp compare) {
        if (!comparesLength(compare) ||
            compare.getPredicate() != arith::CmpIPredicate::slt)
          return;
        compare.setPredicate(arith::CmpIPredicate::sle);
        isDone = true;
      });
    ASSERT_TRUE(transform(
        *module,
        (exactPipeline + "," + claimsPipeline + "," + simplifyPipeline).str()));
    if (isBound)
      module->walk([&](tile::LoadOp load) {
        MutableOperandRange presence = load.getPresenceMutable();
        for (unsigned i = presence.size(); i-- > 0;)
          if (comparesLength(presence[i].get()) && load.getGarbage().empty()) {
            presence.erase(i);
            isDone = true;
          }
      });
    OpPassManager lowering(ModuleOp::getOperationName());
    ASSERT_TRUE(succeeded(parsePassPipeline(
        (seqPipeline + "," + asyncPipeline).str(), lowering)));
    PassManager pm(&context);
    pm.addPass(verify::createVerifySmOutputs(std::move(lowering), *written));
    EXPECT_EQ(succeeded(pm.run(*module)), !isDone) << isBound;
  }
}

/// Where nothing is compared nothing is missed.
TEST_P(Demands, UnknownKernelsAreRefused) {
  EXPECT_FALSE(accepts(std::make_unique<ForgeSource>()));
}

/// A length of the first batch in the place of each one's own.
TEST_P(Demands, OtherElementsAreMissed) {
  bool isDone = true;
  bool isAccepted =
      accepts(std::make_unique<EditIntegers>(Edit::FirstElement, isDone));
  EXPECT_EQ(isAccepted, !isDone);
}

/// Scalars of the caller are not taken for each other.
TEST(ScalarDemands, OthersAreMissed) {
  MLIRContext context;
  prepare(context);
  Case test{"window", SELVEDGE_INPUTS "/window.tile", "window", {}, {}, {}};
  OwningOpRef<ModuleOp> module = build(context, test);
  ASSERT_TRUE(module);
  ASSERT_TRUE(transform(
      *module,
      (exactPipeline + "," + claimsPipeline + "," + simplifyPipeline).str()));
  for (bool isEdited : {false, true}) {
    OwningOpRef<ModuleOp> copy(module->clone());
    OpPassManager lowering(ModuleOp::getOperationName());
    ASSERT_TRUE(succeeded(parsePassPipeline(seqPipeline, lowering)));
    bool isDone = false;
    if (isEdited)
      lowering.addPass(std::make_unique<EditIntegers>(Edit::Exchanged, isDone));
    PassManager pm(&context);
    pm.addPass(verify::createVerifySmDemands(std::move(lowering)));
    EXPECT_EQ(succeeded(pm.run(*copy)), !isEdited);
    EXPECT_EQ(isDone, isEdited);
  }
}

/// A version with packed rows has demands of its own.
TEST(PackedDemands, DroppedAreMissed) {
  MLIRContext context;
  prepare(context);
  for (int number = 0;; ++number) {
    OwningOpRef<ModuleOp> module = build(context, makeCase("causal"));
    ASSERT_TRUE(module);
    ASSERT_TRUE(transform(*module, ("tile-pack-rows," + exactPipeline + "," +
                                    claimsPipeline + "," + simplifyPipeline)
                                       .str()));
    OpPassManager lowering(ModuleOp::getOperationName());
    ASSERT_TRUE(succeeded(parsePassPipeline(seqPipeline, lowering)));
    bool isDone = true;
    lowering.addPass(
        std::make_unique<DropDemand>(number, false, isDone, "_packed"));
    PassManager pm(&context);
    pm.addPass(verify::createVerifySmDemands(std::move(lowering)));
    EXPECT_EQ(succeeded(pm.run(*module)), !isDone) << "predicate " << number;
    if (!isDone) {
      EXPECT_GT(number, 0);
      break;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Demands, ::testing::ValuesIn(caseNames),
                         [](const auto &info) { return info.param; });

} // namespace
} // namespace selvedge::testing
