// Which values of a kernel share the layout of their axes.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Layouts/LayoutGroups.h"
#include "dialect/Tile/Accumulate.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/TypeSwitch.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::tile;

SmallVector<StringAttr> LayoutGroup::spreadOrder() const {
  llvm::SetVector<StringAttr> order;
  for (StringAttr axis : contiguous)
    if (roleOf(axis) == AxisRole::Spread && roles.contains(axis))
      order.insert(axis);
  for (auto [axis, role] : roles)
    if (role == AxisRole::Spread)
      order.insert(axis);
  return order.takeVector();
}

/// An operation that each layout can repeat for itself.
static bool isRepeatable(Operation *op) {
  return isa<RangeOp, SplatOp, BroadcastOp, LoadOp, KnownOp, ConvertOp>(op) ||
         (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
          op->getNumResults() == 1);
}

namespace {

/// Bytes that a lane accesses at once.
constexpr int64_t vectorBytes = 16;

/// Remembers answers: chains of operands share their ends.
class FreeValues {
public:
  bool contains(Value value) {
    if (!isTile(value.getType()))
      return true;
    Operation *def = value.getDefiningOp();
    if (!def || !isRepeatable(def))
      return false;
    // Later it may load what has been stored since.
    if (auto load = dyn_cast<LoadOp>(def);
        load &&
        llvm::any_of(load.getTensor().getUsers(), llvm::IsaPred<StoreOp>))
      return false;
    auto [it, isNew] = known.try_emplace(def, false);
    if (!isNew)
      return it->second;
    bool isFree =
        llvm::all_of(def->getOperands(), [&](Value v) { return contains(v); });
    return known[def] = isFree;
  }

private:
  DenseMap<Operation *, bool> known;
};

} // namespace

bool isFree(Value value) { return FreeValues().contains(value); }

llvm::SmallSetVector<StringAttr, 2> copyAxes(LoadOp load) {
  llvm::SmallSetVector<StringAttr, 2> axes;
  for (Value index : load.getIndices())
    axes.insert_range(axesOf(index.getType()));
  return axes;
}

bool isCopyableOperand(LoadOp load) {
  auto type = dyn_cast<RankedTensorType>(load.getType());
  if (!type || type.getRank() != 2 || type.getElementTypeBitWidth() != 16)
    return false;
  auto axes = copyAxes(load);
  // Where the last index is a tile it runs along columns.
  ArrayRef<StringAttr> last = axesOf(load.getIndices().back().getType());
  return axes.size() == 2 && (last.empty() || last.front() == axes.back()) &&
         llvm::all_of(
             load.getIndices(),
             [](Value index) { return axesOf(index.getType()).size() <= 1; }) &&
         isFree(load);
}

/// The axis of `operand` that `dot` keeps.
static StringAttr freeAxis(DotOp dot, Value operand) {
  for (StringAttr axis : axesOf(operand.getType()))
    if (!llvm::is_contained(dot.getOver(), Attribute(axis)))
      return axis;
  return {};
}

/// Operand that is computed, so that it would best stay in registers.
static bool isComputed(Value operand) {
  auto load = operand.getDefiningOp<LoadOp>();
  return !load || !isCopyableOperand(load);
}

/// An axis of one element has nothing to spread.
static bool hasOneElement(KernelOp kernel, StringAttr axis) {
  auto size = kernel.getSizes() ? kernel.getSizes()->getAs<IntegerAttr>(axis)
                                : IntegerAttr();
  return size && size.getInt() == 1;
}

/// Whether columns of accumulators can hold an axis; a plan may have given it
/// another size.
static bool fitsColumns(KernelOp kernel, StringAttr axis) {
  constexpr int64_t granule = 8;
  auto size = kernel.getSizes() ? kernel.getSizes()->getAs<IntegerAttr>(axis)
                                : IntegerAttr();
  return !size || size.getInt() % granule == 0;
}

/// Finds the groups of a kernel. Base groups are what elementwise operations,
/// reductions, accumulators and loops tie together; they become one where the
/// products of all agree on who is rows and who is columns.
class GroupBuilder {
public:
  GroupBuilder(KernelOp kernel, const TargetInfo &target, KernelLayouts &result)
      : kernel(kernel), target(target), result(result) {}

