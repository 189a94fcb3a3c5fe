// Which tiles a thread block of a kernel with roles executes, and when.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Roles/RoleKernel.h"

#include "dialect/Sm/SmScheduler.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/AffineExprVisitor.h"
#include "mlir/Transforms/RegionUtils.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

/// What is posted after the last tile.
static constexpr int64_t noTileWord = -1;
/// What the loops of the tiles at work read should stay in the L2 cache: beside
/// what else passes through it, a third of its 50 MB.
static constexpr int64_t cachedBytes = 16 << 20;
/// Wider keys than those that this is measured with (heads of 128, H200) take
/// as many rows beside each other, though less of them stays (heads of 256: 3,
/// 7 and 8 % at sequences of 4k, 8k and 16k).
static constexpr int64_t cachedKeyBytes = 512, sectionRows = 16;

namespace {

/// Emits an affine expression over dims as 32-bit arithmetic.
class DimArithmetic : public AffineExprVisitor<DimArithmetic, Value> {
public:
  DimArithmetic(OpBuilder &b, Location loc, ArrayRef<Value> dims)
      : b(b), loc(loc), dims(dims) {}

  Value visitConstantExpr(AffineConstantExpr e) {
    return arith::ConstantIntOp::create(b, loc, e.getValue(), 32);
  }
  Value visitSymbolExpr(AffineSymbolExpr e) { return dims[e.getPosition()]; }
  Value visitAddExpr(AffineBinaryOpExpr e) { return binary<arith::AddIOp>(e); }
  Value visitMulExpr(AffineBinaryOpExpr e) { return binary<arith::MulIOp>(e); }
  Value visitModExpr(AffineBinaryOpExpr e) { return binary<arith::RemUIOp>(e); }
  Value visitFloorDivExpr(AffineBinaryOpExpr e) {
    return binary<arith::DivUIOp>(e);
  }
  Value visitCeilDivExpr(AffineBinaryOpExpr e) {
    return binary<arith::CeilDivSIOp>(e);
  }
  Value visitDimExpr(AffineDimExpr) {
    llvm_unreachable("launches have dims as symbols");
  }

private:
  template <typename Op>
  Value binary(AffineBinaryOpExpr e) {
    Value lhs = visit(e.getLHS()), rhs = visit(e.getRHS());
    return Op::create(b, loc, lhs, rhs);
  }

  OpBuilder &b;
  Location loc;
  ArrayRef<Value> dims;
};

} // namespace

void RoleKernel::countTiles() {
  ArrayAttr names = launch->getParentOfType<PlanOp>().getDims();
  SmallVector<Value> dims(names.size());
  for (auto [attr, argument] :
       llvm::zip_equal(target.getArgs(), target.getBody().getArguments()))
    if (auto dim = dyn_cast<DimArgAttr>(attr))
      dims[llvm::find(names, dim.getDim()) - names.begin()] = argument;
  for (AffineExpr extent : launch.getGrid().getResults()) {
    tilesInRow = DimArithmetic(b, loc, dims).visit(extent);
    tileCounts.push_back(tilesInRow);
    tiles = tiles ? arith::MulIOp::create(b, loc, tiles, tilesInRow).getResult()
                  : tilesInRow;
  }
  if (takesPairsFirst())
    tilesInRow = tileCounts.front();
}

void RoleKernel::mapTile(Value tile, IRMapping &mapping) {
  if (takesPairsFirst())
    tile = add(mul(arith::RemUIOp::create(b, loc, tile, tilesInRow),
                   div(tiles, tilesInRow)),
               div(tile, tilesInRow));
  for (auto block : source.getBody().getOps<BlockIdOp>())
    mapping.map(block.getResult(), tile);
}

/// Whether a scalar is computed from results of `parts`.
static bool dependsOn(Value v,
                      const llvm::SmallPtrSetImpl<Operation *> &parts) {
  llvm::SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitUsesFromAbove = false;
  (void)getBackwardSlice(v, &slice, options);
  return llvm::any_of(slice, [&](Operation *op) { return parts.contains(op); });
}

