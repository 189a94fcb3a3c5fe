// Programs in which a loop's parts are cut wrongly, or claim too much.
// SPDX-License-Identifier: MIT
#include "MutantEdits.h"
#include "Mutants.h"

#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace selvedge::testing {

namespace {

/// A full part and the partial ones around it; `before` may be null.
struct Parts {
  scf::ForOp before, full, after;
};

scf::ForOp cloneOf(scf::ForOp loop, const IRMapping &map) {
  return loop ? cast<scf::ForOp>(map.lookup(loop.getOperation()))
              : scf::ForOp();
}

bool hasClaims(scf::ForOp loop) {
  return !loop.getBody()->getOps<tile::KnownOp>().empty();
}

/// The loop whose results `loop` continues; null if it carries nothing.
scf::ForOp continuedBy(scf::ForOp loop) {
  return loop.getInitArgs().empty()
             ? scf::ForOp()
             : loop.getInitArgs()[0].getDefiningOp<scf::ForOp>();
}

std::vector<Parts> findParts(ModuleOp module) {
  std::vector<Parts> found;
  module.walk([&](scf::ForOp loop) {
    if (!hasClaims(loop))
      return;
    Parts parts{continuedBy(loop), loop, {}};
    for (Operation *op = loop->getNextNode(); op && !parts.after;
         op = op->getNextNode())
      parts.after = dyn_cast<scf::ForOp>(op);
    found.push_back(parts);
  });
  return found;
}

/// `bound` plus `distance`, which may be a constant or the loop's step.
Value moved(scf::ForOp loop, Value bound, Value distance, bool up) {
  OpBuilder b(loop);
  if (up)
    return arith::AddIOp::create(b, loop.getLoc(), bound, distance);
  return arith::SubIOp::create(b, loop.getLoc(), bound, distance);
}

Value one(scf::ForOp loop) {
  OpBuilder b(loop);
  return arith::ConstantIntOp::create(b, loop.getLoc(), 1, 32);
}

/// The compares of `from` that `full` claims: parts are copies of one body.
SmallVector<Value> claimed(scf::ForOp full, scf::ForOp from) {
  SmallVector<Value> result;
  auto theirs = from.getBody()->getOps<arith::CmpIOp>();
  auto it = theirs.begin();
  for (auto compare : full.getBody()->getOps<arith::CmpIOp>()) {
    if (it == theirs.end())
      break;
    if (llvm::any_of(compare->getUsers(), llvm::IsaPred<tile::KnownOp>))
      result.push_back(*it);
    ++it;
  }
  return result;
}

void claim(Value compare) {
  OpBuilder b(compare.getContext());
  b.setInsertionPointAfterValue(compare);
  auto known =
      tile::KnownOp::create(b, compare.getLoc(), compare.getType(), compare);
  compare.replaceAllUsesExcept(known, known);
}

class Mutator {
public:
  explicit Mutator(ModuleOp module) : module(module) {}

  void run() {
    for (auto [i, parts] : llvm::enumerate(findParts(module))) {
      std::string name = "full part";
      if (i > 0)
        name += " #" + std::to_string(i + 1);
      bounds(parts, name);
      if (parts.after)
        claims(parts, &Parts::after, name + ": claims after it");
      if (parts.before)
        claims(parts, &Parts::before, name + ": claims before it");
    }
  }

  void runSteps() {
    for (auto [i, parts] : llvm::enumerate(findParts(module)))
      if (parts.after)
        steps(parts, i > 0 ? "part #" + std::to_string(i + 1) : "part");
  }

  std::vector<Mutant> mutants;

private:
  using Change = llvm::function_ref<void(Parts)>;

  void add(const Parts &parts, const std::string &name, bool isBlatant,
           Change change) {
    ModuleCopy copy(module);
    change({cloneOf(parts.before, copy.map), cloneOf(parts.full, copy.map),
            cloneOf(parts.after, copy.map)});
    mutants.push_back({name, isBlatant, std::move(copy.module)});
  }