  void run() {
    kernel.walk([&](DotOp dot) {
      result.dots.push_back(dot);
      for (Value operand : {dot.getLhs(), dot.getRhs()})
        for (StringAttr axis : axesOf(operand.getType()))
          result.productAxes.insert(axis);
    });
    while (!formBaseGroups())
      ;
    merge();
    findNeeds();
    for (auto &[value, needed] : result.needs)
      if (std::optional<unsigned> home = result.homeOf(value);
          home && needed.size() > 1)
        for (unsigned g : needed)
          result.groups[g].tilesMove = true;
    for (unsigned g = 0; g < result.groups.size(); ++g)
      describe(g);
  }

private:
  /// What is tied together: nodes are anchored values and sinks.
  struct Base {
    SmallVector<void *> nodes;
    SmallVector<DotOp> dots;
    /// Axes of tiles that live in the group.
    llvm::SetVector<ArrayAttr> tiles;
  };
  /// Roles of a set of base groups, and the axes that stand together.
  struct Colours {
    llvm::MapVector<StringAttr, AxisRole> roles;
    DenseMap<StringAttr, llvm::SmallSetVector<StringAttr, 4>> neighbours;
    bool hasSpread = false;
  };

  bool isAnchored(Value value) {
    return isTile(value.getType()) &&
           (roots.contains(value) || !free.contains(value));
  }
  /// A product that agrees with no other has a group of its own; its result
  /// moves from there.
  bool isForeign(Value value) {
    auto dot = value.getDefiningOp<DotOp>();
    return dot && detached.contains(dot);
  }

  unsigned node(void *key) {
    auto [it, isNew] = numbers.try_emplace(key, numbers.size());
    if (isNew)
      keys.push_back(key);
    return it->second;
  }
  void tie(void *a, void *b) { ties.push_back({node(a), node(b)}); }
  void tie(void *a, Value v) {
    if (isAnchored(v) && !isForeign(v))
      tie(a, v.getAsOpaquePointer());
  }

  bool formBaseGroups();
  void tieOperation(Operation *op);
  void addTile(void *key, ArrayRef<StringAttr> axes);
  void addTile(void *key, ValueRange values);
  /// The roles of groups together; none where they contradict each other,
  /// `culprit` being a product that does.
  std::optional<Colours> colour(ArrayRef<const Base *> parts, DotOp *culprit);
  bool colourAxis(Colours &colours, ArrayRef<DotOp> dots, StringAttr axis,
                  AxisRole role, DotOp *culprit);
  SmallVector<std::pair<DotOp, StringAttr>>
  findAddedRows(ArrayRef<const Base *> parts, ArrayRef<DotOp> dots);
  void merge();
  void findNeeds();
  void need(Value value, unsigned group);
  void describe(unsigned group);
  bool reducesIn(unsigned group);
  bool keepsNoColumns(unsigned group);

  KernelOp kernel;
  const TargetInfo &target;
  KernelLayouts &result;
  FreeValues free;
  DenseSet<Value> roots;
  DenseSet<Operation *> detached;
  DenseMap<void *, unsigned> numbers;
  SmallVector<void *> keys;
  SmallVector<std::pair<unsigned, unsigned>> ties;
  DenseMap<void *, llvm::SetVector<ArrayAttr>> tiles;
  SmallVector<Base> bases;
  /// Base groups of each group.
  SmallVector<SmallVector<const Base *>> parts;
  SmallVector<Colours> colours;
};

void GroupBuilder::addTile(void *key, ArrayRef<StringAttr> axes) {
  if (!axes.empty())
    tiles[key].insert(ArrayAttr::get(
        kernel.getContext(), SmallVector<Attribute>(axes.begin(), axes.end())));
}

/// A tile of all axes of `values`.
void GroupBuilder::addTile(void *key, ValueRange values) {
  llvm::SetVector<StringAttr> axes;
  for (Value v : values)
    axes.insert_range(axesOf(v.getType()));
  addTile(key, axes.getArrayRef());
}