/// Finds the places of a tile along the axes of the grid: what the source
/// divides its block's number into.
void RoleKernel::findCoordinates() {
  llvm::SmallPtrSet<Operation *, 8> parts;
  for (Operation &op : source.getBody().front()) {
    Operation *divided = isa<arith::DivUIOp, arith::RemUIOp>(op)
                             ? op.getOperand(0).getDefiningOp()
                             : nullptr;
    if (isa<BlockIdOp>(op) || parts.contains(divided))
      parts.insert(&op);
  }
  for (Operation &op : source.getBody().front())
    if (parts.contains(&op) &&
        llvm::any_of(op.getUsers(),
                     [&](Operation *user) { return !parts.contains(user); }))
      coordinates.push_back(op.getResult(0));
  // Where its loops begin and end takes arithmetic that products would wait
  // for.
  for (scf::ForOp loop : plan.loops)
    for (Value bound : {loop.getLowerBound(), loop.getUpperBound()})
      if (bound.getParentBlock() == &source.getBody().front() &&
          dependsOn(bound, parts) && !llvm::is_contained(coordinates, bound))
        coordinates.push_back(bound);
  findSearched(parts);
}

/// Whether all that an operation gives are integers that are no tiles.
static bool givesScalars(Operation &op) {
  return op.getNumResults() > 0 &&
         llvm::all_of(op.getResultTypes(),
                      [](Type type) { return type.isInteger(); });
}

/// A search takes as long as some copies: what follows from it is posted, too.
void RoleKernel::findSearched(const llvm::SmallPtrSetImpl<Operation *> &parts) {
  Block &body = source.getBody().front();
  llvm::SmallPtrSet<Operation *, 2> searches;
  for (auto loop : body.getOps<scf::ForOp>())
    if (computesIndices(loop))
      searches.insert(loop);
  if (searches.empty())
    return;
  for (Operation &op : body)
    if (searches.contains(&op) ||
        (givesScalars(op) && dependsOn(op.getResult(0), searches)))
      searched.insert(&op);
  // Mail is words; what else is needed follows from some.
  std::function<void(Value)> post = [&](Value v) {
    Operation *def = v.getDefiningOp();
    if (!def || !searched.contains(def) || llvm::is_contained(coordinates, v))
      return;
    if (v.getType().isInteger(32))
      return coordinates.push_back(v);
    searched.erase(def);
    for (Value operand : def->getOperands())
      post(operand);
  };
  for (Operation &op : body) {
    if (givesScalars(op))
      continue;
    llvm::SetVector<Value> used(op.operand_begin(), op.operand_end());
    getUsedValuesDefinedAbove(op.getRegions(), used);
    for (Value v : used)
      post(v);
  }
  // Places that only the search needs.
  std::function<bool(Value)> isNeedless = [&](Value v) {
    return llvm::all_of(v.getUsers(), [&](Operation *user) {
      Operation *op = body.findAncestorOpInBlock(*user);
      return parts.contains(op) || searched.contains(op) ||
             (givesScalars(*op) && llvm::all_of(op->getResults(), isNeedless));
    });
  };
  // The first word of all is a place: never negative.
  Value first = coordinates.front();
  llvm::erase_if(coordinates, [&](Value v) {
    return parts.contains(v.getDefiningOp()) && isNeedless(v);
  });
  if (coordinates.empty() ||
      !parts.contains(coordinates.front().getDefiningOp()))
    coordinates.insert(coordinates.begin(), first);
}

/// Until the others have received what was posted in the slot.
void RoleKernel::awaitFreeMail(Cursor at) {
  WaitOp::create(b, loc, mailEmpty, at.stage, at.parity);
}

/// Posts in a slot that is free; last the word that says whether there is a
/// tile.
void RoleKernel::post(ValueRange words, Cursor &mail) {
  for (auto [word, box] : llvm::reverse(llvm::zip(words, mailboxes)))
    PostOp::create(b, loc, word, box, mail.stage);
  ArriveOp::create(b, loc, mailFull, mail.stage, false);
  mail = advance(mail, mailStages());
}

/// What has the other roles execute a tile.
SmallVector<Value> RoleKernel::wordsOf(IRMapping &mapping) {
  return llvm::map_to_vector(coordinates,
                             [&](Value v) { return scalar(v, mapping); });
}

