// sm-async-copies: copies become asynchronous, their loops pipelined.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Passes.h"
#include "dialect/Tile/Decisions.h"
#include "dialect/Tile/Provenance.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace selvedge::schedule {

#define GEN_PASS_DEF_SMASYNCCOPIES
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::sm;

/// The operations of the copy's block that it needs, in program order; fails
/// where they depend on what a loop carries or have effects, so that the copy
/// cannot be issued ahead of them.
FailureOr<SmallVector<Operation *>> slice(CopyOp copy) {
  Block *block = copy->getBlock();
  Region *region = block->getParent();
  auto loop = dyn_cast<scf::ForOp>(block->getParentOp());
  llvm::SetVector<Operation *> found;
  SmallVector<Value> worklist(copy->getOperands());
  while (!worklist.empty()) {
    Value v = worklist.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(v)) {
      bool inside = region->isAncestor(argument.getOwner()->getParent());
      if (inside && !(loop && argument == loop.getInductionVar()))
        return failure();
      continue;
    }
    Operation *def = v.getDefiningOp();
    if (!region->isAncestor(def->getParentRegion()))
      continue;
    if (def->getBlock() != block ||
        !(isMemoryEffectFree(def) || isa<LoadOp>(def)))
      return failure();
    if (found.insert(def))
      llvm::append_range(worklist, def->getOperands());
  }
  SmallVector<Operation *> ordered = found.takeVector();
  llvm::sort(ordered,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ordered;
}

/// The scalar that all lanes of a tile hold; null where they may differ.
Value uniformOf(OpBuilder &b, Value tile) {
  Operation *def = tile.getDefiningOp();
  if (auto splat = dyn_cast_if_present<SplatOp>(def))
    return splat.getValue();
  auto constant = dyn_cast_if_present<arith::ConstantOp>(def);
  auto dense = constant ? dyn_cast<SplatElementsAttr>(constant.getValue())
                        : SplatElementsAttr();
  return dense ? arith::ConstantOp::create(b, tile.getLoc(),
                                           dense.getSplatValue<TypedAttr>())
               : Value();
}

/// The index of a tile's first element, of an index that grows by one from
/// element to element: a range, or one that is shifted by what all lanes share.
/// Null for others, that are gathered, say.
Value firstOf(OpBuilder &b, Value index) {
  Operation *def = index.getDefiningOp();
  if (auto range = dyn_cast_if_present<RangeOp>(def))
    return range.getStart();
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp>(def))
    return {};
  bool isSum = isa<arith::AddIOp>(def);
  Value base = def->getOperand(0), shift = def->getOperand(1);
  Value first = firstOf(b, base), by = uniformOf(b, shift);
  if (isSum && !first) {
    first = firstOf(b, shift);
    by = uniformOf(b, base);
  }
  if (!first || !by)
    return {};
  return isSum
             ? arith::AddIOp::create(b, index.getLoc(), first, by).getResult()
             : arith::SubIOp::create(b, index.getLoc(), first, by).getResult();
}

/// Shifted ranges become ranges of their own: who reads a tile says where it
/// begins.
void straighten(CopyOp copy) {
  OpBuilder b(copy);
  for (OpOperand &index : copy.getIndicesMutable()) {
    Value tile = index.get();
    if (tile.getType().isInteger() || tile.getDefiningOp<RangeOp>())
      continue;
    if (Value first = firstOf(b, tile))
      index.set(RangeOp::create(b, tile.getLoc(), tile.getType(), first));
  }
}

/// Whether a reader can say where the tile lies that a copy brings.
bool hasPlace(CopyOp copy) {
  return llvm::all_of(copy.getIndices(), [](Value index) {
    return index.getType().isInteger() || index.getDefiningOp<RangeOp>();
  });
}

/// A copy that can be issued at the beginning of its block, and what it needs
/// of that.
struct Ahead {
  CopyOp copy;
  SmallVector<Operation *> ops;
};

/// Those of a block, into buffers that a ring can replace.
SmallVector<Ahead> copiesAhead(Block *block) {
  SmallVector<Ahead> copies;
  for (auto copy : block->getOps<CopyOp>()) {
    FailureOr<SmallVector<Operation *>> ops = slice(copy);
    if (succeeded(ops) && copy.getBuffer().getDefiningOp<AllocOp>() &&
        hasPlace(copy))
      copies.push_back({copy, *ops});
  }
  return copies;
}