void GroupBuilder::tieOperation(Operation *op) {
  auto tieAll = [&](void *key, ValueRange values) {
    for (Value v : values)
      tie(key, v);
  };
  for (Value v : op->getResults())
    if (isAnchored(v)) {
      node(v.getAsOpaquePointer());
      addTile(v.getAsOpaquePointer(), axesOf(v.getType()));
    }
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](scf::ForOp loop) {
        for (auto [argument, init, yielded, end] :
             llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs(),
                             loop.getYieldedValues(), loop.getResults())) {
          if (!isTile(end.getType()))
            continue;
          addTile(argument.getAsOpaquePointer(), axesOf(end.getType()));
          tieAll(argument.getAsOpaquePointer(), {init, yielded, end});
        }
      })
      .Case([&](scf::IfOp branch) {
        for (OpResult end : branch.getResults())
          if (isTile(end.getType()))
            tieAll(end.getAsOpaquePointer(),
                   {branch.thenYield().getOperand(end.getResultNumber()),
                    branch.elseYield().getOperand(end.getResultNumber())});
      })
      .Case([&](DotOp dot) {
        if (dot.getInit() && !detached.contains(dot))
          tie(dot.getResult().getAsOpaquePointer(), dot.getInit());
      })
      .Case<StoreOp>([&](auto sink) {
        node(op);
        addTile(op, op->getOperands());
        tieAll(op, op->getOperands());
      })
      .Case<ReduceOp, AnyOp>([&](auto sink) {
        node(op);
        addTile(op, ValueRange(op->getOperand(0)));
        tieAll(op, op->getOperands());
        tieAll(op, op->getResults());
      })
      .Case<scf::YieldOp, ReturnOp>([](auto) {})
      .Default([&](Operation *) {
        for (Value v : op->getResults())
          if (isAnchored(v))
            tieAll(v.getAsOpaquePointer(), op->getOperands());
        // The expansion of a softmax step ties its states to each other.
        for (Value v : op->getResults())
          if (op->getNumResults() > 1 && isAnchored(v))
            tieAll(v.getAsOpaquePointer(), op->getResults());
      });
}

/// Groups of what is tied; false where one contradicts itself and a product was
/// detached from it.
bool GroupBuilder::formBaseGroups() {
  numbers.clear();
  keys.clear();
  ties.clear();
  tiles.clear();
  bases.clear();
  for (DotOp dot : result.dots)
    for (Value operand : {dot.getLhs(), dot.getRhs()})
      if (isComputed(operand))
        roots.insert(operand);
  kernel.getBody().walk<WalkOrder::PreOrder>(
      [&](Operation *op) { tieOperation(op); });
  // Without products nothing contradicts anything.
  if (result.dots.empty())
    for (unsigned i = 1; i < keys.size(); ++i)
      ties.push_back({0, i});
  llvm::IntEqClasses classes(numbers.size());
  for (auto [a, b] : ties)
    classes.join(a, b);
  classes.compress();
  bases.resize(classes.getNumClasses());
  for (auto [i, key] : llvm::enumerate(keys)) {
    Base &base = bases[classes[i]];
    base.nodes.push_back(key);
    base.tiles.insert_range(tiles[key]);
  }
  for (DotOp dot : result.dots)
    bases[classes[numbers.lookup(dot.getResult().getAsOpaquePointer())]]
        .dots.push_back(dot);
  bool isConsistent = true;
  for (Base &base : bases) {
    DotOp culprit;
    if (base.dots.empty() || colour({&base}, &culprit))
      continue;
    isConsistent = false;
    if (culprit)
      detached.insert(culprit);
    else
      detached.insert_range(base.dots);
  }
  return isConsistent;
}

/// Gives `axis` a role, and its partner in every product the opposite one.
bool GroupBuilder::colourAxis(Colours &colours, ArrayRef<DotOp> dots,
                              StringAttr axis, AxisRole role, DotOp *culprit) {
  auto [it, isNew] = colours.roles.insert({axis, role});
  if (!isNew)
    return it->second == role;
  AxisRole opposite = role == AxisRole::Rows ? AxisRole::Cols : AxisRole::Rows;
  for (DotOp dot : dots) {
    StringAttr a = freeAxis(dot, dot.getLhs()), b = freeAxis(dot, dot.getRhs());
    StringAttr partner = a == axis ? b : b == axis ? a : StringAttr();
    if (partner && !colourAxis(colours, dots, partner, opposite, culprit)) {
      if (culprit && !*culprit)
        *culprit = dot;
      return false;
    }
  }
  return true;
}

