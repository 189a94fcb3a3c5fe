// Which kernels run with warp roles, and how their copies become bulk copies.
// SPDX-License-Identifier: MIT
#include "compiler/Analysis/Multiples.h"
#include "compiler/Schedule/Roles/JoinedLoops.h"
#include "compiler/Schedule/Roles/RoleKernel.h"
#include "compiler/Schedule/Roles/StagedLoads.h"
#include "dialect/Tile/Accumulate.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

namespace {

/// Limits of a bulk copy: elements per box dimension, bytes of the words at
/// which a box begins.
constexpr int64_t maxBox = 256, wordBytes = 16;

class Planner {
public:
  Planner(KernelOp kernel, ArrayAttr tensors, ArrayAttr dims, std::string &why)
      : kernel(kernel), tensors(tensors), dims(dims), why(why) {}

  std::optional<RolePlan> run() {
    if (kernel.getWarps() % 4 != 0)
      return no("its warps do not form warpgroups");
    plan.warpgroups = kernel.getWarps() / 4;
    if (!findRowAxis())
      return std::nullopt;
    for (Operation &op : kernel.getBody().front())
      if (!visit(op))
        return std::nullopt;
    if (plan.loops.empty())
      return no("it has no loop");
    if (kernel.getBody().getOps<BlockIdOp>().empty())
      return no("it has one tile only");
    plan.length = tileLength(plan.loops);
    plan.takesPairsFirst =
        llvm::any_of(plan.resident, [](const BulkCopy &copy) {
          return copy.isPerWarpgroup && copy.pairs;
        });
    return std::move(plan);
  }

private:
  std::nullopt_t no(const Twine &reason) {
    why = reason.str();
    return std::nullopt;
  }
  bool fail(const Twine &reason) {
    why = reason.str();
    return false;
  }

  /// All products share the axis of rows, 64 per warpgroup, but those that
  /// cross them: products of what a loop has staged.
  bool findRowAxis() {
    bool fits = true, hasProducts = false;
    auto isStaged = [](Value operand) {
      return llvm::any_of(operand.getUsers(), llvm::IsaPred<StageOp>);
    };
    kernel.walk([&](MmaOp mma) {
      hasProducts = true;
      if (isStaged(mma.getLhs()) || isStaged(mma.getRhs()))
        return;
      StringAttr rows;
      for (AxisLayoutAttr axis : layoutOf(mma.getType()).getAxes()) {
        if (axis.getLanes()[2] != 1) {
          fits &= axis.getSize() <= maxBox &&
                  llvm::all_of(axis.getWarps(), [](int64_t w) { return !w; });
          continue;
        }
        rows = axis.getName();
        SmallVector<int64_t> warps;
        for (int64_t n = 16; n < warpgroupRows * plan.warpgroups; n *= 2)
          warps.push_back(n);
        fits &= axis.getRegSizes() == ArrayRef<int64_t>{2} &&
                axis.getWarps() == ArrayRef<int64_t>(warps);
      }
      fits &= rows && (!plan.rowAxis || plan.rowAxis == rows);
      plan.rowAxis = rows;
    });
    if (fits && !plan.rowAxis)
      return fail(hasProducts ? "both operands of its products are computed"
                              : "it has no products");
    return fits ? true : fail("its products do not have 64 rows per warpgroup");
  }

