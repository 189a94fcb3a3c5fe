// tile-row-classes: versions of a program for rows of some length.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Copies/RepeatedReads.h"
#include "compiler/Schedule/Passes.h"
#include "compiler/Schedule/Plan/Plan.h"
#include "dialect/Tile/Decisions.h"

#include "llvm/ADT/bit.h"

namespace selvedge::schedule {

#define GEN_PASS_DEF_TILEROWCLASSES
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

/// Threads that share a row, shortest rows first; the last also take what is
/// longer than they should.
constexpr int64_t threadsOfRow[] = {32, 64, 256, 512};
/// What loops without products take per thread, about.
constexpr int64_t registersOfThread = 64;

/// Rows that a program reads more than once.
struct Rows {
  /// Position of their length among the dims.
  unsigned dim;
  /// Bytes of one index of all tensors that are read so, in the kernel that
  /// reads most.
  int64_t bytes = 0;
};

bool hasProducts(KernelOp kernel) {
  return kernel.getBody()
      .walk([](DotOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// The rows of a program whose kernels read along one dim; none of others.
std::optional<Rows> rowsOf(ProgramOp program) {
  std::optional<Rows> rows;
  for (auto kernel : program.getBody().getOps<KernelOp>()) {
    if (hasProducts(kernel))
      return std::nullopt;
    int64_t bytes = 0;
    for (const RepeatedRead &read : findOwnRows(kernel)) {
      TensorArgAttr tensor = kernel.getTensorArgOf(read.tensor);
      auto extent =
          dyn_cast<AffineSymbolExpr>(tensor.getShape().getResult(read.dim));
      if (!extent || (rows && rows->dim != extent.getPosition()))
        return std::nullopt;
      if (!rows)
        rows = Rows{extent.getPosition()};
      bytes += bytesOf(tensor.getElementType());
    }
    if (rows)
      rows->bytes = std::max(rows->bytes, bytes);
  }
  return rows;
}

struct TileRowClassesPass : impl::TileRowClassesBase<TileRowClassesPass> {
  using TileRowClassesBase::TileRowClassesBase;

  void runOnOperation() override {
    std::optional<TargetInfo> target = knownTarget(getOperation(), arch);
    if (!target)
      return signalPassFailure();
    int64_t resident = target->regsPerSm / registersOfThread;
    cacheOfThread = llvm::bit_floor(
        static_cast<uint64_t>(target->smemBytesPerSm / resident));
    SmallVector<ProgramOp> programs(getOperation().getOps<ProgramOp>());
    for (ProgramOp program : programs)
      if (program.getKind() == VersionKind::Program)
        if (std::optional<Rows> rows = rowsOf(program))
          addVersions(program, *rows);
  }

  void addVersions(ProgramOp program, Rows rows) {
    MLIRContext *ctx = program.getContext();
    AffineExpr length = getAffineSymbolExpr(rows.dim, ctx);
    auto dim = cast<StringAttr>(program.getDims()[rows.dim]);
    Block::iterator place = std::next(program->getIterator());
    for (int64_t threads : threadsOfRow) {
      int64_t limit = threads * cacheOfThread / rows.bytes;
      bool isLast = threads == *std::rbegin(threadsOfRow);
      auto version = cast<ProgramOp>(program->clone());
      version.makeVersion(program, VersionAttr::get(ctx, VersionKind::Rows,
                                                    isLast ? 0 : limit));
      version.setRowThreads(threads);
      if (!isLast)
        version.setConditions(
            AffineMap::get(0, program.getDims().size(), limit - length, ctx));
      for (auto kernel : version.getBody().getOps<KernelOp>())
        if (rowThreads(kernel))
          noteDecision(kernel, reason(threads, limit, dim, isLast));
      getOperation().insert(place, version);
    }
  }

  static Decision reason(int64_t threads, int64_t limit, StringAttr dim,
                         bool isLast) {
    std::string why =
        "loops read the same rows again; those that are read at a time fit "
        "the first cache where '" +
        dim.str() + "' is at most " + std::to_string(limit);
    why += isLast ? "; this variant takes all that is longer"
                  : "; more threads would have too little to do";
    return {"rows", std::to_string(threads) + " threads share a row", why};
  }

  int64_t cacheOfThread = 0;
};

} // namespace
} // namespace selvedge::schedule
