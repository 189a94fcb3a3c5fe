// verify-tile-coverage: every element of an output is stored.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/InitValues.h"
#include "compiler/Verify/Arithmetic/PredicateWords.h"
#include "compiler/Verify/Passes.h"
#include "compiler/Verify/Tile/InPlaceUses.h"
#include "compiler/Verify/Tile/SegmentUses.h"
#include "compiler/Verify/Tile/StoreCoverage.h"
#include "compiler/Verify/Tile/TempUses.h"
#include "dialect/Tile/Accumulate.h"

namespace selvedge::verify {

#define GEN_PASS_DEF_VERIFYTILECOVERAGE
#include "compiler/Verify/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

struct VerifyTileCoveragePass
    : impl::VerifyTileCoverageBase<VerifyTileCoveragePass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    ProgramOp program = getOperation();
    // A version may have a temp that nothing accesses.
    auto isWritten = [&](TensorArgAttr tensor) {
      return tensor.getRole() == Role::Out ||
             (tensor.getRole() == Role::Temp &&
              !(program.isForSomeDims() && !program.accesses(tensor)));
    };
    for (auto tensor : program.getTensors().getAsRange<TensorArgAttr>())
      if (isWritten(tensor) && !isa_and_nonnull<StringAttr>(tensor.getInit()) &&
          failed(check(program, tensor)))
        return signalPassFailure();
    for (auto kernel : program.getBody().getOps<KernelOp>())
      if (failed(checkInPlaceUses(kernel)))
        return signalPassFailure();
  }

  static LogicalResult check(ProgramOp program, TensorArgAttr tensor) {
    SmallVector<std::pair<StoreOp, std::string>> gaps;
    SmallVector<StoreOp> stores, covering;
    program.walk([&](StoreOp store) {
      auto kernel = store->getParentOfType<KernelOp>();
      if (kernel.getTensorArgOf(store.getTensor()) == tensor)
        stores.push_back(store);
    });
    bool isTemp = tensor.getRole() == Role::Temp;
    for (StoreOp store : stores) {
      if (addsToMemory(store)) {
        if (covering.empty() || covering.front()->getParentOfType<KernelOp>() ==
                                    store->getParentOfType<KernelOp>())
          return store.emitOpError("expects kernels before this one to write "
                                   "every element of '")
                 << tensor.getName().getValue() << "', to which it adds";
        continue;
      }
      if (failed(checkInit(store, tensor, stores.front())))
        return failure();
      std::optional<std::string> gap = StoreCoverage(store).gap();
      bool isEnough = !gap || (isTemp && store == stores.front() &&
                               isInitOfUsedRows(program, store));
      if (isEnough)
        covering.push_back(store);
      else
        gaps.push_back({store, *gap});
    }
    if (covering.empty() && !isTemp)
      if (StoreOp store = coveringWithInit(stores))
        covering.push_back(store);
    if (!covering.empty())
      return checkTempUses(program, tensor, covering);
    InFlightDiagnostic diag =
        program.emitOpError("expects a store, or a kernel before all others, "
                            "to write every element of ")
        << (isTemp ? "temp '" : "output '") << tensor.getName().getValue()
        << "'; "
        << (gaps.empty() ? "found no store of it"
                         : "found none that provably "
                           "does");
    for (auto &[store, gap] : gaps)
      diag.attachNote(store.getLoc())
          << "this store "
          << (isTemp
                  ? "of kernel '" +
                        store->getParentOfType<KernelOp>().getSymName() + "' "
                  : "")
          << gap;
    if (isTemp)
      noteTempReaders(diag, program, tensor);
    return diag;
  }

  /// The store of all rows of segments, or of equal parts, behind that of an
  /// init kernel of all other rows; null if there are no such.
  static StoreOp coveringWithInit(ArrayRef<StoreOp> stores) {
    if (stores.empty())
      return {};
    for (StoreOp store : llvm::drop_begin(stores)) {
      if (addsToMemory(store))
        continue;
      std::optional<PartRows> parts = StoreCoverage(store).partsOfRows();
      if (parts && isInitOf(stores.front(), parts->tensor) &&
          !StoreCoverage(stores.front(), Rows::BehindParts, *parts).gap() &&
          !StoreCoverage(store, Rows::OfParts, *parts).gap())
        return store;
      std::vector<SegmentRows> found = segmentRowsOf(store);
      if (std::optional<SegmentRows> each = rowsOfEachSegment(store))
        found.push_back(*each);
      for (const SegmentRows &rows : found)
        if (rows.tensor == tensorName(store.getTensor()) &&
            isInitOf(stores.front(), rows.tensor) &&
            !StoreCoverage(stores.front(), Rows::OfNoSegment, rows).gap() &&
            !StoreCoverage(store, Rows::OfSegments, rows).gap())
          return store;
    }
    return {};
  }

  /// Whether a temp's init kernel stores the rows from the first segment to the
  /// last one, and nothing else of it is used.
  static bool isInitOfUsedRows(ProgramOp program, StoreOp init) {
    std::string tensor = tensorName(init.getTensor());
    if (addsToMemory(init) || !isInitOf(init, tensor))
      return false;
    auto kernel = init->getParentOfType<KernelOp>();
    AffineMap shape = kernel.getTensorArgOf(init.getTensor()).getShape();
    for (auto promise : program.getPromises().getAsRange<RequireAttr>())
      for (auto [dim, extent] : llvm::enumerate(shape.getResults())) {
        SegmentRows rows{tensor, static_cast<unsigned>(dim),
                         promise.getTensor().str()};
        if (promise.getOrdered() && promise.getHi().getResult(0) == extent &&
            !StoreCoverage(init, Rows::FromFirstToLast, rows).gap() &&
            areUsesInSegments(program, rows, kernel))
          return true;
      }
    return false;
  }

  static bool isInitOf(StoreOp store, StringRef tensor) {
    return store->getParentOfType<KernelOp>().getSymName().str() ==
           "init_" + tensor.str();
  }

  /// A kernel with the reserved name of an init kernel stores nothing else, and
  /// overwrites nothing.
  static LogicalResult checkInit(StoreOp store, TensorArgAttr tensor,
                                 StoreOp first) {
    auto kernel = store->getParentOfType<KernelOp>();
    StringRef name = kernel.getSymName();
    if (!name.consume_front("init_") || name != tensor.getName().getValue())
      return success();
    if (!isInit(store.getValue(), tensor))
      return store.emitOpError("expects the out_init of output '")
             << name << "', which is " << tensor.getInit();
    if (first->getParentOfType<KernelOp>() != kernel)
      return kernel.emitOpError("expects to run before every other kernel that "
                                "stores output '")
             << name << "'";
    return success();
  }
};

} // namespace
} // namespace selvedge::verify
