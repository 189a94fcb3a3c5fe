// What tests of an op have to know of how it is compiled.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/PlanFacts.h"

#include "compiler/Driver/Session.h"

namespace selvedge {

using namespace mlir;

namespace {

/// Records the sizes of index tiles along dimensions that are one dim.
class BlockFinder {
public:
  explicit BlockFinder(PlanFacts &facts) : facts(facts) {}

  void visit(tile::ProgramOp program) {
    for (auto kernel : program.getBody().getOps<tile::KernelOp>()) {
      DenseMap<Value, tile::TensorArgAttr> tensors;
      for (unsigned i = 0; i < program.getTensors().size(); ++i)
        tensors[kernel.getTensorArgument(i)] = program.getTensorArg(i);
      kernel.walk([&](tile::TensorAccessOpInterface access) {
        if (tile::TensorArgAttr tensor = tensors.lookup(access.getAccessed()))
          visit(kernel, tensor, access.getIndices());
      });
    }
  }

private:
  void visit(tile::KernelOp kernel, tile::TensorArgAttr tensor,
             OperandRange indices) {
    for (auto [extent, index] :
         llvm::zip_equal(tensor.getShape().getResults(), indices)) {
      auto symbol = dyn_cast<AffineSymbolExpr>(extent);
      auto type = dyn_cast<RankedTensorType>(index.getType());
      if (!symbol || !type || type.getRank() != 1 || type.isDynamicDim(0))
        continue;
      auto axis = cast<tile::AxesAttr>(type.getEncoding()).getNames().front();
      bool isLoop = llvm::none_of(
          kernel.getRanges().getAsRange<tile::IterAttr>(),
          [&](tile::IterAttr range) { return range.getName() == axis; });
      std::string dim =
          cast<StringAttr>(kernel.getProgram().getDims()[symbol.getPosition()])
              .str();
      facts.blocks[dim].insert(type.getDimSize(0));
      if (isLoop)
        facts.loops.insert(dim);
    }
  }

  PlanFacts &facts;
};

} // namespace

CompileResult findPlanFacts(const CompileRequest &request, PlanFacts &facts) {
  facts = {};
  CompileRequest modes[] = {request, request};
  modes[0].masks = MaskMode::Tile;
  modes[1].masks = MaskMode::Exact;
  std::string texts[2];
  for (auto [mode, text] : llvm::zip_equal(modes, texts)) {
    driver::Session session(mode, driver::Proofs::Elsewhere);
    bool isDone = session.checkArch() && session.parse() &&
                  session.choosePlans() && session.runPasses(Emit::TileBound);
    // There is a mask that cannot be exact; nobody has asked for that.
    if (!isDone && mode.masks == MaskMode::Exact && !texts[0].empty()) {
      facts.removesPresentData = true;
      return {};
    }
    if (!isDone)
      return std::move(session.result);
    text = session.printModule();
    BlockFinder finder(facts);
    for (auto program : session.getModule().getOps<tile::ProgramOp>())
      finder.visit(program);
  }
  // What would be computed again is what a mask may have contaminated.
  facts.removesPresentData = texts[0] != texts[1];
  return {};
}

} // namespace selvedge