/// The copy, issued into a buffer.
CopyAsyncOp issue(OpBuilder &b, CopyOp copy, Value buffer) {
  return CopyAsyncOp::create(b, copy.getLoc(), TokenType::get(b.getContext()),
                             copy.getTensor(), copy.getIndices(),
                             copy.getPresence(), buffer, copy.getLayout(),
                             copy.getVector(), copy.getGarbage());
}

/// Rings of the loops and branches of one block. They run one after the other,
/// and each ends with all its copies awaited and a barrier: they share rings.
/// Beside each the tensor that it was made for.
using RingPool = SmallVector<std::pair<Value, Value>>;

/// The rings of one of them.
class Rings {
public:
  Rings(int64_t stages, RingPool &pool) : stages(stages), pool(pool) {}

  int64_t getStages() const { return stages; }

  /// Gives the buffers of copies a ring each: one that held the same tensor
  /// before if there is one, so that what it is read for tells what it holds.
  void add(ArrayRef<CopyOp> copies) {
    for (bool isSame : {true, false})
      for (CopyOp copy : copies) {
        auto alloc = copy.getBuffer().getDefiningOp<AllocOp>();
        if (rings.contains(alloc))
          continue;
        BufferType type = alloc.getType().withStages(stages);
        auto found = llvm::find_if(pool, [&](auto &known) {
          auto [ring, tensor] = known;
          return ring.getType() == type &&
                 (!isSame || tensor == copy.getTensor()) &&
                 llvm::none_of(rings, [ring = ring](auto &own) {
                   return own.second == ring;
                 });
        });
        if (found != pool.end()) {
          rings[alloc] = found->first;
        } else if (!isSame) {
          OpBuilder b(alloc);
          rings[alloc] = AllocOp::create(b, alloc.getLoc(), type);
          pool.push_back({rings[alloc], copy.getTensor()});
        }
      }
  }

  /// The slot that `copy` fills.
  Value slotToFill(OpBuilder &b, CopyOp copy, Value stage) {
    return SlotOp::create(b, tile::withoutNote(copy.getLoc()),
                          copy.getBuffer().getType(), rings[copy.getBuffer()],
                          stage);
  }

  /// The slot that holds what `copy` brings, and says so.
  Value slotToRead(OpBuilder &b, CopyOp copy, Value stage,
                   const IRMapping &mapping) {
    SmallVector<Value> indices, presence;
    for (Value index : copy.getIndices()) {
      if (auto range = index.getDefiningOp<RangeOp>())
        index = range.getStart();
      indices.push_back(mapping.lookupOrDefault(index));
    }
    for (Value p : copy.getPresence())
      presence.push_back(mapping.lookupOrDefault(p));
    return SlotOp::create(b, tile::withoutNote(copy.getLoc()),
                          copy.getBuffer().getType(), rings[copy.getBuffer()],
                          stage, indices, presence, copy.getGarbage());
  }

  /// Erases the buffers that have a ring instead.
  void eraseBuffers() {
    for (auto &[buffer, ring] : rings)
      if (buffer.use_empty())
        buffer.getDefiningOp()->erase();
  }

private:
  int64_t stages;
  RingPool &pool;
  llvm::MapVector<Value, Value> rings;
};

/// The first and the last operation of the copy's block, behind it, that read
/// what it brings or contain who does.
std::pair<Operation *, Operation *> readers(CopyOp copy) {
  Operation *first = nullptr, *last = nullptr;
  for (Operation *user : copy.getBuffer().getUsers()) {
    Operation *here = copy->getBlock()->findAncestorOpInBlock(*user);
    if (!here || here == copy || !copy->isBeforeInBlock(here))
      continue;
    if (!first || here->isBeforeInBlock(first))
      first = here;
    if (!last || last->isBeforeInBlock(here))
      last = here;
  }
  return {first, last};
}

/// Copies of which a loop has one buffer each: those whose readers come first,
/// the last of these, and those whose readers come behind it.
struct Halves {
  SmallVector<Ahead> early, late;
  Operation *last = nullptr;

