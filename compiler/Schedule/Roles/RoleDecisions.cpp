// What was decided for a kernel with warp roles, in words.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Plan/Plan.h"
#include "compiler/Schedule/Roles/JoinedLoops.h"
#include "compiler/Schedule/Roles/RoleKernel.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

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
  case TileLength::GrowsInSegments:
    return "the number of steps grows along the fastest axis in each segment";
  case TileLength::ShrinksInSegments:
    return "the number of steps shrinks along the fastest axis in each segment";
  case TileLength::GrowsAcross:
    return "the number of steps grows along the axis of the pairs";
  }
  llvm_unreachable("all lengths are handled");
}

/// Which tiles a thread block takes.
std::string RoleKernel::orderWords() {
  if (plan.length == TileLength::Equal)
    return std::string("a thread block takes every n-th tile") +
           (sharesOperands()    ? ", rows of tiles side by side"
            : takesPairsFirst() ? ", those of the same keys side by side"
                                : "");
  std::string text =
      "tiles are handed out at run time to thread blocks that are free";
  if (plan.isLengthOfSegments())
    text +=
        ", of some rows of tiles beside each other, each from its " +
        std::string(plan.length == TileLength::GrowsInSegments ? "end"
                                                               : "beginning");
  else if (plan.length != TileLength::Varies)
    text += ", long ones first, in sections that stay in the L2 cache";
  if (findStoredRows())
    text += "; those of which no row is stored are left out";
  return text;
}

/// Why a kernel lacks what it could have.
static constexpr const char *leftOut = "the choice of plans leaves it out";

/// How the steps of a tile follow each other.
tile::Decision RoleKernel::stepDecision() const {
  switch (schedule.overlap) {
  case Overlap::Lagged:
    return {"overlap", "a product waits for the next step",
            "its operand is computed from another product: beside the next "
            "step's products it costs no time"};
  case Overlap::InFlight:
    return {"overlap", "all loops are one, whose products stay in flight",
            "steps only add products of copied tiles to sums: nothing in them "
            "waits for a result"};
  case Overlap::Apart:
    return {"overlap", "none",
            schedule.possible != Overlap::Apart
                ? leftOut
                : "not every loop has exactly one product that waits for "
                  "another of its step, and they do not only add products up"};
  }
  llvm_unreachable("all forms are handled");
}

/// How tiles follow each other.
tile::Decision RoleKernel::tileDecision() const {
  if (schedule.isPipelined())
    return {"pipeline", "tiles are one pipeline",
            "a tile's last product runs beside the first products of the "
            "next tile, whose operands fit in shared memory beside its own"};
  return {"pipeline", "each tile is finished before the next",
          !schedule.lags() ? "no product is left over at the end of a tile"
          : schedule.canPipeline() ? leftOut
          : schedule.residentStages > 1
              ? "a single warpgroup with rings of two slots waits for memory "
                "either way"
              : "the next tile's operands do not fit in shared memory beside "
                "this one's"};
}

/// `q 1 slot, k and v 2 slots`.
std::string RoleKernel::ringWords() {
  std::string text;
  auto add = [&](ArrayRef<BulkCopy> copies, int64_t depth) {
    for (auto [i, copy] : llvm::enumerate(copies)) {
      CopyOp op = copy.copy;
      StringRef separator = text.empty() ? "" : i ? " and " : ", ";
      text += separator.str() + source.getTensorName(op.getTensor()).str();
    }
    if (!copies.empty())
      text += " " + number(depth, "slot");
  };
  add(plan.resident, schedule.residentStages);
  add(plan.streamed[plan.loops.front()], schedule.stages);
  return text;
}

std::string RoleKernel::storeWords() {
  std::string text;
  for (BulkStore &store : plan.stores) {
    text +=
        (text.empty() ? "" : "; ") +
        source.getTensorName(store.store.getTensor()).str() +
        (schedule.host
             ? " staged in the slots of " +
                   source
                       .getTensorName(
                           plan.resident[*schedule.host].copy.getTensor())
                       .str()
             : std::string(" staged in shared memory")) +
        (schedule.storeParts > 1 ? " in " + number(schedule.storeParts, "part")
                                 : "") +
        ", then stored by TMA";
    if (store.rowExtent)
      text += " where rows end with a word of 16 bytes, else lane by lane";
    if (!store.conditions.empty())
      text += " where all rows of a warpgroup exist, else lane by lane";
  }
  for (auto &[store, why] : plan.laneStores)
    text += (text.empty() ? "" : "; ") +
            source.getTensorName(store.getTensor()).str() + " lane by lane";
  return text;
}