/// Axes along which memory is contiguous of results that lanes add to it, where
/// no operand has its home here: as rows of accumulators, of which an
/// instruction touches eight, they fill sectors of memory; as columns they
/// would fill half of each (additions of an H200 take twice as long).
SmallVector<std::pair<DotOp, StringAttr>>
GroupBuilder::findAddedRows(ArrayRef<const Base *> parts,
                            ArrayRef<DotOp> dots) {
  SmallVector<std::pair<DotOp, StringAttr>> rows;
  // Tensor maps add whole lines, whatever the accumulators are.
  if (target.hasWarpgroups)
    return rows;
  auto isHere = [&](void *key) {
    return llvm::any_of(parts, [&](const Base *part) {
      return llvm::is_contained(part->nodes, key);
    });
  };
  if (llvm::any_of(dots, [&](DotOp dot) {
        return isHere(dot.getLhs().getAsOpaquePointer()) ||
               isHere(dot.getRhs().getAsOpaquePointer());
      }))
    return rows;
  for (DotOp dot : dots)
    for (Operation *user : dot.getResult().getUsers())
      if (auto store = dyn_cast<StoreOp>(user);
          store && addsToMemory(store) && isHere(store)) {
        ArrayRef<StringAttr> last = axesOf(store.getIndices().back().getType());
        if (last.size() == 1 &&
            llvm::is_contained(axesOf(dot.getType()), last.front()))
          rows.push_back({dot, last.front()});
      }
  return rows;
}

std::optional<GroupBuilder::Colours>
GroupBuilder::colour(ArrayRef<const Base *> parts, DotOp *culprit) {
  Colours colours;
  llvm::SetVector<Operation *> own;
  llvm::SetVector<StringAttr> axes;
  for (const Base *base : parts) {
    for (DotOp dot : base->dots)
      own.insert(dot);
    for (ArrayAttr tile : base->tiles)
      for (auto axis : tile.getAsRange<StringAttr>()) {
        axes.insert(axis);
        for (auto other : tile.getAsRange<StringAttr>())
          if (other != axis)
            colours.neighbours[axis].insert(other);
      }
  }
  auto dots = llvm::to_vector(llvm::make_filter_range(
      result.dots, [&](DotOp dot) { return own.contains(dot); }));
  // A computed operand stays in registers only as the A operand: its kept axis
  // becomes rows first.
  auto seed = [&](DotOp dot, Value operand) {
    StringAttr axis = freeAxis(dot, operand);
    return colours.roles.contains(axis) ||
           colourAxis(colours, dots, axis, AxisRole::Rows, culprit);
  };
  for (auto [dot, axis] : findAddedRows(parts, dots))
    if (!colours.roles.contains(axis) &&
        !colourAxis(colours, dots, axis, AxisRole::Rows, culprit))
      return std::nullopt;
  for (DotOp dot : dots)
    for (Value operand : {dot.getLhs(), dot.getRhs()})
      if (isComputed(operand) && !seed(dot, operand))
        return std::nullopt;
  for (DotOp dot : dots)
    if (!seed(dot, dot.getLhs()))
      return std::nullopt;
  auto hasNeighbour = [&](StringAttr axis, AxisRole role) {
    return llvm::any_of(colours.neighbours[axis], [&](StringAttr other) {
      auto it = colours.roles.find(other);
      return it != colours.roles.end() && it->second == role;
    });
  };
  for (auto [axis, role] : colours.roles)
    if (hasNeighbour(axis, role))
      return std::nullopt;
  // In the order of the kernel's axes.
  for (auto entry : kernel.getAxes().getAsRange<AxisAttr>()) {
    StringAttr axis = entry.getName();
    if (!axes.contains(axis) || colours.roles.contains(axis))
      continue;
    bool isCols = !dots.empty() && !hasNeighbour(axis, AxisRole::Cols) &&
                  !hasOneElement(kernel, axis) && fitsColumns(kernel, axis);
    colours.roles[axis] = isCols ? AxisRole::Cols : AxisRole::Spread;
    colours.hasSpread |= !isCols && !hasOneElement(kernel, axis);
  }
  return colours;
}

void GroupBuilder::merge() {
  auto all = llvm::map_to_vector(bases, [](const Base &b) { return &b; });
  SmallVector<const Base *> everything(all.begin(), all.end());
  std::optional<Colours> together = colour(everything, nullptr);
  if (together && (result.dots.empty() || !together->hasSpread)) {
    parts = {everything};
    colours = {std::move(*together)};
  } else {
    // Those with products first: others fit in where they can.
    auto hasProducts = [](const Base *base) { return !base->dots.empty(); };
    auto ordered =
        llvm::to_vector(llvm::make_filter_range(everything, hasProducts));
    llvm::copy_if(everything, std::back_inserter(ordered),
                  [&](const Base *base) { return !hasProducts(base); });
    for (const Base *base : ordered) {
      bool isPlaced = false;
      for (auto [group, known] : llvm::zip_equal(parts, colours)) {
        group.push_back(base);
        std::optional<Colours> joined = colour(group, nullptr);
        isPlaced =
            joined && (llvm::none_of(group, hasProducts) || !joined->hasSpread);
        if (isPlaced) {
          known = std::move(*joined);
          break;
        }
        group.pop_back();
      }
      if (!isPlaced) {
        parts.push_back({base});
        colours.push_back(*colour(parts.back(), nullptr));
      }
    }
  }
  result.groups.resize(parts.size());
  for (auto [g, group] : llvm::enumerate(parts))
    for (const Base *base : group)
      for (void *key : base->nodes)
        result.homes[key] = g;
}