  void bounds(const Parts &parts, const std::string &name) {
    auto end = [](scf::ForOp loop, Value distance, bool up) {
      loop.getUpperBoundMutable().assign(
          moved(loop, loop.getUpperBound(), distance, up));
    };
    auto start = [](scf::ForOp loop, Value distance, bool up) {
      loop.getLowerBoundMutable().assign(
          moved(loop, loop.getLowerBound(), distance, up));
    };
    add(parts, name + ": end +1", true,
        [&](Parts p) { end(p.full, one(p.full), true); });
    add(parts, name + ": end -1", false,
        [&](Parts p) { end(p.full, one(p.full), false); });
    add(parts, name + ": one step more", true,
        [&](Parts p) { end(p.full, p.full.getStep(), true); });
    if (parts.after)
      add(parts, name + ": border one step later", true, [&](Parts p) {
        end(p.full, p.full.getStep(), true);
        start(p.after, p.full.getStep(), true);
      });
    if (parts.before)
      add(parts, name + ": one step earlier", true,
          [&](Parts p) { start(p.full, p.full.getStep(), false); });
  }

  void steps(const Parts &parts, const std::string &name) {
    auto shift = [](OpOperand &bound, Value distance, bool up) {
      bound.set(
          moved(cast<scf::ForOp>(bound.getOwner()), bound.get(), distance, up));
    };
    for (auto [part, which] : {std::pair(&Parts::before, ", before it: "),
                               {&Parts::full, ", full: "},
                               {&Parts::after, ", after it: "}}) {
      // One with claims is the full part of others.
      if (!(parts.*part) || (part == &Parts::before && hasClaims(parts.before)))
        continue;
      std::string site = name + which;
      add(parts, site + "first step left out", false, [&](Parts p) {
        shift((p.*part).getLowerBoundMutable(), (p.*part).getStep(), true);
      });
      add(parts, site + "last step left out", false, [&](Parts p) {
        shift((p.*part).getUpperBoundMutable(), (p.*part).getStep(), false);
      });
      add(parts, site + "one key left out", false, [&](Parts p) {
        shift((p.*part).getUpperBoundMutable(), one(p.*part), false);
      });
      add(parts, site + "one step more", false, [&](Parts p) {
        shift((p.*part).getUpperBoundMutable(), (p.*part).getStep(), true);
      });
      add(parts, site + "left out", false, [&](Parts p) {
        (p.*part).replaceAllUsesWith((p.*part).getInitArgs());
        (p.*part).erase();
      });
      add(parts, site + "twice", false, [&](Parts p) { repeat(p.*part); });
    }
    add(parts, name + "s in the other order", false, [](Parts p) {
      p.full->moveBefore(p.after);
      Value first = p.full.getLowerBound(), end = p.full.getUpperBound();
      p.full.getLowerBoundMutable().assign(p.after.getLowerBound());
      p.full.getUpperBoundMutable().assign(p.after.getUpperBound());
      p.after.getLowerBoundMutable().assign(first);
      p.after.getUpperBoundMutable().assign(end);
    });
  }

  /// The part again, on what it carries.
  static void repeat(scf::ForOp part) {
    OpBuilder b(part->getContext());
    b.setInsertionPointAfter(part);
    auto loop = cast<scf::ForOp>(b.clone(*part));
    part.replaceAllUsesWith(loop.getResults());
    loop.getInitArgsMutable().assign(part.getResults());
  }

  /// A partial step taken as a full one: all that a full one claims, and each
  /// of it.
  void claims(const Parts &parts, scf::ForOp Parts::*part,
              const std::string &name) {
    size_t count = claimed(parts.full, parts.*part).size();
    add(parts, name, true, [&](Parts p) {
      for (Value compare : claimed(p.full, p.*part))
        claim(compare);
    });
    for (size_t i = 0; count > 1 && i < count; ++i)
      add(parts, name + ", only " + std::to_string(i), false,
          [&](Parts p) { claim(claimed(p.full, p.*part)[i]); });
  }

  ModuleOp module;
};

} // namespace

std::vector<Mutant> stepMutants(ModuleOp module) {
  Mutator mutator(module);
  mutator.runSteps();
  return std::move(mutator.mutants);
}

std::vector<Mutant> partMutants(ModuleOp module) {
  Mutator mutator(module);
  mutator.run();
  return std::move(mutator.mutants);
}

} // namespace selvedge::testing