  explicit operator bool() const { return !early.empty() && !late.empty(); }
};

/// Nothing where they do not come one after the other.
Halves halvesOf(ArrayRef<Ahead> copies) {
  Operation *first = nullptr;
  for (const Ahead &ahead : copies) {
    Operation *reader = readers(ahead.copy).first;
    if (!reader)
      return {};
    if (!first || reader->isBeforeInBlock(first))
      first = reader;
  }
  Halves halves;
  for (const Ahead &ahead : copies) {
    auto [from, to] = readers(ahead.copy);
    bool isEarly = from == first;
    (isEarly ? halves.early : halves.late).push_back(ahead);
    if (isEarly && (!halves.last || halves.last->isBeforeInBlock(to)))
      halves.last = to;
  }
  bool isApart = llvm::all_of(halves.late, [&](Ahead &ahead) {
    return halves.last->isBeforeInBlock(readers(ahead.copy).first);
  });
  return isApart ? halves : Halves();
}

class Pipeliner {
public:
  Pipeliner(scf::ForOp loop, Rings rings)
      : loop(loop), rings(std::move(rings)) {}

  /// Pipelines the copies of the loop's own block that allow it.
  void run() {
    copies = copiesAhead(loop.getBody());
    if (copies.empty())
      return;
    rings.add(llvm::map_to_vector(
        copies, [](const Ahead &ahead) { return ahead.copy; }));
    Halves halves;
    if (rings.getStages() > 1)
      rewrite();
    else if ((halves = halvesOf(copies)))
      alternate(halves);
    else
      refill();
  }

private:
  /// Issues `copies` for the iteration at `index` into `stage`; returns the
  /// last token (groups complete in order).
  Value issue(OpBuilder &b, Value index, Value stage, ArrayRef<Ahead> copies) {
    Value token;
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), index);
    // A predicate that the loop's bounds imply may have been dropped; it does
    // not hold one iteration ahead.
    Value exists =
        arith::CmpIOp::create(b, loop.getLoc(), arith::CmpIPredicate::slt,
                              index, loop.getUpperBound());
    for (const auto &[of, ops] : copies) {
      CopyOp copy = of;
      for (Operation *op : ops)
        if (!mapping.contains(op))
          if (auto load = dyn_cast<LoadOp>(b.clone(*op, mapping)))
            load.getPresenceMutable().append(exists);
      auto lookup = [&](ValueRange values) {
        return llvm::map_to_vector(
            values, [&](Value v) { return mapping.lookupOrDefault(v); });
      };
      Value slot = rings.slotToFill(b, copy, stage);
      SmallVector<Value> presence = lookup(copy.getPresence());
      presence.push_back(exists);
      token = CopyAsyncOp::create(
          b, copy.getLoc(), TokenType::get(b.getContext()), copy.getTensor(),
          lookup(copy.getIndices()), presence, slot, copy.getLayout(),
          copy.getVector(), copy.getGarbage());
    }
    return token;
  }

  void rewrite() {
    Location loc = loop.getLoc();
    OpBuilder b(loop);
    Value zero = arith::ConstantIntOp::create(b, loc, 0, 32);
    SmallVector<Value> inits(loop.getInitArgs());
    inits.push_back(zero);
    inits.push_back(issue(b, loop.getLowerBound(), zero, copies));
    auto pipelined =
        scf::ForOp::create(b, loc, loop.getLowerBound(), loop.getUpperBound(),
                           loop.getStep(), inits);
    if (loop.getInitArgs().empty() && !pipelined.getBody()->empty())
      pipelined.getBody()->getTerminator()->erase();
    unsigned carried = loop.getInitArgs().size();
    Value stage = pipelined.getRegionIterArgs()[carried],
          token = pipelined.getRegionIterArgs()[carried + 1];

    OpBuilder in = OpBuilder::atBlockBegin(pipelined.getBody());
    AwaitOp::create(in, loc, token);
    BarrierOp::create(in, loc);
    Value next = arith::AddIOp::create(
        in, loc, stage, arith::ConstantIntOp::create(in, loc, 1, 32));
    Value wraps = arith::CmpIOp::create(
        in, loc, arith::CmpIPredicate::eq, next,
        arith::ConstantIntOp::create(in, loc, rings.getStages(), 32));
    next = arith::SelectOp::create(in, loc, wraps, zero, next);
    // Past the last iteration every lane is absent: the copy touches no memory
    // and fills a stage that nobody reads.
    Value ahead = arith::AddIOp::create(in, loc, pipelined.getInductionVar(),
                                        loop.getStep());
    Value nextToken = issue(in, ahead, next, copies);

    IRMapping mapping;
    mapping.map(loop.getInductionVar(), pipelined.getInductionVar());
    for (auto [from, to] :
         llvm::zip(loop.getRegionIterArgs(), pipelined.getRegionIterArgs()))
      mapping.map(from, to);
    for (Operation &op : loop.getBody()->without_terminator())
      if (llvm::none_of(copies, [&](Ahead &a) { return a.copy == &op; }))
        in.clone(op, mapping);
      else
        mapping.map(cast<CopyOp>(op).getBuffer(),
                    rings.slotToRead(in, cast<CopyOp>(op), stage, mapping));
    SmallVector<Value> yields;
    for (Value v :
         cast<scf::YieldOp>(loop.getBody()->getTerminator()).getResults())
      yields.push_back(mapping.lookupOrDefault(v));
    yields.push_back(next);
    yields.push_back(nextToken);
    scf::YieldOp::create(in, loc, yields);

    b.setInsertionPointAfter(pipelined);
    // No copy may be in flight when the buffers are reused or the kernel ends.
    AwaitOp::create(b, loc, pipelined.getResult(carried + 1));
    BarrierOp::create(b, loc);
    for (auto [from, to] : llvm::zip(loop.getResults(), pipelined.getResults()))
      from.replaceAllUsesWith(to);
    loop.erase();
    rings.eraseBuffers();
  }

  /// One buffer for each copy: what is read first comes while the rest of a
  /// step is computed, what is read later while the first is.
  void alternate(const Halves &halves) {
    Location loc = loop.getLoc();
    OpBuilder b(loop);
    Value zero = arith::ConstantIntOp::create(b, loc, 0, 32);
    SmallVector<Value> inits(loop.getInitArgs());
    inits.push_back(issue(b, loop.getLowerBound(), zero, halves.early));
    auto pipelined =
        scf::ForOp::create(b, loc, loop.getLowerBound(), loop.getUpperBound(),
                           loop.getStep(), inits);
    if (loop.getInitArgs().empty() && !pipelined.getBody()->empty())
      pipelined.getBody()->getTerminator()->erase();
    OpBuilder in = OpBuilder::atBlockBegin(pipelined.getBody());
    // All readers of the step before are done behind the barrier.
    AwaitOp::create(in, loc, pipelined.getRegionIterArgs().back());
    BarrierOp::create(in, loc);
    Value late = issue(in, pipelined.getInductionVar(), zero, halves.late);
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), pipelined.getInductionVar());
    for (auto [from, to] :
         llvm::zip(loop.getRegionIterArgs(), pipelined.getRegionIterArgs()))
      mapping.map(from, to);
    auto isIn = [](ArrayRef<Ahead> copies, Operation &op) {
      return llvm::any_of(copies,
                          [&](const Ahead &a) { return a.copy == &op; });
    };
    auto read = [&](CopyOp copy) {
      mapping.map(copy.getBuffer(), rings.slotToRead(in, copy, zero, mapping));
    };
    Value next;
    SmallVector<CopyOp> postponed;
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (isIn(halves.early, op)) {
        read(cast<CopyOp>(op));
      } else if (isIn(halves.late, op)) {
        if (next)
          read(cast<CopyOp>(op));
        else
          postponed.push_back(cast<CopyOp>(op));
      } else {
        in.clone(op, mapping);
      }
      if (&op != halves.last)
        continue;
      AwaitOp::create(in, loc, late);
      BarrierOp::create(in, loc);
      Value ahead = arith::AddIOp::create(in, loc, pipelined.getInductionVar(),
                                          loop.getStep());
      next = issue(in, ahead, zero, halves.early);
      llvm::for_each(postponed, read);
    }
    SmallVector<Value> yields;
    for (Value v :
         cast<scf::YieldOp>(loop.getBody()->getTerminator()).getResults())
      yields.push_back(mapping.lookupOrDefault(v));
    yields.push_back(next);
    scf::YieldOp::create(in, loc, yields);
    b.setInsertionPointAfter(pipelined);
    AwaitOp::create(b, loc, pipelined.getResults().back());
    BarrierOp::create(b, loc);
    for (auto [from, to] : llvm::zip(loop.getResults(), pipelined.getResults()))
      from.replaceAllUsesWith(to);
    loop.erase();
    rings.eraseBuffers();
  }

  /// One buffer for each copy, which is issued again behind its last reader.
  void refill() {
    Location loc = loop.getLoc();
    OpBuilder b(loop);
    Value zero = arith::ConstantIntOp::create(b, loc, 0, 32);
    // Copies complete in order: as they are issued in a step.
    llvm::sort(copies, [](const Ahead &a, const Ahead &b) {
      Operation *lastOfA = readers(a.copy).second,
                *lastOfB = readers(b.copy).second;
      return lastOfA == lastOfB
                 ? CopyOp(a.copy)->isBeforeInBlock(CopyOp(b.copy))
                 : lastOfA->isBeforeInBlock(lastOfB);
    });
    SmallVector<Value> inits(loop.getInitArgs());
    for (const Ahead &ahead : copies)
      inits.push_back(issue(b, loop.getLowerBound(), zero, ahead));
    auto pipelined =
        scf::ForOp::create(b, loc, loop.getLowerBound(), loop.getUpperBound(),
                           loop.getStep(), inits);
    if (loop.getInitArgs().empty() && !pipelined.getBody()->empty())
      pipelined.getBody()->getTerminator()->erase();
    OpBuilder in = OpBuilder::atBlockBegin(pipelined.getBody());
    ValueRange carried = pipelined.getRegionIterArgs();
    ValueRange arriving = carried.take_back(copies.size());
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), pipelined.getInductionVar());
    mapping.map(loop.getRegionIterArgs(), carried.drop_back(copies.size()));
    SmallVector<Value> next(copies.size());
    // Those that have arrived in this step: with one all before it.
    size_t arrived = 0;
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (llvm::any_of(copies, [&](Ahead &a) { return a.copy == &op; }))
        continue;
      bool isLast = false;
      size_t needed = arrived;
      for (auto [i, ahead] : llvm::enumerate(copies))
        if (readers(ahead.copy).first == &op)
          needed = std::max(needed, i + 1);
      if (needed > arrived) {
        AwaitOp::create(in, loc, arriving[needed - 1]);
        BarrierOp::create(in, loc);
        arrived = needed;
      }
      for (Ahead &ahead : copies)
        if (readers(ahead.copy).first == &op)
          mapping.map(ahead.copy.getBuffer(),
                      rings.slotToRead(in, ahead.copy, zero, mapping));
      in.clone(op, mapping);
      for (auto [ahead, token] : llvm::zip_equal(copies, next)) {
        if (readers(ahead.copy).second != &op)
          continue;
        if (!isLast)
          BarrierOp::create(in, loc);
        isLast = true;
        token = issue(in,
                      arith::AddIOp::create(
                          in, loc, pipelined.getInductionVar(), loop.getStep()),
                      zero, ahead);
      }
    }
    SmallVector<Value> yields;
    for (Value v :
         cast<scf::YieldOp>(loop.getBody()->getTerminator()).getResults())
      yields.push_back(mapping.lookupOrDefault(v));
    llvm::append_range(yields, next);
    scf::YieldOp::create(in, loc, yields);
    b.setInsertionPointAfter(pipelined);
    AwaitOp::create(b, loc, pipelined.getResults().back());
    BarrierOp::create(b, loc);
    for (auto [from, to] : llvm::zip(loop.getResults(), pipelined.getResults()))
      from.replaceAllUsesWith(to);
    loop.erase();
    rings.eraseBuffers();
  }

  scf::ForOp loop;
  Rings rings;
  SmallVector<Ahead> copies;
};

