// verify-sm-demands: lowering hands on every demand.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/Facts.h"
#include "compiler/Verify/Arithmetic/Guards.h"
#include "compiler/Verify/Arithmetic/PredicateWords.h"
#include "compiler/Verify/Passes.h"
#include "compiler/Verify/WrapsPasses.h"
#include "dialect/Tile/Accumulate.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <map>
#include <set>

namespace selvedge::verify {

#define GEN_PASS_DEF_VERIFYSMDEMANDS
#include "compiler/Verify/Passes.h.inc"

namespace {

using namespace mlir;

/// A load or sink with the supports of its predicates, sorted.
using Demand = std::pair<std::string, std::vector<std::string>>;

/// How often a kernel demands something.
using Demands = std::map<Demand, int64_t>;

std::string nameOf(const Demand &demand) {
  return demand.second.empty()
             ? demand.first
             : demand.first + " where " + llvm::join(demand.second, ", ");
}

/// How many of `demands` are `wanted`; with `larger`, or that and more.
int64_t countOf(const Demands &demands, const Demand &wanted, bool larger) {
  int64_t sum = 0;
  for (const auto &[demand, count] : demands)
    if (demand.first == wanted.first &&
        (demand.second == wanted.second ||
         (larger && llvm::includes(demand.second, wanted.second))))
      sum += count;
  return sum;
}

/// The axes that a predicate mentions, in alphabetical order; none for scalars.
std::string supportOf(Value predicate) {
  SmallVector<StringRef> axes;
  if (tile::isTile(predicate.getType()))
    for (StringAttr axis : tile::axesOf(predicate.getType()))
      axes.push_back(axis);
  else if (sm::isRegisterTile(predicate.getType()))
    for (sm::AxisLayoutAttr axis : sm::layoutOf(predicate.getType()).getAxes())
      axes.push_back(axis.getName());
  llvm::sort(axes);
  return llvm::join(axes, " x ");
}

/// The step of each loop around an operation that has become a branch, since it
/// had one step at most: what is less than the bound there.
SmallVector<Value> stepsAround(Operation *op) {
  SmallVector<Value> steps;
  for (auto branch = op->getParentOfType<scf::IfOp>(); branch;
       branch = branch->getParentOfType<scf::IfOp>()) {
    auto runs = branch.getCondition().getDefiningOp<arith::CmpIOp>();
    // A number that is known says nothing of whose it is.
    if (runs && runs.getPredicate() == arith::CmpIPredicate::slt &&
        !constantOf(runs.getLhs()))
      steps.push_back(runs.getLhs());
  }
  return steps;
}

class Collector {
public:
  /// The demands of a kernel of either dialect. What is none of `known` may be
  /// one of them if steps of loops are called what they are called there.
  static Demands of(Operation *kernel, const IndexNames &names,
                    const Demands *known = nullptr) {
    Collector collector(names, known);
    kernel->walk([&](Operation *op) { collector.visit(op); });
    for (const std::string &place : collector.places)
      collector.demands[{place, {}}] = 1;
    return collector.demands;
  }

private:
  Collector(const IndexNames &names, const Demands *known)
      : names(names), words(names), known(known) {}

