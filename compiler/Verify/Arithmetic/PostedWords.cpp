// Which word of a mailbox a value is.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/Facts.h"

#include "llvm/ADT/SetVector.h"

namespace selvedge::verify {

using namespace mlir;

/// Where a value that a branch or loop hands on may come from; false for values
/// of other operations.
static bool addSources(Value value, llvm::SetVector<Value> &sources) {
  SmallVector<Value> from;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Region *region = argument.getOwner()->getParent();
    auto branch = dyn_cast<RegionBranchOpInterface>(region->getParentOp());
    unsigned first = isa<scf::ForOp>(region->getParentOp()) ? 1 : 0;
    if (!branch || argument.getArgNumber() < first)
      return false;
    branch.getPredecessorValues(
        {region, region->getArguments().drop_front(first)},
        argument.getArgNumber() - first, from);
  } else {
    Operation *def = value.getDefiningOp();
    auto branch = dyn_cast<RegionBranchOpInterface>(def);
    if (!branch)
      return false;
    branch.getPredecessorValues({def, def->getResults()},
                                cast<OpResult>(value).getResultNumber(), from);
  }
  sources.insert_range(from);
  return true;
}

Value postedWord(Value value) {
  if (!value.getType().isInteger(32))
    return {};
  llvm::SetVector<Value> sources;
  sources.insert(value);
  Value word;
  auto isOther = [&](Value posted) {
    if (constantOf(posted))
      return false;
    bool differs = word && word != posted;
    word = posted;
    return differs;
  };
  for (size_t i = 0; i < sources.size(); ++i) {
    Value source = sources[i];
    if (auto receive = source.getDefiningOp<sm::ReceiveOp>()) {
      for (Operation *user : receive.getMailbox().getUsers())
        if (auto post = dyn_cast<sm::PostOp>(user);
            post && isOther(post.getValue()))
          return {};
    } else if (!constantOf(source) && !addSources(source, sources)) {
      return {};
    }
  }
  return word;
}

} // namespace selvedge::verify
