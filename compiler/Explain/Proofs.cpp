// Demands that needed no operation.
// SPDX-License-Identifier: MIT
#include "compiler/Explain/Proofs.h"

#include "dialect/Tile/Provenance.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

namespace selvedge::explain {

using namespace mlir;
using namespace selvedge::tile;

/// The kernel ranges that `index` is computed from: `g in G and u in R`.
static std::string rangesIn(KernelOp kernel, Value index) {
  ProgramOp program = kernel.getProgram();
  llvm::SetVector<Value> seen;
  SmallVector<std::string> names;
  SmallVector<Value> worklist{index};
  while (!worklist.empty()) {
    Value v = worklist.pop_back_val();
    if (!seen.insert(v))
      continue;
    if (Operation *def = v.getDefiningOp()) {
      llvm::append_range(worklist, llvm::reverse(def->getOperands()));
      continue;
    }
    unsigned shared = program.getNumSharedArgs();
    auto argument = cast<BlockArgument>(v);
    if (argument.getOwner() != &kernel.getBody().front() ||
        argument.getArgNumber() < shared)
      continue;
    auto iter =
        cast<IterAttr>(kernel.getRanges()[argument.getArgNumber() - shared]);
    names.push_back(iter.getName().str() + " in " +
                    wordsFor(iter.getExtent().getResult(0), program.getDims()));
  }
  return llvm::join(names, " and ");
}

std::vector<Predicate> rangeProofs(KernelOp kernel, Value tensor,
                                   OperandRange indices,
                                   const std::vector<Predicate> &tested) {
  std::vector<Predicate> proofs;
  ProgramOp program = kernel.getProgram();
  AffineMap shape = kernel.getTensorArgOf(tensor).getShape();
  for (auto [index, extent] : llvm::zip_equal(indices, shape.getResults())) {
    std::string left = wordsFor(index),
                text = left + " < " + wordsFor(extent, program.getDims());
    if (llvm::any_of(tested,
                     [&](const Predicate &p) { return p.text == text; }))
      continue;
    std::string ranges = rangesIn(kernel, index);
    proofs.push_back({text,
                      "shape",
                      {},
                      true,
                      ranges.empty() ? "the front end proved it"
                                     : "the kernel's ranges " + ranges});
  }
  return proofs;
}

/// How `operand` comes to hold 0 where `predicate` is false.
static std::string zeroReason(Value operand, StringRef predicate) {
  Operation *def = operand.getDefiningOp();
  while (
      isa_and_nonnull<ConvertOp, BroadcastOp, arith::ExtFOp, arith::TruncFOp>(
          def)) {
    operand = def->getOperand(0);
    def = operand.getDefiningOp();
  }
  std::optional<SafetyNote> note =
      def ? noteOf(def->getLoc()) : std::optional<SafetyNote>();
  if (isa_and_nonnull<LoadOp>(def) && note)
    return "zero: absent lanes of " + note->subject + " are filled (" +
           note->id + ")";
  if (isa_and_nonnull<arith::SelectOp>(def) && note)
    return "zero: selected (" + note->id + ")";
  if (auto update = dyn_cast_or_null<SoftmaxUpdateOp>(def)) {
    Operation *mask = update.getScores().getDefiningOp();
    std::optional<SafetyNote> by =
        mask ? noteOf(mask->getLoc()) : std::optional<SafetyNote>();
    return "exactly zero: the weight of a score of -inf" +
           (by ? " (" + by->id + ")" : std::string());
  }
  return "zero by the operations before it";
}

std::vector<Proof> productProofs(ProgramOp program, const SourceText &source) {
  std::vector<Proof> proofs;
  program.walk([&](DotOp dot) {
    std::string over =
        llvm::join(llvm::map_range(dot.getOver().getAsValueRange<StringAttr>(),
                                   [](StringRef s) { return s.str(); }),
                   ", ");
    for (auto [name, operand] :
         {std::pair("left", dot.getLhs()), std::pair("right", dot.getRhs())})
      for (Value p : dot.getPresence()) {
        bool within = llvm::all_of(axesOf(p.getType()), [&](StringAttr a) {
          return llvm::is_contained(axesOf(operand.getType()), a);
        });
        std::string text = wordsFor(p);
        proofs.push_back({dot->getParentOfType<KernelOp>().getSymName().str(),
                          std::string(name) + " operand of dot over " + over,
                          "absent where not " + text,
                          within ? zeroReason(operand, text)
                                 : "present data of other rows, times zero",
                          source.placeOf(dot.getLoc())});
      }
  });
  return proofs;
}

std::vector<Output> outputs(ProgramOp program) {
  std::vector<Output> result;
  for (auto arg : program.getTensors().getAsRange<TensorArgAttr>()) {
    if (arg.getRole() != Role::Out)
      continue;
    Output output{arg.getName().str(), shapeWords(arg, program.getDims()),
                  arg.getInit() ? wordsFor(arg.getInit()) : "none", "", ""};
    program.walk([&](StoreOp store) {
      std::optional<SafetyNote> note = noteOf(store.getLoc());
      if (!note || note->subject != output.name)
        return;
      if (note->kind == "init") {
        output.by = note->id;
        output.why = "initialised by a kernel of its own: " + note->reason;
      } else if (note->reason == "covers" && output.by.empty()) {
        output.by = note->id;
        output.why = "one store runs over every element of its shape";
      }
    });
    if (output.by.empty())
      output.why = "elements that are not stored keep what they hold";
    result.push_back(output);
  }
  return result;
}

} // namespace selvedge::explain
