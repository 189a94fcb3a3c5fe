// tile-output-init: outputs are total.
// SPDX-License-Identifier: MIT
#include "compiler/Safety/InitKernel.h"
#include "compiler/Safety/Passes.h"
#include "compiler/Safety/Segments.h"
#include "compiler/Safety/StoreCoverage.h"
#include "dialect/Tile/Accumulate.h"
#include "dialect/Tile/Provenance.h"

namespace selvedge::safety {

#define GEN_PASS_DEF_TILEOUTPUTINIT
#include "compiler/Safety/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

/// Why an init kernel stores these rows.
std::string wordsOf(RowSet::Kind kind) {
  switch (kind) {
  case RowSet::Kind::NoSegment:
    return "rows of no segment";
  case RowSet::Kind::BehindSegment:
    return "rows behind a segment";
  case RowSet::Kind::Segments:
    return "rows from the first segment to the last one";
  case RowSet::Kind::BehindParts:
    return "rows behind the last part";
  }
}

/// Why a tensor is not covered, and the store that might have.
struct Gap {
  std::string reason;
  Location loc;
  /// Of the only store the rows that it leaves out, if it does no others.
  std::optional<RowSet> left = {};
};

/// What a version passes on in registers.
bool isUnusedTemp(ProgramOp program, TensorArgAttr tensor) {
  return program.isForSomeDims() && tensor.getRole() == Role::Temp &&
         !program.accesses(tensor);
}

struct TileOutputInitPass : impl::TileOutputInitBase<TileOutputInitPass> {
  void runOnOperation() override {
    ProgramOp program = getOperation();
    llvm::SmallDenseSet<Attribute> covered;
    llvm::SmallDenseMap<Attribute, Gap> gaps;
    llvm::SmallDenseMap<Attribute, unsigned> numStores;
    // What is added to holds something before, and so does what is loaded.
    llvm::SmallDenseMap<Attribute, KernelOp> firstAdds;
    llvm::SmallDenseSet<Attribute> loaded;
    program.walk([&](Operation *op) {
      auto kernel = op->getParentOfType<KernelOp>();
      if (auto load = dyn_cast<LoadOp>(op))
        loaded.insert(kernel.getTensorArgOf(load.getTensor()).getName());
      auto store = dyn_cast<StoreOp>(op);
      if (!store)
        return;
      StringAttr tensor = kernel.getTensorArgOf(store.getTensor()).getName();
      if (addsToMemory(store)) {
        firstAdds.try_emplace(tensor, kernel);
        return;
      }
      std::optional<std::string> gap = coverageGap(store);
      if (!gap && firstAdds.contains(tensor))
        gap = "kernels add to it before the one that stores it";
      if (!gap && loaded.contains(tensor))
        gap = "kernels load it before the one that stores it";
      if (gap)
        gaps.insert_or_assign(
            tensor,
            Gap{*gap, store.getLoc(),
                ++numStores[tensor] == 1 ? leftRowsOf(store) : std::nullopt});
      else
        covered.insert(tensor);
      if (std::optional<SafetyNote> note = noteOf(store.getLoc())) {
        note->reason = gap ? "" : "covers";
        store->setLoc(withNote(store.getLoc(), *note));
      }
    });
    for (unsigned i = 0; i < program.getTensors().size(); ++i) {
      TensorArgAttr arg = program.getTensorArg(i);
      bool isStored = arg.getRole() == Role::Out || arg.getRole() == Role::Temp;
      if (!isStored || covered.contains(arg.getName()) ||
          isa_and_nonnull<StringAttr>(arg.getInit()) ||
          isUnusedTemp(program, arg))
        continue;
      auto gap = gaps.find(arg.getName());
      std::string reason =
          gap == gaps.end() ? "no kernel stores it" : gap->second.reason;
      if (!arg.getInit()) {
        emitError(gap == gaps.end() ? program.getLoc() : gap->second.loc)
            << "expects "
            << (arg.getRole() == Role::Temp ? "temp '" : "output '")
            << arg.getName().getValue()
            << "' to have an out_init: its stores do not provably cover it ("
            << reason << ")";
        return signalPassFailure();
      }
      std::optional<RowSet> rows;
      // Of a temp all is defined that kernels use, and so is what they add to.
      if (arg.getRole() == Role::Temp)
        if (std::optional<SegmentRows> used = segmentRowsUsed(program, arg))
          rows = RowSet{RowSet::Kind::Segments, used->dim, used->ends};
      if (gap != gaps.end() && arg.getRole() == Role::Out &&
          !firstAdds.contains(arg.getName()))
        rows = gap->second.left;
      if (rows)
        reason = wordsOf(rows->kind);
      addInitKernel(program, i, reason, rows);
    }
  }
};

} // namespace
} // namespace selvedge::safety