/// A first row and an end of rows, at or behind which no row of a tile is
/// stored: segments are given more tiles than they need. None where tiles are
/// not searched for, or not handed out at run time, or some store does not say
/// so.
std::optional<IndexLimit> RoleKernel::findStoredRows() {
  if (searched.empty() || plan.length == TileLength::Equal)
    return std::nullopt;
  for (const IndexLimit &limit : limitsOfStores(source))
    if (Operation *def = limit.first.getDefiningOp();
        llvm::is_contained(coordinates, limit.first) ||
        (def && searched.contains(def)))
      return limit;
  return std::nullopt;
}

/// Copies need not test what is true of all tiles that are handed out: where
/// the search has found no segment the rows end at 0.
///
///     %end = arith.select %found, %ends, 0   // %first < %end
void RoleKernel::leaveOutSearched() {
  std::optional<IndexLimit> rows = findStoredRows();
  auto end =
      rows ? rows->end.getDefiningOp<arith::SelectOp>() : arith::SelectOp();
  if (!end || !isConstantIntValue(end.getFalseValue(), 0))
    return;
  for (auto &[loop, copies] : plan.streamed)
    for (BulkCopy &copy : copies)
      llvm::erase(copy.rowPredicates, end.getCondition());
}

/// Tiles of equal length: each thread block takes every n-th.
RoleKernel::Cursor RoleKernel::postEveryNth(Cursor mail) {
  auto loop =
      scf::ForOp::create(b, loc, BlockIdOp::create(b, loc, b.getI32Type()),
                         tiles, BlockCountOp::create(b, loc, b.getI32Type()),
                         ValueRange{mail.stage, mail.parity});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    mail = {loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
    IRMapping mapping = outer;
    mapTile(orderTile(loop.getInductionVar()), mapping);
    SmallVector<Value> words = wordsOf(mapping);
    awaitFreeMail(mail);
    post(words, mail);
    scf::YieldOp::create(b, loc, ValueRange{mail.stage, mail.parity});
  }
  mail = {loop.getResult(0), loop.getResult(1)};
  awaitFreeMail(mail);
  return mail;
}

/// How long segments are only memory says. The tiles of several rows, all from
/// the longest of a segment to its shortest, end with short ones, and what so
/// many rows read mostly stays in the cache: of 4 rows where steps add to sums,
/// too, and of 8 (H200, sequences of 8192: 6 and 5 to 6 %).
RoleKernel::TileOrder RoleKernel::planOrderOfSegments() {
  constexpr int64_t rowsBesideSums = 4, rowsOtherwise = 8;
  Value rows = div(tiles, tilesInRow);
  return {rows,
          least(rows, i32(schedule.firstAdds().empty() ? rowsOtherwise
                                                       : rowsBesideSums))};
}

/// Rows of tiles are the places along all axes but the fastest, or that of
/// pairs, along which the length changes. Heavy tiles come first, row after row
/// within a section of rows whose operands stay in the cache; the quarter with
/// the least to do comes last, over all rows, and evens out what the thread
/// blocks have left.
RoleKernel::TileOrder RoleKernel::planOrder() {
  TileOrder order;
  if (plan.length == TileLength::Varies || tileCounts.size() == 1)
    return order;
  if (plan.isLengthOfSegments())
    return planOrderOfSegments();
  // Of a short row a quarter would be too coarse.
  Value isShort = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                        tilesInRow, i32(8));
  order.rows = div(tiles, tilesInRow);
  order.light =
      arith::SelectOp::create(b, loc, isShort, i32(0), div(tilesInRow, i32(4)));
  order.heavy = sub(tilesInRow, order.light);
  // What the longest tile of the first row reads.
  IRMapping local = outer;
  mapTile(growsInRow() ? sub(tilesInRow, i32(1)) : i32(0), local);
  if (plan.nest)
    plan.nest->walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
      if (!plan.streamed.contains(loop))
        local.map(loop.getInductionVar(), scalar(loop.getLowerBound(), local));
    });
  scf::ForOp last = plan.loops.back();
  Value steps =
      div(scalar(last.getUpperBound(), local), scalar(last.getStep(), local));
  int64_t stepBytes = 0, keys = 1;
  for (BulkCopy &copy : plan.streamed[last]) {
    // Each tile has its own.
    if (copy.isRead)
      continue;
    stepBytes += schedule.stageBytes(copy);
    keys = copy.copy.getBuffer().getType().getRows();
  }
  Value some = most(steps, i32(1));
  auto rowsIn = [&](int64_t bytes) {
    return div(i32(bytes / stepBytes), some);
  };
  Value fits = rowsIn(cachedBytes);
  int64_t width = stepBytes / (keys * cachedKeyBytes);
  if (width > 1)
    fits = most(fits,
                least(i32(sectionRows), rowsIn(cachedBytes * width * width)));
  order.section = most(least(fits, order.rows), i32(1));
  return order;
}