  void visit(Operation *op) {
    current = op;
    TypeSwitch<Operation *>(op)
        .Case<tile::LoadOp, sm::LoadOp, sm::CopyOp, sm::CopyAsyncOp>(
            [&](auto load) {
              noteLoad(load.getTensor(), axesOf(load.getIndices()),
                       load.getPresence());
            })
        // Where they store is executed: verify-sm-outputs.
        .Case<tile::StoreOp, sm::StoreOp>([&](auto store) {
          noteStore(store.getTensor(), tile::addsToMemory(store),
                    tile::addsInAnyOrder(store));
        })
        // Copies complete in any order.
        .Case([&](sm::TmaStoreOp store) {
          noteStore(store.getMap(), tile::addsToMemory(store), true);
        })
        .Case([&](sm::TmaLoadOp load) {
          noteLoad(load.getMap(), axesOf(load), load.getPresence());
        })
        .Case([&](tile::DotOp dot) {
          for (auto axis : dot.getOver().getAsRange<StringAttr>())
            note(product(axis), dot.getPresence());
        })
        .Case([&](tile::ReduceOp reduce) {
          // It becomes one per axis, in this order: a predicate belongs to the
          // first of its axes, after which its lanes are gone. What reductions
          // of one tile have in common is done once.
          SmallVector<Value> presence(reduce.getPresence());
          Step step{reduce.getKind(),
                    {reduce.getSource().getAsOpaquePointer()}};
          for (auto axis : reduce.getOver().getAsRange<StringAttr>()) {
            auto isOwn = [&](Value predicate) {
              return llvm::is_contained(tile::axesOf(predicate.getType()),
                                        axis);
            };
            SmallVector<Value> own;
            llvm::copy_if(presence, std::back_inserter(own), isOwn);
            llvm::erase_if(presence, isOwn);
            step.second.push_back(axis.getAsOpaquePointer());
            for (Value predicate : own)
              step.second.push_back(predicate.getAsOpaquePointer());
            if (steps.insert(step).second)
              note(reduction(reduce.getKind(), axis), own);
          }
        })
        .Case<sm::MmaOp, sm::WgmmaOp, sm::ContributesOp>(
            [&](auto op) { note(product(op.getOverAttr()), op.getPresence()); })
        .Case<sm::ReduceOp, sm::FoldOp>([&](auto op) {
          note(reduction(op.getKind(), op.getOverAttr()), op.getPresence());
        });
  }

  static std::string product(StringAttr axis) {
    return "product over " + axis.str();
  }
  static std::string reduction(tile::Combine kind, StringAttr axis) {
    return (tile::stringifyCombine(kind) + " over " + axis.getValue()).str();
  }

  void note(const std::string &sink, ValueRange presence) {
    Demand demand{sink, supportsOf(presence, words)};
    if (demand.second.empty())
      return;
    if (known && !known->contains(demand))
      if (SmallVector<Value> steps = stepsAround(current); !steps.empty()) {
        PredicateWords inSteps(names, steps);
        Demand other{sink, supportsOf(presence, inSteps)};
        if (known->contains(other))
          demand = std::move(other);
      }
    ++demands[std::move(demand)];
  }

  static std::vector<std::string> supportsOf(ValueRange presence,
                                             PredicateWords &words) {
    std::vector<std::string> supports;
    for (Value predicate : presence)
      if (std::string support = supportOf(predicate); !support.empty())
        supports.push_back(support + ": " + words.of(predicate));
    llvm::sort(supports);
    return supports;
  }

  /// The axes along which each dimension is accessed.
  static std::vector<std::string> axesOf(ValueRange indices) {
    std::vector<std::string> axes;
    for (Value index : indices)
      axes.push_back(supportOf(index));
    return axes;
  }
  static std::vector<std::string> axesOf(sm::TmaLoadOp load) {
    auto kernel = load->getParentOfType<sm::KernelOp>();
    auto map = cast<sm::TensorMapArgAttr>(
        kernel.getArgs()[cast<BlockArgument>(load.getMap()).getArgNumber()]);
    sm::BufferType type = load.getBuffer().getType();
    std::vector<std::string> axes(map.getBox().size());
    if (std::optional<size_t> rows = type.getRowDimension(map.getBox()))
      axes[*rows] = type.getRowAxis().str();
    if (sm::PairsAttr pairs = map.getPairs())
      axes[pairs.getInner()] = axes[pairs.getOuter()] = type.getRowAxis().str();
    axes.back() = type.getColAxis().str();
    return axes;
  }

  void noteLoad(Value tensor, std::vector<std::string> axes,
                ValueRange presence) {
    std::string sink =
        "load of " + tensorName(tensor) + "[" + llvm::join(axes, ", ") + "]";
    note(sink, presence);
    // Of what nobody tests it is enough that it is there.
    places.insert(sink);
  }

  void noteStore(Value tensor, bool adds, bool inAnyOrder) {
    StringRef what = !adds        ? "store to "
                     : inAnyOrder ? "addition in any order to "
                                  : "addition in order to ";
    ++demands[{what.str() + tensorName(tensor), {}}];
  }