void RoleKernel::noteDecisions() {
  SmallVector<tile::Decision> decisions = tile::decisionsOf(source.getLoc());
  auto add = [&](StringRef what, const Twine &choice, const Twine &why) {
    decisions.push_back({what.str(), choice.str(), why.str()});
  };
  add("roles",
      "one thread copies, one orders tiles; " +
          number(plan.warpgroups, "warpgroup") + " of 64 rows multiply",
      "tensor maps describe every copy, and every product has 64 rows per "
      "warpgroup; where a tile lies is found one tile ahead of its use");
  add("registers",
      Twine(schedule.copyRegisters()) + " per thread that copies or orders, " +
          Twine(schedule.multiplyRegisters()) + " per thread that multiplies",
      "the warpgroups share the 65536 registers of a multiprocessor");
  add("rings", ringWords(),
      "as many slots as fit, from 2 to " + Twine(schedule.maxSlots) +
          (schedule.stages > schedule.maxSlots
               ? ", and one more for steps that a warpgroup "
                 "leaves out: "
               : ": ") +
          Twine(schedule.smemBytes) +
          " bytes of shared memory are taken; what is "
          "read once per tile has a second slot, for the next tile, where it "
          "fits");
  decisions.append({stepDecision(), tileDecision()});
  if (bool inTurn = schedule.takesTurns(); inTurn || schedule.lags())
    add("turns", inTurn ? "warpgroups multiply in turn" : "none",
        inTurn                 ? "while one multiplies another computes"
        : plan.warpgroups == 1 ? "there is one warpgroup"
                               : leftOut);
  if (schedule.isBackward())
    add("steps", "from the last to the first",
        "masked steps come first, where no maximum is speculated on");
  else if (schedule.hasIdleSteps())
    add("steps", "a warpgroup leaves out steps of which its rows see nothing",
        "the rows of a tile end at different steps");
  if (schedule.joinsLoops())
    add("loops", "one for steps with masks and without",
        "a step's code is there once instead of three times; a branch masks "
        "the scores of those that need it");
  else if (schedule.lags() && plan.loops.size() == 1 &&
           schedule.masksInBranch(plan.loops.front()))
    add("loops", "one for steps with masks and without",
        "only memory says where a step begins: a branch masks the scores of "
        "those that are cut");
  else if (wholeBranchOf(plan.loops.front()))
    add("loops", "one for steps with masks and without",
        "products that lag a step and vectors of the next one go on where "
        "masks end; a branch has what each kind of step computes");
  if (schedule.lags())
    add("softmax",
        schedule.softmax.empty() ? "exact in every step"
                                 : "speculates on the maximum",
        schedule.softmax.empty()
            ? schedule.canSpeculate
                  ? leftOut
                  : "its loops have no softmax whose weights are only narrowed"
            : "weights against the maximum of the steps before need no new "
              "one, as exponents of 2; the first step of a tile, and a warp "
              "whose sums grow past a limit, take the exact step");
  std::string order = lengthWords(plan.length);
  if (plan.length == TileLength::Equal && sharesOperands())
    order += "; neighbours share operands, which then stay in the L2 cache";
  add("launch", "persistent: " + orderWords(), order);
  std::string why;
  for (auto &[store, reason] : plan.laneStores)
    why += (why.empty() ? "" : "; ") +
           source.getTensorName(store.getTensor()).str() + ": " + reason;
  bool hasBoth = llvm::any_of(plan.stores, [](const BulkStore &store) {
    return bool(store.rowExtent);
  });
  if (!plan.stores.empty())
    why += std::string(why.empty() ? "" : "; ") +
           "the tensor map clips what lies outside" +
           (schedule.storeParts > 1
                ? "; all columns at once do not fit in shared "
                  "memory, so each part is computed where it is "
                  "stored"
                : "") +
           (hasBoth ? "; bulk stores write whole words of 16 bytes" : "");
  std::string stores = storeWords();
  if (!stores.empty())
    add("results", stores, why);
  for (const tile::Decision &decision : decisions)
    tile::noteDecision(target, decision);
}

} // namespace selvedge::schedule