Value RoleKernel::nthTile(const TileOrder &order, Value n) {
  // Of one row. That the place is in it proofs see by the remainder.
  if (tileCounts.size() == 1 && growsInRow())
    return arith::RemUIOp::create(b, loc, sub(sub(tilesInRow, i32(1)), n),
                                  tilesInRow);
  if (!order.rows)
    return n;
  Value number = n, size = order.section, length = tilesInRow, isLight;
  auto select = [&](Value light, Value heavy) -> Value {
    return arith::SelectOp::create(b, loc, isLight, light, heavy);
  };
  if (order.light) {
    // The light part is one section of all rows.
    Value heavyTiles = mul(order.heavy, order.rows);
    isLight =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, n, heavyTiles);
    number = select(sub(n, heavyTiles), n);
    size = select(order.rows, order.section);
    length = select(order.light, order.heavy);
  }
  Value section = div(number, mul(length, size));
  Value firstRow = mul(section, size);
  number = sub(number, mul(firstRow, length));
  // The last section may have fewer rows.
  size = least(size, sub(order.rows, firstRow));
  Value down = div(number, size),
        row = add(firstRow, sub(number, mul(down, size)));
  Value place = growsInRow() ? sub(sub(length, i32(1)), down) : down;
  if (order.light)
    place = growsInRow() ? add(place, select(i32(0), order.light))
                         : add(select(order.heavy, i32(0)), place);
  return add(mul(row, tilesInRow), place);
}

/// Tiles of different length: whoever is free takes the next. A slot is free
/// for the first one, and when the next is asked for.
RoleKernel::Cursor RoleKernel::postOnDemand(Cursor mail) {
  TileOrder order = planOrder();
  std::optional<IndexLimit> rows = findStoredRows();
  SmallVector<Value> values{BlockIdOp::create(b, loc, b.getI32Type()),
                            mail.stage, mail.parity};
  auto loop = scf::WhileOp::create(
      b, loc, ValueRange(values).getTypes(), values,
      [&](OpBuilder &, Location, ValueRange arguments) {
        Value isTile = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                             arguments[0], tiles);
        scf::ConditionOp::create(b, loc, isTile, arguments);
      },
      [&](OpBuilder &, Location, ValueRange arguments) {
        Cursor at{arguments[1], arguments[2]};
        IRMapping mapping = outer;
        mapTile(nthTile(order, arguments[0]), mapping);
        SmallVector<Value> words = wordsOf(mapping);
        auto handOut = [&] {
          post(words, at);
          // Once the others have begun with this one: a tile that waits behind
          // a long one would be another block's next.
          awaitFreeMail(at);
        };
        if (rows) {
          Value hasRows = arith::CmpIOp::create(
              b, loc, arith::CmpIPredicate::slt, scalar(rows->first, mapping),
              scalar(rows->end, mapping));
          auto branch = scf::IfOp::create(
              b, loc, TypeRange{at.stage.getType(), at.parity.getType()},
              hasRows, /*withElseRegion=*/true);
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPointToStart(branch.elseBlock());
          scf::YieldOp::create(b, loc, ValueRange{at.stage, at.parity});
          b.setInsertionPointToStart(branch.thenBlock());
          handOut();
          scf::YieldOp::create(b, loc, ValueRange{at.stage, at.parity});
          at = {branch.getResult(0), branch.getResult(1)};
        } else {
          handOut();
        }
        Value next = NextTileOp::create(b, loc, b.getI32Type(), counter);
        scf::YieldOp::create(b, loc, ValueRange{next, at.stage, at.parity});
      });
  ResetTilesOp::create(b, loc, counter, loop.getResult(0), tiles);
  return {loop.getResult(1), loop.getResult(2)};
}

