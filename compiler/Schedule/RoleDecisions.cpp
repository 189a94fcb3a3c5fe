// What was decided for a kernel with warp roles, in words.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Plan.h"
#include "compiler/Schedule/RoleKernel.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

/// Name of the tensor that a kernel's argument is.
static std::string tensorName(KernelOp kernel, Value argument) {
  Attribute arg =
      kernel.getArgs()[cast<BlockArgument>(argument).getArgNumber()];
  return cast<PointerArgAttr>(arg).getTensor().str();
}

static std::string number(int64_t n, StringRef noun) {
  return (Twine(n) + " " + noun + (n == 1 ? "" : "s")).str();
}

static std::string lengthWords(TileLength length) {
  switch (length) {
  case TileLength::Equal:
    return "every tile has equally many steps";
  case TileLength::Grows:
  case TileLength::Shrinks:
    return "the number of steps depends on the tile's place along the fastest "
           "axis";
  case TileLength::Varies:
    return "the number of steps depends on the tile";
  }
  llvm_unreachable("all lengths are handled");
}

/// Which tiles a thread block takes.
std::string RoleKernel::orderWords() const {
  if (plan.length == TileLength::Equal)
    return "a thread block takes every n-th tile";
  std::string text = "whoever is free takes the next tile";
  if (plan.length != TileLength::Varies)
    text += ", long ones first, in sections that stay in the L2 cache";
  return text;
}

/// `q 1 slot, k and v 2 slots`.
std::string RoleKernel::ringWords() {
  std::string text;
  auto add = [&](ArrayRef<BulkCopy> copies, int64_t depth) {
    for (auto [i, copy] : llvm::enumerate(copies)) {
      CopyOp op = copy.copy;
      StringRef separator = text.empty() ? "" : i ? " and " : ", ";
      text += separator.str() + tensorName(source, op.getTensor());
    }
    if (!copies.empty())
      text += " " + number(depth, "slot");
  };
  add(plan.resident, residentStages);
  add(plan.streamed[plan.loops.front()], stages);
  return text;
}

std::string RoleKernel::storeWords() {
  std::string text;
  for (BulkStore &store : plan.stores)
    text += (text.empty() ? "" : "; ") +
            tensorName(source, store.store.getTensor()) +
            " staged in shared memory, then stored by TMA";
  for (auto &[store, why] : plan.laneStores)
    text += (text.empty() ? "" : "; ") + tensorName(source, store.getTensor()) +
            " lane by lane";
  return text;
}

void RoleKernel::noteDecisions() {
  SmallVector<tile::Decision> decisions = tile::decisionsOf(source.getLoc());
  auto add = [&](StringRef what, const Twine &choice, const Twine &why) {
    decisions.push_back({what.str(), choice.str(), why.str()});
  };
  add("roles",
      "one thread copies; " + number(plan.warpgroups, "warpgroup") +
          " of 64 rows multiply",
      "tensor maps describe every copy, and every product has 64 rows per "
      "warpgroup");
  add("registers",
      Twine(copyRegisters) + " per thread that copies, " +
          Twine(productRegisters(plan.warpgroups)) +
          " per thread that multiplies",
      "the warpgroups share the 65536 registers of a multiprocessor");
  add("rings", ringWords(),
      "as many slots as fit, from 2 to " + Twine(maxStages) + ": " +
          Twine(smemBytes) +
          " bytes of shared memory are taken; what is "
          "read once per tile has a second slot, for the next tile, where it "
          "fits");
  add("overlap", isLagged ? "a product waits for the next step" : "none",
      isLagged ? "its operand is computed from another product: beside the "
                 "next step's products it costs no time"
               : "no product waits for another of its step");
  if (isLagged)
    add("turns", plan.warpgroups > 1 ? "warpgroups multiply in turn" : "none",
        plan.warpgroups > 1 ? "while one multiplies another computes"
                            : "one warpgroup has nobody to wait for");
  add("softmax",
      softmax.empty() ? "exact in every step" : "speculates on the maximum",
      softmax.empty()
          ? "its loops have no softmax whose weights are only narrowed, or no "
            "product that lags"
          : "weights against the maximum of the steps before need no new one; "
            "a warp whose sums grow past a limit takes the exact step");
  add("launch", "persistent: " + orderWords(), lengthWords(plan.length));
  std::string why;
  for (auto &[store, reason] : plan.laneStores)
    why += (why.empty() ? "" : "; ") + tensorName(source, store.getTensor()) +
           ": " + reason;
  if (why.empty())
    why = "the tensor map clips what lies outside";
  std::string stores = storeWords();
  if (!stores.empty())
    add("results", stores, why);
  for (const tile::Decision &decision : decisions)
    tile::noteDecision(target, decision);
}

} // namespace selvedge::schedule