Operation *firstUse(CopyOp copy) { return readers(copy).first; }

/// The copy of the loop's block that steps of a pipelined loop await first, in
/// front of a barrier; null for other loops.
CopyAsyncOp awaitsAtBegin(scf::ForOp loop) {
  auto await = dyn_cast<AwaitOp>(loop.getBody()->front());
  if (!await || !isa_and_nonnull<BarrierOp>(await->getNextNode()))
    return {};
  OpOperand *first =
      loop.getTiedLoopInit(dyn_cast<BlockArgument>(Value(await.getToken())));
  auto copy = first ? first->get().getDefiningOp<CopyAsyncOp>() : nullptr;
  return copy && copy->getBlock() == loop->getBlock() ? copy : nullptr;
}

/// Whether `reader` is a pipelined loop that is entered after `copy`: copies
/// complete in order, so that its awaits, and the one after it, cover the copy.
bool awaits(Operation *reader, CopyAsyncOp copy) {
  auto loop = dyn_cast_or_null<scf::ForOp>(reader);
  CopyAsyncOp later = loop ? awaitsAtBegin(loop) : nullptr;
  return later && later->getBlock() == copy->getBlock() &&
         copy->isBeforeInBlock(later);
}

/// Whether `op`, or what it contains, uses `buffer`.
bool contains(Operation &op, Value buffer) {
  return op
      .walk([&](Operation *inner) {
        return llvm::is_contained(inner->getOperands(), buffer)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether a copy of the same block, issued in it, is awaited before `op`, and
/// a barrier follows.
bool isBehindAwait(Operation *op) {
  for (Operation *before = op->getPrevNode(); before;
       before = before->getPrevNode())
    if (auto await = dyn_cast<AwaitOp>(before))
      if (isa_and_nonnull<BarrierOp>(await->getNextNode()) &&
          await.getToken().getDefiningOp<CopyAsyncOp>())
        return true;
  return false;
}

/// Whether all that reads `buffer` inside of `op` is behind an await of a copy
/// that is issued in there, which completes after whatever was issued before.
bool readsBehindAwaits(Operation *op, Value buffer) {
  auto isCovered = [&](Operation &inner) {
    auto loop = dyn_cast<scf::ForOp>(inner);
    return isBehindAwait(&inner) || (loop && awaitsAtBegin(loop)) ||
           readsBehindAwaits(&inner, buffer);
  };
  return op->getNumRegions() > 0 &&
         llvm::all_of(op->getRegions(), [&](Region &region) {
           return llvm::all_of(region.getOps(), [&](Operation &inner) {
             return !contains(inner, buffer) || isCovered(inner);
           });
         });
}

/// Awaits a copy before its reader, or at the end of its block.
void await(CopyAsyncOp copy, Operation *reader) {
  OpBuilder b(reader ? reader : copy->getBlock()->getTerminator());
  Location place = tile::withoutNote(copy.getLoc());
  AwaitOp::create(b, place, copy.getToken());
  BarrierOp::create(b, place);
}

/// The operation behind all that awaits copies at `op`.
Operation *behindAwaits(Operation *op) {
  while (isa<AwaitOp, BarrierOp>(op))
    op = op->getNextNode();
  return op;
}

/// Issues a copy where it stands and awaits it before its first reader, or
/// where later copies are awaited that complete after it.
void issueInPlace(CopyOp copy) {
  OpBuilder b(copy);
  Location place = tile::withoutNote(copy.getLoc());
  // In a loop the buffer's readers of the last iteration must be done first.
  if (copy->getParentOfType<scf::ForOp>())
    BarrierOp::create(b, place);
  CopyAsyncOp issued = issue(b, copy, copy.getBuffer());
  Operation *reader = firstUse(copy);
  if (reader && readsBehindAwaits(reader, copy.getBuffer()))
    await(issued, behindAwaits(reader->getNextNode()));
  else if (!awaits(reader, issued))
    await(issued, reader);
  copy.erase();
}

/// Issues the copies of a branch at its beginning, as far as they allow it, in
/// slots of the loops beside it, and awaits each before its first reader.
void issueFirst(scf::IfOp branch, Rings rings) {
  Block *block = branch.thenBlock();
  SmallVector<CopyOp> copies;
  llvm::SmallPtrSet<Operation *, 16> first;
  for (Ahead &ahead : copiesAhead(block)) {
    copies.push_back(ahead.copy);
    first.insert_range(ahead.ops);
    first.insert(ahead.copy);
  }
  if (copies.empty())
    return;
  Operation *rest = &block->front();
  while (first.contains(rest))
    rest = rest->getNextNode();
  for (Operation &op : llvm::make_early_inc_range(*block))
    if (first.contains(&op) && rest->isBeforeInBlock(&op))
      op.moveBefore(rest);
  // Copies complete in order: of several that one operation reads first the
  // last one is awaited.
  SmallVector<Operation *> readers = llvm::map_to_vector(copies, firstUse);
  rings.add(copies);
  for (auto [i, copy] : llvm::enumerate(copies)) {
    OpBuilder b(copy);
    Value zero = arith::ConstantIntOp::create(b, copy.getLoc(), 0, 32);
    CopyAsyncOp issued = issue(b, copy, rings.slotToFill(b, copy, zero));
    if (!llvm::is_contained(ArrayRef(readers).drop_front(i + 1), readers[i]))
      await(issued, readers[i]);
    Value slot = rings.slotToRead(b, copy, zero, {});
    copy.getBuffer().replaceUsesWithIf(slot, [&](OpOperand &use) {
      return block->findAncestorOpInBlock(*use.getOwner()) &&
             use.getOwner() != copy;
    });
    copy.erase();
  }
  rings.eraseBuffers();
  OpBuilder b(branch);
  b.setInsertionPointAfter(branch);
  BarrierOp::create(b, branch.getLoc());
}

/// Copies issued after the token's and before `await` on every path; 0, which
/// waits for more than needed, where the token was carried around a loop.
int64_t issuedAfter(AwaitOp await) {
  auto copy = await.getToken().getDefiningOp<CopyAsyncOp>();
  if (!copy || copy->getBlock() != await->getBlock())
    return 0;
  int64_t count = 0;
  for (Operation *op = copy->getNextNode(); op != await; op = op->getNextNode())
    count += isa<CopyAsyncOp>(op);
  return count;
}

/// Whether a store overwrites what threads of the kernel load.
bool storesInPlace(Operation *op) {
  auto store = dyn_cast<StoreOp>(op);
  return store && llvm::any_of(store.getTensor().getUsers(),
                               llvm::IsaPred<LoadOp, CopyOp, CopyAsyncOp>);
}

/// Erases a barrier behind which no one touches shared memory, nor stores what
/// others may still load.
void dropLastBarrier(KernelOp kernel) {
  auto touchesShared = [](Operation *op) {
    return isa<AwaitOp, BarrierOp>(op) || storesInPlace(op) ||
           llvm::any_of(op->getOperandTypes(), llvm::IsaPred<BufferType>);
  };
  for (Operation &op : llvm::reverse(kernel.getBody().front())) {
    if (isa<BarrierOp>(op)) {
      op.erase();
      return;
    }
    if (op.walk([&](Operation *inner) {
            return touchesShared(inner) ? WalkResult::interrupt()
                                        : WalkResult::advance();
          }).wasInterrupted())
      return;
  }
}

/// Whether all have met since somebody read `buffer`, as far as the block of
/// `op` shows.
bool haveMetBefore(Operation *op, Value buffer) {
  while ((op = op->getPrevNode())) {
    if (isa<BarrierOp>(op))
      return true;
    if (contains(*op, buffer))
      return false;
  }
  return false;
}

/// Erases barriers in front of what is staged where another one stands between
/// it and the buffer's last readers: that of the copies, for example.
void dropStageBarriers(KernelOp kernel) {
  SmallVector<BarrierOp> unneeded;
  kernel.walk([&](StageOp stage) {
    auto barrier = dyn_cast_or_null<BarrierOp>(stage->getPrevNode());
    // That behind an await lets others see what has arrived.
    if (barrier && !isa_and_nonnull<AwaitOp>(barrier->getPrevNode()) &&
        haveMetBefore(barrier, stage.getBuffer()))
      unneeded.push_back(barrier);
  });
  for (BarrierOp barrier : unneeded)
    barrier.erase();
}

/// What a thread block may take on every GPU that runs code for SM80 (99 KB on
/// 8.6, 8.9 and 12.0); where there is most, 227 KB, two such blocks run beside
/// each other.
constexpr int64_t sharedEverywhere = 99 * 1024;
/// More warps fill a multiprocessor by themselves.
constexpr int64_t fewWarps = 4;

struct SmAsyncCopiesPass : impl::SmAsyncCopiesBase<SmAsyncCopiesPass> {
  using SmAsyncCopiesBase::SmAsyncCopiesBase;

  /// What a thread block of the kernel's devices has.
  int64_t sharedLimit() {
    tile::SourceAttr source = getOperation().getSourceAttr();
    int64_t ofVersion = source ? source.getVersion().getShared() : 0;
    return ofVersion ? ofVersion : int64_t(shared);
  }

  /// Whether with a buffer each, and not with two, a block of few warps leaves
  /// room for a second one: both loops and branches can do with one. Or whether
  /// two are more than there is.
  bool takesOneBuffer(ArrayRef<Operation *> pipelines) {
    int64_t all = 0, ofLoops = 0, most = 0;
    for (auto alloc : getOperation().getOps<AllocOp>())
      all += alloc.getType().getBytes();
    bool canAlternate = true, hasLoop = false;
    for (Operation *op : pipelines) {
      SmallVector<Ahead> copies = copiesAhead(&op->getRegion(0).front());
      int64_t bytes = 0;
      for (Ahead &ahead : copies)
        bytes += ahead.copy.getBuffer().getType().getBytes();
      ofLoops += bytes;
      most = std::max(most, bytes);
      if (!isa<scf::ForOp>(op) || copies.empty())
        continue;
      if (llvm::any_of(copies, [](const Ahead &ahead) {
            return !readers(ahead.copy).first;
          }))
        return false;
      canAlternate &= static_cast<bool>(halvesOf(copies));
      hasLoop = true;
    }
    int64_t rest = all - ofLoops;
    if (int64_t limit = sharedLimit();
        hasLoop && limit && rest + 2 * most > limit && rest + most <= limit)
      return true;
    return hasLoop && canAlternate && getOperation().getWarps() <= fewWarps &&
           rest + 2 * most > sharedEverywhere &&
           rest + most <= sharedEverywhere;
  }

  void runOnOperation() override {
    getOperation()->walk(straighten);
    SmallVector<Operation *> pipelines;
    getOperation()->walk([&](Operation *op) {
      if (isa<scf::ForOp, scf::IfOp>(op))
        pipelines.push_back(op);
    });
    int64_t buffers = stages == 2 && takesOneBuffer(pipelines) ? 1 : stages;
    llvm::MapVector<Block *, RingPool> pools;
    for (Operation *op : pipelines) {
      Rings rings(buffers, pools[op->getBlock()]);
      if (auto loop = dyn_cast<scf::ForOp>(op))
        Pipeliner(loop, rings).run();
      else
        issueFirst(cast<scf::IfOp>(op), rings);
    }
    bool isPipelined = llvm::any_of(
        pools, [](const auto &entry) { return !entry.second.empty(); });
    SmallVector<CopyOp> rest;
    getOperation()->walk([&](CopyOp copy) { rest.push_back(copy); });
    if (isPipelined || !rest.empty())
      tile::noteDecision(
          getOperation(),
          {"copies",
           !isPipelined ? "awaited before their first use"
           : buffers == 1
               ? "less than a step ahead, a buffer for each copy of a loop"
               : "one step ahead, " + std::to_string(buffers) +
                     " buffers for each copy of a loop",
           !isPipelined ? "no loop has a copy that can be issued ahead"
           : buffers == 1
               ? "each arrives while the others are used; with two buffers a "
                 "thread block would not fit every GPU, nor two of them one"
               : "the next step's tiles arrive during this one"});
    for (CopyOp copy : rest)
      issueInPlace(copy);
    if (isPipelined || !rest.empty())
      dropLastBarrier(getOperation());
    dropStageBarriers(getOperation());
    getOperation()->walk(
        [](AwaitOp await) { await.setPending(issuedAfter(await)); });
  }
};

} // namespace
} // namespace selvedge::schedule