void GroupBuilder::need(Value value, unsigned group) {
  if (!isTile(value.getType()))
    return;
  auto &groups = result.needs[value];
  auto place = llvm::lower_bound(groups, group);
  if (place != groups.end() && *place == group)
    return;
  groups.insert(place, group);
  if (!isAnchored(value))
    for (Value operand : value.getDefiningOp()->getOperands())
      need(operand, group);
}

void GroupBuilder::findNeeds() {
  auto needAll = [&](ValueRange values, unsigned group) {
    for (Value v : values)
      need(v, group);
  };
  kernel.getBody().walk([&](Operation *op) {
    for (Value v : op->getResults())
      if (std::optional<unsigned> home = result.homeOf(v))
        need(v, *home);
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (auto [argument, init, yielded] :
           llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs(),
                           loop.getYieldedValues()))
        if (std::optional<unsigned> home = result.homeOf(argument))
          needAll({argument, init, yielded}, *home);
      return;
    }
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      for (OpResult end : branch.getResults())
        if (std::optional<unsigned> home = result.homeOf(end))
          needAll({branch.thenYield().getOperand(end.getResultNumber()),
                   branch.elseYield().getOperand(end.getResultNumber())},
                  *home);
      return;
    }
    if (auto dot = dyn_cast<DotOp>(op)) {
      unsigned home = *result.homeOf(dot.getResult());
      needAll(dot.getPresence(), home);
      if (dot.getInit())
        need(dot.getInit(), home);
      for (Value operand : {dot.getLhs(), dot.getRhs()})
        if (isComputed(operand))
          need(operand, *result.homeOf(operand));
      return;
    }
    if (isa<StoreOp, ReduceOp, AnyOp>(op)) {
      needAll(op->getOperands(), result.placeOf(op));
      return;
    }
    for (Value v : op->getResults())
      if (std::optional<unsigned> home = result.homeOf(v))
        needAll(op->getOperands(), *home);
  });
}