  /// Of a reduction: its tile, then the axes so far, each with its predicates.
  using Step = std::pair<tile::Combine, std::vector<const void *>>;

  const IndexNames &names;
  PredicateWords words;
  const Demands *known;
  Operation *current = nullptr;
  std::set<Step> steps;
  Demands demands;
  std::set<std::string> places;
};

/// Loops that multiply.
int64_t numProductLoops(Operation *kernel) {
  int64_t count = 0;
  kernel->walk([&](scf::ForOp loop) {
    count +=
        llvm::any_of(*loop.getBody(), llvm::IsaPred<tile::DotOp, sm::WgmmaOp>);
  });
  return count;
}

/// Whether some product multiplies what a step before has computed: a tile's
/// first step has a place of its own then.
bool hasLaggedProducts(Operation *kernel) {
  return kernel
      ->walk([](sm::WgmmaOp product) {
        Value lhs = product.getLhs();
        return isa<BlockArgument>(lhs) && sm::isRegisterTile(lhs.getType())
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The demands of a kernel of a program.
struct Source {
  tile::SourceAttr kernel;
  IndexNames names;
  Demands demands;
  int64_t loops; // that multiply
  std::set<Unguarded> unguarded = {};
};

struct VerifySmDemandsPass
    : WrapsPasses<impl::VerifySmDemandsBase<VerifySmDemandsPass>> {
  using WrapsPasses::WrapsPasses;

  void runOnOperation() override {
    std::vector<Source> sources;
    for (auto program : getOperation().getOps<tile::ProgramOp>()) {
      for (auto kernel : program.getBody().getOps<tile::KernelOp>()) {
        IndexNames names(kernel);
        sources.push_back({kernel.getSource(), names,
                           Collector::of(kernel, names),
                           numProductLoops(kernel)});
        visitUnguarded(kernel, [&](Operation *, Unguarded kind) {
          sources.back().unguarded.insert(kind);
        });
      }
    }
    if (failed(runPipeline(pipeline, getOperation())))
      return signalPassFailure();
    for (auto kernel : getOperation().getOps<sm::KernelOp>()) {
      auto source = llvm::find_if(sources, [&](const Source &known) {
        return known.kernel == kernel.getSourceAttr();
      });
      if (source == sources.end()) {
        kernel.emitOpError(
            "expects a kernel of the program that it is lowered from, got ")
            << kernel.getSourceAttr();
        return signalPassFailure();
      }
      if (failed(compare(*source, kernel)))
        return signalPassFailure();
    }
  }

  static LogicalResult compare(const Source &source, sm::KernelOp kernel) {
    IndexNames names(kernel, source.names);
    Demands found = Collector::of(kernel, names, &source.demands);
    // Copies that lag treat full steps as the others, and a tile's steps, or
    // those behind its first, may be those of one loop.
    bool hasRoles = kernel.hasRoles();
    int64_t loops = numProductLoops(kernel);
    bool joins = hasRoles && loops < source.loops;
    int64_t places = std::max<int64_t>(loops, 1) + hasLaggedProducts(kernel);
    for (const auto &[demand, count] : source.demands) {
      int64_t least = joins ? std::min(count, places) : count;
      if (int64_t left = countOf(found, demand, hasRoles); left < least)
        return kernel.emitOpError("expects as many of '")
               << nameOf(demand) << "' as the program has, " << count
               << (least < count ? " in loops that have become one" : "")
               << ", found " << left;
    }
    for (const auto &[demand, count] : found)
      if (!source.demands.contains(demand))
        return kernel.emitOpError("expects no '")
               << nameOf(demand) << "', which the program does not have";
    bool isRefused = false;
    visitUnguarded(kernel, [&](Operation *op, Unguarded kind) {
      if (isRefused || source.unguarded.contains(kind))
        return;
      isRefused = true;
      op->emitOpError("expects a guard for rows that nothing contributes to, "
                      "as the program has, found an ")
          << nameOf(kind);
    });
    return failure(isRefused);
  }
};

} // namespace

std::unique_ptr<Pass> createVerifySmDemands(OpPassManager pipeline) {
  return std::make_unique<VerifySmDemandsPass>(std::move(pipeline));
}

} // namespace selvedge::verify