/// The role that tells the others which tiles are the thread block's, one ahead
/// of them: dividing their numbers takes as long as some copies.
void RoleKernel::emitOrder() {
  auto role =
      RoleOp::create(b, loc, "order", 0, 1, schedule.copyRegisters(), true,
                     /*firstWarp=*/1, /*warps=*/1);
  Block &block = role.getBody().emplaceBlock();
  block.addArgument(b.getI32Type(), loc);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&block);
  // A slot is free at first: its barrier counts as one phase ahead.
  Cursor mail{i32(0), i32(1)};
  mail = plan.length == TileLength::Equal ? postEveryNth(mail)
                                          : postOnDemand(mail);
  // The other words stay multiples of what bounds of loops are.
  SmallVector<Value> words(coordinates.size(), i32(0));
  words.front() = i32(noTileWord);
  post(words, mail);
}

/// The next tile that the other role has posted.
RoleKernel::Mail RoleKernel::receiveTile(Cursor at, bool isSingle) {
  WaitOp::create(b, loc, mailFull, at.stage, at.parity);
  Mail mail;
  for (Value box : mailboxes)
    mail.words.push_back(
        ReceiveOp::create(b, loc, b.getI32Type(), box, at.stage));
  ArriveOp::create(b, loc, mailEmpty, at.stage, !isSingle);
  mail.next = advance(at, mailStages());
  return mail;
}

SmallVector<Value> RoleKernel::pack(const Mail &mail) {
  SmallVector<Value> values(mail.words);
  values.append({mail.next.stage, mail.next.parity});
  return values;
}

RoleKernel::Mail RoleKernel::unpackMail(ValueRange values) {
  size_t n = coordinates.size();
  return {llvm::to_vector(values.take_front(n)), {values[n], values[n + 1]}};
}

/// Emits `body` for each tile. It receives the next one, where nobody waits for
/// its words: from the place in `mail`, which it sets to what it received.
/// `carried` goes through it and holds what the last tile left.
LogicalResult RoleKernel::takeTiles(
    bool isSingle, MutableArrayRef<Value> carried,
    llvm::function_ref<LogicalResult(ValueRange, Mail &)> body) {
  SmallVector<Value> values = pack(receiveTile({i32(0), i32(0)}, isSingle));
  size_t words = values.size();
  values.append(carried.begin(), carried.end());
  LogicalResult result = success();
  auto loop = scf::WhileOp::create(
      b, loc, ValueRange(values).getTypes(), values,
      [&](OpBuilder &, Location, ValueRange arguments) {
        Value isTile = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge,
                                             arguments.front(), i32(0));
        scf::ConditionOp::create(b, loc, isTile, arguments);
      },
      [&](OpBuilder &, Location, ValueRange arguments) {
        llvm::copy(arguments.drop_front(words), carried.begin());
        Mail mail = unpackMail(arguments.take_front(words));
        SmallVector<Value> place(mail.words);
        result = body(place, mail);
        SmallVector<Value> yields = pack(mail);
        yields.append(carried.begin(), carried.end());
        scf::YieldOp::create(b, loc, yields);
      });
  llvm::copy(loop.getResults().drop_front(words), carried.begin());
  return result;
}

void RoleKernel::allocateMail() {
  for (size_t i = 0; i < coordinates.size(); ++i)
    mailboxes.push_back(MailboxOp::create(
        b, loc, MailboxType::get(b.getContext(), mailStages())));
  mailFull = addBarrier(1, mailStages());
  int64_t single = 1 + (schedule.crossingsAreLate ? plan.warpgroups : 0);
  mailEmpty =
      addBarrier(warpsPerGroup * plan.warpgroups + single, mailStages());
}

} // namespace selvedge::schedule