bool GroupBuilder::reducesIn(unsigned g) {
  return kernel
      .walk([&](Operation *op) {
        return isa<ReduceOp, AnyOp>(op) && result.placeOf(op) == g
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether no warp of a group needs all columns of its rows.
bool GroupBuilder::keepsNoColumns(unsigned g) {
  auto isHere = [&](Value value) { return result.homeOf(value) == g; };
  bool hasOperands = llvm::any_of(result.dots, [&](DotOp dot) {
    return isHere(dot.getResult()) &&
           (isHere(dot.getLhs()) || isHere(dot.getRhs()));
  });
  return !hasOperands && !reducesIn(g);
}

void GroupBuilder::describe(unsigned g) {
  LayoutGroup &group = result.groups[g];
  group.roles = std::move(colours[g].roles);
  group.neighbours = std::move(colours[g].neighbours);
  for (const Base *base : parts[g])
    for (DotOp dot : base->dots)
      for (Value operand : {dot.getLhs(), dot.getRhs()})
        if (group.roleOf(freeAxis(dot, operand)) == AxisRole::Cols)
          group.resultCols.insert(freeAxis(dot, operand));
  for (DotOp dot : result.dots) {
    StringAttr rows = freeAxis(dot, dot.getLhs()),
               cols = freeAxis(dot, dot.getRhs());
    if (group.roleOf(rows) == AxisRole::Cols)
      std::swap(rows, cols);
    if (group.roleOf(rows) == AxisRole::Rows &&
        group.roleOf(cols) == AxisRole::Cols)
      group.products.push_back(
          {rows, cols,
           llvm::to_vector<1>(dot.getOver().getAsRange<StringAttr>())});
  }
  bool isComputedSomewhere = llvm::any_of(result.dots, [](DotOp dot) {
    return isComputed(dot.getLhs()) || isComputed(dot.getRhs());
  });
  bool reduces = kernel.walk([](ReduceOp) { return WalkResult::interrupt(); })
                     .wasInterrupted();
  group.splitCols = result.hasDot() && result.groups.size() == 1 &&
                    !isComputedSomewhere && !reduces;
  group.sharesCols = result.groups.size() > 1 && keepsNoColumns(g);
  group.couldSplitCols = !target.hasWarpgroups && !group.splitCols &&
                         !group.resultCols.empty() && !reducesIn(g);
  // Tiles with several axes decide; a vector of rows alone (a bias, an LSE)
  // does not make rows contiguous.
  // Sums of products run in registers: their blocks are short where the tile
  // has no memory of its own.
  llvm::SmallPtrSet<Attribute, 2> summed;
  kernel.walk([&](ReduceOp reduce) {
    if (axesOf(reduce.getSource().getType()).size() > 2)
      for (auto axis : kernel.getAxes().getAsRange<AxisAttr>())
        if (axis.getBlock() &&
            llvm::is_contained(reduce.getOver(), Attribute(axis.getName())))
          summed.insert(axis.getName());
  });
  int64_t mostBytes = 2;
  auto visit = [&](Value tensor, ValueRange indices) {
    if (indices.empty() || axesOf(indices.back().getType()).size() != 1)
      return;
    StringAttr axis = axesOf(indices.back().getType())[0];
    size_t tiles = llvm::count_if(
        indices, [](Value index) { return isTile(index.getType()); });
    if (tiles > 2 || !summed.contains(axis)) {
      group.contiguous.insert(axis);
      mostBytes = std::max<int64_t>(
          mostBytes,
          bytesOf(cast<GlobalType>(tensor.getType()).getElementType()));
    }
  };
  for (size_t rank : {size_t(2), size_t(1)})
    kernel.walk([&](Operation *op) {
      auto counts = [&](Type type) {
        return axesOf(type).size() >= rank &&
               (rank > 1 || group.contiguous.empty());
      };
      if (auto load = dyn_cast<LoadOp>(op);
          load && counts(load.getType()) &&
          llvm::is_contained(result.neededIn(load), g))
        visit(load.getTensor(), load.getIndices());
      if (auto store = dyn_cast<StoreOp>(op);
          store && counts(store.getValue().getType()) &&
          result.placeOf(store) == g)
        visit(store.getTensor(), store.getIndices());
    });
  if (!result.hasDot())
    group.vector =
        std::clamp<int64_t>(vectorBytes / mostBytes, 4, group.vector);
}

KernelLayouts::KernelLayouts(KernelOp kernel, const TargetInfo &target) {
  GroupBuilder(kernel, target, *this).run();
  if (kernel.getSharedOperands())
    shareOperands(true);
}

void KernelLayouts::shareOperands(bool isShared) {
  for (LayoutGroup &group : groups)
    if (group.couldSplitCols)
      group.splitCols = isShared;
}

bool KernelLayouts::couldShareOperands() const {
  auto takesComputed = [&](DotOp dot) {
    return homeOf(dot.getLhs()) || homeOf(dot.getRhs());
  };
  auto takesSeveral = [&](DotOp dot) {
    return llvm::count_if(dot->getBlock()->getOps<DotOp>(), takesComputed) > 1;
  };
  return llvm::any_of(dots, takesSeveral) &&
         llvm::all_of(groups, [](const LayoutGroup &group) {
           return group.couldSplitCols || group.splitCols;
         });
}

bool KernelLayouts::hasStagedOperand(DotOp dot) const {
  return llvm::any_of(ValueRange{dot.getLhs(), dot.getRhs()}, [&](Value v) {
    std::optional<unsigned> home = homeOf(v);
    return home && home != homeOf(dot.getResult());
  });
}

std::optional<unsigned> KernelLayouts::homeOf(Value value) const {
  auto it = homes.find(value.getAsOpaquePointer());
  return it == homes.end() ? std::nullopt : std::optional(it->second);
}

unsigned KernelLayouts::placeOf(Operation *sink) const {
  return homes.lookup(sink);
}

ArrayRef<unsigned> KernelLayouts::neededIn(Value value) const {
  auto it = needs.find(value);
  return it == needs.end() ? ArrayRef<unsigned>() : ArrayRef(it->second);
}

} // namespace selvedge::schedule