  bool visit(Operation &op) {
    if (auto copy = dyn_cast<CopyOp>(op))
      return addCopy(copy, plan.resident);
    auto needsOthers = op.walk([](StoreOp store) {
      return isLoaded(store.getTensor()) && !storesOwn(store)
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (needsOthers.wasInterrupted())
      return fail("it stores elements that other threads load");
    auto addsTwice = op.walk([](StoreOp store) {
      return tile::addsToMemory(store) &&
                     !isOfOneWarpgroup(store.getValue().getType())
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (addsTwice.wasInterrupted())
      return fail("it adds what several warps have");
    if (auto store = dyn_cast<StoreOp>(op))
      if (std::string reason = addStore(store); !reason.empty())
        plan.laneStores.push_back({store, reason});
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (computesIndices(loop))
        return plan.loops.empty() || fail("it searches after its loops");
      if (plan.nest)
        return fail("it has loops beside those of a nest");
      if (!isNest(loop))
        return addLoop(loop);
      if (!plan.loops.empty())
        return fail("it has loops beside those of a nest");
      plan.nest = loop;
      return addNest(loop);
    }
    if (auto branch = dyn_cast<scf::IfOp>(op); branch && isWarpsOwn(branch))
      return !plan.loops.empty() || fail("it branches before its loops");
    auto store = dyn_cast_or_null<StoreOp>(op.getNextNode());
    if (isa<BarrierOp>(op) && store && storesOwn(store))
      return true;
    if (op.getNumRegions() != 0 || isa<StageOp, BarrierOp>(op))
      return fail("it branches or stages registers");
    return true;
  }

  /// Whether the kernel reads the tensor, too.
  static bool isLoaded(Value tensor) {
    return llvm::any_of(tensor.getUsers(), llvm::IsaPred<LoadOp, CopyOp>);
  }

  /// Whether each thread stores what it has loaded itself, outside of loops:
  /// nobody waits for others.
  static bool storesOwn(StoreOp store) {
    LayoutAttr layout = layoutOf(store.getValue().getType());
    return isLoaded(store.getTensor()) && layout && isHeldOnce(layout) &&
           isa<KernelOp>(store->getParentOp()) &&
           llvm::all_of(store.getTensor().getUsers(), [&](Operation *user) {
             auto load = dyn_cast<LoadOp>(user);
             return user == store ||
                    (load && isa<KernelOp>(load->getParentOp()) &&
                     layoutOf(load.getType()) == layout);
           });
  }

  static bool isNest(scf::ForOp loop) {
    return llvm::any_of(*loop.getBody(), llvm::IsaPred<scf::ForOp>);
  }

  bool addLoop(scf::ForOp loop) {
    plan.loops.push_back(loop);
    if (!addCrossings(loop))
      return false;
    auto &copies = plan.streamed[loop];
    bool crosses = !plan.crossings[loop].empty();
    for (Operation &inner : *loop.getBody()) {
      bool isForCrossing =
          isa<BarrierOp>(inner) ? crosses : plan.crossingOf(&inner) != nullptr;
      if ((inner.getNumRegions() != 0 && !isWholeBranch(inner)) ||
          (isa<StageOp, BarrierOp>(inner) && !isForCrossing))
        return fail("a loop contains more than copies and products");
      if (auto copy = dyn_cast<CopyOp>(inner); copy && !addCopy(copy, copies))
        return false;
    }
    for (const RoleCrossing &crossing : plan.crossings[loop])
      if (llvm::none_of(copies, [&](const BulkCopy &copy) {
            return CopyOp(copy.copy).getBuffer().getType().getRowAxis() ==
                   crossing.rowAxis;
          }))
        return fail("no copy of a step has the rows of its product");
    addAdds(loop);
    return matchesFirst(copies);
  }

  /// What the steps of a loop add in bulk: where those of all loops do, and
  /// nothing else accesses the tensor.
  void addAdds(scf::ForOp loop) {
    auto &all = plan.adds[loop];
    for (auto store : loop.getBody()->getOps<StoreOp>())
      if (std::optional<BulkAdd> add = bulkAdd(store))
        all.push_back(*add);
    ArrayRef<BulkAdd> first = plan.adds[plan.loops.front()];
    bool same = all.size() == first.size();
    for (size_t i = 0; same && i < all.size(); ++i)
      same = StoreOp(all[i].store).getTensor() ==
                 StoreOp(first[i].store).getTensor() &&
             all[i].box == first[i].box;
    if (!same)
      plan.adds.clear();
  }

  std::optional<BulkAdd> bulkAdd(StoreOp store) {
    const RoleCrossing *crossing =
        plan.crossingOf(store.getValue().getDefiningOp());
    LayoutAttr layout = layoutOf(store.getValue().getType());
    // Copies that add complete in any order.
    if (!crossing || !tile::addsToMemory(store) ||
        !tile::addsInAnyOrder(store) ||
        !getElementTypeOrSelf(store.getValue().getType()).isF32())
      return std::nullopt;
    BulkAdd add{store, {}, {}};
    constexpr int64_t sumBytes = 4;
    for (Value index : store.getIndices()) {
      LayoutAttr own = layoutOf(index.getType());
      auto range = index.getDefiningOp<RangeOp>();
      if (own && !range)
        return std::nullopt;
      bool isRows = own && own.getAxes()[0].getName() == crossing->rowAxis;
      if (isRows)
        add.rowDimension = add.starts.size();
      add.starts.push_back(own ? range.getStart() : index);
      add.box.push_back(!own     ? 1
                        : isRows ? warpgroupRows
                                 : panelBytes / sumBytes);
    }
    for (auto [i, p] : llvm::enumerate(store.getPresence())) {
      if (isTensorBound(store.getTensor(), store.getIndices(), p)) {
        add.extents.push_back(i);
        continue;
      }
      LayoutAttr own = layoutOf(p.getType());
      if (!own) {
        add.conditions.push_back(i);
        continue;
      }
      // Zero that is added may change the sign of another zero, which nobody
      // sees in a temp.
      if (own.getAxes().size() != 1 ||
          own.getAxes()[0].getName() != crossing->rowAxis ||
          tensorOf(store.getTensor()).getRole() != tile::Role::Temp)
        return std::nullopt;
      add.rowPredicates.push_back(p);
    }
    // The contiguous dimension is that of the columns, in whole words.
    LayoutAttr last = layoutOf(store.getIndices().back().getType());
    bool fits = last &&
                beginsAtWord(add.starts.back(), Value(),
                             Float32Type::get(store.getContext())) &&
                last.getAxes()[0].getName() != crossing->rowAxis &&
                layout.indexOf(last.getAxes()[0].getName()) >= 0 &&
                lastExtentOf(store.getTensor()).isMultipleOf(4);
    bool isAlone =
        llvm::all_of(store.getTensor().getUsers(), [](Operation *user) {
          return !isa<tile::TensorAccessOpInterface>(user) ||
                 (isa<StoreOp>(user) && tile::addsToMemory(user));
        });
    return fits && isAlone ? std::optional(add) : std::nullopt;
  }

  /// The products of a loop that cross the rows of warpgroups: those of the
  /// first loop.
  bool addCrossings(scf::ForOp loop) {
    auto &all = plan.crossings[loop];
    for (auto mma : loop.getBody()->getOps<MmaOp>()) {
      if (layoutOf(mma.getType()).indexOf(plan.rowAxis) >= 0)
        continue;
      std::optional<RoleCrossing> crossing =
          matchCrossing(mma, plan.rowAxis, plan.warpgroups, why);
      if (!crossing)
        return false;
      if (llvm::none_of(plan.resident, [&](BulkCopy &copy) {
            return copy.copy.getBuffer() == crossing->resident &&
                   copy.isPerWarpgroup && !copy.hasOwnColumns;
          }))
        return fail("a product of other rows reads a tile of its loop");
      all.push_back(*crossing);
    }
    ArrayRef<RoleCrossing> first = plan.crossings[plan.loops.front()];
    bool same = all.size() == first.size();
    for (size_t i = 0; same && i < all.size(); ++i)
      same = StageOp(all[i].stage).getSource().getType() ==
                 StageOp(first[i].stage).getSource().getType() &&
             all[i].rowParts == first[i].rowParts;
    return same || fail("its loops stage different tiles");
  }

  /// A loop over loops: the heads that share keys, for one.
  bool addNest(scf::ForOp nest) {
    for (Operation &op : *nest.getBody()) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        if (computesIndices(loop))
          return fail("it searches in a loop");
        if (!(isNest(loop) ? addNest(loop) : addLoop(loop)))
          return false;
        continue;
      }
      if (op.getNumRegions() != 0 || isa<StageOp, BarrierOp>(op))
        return fail("a nest branches or stages registers");
      if (isa<CopyOp>(op))
        return fail("a nest copies tiles between its loops");
    }
    return true;
  }

  /// Whether each warp can take a branch for itself: it computes in registers
  /// from what it loads.
  static bool isWarpsOwn(scf::IfOp branch) {
    WalkResult result = branch->walk([](Operation *op) {
      auto exchange = dyn_cast<ExchangeOpInterface>(op);
      bool isOwn =
          isa<scf::IfOp, scf::ForOp, LoadOp>(op) ||
          (isMemoryEffectFree(op) && !(exchange && exchange.exchanges()));
      return isOwn ? WalkResult::advance() : WalkResult::interrupt();
    });
    return !result.wasInterrupted();
  }

  /// Loops share rings: tiles of the same kind in the same order.
  bool matchesFirst(ArrayRef<BulkCopy> copies) {
    ArrayRef<BulkCopy> first = plan.streamed[plan.loops.front()];
    bool same = copies.size() == first.size() && !copies.empty();
    for (size_t i = 0; same && i < copies.size(); ++i) {
      CopyOp a = first[i].copy, b = copies[i].copy;
      BufferType type = b.getBuffer().getType(),
                 other = a.getBuffer().getType();
      same = other.withAxes(type.getRowAxis(), type.getColAxis()) == type &&
             first[i].isPerWarpgroup == copies[i].isPerWarpgroup;
      plan.hasSeveralSources |= a.getTensor() != b.getTensor();
    }
    return same || fail("its loops copy different tiles");
  }

  /// Indices of a tile whose rows are pairs: `pairs / n` in one dimension and
  /// `first + pairs mod n` in a later one, next to it in a box; without `first`
  /// the remainder alone.
  struct Pairs {
    PairsAttr attr;
    RangeOp range;
    Value first;
  };

  std::optional<Pairs> findPairs(ValueRange indices) {
    for (auto [outer, index] : llvm::enumerate(indices)) {
      auto quotient = index.getDefiningOp<arith::DivUIOp>();
      auto range =
          quotient ? quotient.getLhs().getDefiningOp<RangeOp>() : RangeOp();
      if (!range ||
          layoutOf(range.getType()).getAxes()[0].getName() != plan.rowAxis)
        continue;
      auto divisor = quotient.getRhs().getDefiningOp<SplatOp>();
      DimArgAttr dim = divisor ? dimOf(divisor.getValue()) : DimArgAttr();
      for (size_t inner = outer + 1; dim && inner + 1 < indices.size();
           ++inner) {
        auto sum = indices[inner].getDefiningOp<arith::AddIOp>();
        auto first = sum ? sum.getLhs().getDefiningOp<SplatOp>() : SplatOp();
        auto rest = (sum ? sum.getRhs() : indices[inner])
                        .getDefiningOp<arith::RemUIOp>();
        if (!rest || rest.getLhs() != range ||
            rest.getRhs() != quotient.getRhs() || (sum && !first))
          continue;
        return Pairs{
            PairsAttr::get(kernel.getContext(), outer, inner, dim.getDim()),
            range, first ? first.getValue() : Value()};
      }
    }
    return std::nullopt;
  }

  /// Whether every lane in which `limit` does not hold is left out by a mask
  /// before anything but arithmetic by lane, or a further product's sum, reads
  /// `value`.
  static bool isMasked(Value value, const IndexLimit &limit) {
    return llvm::all_of(value.getUsers(), [&](Operation *user) {
      if (auto select = dyn_cast<arith::SelectOp>(user))
        return select.getFalseValue() != value &&
               tests(select.getCondition(), limit);
      auto mma = dyn_cast<MmaOp>(user);
      bool isSum = mma && mma.getInit() == value && mma.getLhs() != value &&
                   mma.getRhs() != value;
      return (isSum || OpTrait::hasElementwiseMappableTraits(user)) &&
             isMasked(user->getResult(0), limit);
    });
  }

  static bool tests(Value condition, const IndexLimit &limit) {
    if (auto both = condition.getDefiningOp<arith::AndIOp>())
      return tests(both.getLhs(), limit) || tests(both.getRhs(), limit);
    if (auto repeat = condition.getDefiningOp<BroadcastOp>())
      return tests(repeat.getSource(), limit);
    std::optional<IndexLimit> tested = matchIndexLimit(condition);
    return tested && tested->first == limit.first && tested->end == limit.end;
  }

  /// Whether the rows of a copied tile may hold anything where `predicate` does
  /// not hold: no product adds them to each other, and what each becomes is
  /// masked. A mask that implies the predicate for rows that exist is not
  /// enough: warps vote with all rows.
  static bool mayBeGarbage(Value buffer, StringAttr axis, Value predicate) {
    std::optional<IndexLimit> limit = matchIndexLimit(predicate);
    return limit && llvm::all_of(buffer.getUsers(), [&](Operation *user) {
             auto mma = dyn_cast<MmaOp>(user);
             return mma ? mma.getOverAttr() != axis &&
                              isMasked(mma.getResult(), *limit)
                        : isa<CopyOp>(user);
           });
  }

  /// Whether a predicate is one of columns that no product adds to each other:
  /// absent ones become columns that nothing stores, which verify-sm-padding
  /// proves.
  static bool isOfFreeColumns(Value buffer, Value predicate) {
    StringAttr columns = cast<BufferType>(buffer.getType()).getColAxis();
    LayoutAttr layout = layoutOf(predicate.getType());
    return layout && layout.getAxes().size() == 1 &&
           layout.getAxes()[0].getName() == columns &&
           llvm::all_of(buffer.getUsers(), [&](Operation *user) {
             auto mma = dyn_cast<MmaOp>(user);
             return mma ? mma.getOverAttr() != columns : isa<CopyOp>(user);
           });
  }

  bool addCopy(CopyOp op, SmallVectorImpl<BulkCopy> &copies) {
    BufferType buffer = op.getBuffer().getType();
    int64_t bytes = buffer.getElementType().getIntOrFloatBitWidth() / 8;
    BulkCopy bulk{op, {}, {}, {}, {}};
    bulk.isRead = isRead(op.getBuffer());
    if ((bytes != 2 && !bulk.isRead) ||
        buffer.getRowBytes() % panelBytes != 0 || buffer.getRows() > maxBox)
      return fail("a tile's rows are no multiple of 128 bytes");
    bulk.hasOwnColumns = buffer.getColAxis() == plan.rowAxis;
    bulk.isPerWarpgroup =
        bulk.hasOwnColumns || buffer.getRowAxis() == plan.rowAxis;
    if (bulk.isRead && !buffer.isVector() &&
        (!bulk.isPerWarpgroup || bulk.hasOwnColumns))
      return fail("lanes read a tile that has no rows of their products");
    std::optional<Pairs> pairs = findPairs(op.getIndices());
    if (pairs && (!bulk.isPerWarpgroup || bulk.hasOwnColumns))
      return fail("pairs are rows of a tile that warpgroups share");
    for (auto [d, index] : llvm::enumerate(op.getIndices())) {
      LayoutAttr layout = layoutOf(index.getType());
      bulk.shifts.push_back({});
      bool isInner = pairs && d == static_cast<size_t>(pairs->attr.getInner());
      if (!layout || isInner) {
        bulk.starts.push_back(isInner ? pairs->first : index);
        bulk.box.push_back(1);
        continue;
      }
      bool isOuter = pairs && d == static_cast<size_t>(pairs->attr.getOuter());
      auto [range, shift] = shiftedRange(isOuter ? Value(pairs->range) : index);
      if (!range)
        return fail("a tile is gathered");
      bulk.shifts.back() = shift;
      if (isOuter)
        bulk.pairs = pairs->attr;
      bool isRows = layout.getAxes()[0].getName() == buffer.getRowAxis();
      if (isRows)
        bulk.rowDimension = bulk.starts.size();
      if (isRows != bulk.hasOwnColumns)
        bulk.partDimension = bulk.starts.size();
      bulk.starts.push_back(range.getStart());
      bool isPart = bulk.isPerWarpgroup && !bulk.hasOwnColumns;
      bulk.box.push_back(buffer.isVector() ? buffer.getStageCols()
                         : !isRows         ? panelBytes / bytes
                         : isPart          ? warpgroupRows
                                           : buffer.getRows());
    }
    // The contiguous dimension of the tensor must be that of the buffer.
    LayoutAttr last = layoutOf(op.getIndices().back().getType());
    if (!last || last.getAxes()[0].getName() != buffer.getColAxis())
      return fail("a tile is transposed");
    if (!buffer.getLead() &&
        !beginsAtWord(bulk.starts.back(), bulk.shifts.back(),
                      buffer.getElementType()))
      return fail("a tile's first column is no multiple of a word of 16 bytes");
    for (auto [i, p] : llvm::enumerate(op.getPresence())) {
      if (isTensorBound(op.getTensor(), op.getIndices(), p) ||
          isPlaceBound(op.getTensor(), op.getIndices(), p)) {
        bulk.extents.push_back(i);
        continue;
      }
      if (bulk.isRead) {
        bool isGarbage =
            llvm::is_contained(op.getGarbage(), static_cast<int64_t>(i));
        if (!isGarbage && !buffer.isVector())
          return fail("lanes read a tile that ends within the tensor");
        (isGarbage ? bulk.garbagePredicates : bulk.rowPredicates).push_back(p);
        continue;
      }
      if (isOfFreeColumns(op.getBuffer(), p)) {
        bulk.garbagePredicates.push_back(p);
        continue;
      }
      // A scalar is one for all rows.
      LayoutAttr layout = layoutOf(p.getType());
      if (layout && (layout.getAxes().size() != 1 ||
                     layout.getAxes()[0].getName() != buffer.getRowAxis()))
        return fail("a predicate concerns more than a tile's rows");
      if (bulk.isPerWarpgroup && pairs)
        return fail("a predicate of pairs is no bound of the tensor");
      (mayBeGarbage(op.getBuffer(), buffer.getRowAxis(), p)
           ? bulk.garbagePredicates
           : bulk.rowPredicates)
          .push_back(p);
    }
    copies.push_back(std::move(bulk));
    return true;
  }

  /// Whether bulk stores know the elements: copies that add do so in any order.
  static bool leavesInBulk(StoreOp op, Type element) {
    return tile::addsToMemory(op) ? tile::addsInAnyOrder(op) && element.isF32()
                                  : element.getIntOrFloatBitWidth() == 16;
  }

  /// Why a store stays as it is; empty where it leaves in bulk.
  std::string addStore(StoreOp op) {
    if (isLoaded(op.getTensor()))
      return "threads load the elements that they store";
    LayoutAttr layout = layoutOf(op.getValue().getType());
    Type element = getElementTypeOrSelf(op.getValue().getType());
    if (!layout || layout.getAxes().size() != 2 || !leavesInBulk(op, element) ||
        layout.getAxes()[0].getName() != plan.rowAxis)
      return "it is no tile of 16-bit elements, or of f32 sums in any order, "
             "with the products' rows";
    AxisLayoutAttr cols = layout.getAxes()[1];
    LayoutAttr last = layoutOf(op.getIndices().back().getType());
    int64_t panel = panelBytes / (element.getIntOrFloatBitWidth() / 8);
    if (cols.getSize() % panel != 0 || cols.getLanes()[0] != 2 || !last ||
        last.getAxes()[0].getName() != cols.getName())
      return "its rows are no multiple of 128 contiguous bytes";
    BulkStore bulk{op, {}, {}, cols.getName()};
    std::optional<Pairs> pairs = findPairs(op.getIndices());
    for (auto [d, index] : llvm::enumerate(op.getIndices())) {
      if (pairs && d == static_cast<size_t>(pairs->attr.getInner())) {
        bulk.starts.push_back(pairs->first);
        bulk.box.push_back(1);
        continue;
      }
      LayoutAttr own = layoutOf(index.getType());
      auto range = index.getDefiningOp<RangeOp>();
      if (pairs && d == static_cast<size_t>(pairs->attr.getOuter())) {
        range = pairs->range;
        bulk.pairs = pairs->attr;
      }
      if (own && (!range || own.getAxes().size() != 1))
        return "it scatters";
      bool isRows = own && own.getAxes()[0].getName() == plan.rowAxis;
      if (isRows)
        bulk.rowDimension = bulk.starts.size();
      bulk.starts.push_back(own ? range.getStart() : index);
      bulk.box.push_back(!own ? 1 : isRows ? warpgroupRows : panel);
    }
    if (!beginsAtWord(bulk.starts.back(), Value(), element))
      return "its first column is no multiple of a word of 16 bytes";
    for (auto [i, p] : llvm::enumerate(op.getPresence())) {
      if (isTensorBound(op.getTensor(), op.getIndices(), p)) {
        bulk.extents.push_back(i);
        continue;
      }
      LayoutAttr own = layoutOf(p.getType());
      std::optional<IndexLimit> limit = matchIndexLimit(p);
      bool isEnd =
          !pairs && own && limit && own.getAxes()[0].getName() == plan.rowAxis;
      if (std::optional<int64_t> end =
              isEnd ? getConstantIntValue(limit->end) : std::nullopt;
          end && *end < warpgroupRows)
        return "it ends before the rows of a warpgroup do";
      if (own && !isEnd)
        return "a predicate is no bound of the tensor and no end of its rows";
      bulk.conditions.push_back(p);
    }
    // Bulk stores write whole words of 16 bytes: a shorter row's last word
    // would reach past it.
    AffineExpr extent = lastExtentOf(op.getTensor());
    if (!extent.isMultipleOf(bulkWordElements)) {
      bulk.rowExtent = argumentOf(extent);
      if (!bulk.rowExtent)
        return "its rows do not end with a word of 16 bytes";
    }
    // A tensor map has one box.
    if (llvm::count_if(op.getTensor().getUsers(), [](Operation *user) {
          return isa<tile::TensorAccessOpInterface>(user);
        }) != 1)
      return "its tensor is accessed elsewhere too";
    plan.stores.push_back(std::move(bulk));
    return "";
  }

  /// The kernel's argument that is the dimension `extent`; null if there is
  /// none.
  Value argumentOf(AffineExpr extent) {
    auto symbol = dyn_cast<AffineSymbolExpr>(extent);
    if (!symbol)
      return {};
    for (auto [attr, argument] :
         llvm::zip_equal(kernel.getArgs(), kernel.getBody().getArguments()))
      if (auto dim = dyn_cast<DimArgAttr>(attr);
          dim && dim.getDim() == dims[symbol.getPosition()])
        return argument;
    return {};
  }

  tile::TensorArgAttr tensorOf(Value argument) {
    auto pointer = cast<PointerArgAttr>(
        kernel.getArgs()[cast<BlockArgument>(argument).getArgNumber()]);
    for (auto tensor : tensors.getAsRange<tile::TensorArgAttr>())
      if (tensor.getName() == pointer.getTensor())
        return tensor;
    llvm_unreachable("kernels take tensors of their plan");
  }

  AffineExpr lastExtentOf(Value argument) {
    return tensorOf(argument).getShape().getResults().back();
  }

  /// The dimension that is passed as `argument`; null if it is none.
  DimArgAttr dimOf(Value argument) {
    auto given = dyn_cast<BlockArgument>(argument);
    return given && given.getOwner() == &kernel.getBody().front()
               ? dyn_cast<DimArgAttr>(kernel.getArgs()[given.getArgNumber()])
               : DimArgAttr();
  }

  /// Whether a predicate is `index < extent` of the dimension that it indexes:
  /// what a bulk copy fills with zero by itself.
  bool isTensorBound(Value argument, ValueRange indices, Value p) {
    auto compare = p.getDefiningOp<arith::CmpIOp>();
    if (!compare || compare.getPredicate() != arith::CmpIPredicate::slt)
      return false;
    auto splat = compare.getRhs().getDefiningOp<SplatOp>();
    if (!splat)
      return false;
    DimArgAttr dim = dimOf(splat.getValue());
    auto constant = splat.getValue().getDefiningOp<arith::ConstantIntOp>();
    for (auto [index, extent] :
         llvm::zip(indices, tensorOf(argument).getShape().getResults())) {
      if (index != compare.getLhs())
        continue;
      if (auto number = dyn_cast<AffineConstantExpr>(extent))
        return constant && constant.value() == number.getValue();
      auto symbol = dyn_cast<AffineSymbolExpr>(extent);
      return dim && symbol && dims[symbol.getPosition()] == dim.getDim();
    }
    return false;
  }

  /// The same of a dimension of which a box has one place: `place < extent`, or
  /// `0 <= place`. A box that lies outside of the tensor arrives as zeros.
  bool isPlaceBound(Value argument, ValueRange indices, Value p) {
    auto compare = p.getDefiningOp<arith::CmpIOp>();
    if (!compare)
      return false;
    auto place = compare.getLhs().getDefiningOp<SplatOp>(),
         bound = compare.getRhs().getDefiningOp<SplatOp>();
    if (!place || !bound || !llvm::is_contained(indices, place.getValue()))
      return false;
    if (compare.getPredicate() == arith::CmpIPredicate::sge)
      return isConstantIntValue(bound.getValue(), 0);
    DimArgAttr dim = dimOf(bound.getValue());
    return compare.getPredicate() == arith::CmpIPredicate::slt && dim &&
           llvm::any_of(
               llvm::zip(indices, tensorOf(argument).getShape().getResults()),
               [&](auto dimension) {
                 auto [index, extent] = dimension;
                 auto symbol = dyn_cast<AffineSymbolExpr>(extent);
                 return index == place.getValue() && symbol &&
                        dims[symbol.getPosition()] == dim.getDim();
               });
  }

  KernelOp kernel;
  ArrayAttr tensors, dims;
  std::string &why;
  RolePlan plan;
};

} // namespace

bool beginsAtWord(Value start, Value shift, Type element) {
  int64_t elements = wordBytes * 8 / element.getIntOrFloatBitWidth();
  return analysis::isMultipleOf(start, elements) &&
         (!shift || analysis::isMultipleOf(shift, elements));
}

std::pair<RangeOp, Value> shiftedRange(Value index) {
  auto sum = index.getDefiningOp<arith::AddIOp>();
  if (!sum)
    return {index.getDefiningOp<RangeOp>(), Value()};
  for (auto [x, y] : {std::pair(sum.getLhs(), sum.getRhs()),
                      std::pair(sum.getRhs(), sum.getLhs())})
    if (auto splat = x.getDefiningOp<SplatOp>())
      if (auto range = y.getDefiningOp<RangeOp>())
        return {range, splat.getValue()};
  return {};
}

bool computesIndices(scf::ForOp loop) {
  auto isScalar = [](Type type) { return type.isInteger(); };
  if (loop.getNumResults() == 0)
    return false;
  WalkResult result = loop->walk([&](Operation *op) {
    bool isOwn = isa<scf::ForOp, scf::YieldOp, LoadOp>(op) ||
                 (op->getNumRegions() == 0 && isMemoryEffectFree(op));
    return isOwn && llvm::all_of(op->getResultTypes(), isScalar)
               ? WalkResult::advance()
               : WalkResult::interrupt();
  });
  // What is posted is a word.
  return !result.wasInterrupted() &&
         llvm::all_of(loop.getResultTypes(),
                      [](Type type) { return type.isInteger(32); });
}

SmallVector<StringAttr> RolePlan::pairDims() const {
  SmallVector<StringAttr> dims;
  auto add = [&](PairsAttr pairs) {
    if (pairs && !llvm::is_contained(dims, pairs.getBy()))
      dims.push_back(pairs.getBy());
  };
  for (const BulkCopy &copy : resident)
    add(copy.pairs);
  for (scf::ForOp loop : loops)
    for (const BulkCopy &copy : streamed.find(loop)->second)
      add(copy.pairs);
  for (const BulkStore &store : stores)
    add(store.pairs);
  return dims;
}

std::optional<RolePlan> planRoles(KernelOp kernel, ArrayAttr tensors,
                                  ArrayAttr dims, std::string &why) {
  return Planner(kernel, tensors, dims, why).run();
}

} // namespace selvedge::schedule
