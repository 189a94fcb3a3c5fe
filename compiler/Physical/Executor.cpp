// Executes the operations of a kernel: control flow and dispatch.
// SPDX-License-Identifier: MIT
#include "compiler/Physical/Executor.h"
#include "compiler/Physical/Arithmetic.h"
#include "dialect/Sm/SmScheduler.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace selvedge::physical {

using reference::errorAt;
using reference::TileRef;
using reference::TileShape;
using reference::TileValue;

TileShape shapeOf(Type type) {
  TileShape shape;
  if (auto buffer = dyn_cast<sm::BufferType>(type)) {
    for (auto [axis, extent] : buffer.getAxes())
      shape.push(axis, extent);
  } else if (sm::isRegisterTile(type)) {
    for (auto [axis, extent] :
         llvm::zip(sm::layoutOf(type).getAxes(),
                   cast<RankedTensorType>(type).getShape()))
      shape.push(axis.getName(), extent);
  } else if (tile::isTile(type)) {
    for (auto [axis, extent] :
         llvm::zip(tile::axesOf(type), cast<RankedTensorType>(type).getShape()))
      shape.push(axis, extent);
  }
  return shape;
}

TileRef Executor::valueOf(Value value) {
  return isa<sm::BufferType>(value.getType()) ? readBuffer(value)
                                              : values.lookup(value);
}

std::shared_ptr<TileValue> Executor::poisonTile(Type type) {
  return poison.tile(shapeOf(type), getElementTypeOrSelf(type));
}

SmallVector<TileRef> Executor::valuesOf(ValueRange range) {
  SmallVector<TileRef> tiles;
  for (Value value : range)
    tiles.push_back(valueOf(value));
  return tiles;
}

void Executor::define(ValueRange results, ArrayRef<TileRef> tiles) {
  for (auto [result, tile] : llvm::zip_equal(results, tiles))
    values[result] = tile;
}

llvm::Error Executor::run(Block &block) {
  for (Operation &op : block.without_terminator())
    if (llvm::Error failure = runOp(&op))
      return failure;
  return llvm::Error::success();
}

llvm::Error Executor::runOp(Operation *op) {
  return TypeSwitch<Operation *, llvm::Error>(op)
      .Case([&](scf::ForOp loop) { return runFor(loop); })
      .Case([&](scf::IfOp branch) { return runIf(branch); })
      .Case<tile::StoreOp, sm::StoreOp>([&](auto store) {
        return runStore(store, store.getValue(), store.getTensor(),
                        store.getIndices(), store.getPresence());
      })
      .Case<sm::CopyOp, sm::CopyAsyncOp>(
          [&](auto copy) { return runCopy(copy); })
      .Case([&](sm::AllocOp alloc) {
        shared.allocate(alloc);
        return llvm::Error::success();
      })
      .Case([&](sm::SlotOp slot) {
        return shared.name(slot, valueOf(slot.getStage())->ints[0]);
      })
      .Case([&](sm::StageOp stage) {
        TileRef source = valueOf(stage.getSource());
        TileShape shape = shapeOf(stage.getBuffer().getType());
        shared.stage(stage.getBuffer(), reference::broadcast(source, shape));
        return llvm::Error::success();
      })
      .Case([&](sm::AwaitOp await) {
        shared.await(static_cast<int64_t>(await.getPending()));
        return llvm::Error::success();
      })
      .Case([&](sm::BarrierOp) {
        shared.barrier();
        return llvm::Error::success();
      })
      // Launches run one after the other here.
      .Case<sm::AwaitLaunchOp, sm::AdmitLaunchOp>(
          [](auto) { return llvm::Error::success(); })
      .Default([&](Operation *other) -> llvm::Error {
        llvm::Expected<TileRef> result = evaluate(other);
        if (!result)
          return result.takeError();
        values[other->getResult(0)] = *result;
        return llvm::Error::success();
      });
}

llvm::Expected<TileRef> Executor::evaluate(Operation *op) {
  auto unknown = [&] {
    return errorAt(op, "is not an operation that physical execution knows: "
                       "expected tile with bound sizes and expanded softmax, "
                       "or sm in form seq or async");
  };
  if (op->getNumRegions() != 0 || op->getNumResults() != 1)
    return unknown();
  Type type = op->getResult(0).getType();
  Memo::Entry &known = memo.of(op);
  const TileShape &shape = known.shape;
  if (known.isPure) {
    SmallVector<TileRef> operands = valuesOf(op->getOperands());
    if (known.holds(operands))
      return known.result;
    known.operands.assign(operands.begin(), operands.end());
  }
  if (llvm::any_of(shape.extents, ShapedType::isDynamic))
    return errorAt(op, "has an unbound size: run tile-bind-blocks first");
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    PoisonSource zero(Poison::None, 0);
    PoisonSource &fill = load.getFill() == tile::Fill::Zero ? zero : poison;
    return this->load(op, load.getTensor(), load.getIndices(), load.getTested(),
                      fill.tile(shape, getElementTypeOrSelf(type)));
  }
  if (auto load = dyn_cast<sm::LoadOp>(op))
    return this->load(
        op, load.getTensor(), load.getIndices(), load.getPresence(),
        PoisonSource(Poison::None, 0).tile(shape, getElementTypeOrSelf(type)));
  // Where warps do not find the parts of the others, all lanes are wrong.
  if (auto exchange = dyn_cast<sm::ExchangeOpInterface>(op);
      exchange && exchange.getExchangeScratch() &&
      !shared.exchange(exchange.getExchangeScratch()))
    return TileRef(poison.tile(shape, getElementTypeOrSelf(type)));
  TileRef result = evaluatePure(op, shape);
  if (!result)
    return unknown();
  if (known.isPure)
    known.result = result;
  return result;
}

TileRef Executor::evaluatePure(Operation *op, const TileShape &shape) {
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  return TypeSwitch<Operation *, TileRef>(op)
      .Case([&](sm::BlockIdOp op) {
        return reference::makeScalar(
            op.getColumns()
                ? sm::BlockIdOp::placeOf(blockId, numBlocks,
                                         valueOf(op.getColumns())->ints[0])
                : blockId);
      })
      .Case<tile::RangeOp, sm::RangeOp>([&](auto range) -> TileRef {
        std::shared_ptr<TileValue> indices = reference::makeInts(shape);
        int64_t start = valueOf(range.getStart())->ints[0];
        for (auto [i, index] : llvm::enumerate(indices->ints))
          index = static_cast<int32_t>(start + static_cast<int64_t>(i));
        return indices;
      })
      .Case<tile::SplatOp, sm::SplatOp>([&](auto splat) {
        return reference::broadcast(valueOf(splat.getValue()), shape);
      })
      .Case<tile::BroadcastOp, sm::BroadcastOp>([&](auto repeat) {
        return reference::broadcast(valueOf(repeat.getSource()), shape);
      })
      .Case([&](sm::RelayoutOp op) {
        return reference::broadcast(valueOf(op.getSource()), shape);
      })
      .Case<tile::IsPresentOp, sm::IsPresentOp>([&](auto present) {
        return reference::makeScalar(
            static_cast<int64_t>(tensors.lookup(present.getTensor())->present));
      })
      .Case<tile::ConvertOp, sm::ConvertOp>([&](auto narrow) {
        return convert(valueOf(narrow.getSource()), type, narrow.getOverflow());
      })
      .Case([&](tile::DotOp dot) {
        SmallVector<StringAttr> over(dot.getOver().getAsRange<StringAttr>());
        return contract(valueOf(dot.getLhs()), valueOf(dot.getRhs()),
                        dot.getInit() ? valueOf(dot.getInit()) : nullptr, over,
                        shape);
      })
      .Case([&](sm::MmaOp mma) {
        return contract(valueOf(mma.getLhs()), valueOf(mma.getRhs()),
                        valueOf(mma.getInit()), mma.getOverAttr(), shape);
      })
      .Case<tile::AnyOp, sm::AnyOp>([&](auto any) {
        TileRef condition = valueOf(any.getCondition());
        return reference::makeScalar(static_cast<int64_t>(
            llvm::any_of(condition->ints, [](int64_t v) { return v != 0; })));
      })
      .Case([&](sm::NotFiniteOp test) {
        TileRef source = valueOf(test.getSource());
        return reference::makeScalar(static_cast<int64_t>(llvm::any_of(
            source->values, [](double v) { return !std::isfinite(v); })));
      })
      .Case([&](tile::ReduceOp op) {
        SmallVector<StringAttr> over(op.getOver().getAsRange<StringAttr>());
        return reduce(op.getKind(), valueOf(op.getSource()), over, shape, type);
      })
      .Case([&](sm::ReduceOp op) {
        return reduce(op.getKind(), valueOf(op.getSource()), op.getOverAttr(),
                      shape, type);
      })
      .Case([&](sm::FoldOp op) { return fold(op, shape); })
      .Default([&](Operation *other) {
        return evaluateElementwise(other, valuesOf(other->getOperands()),
                                   shape);
      });
}

TileRef Executor::fold(sm::FoldOp op, const TileShape &shape) {
  TileRef source = valueOf(op.getSource());
  StringAttr over = op.getOverAttr();
  sm::LayoutAttr fromLayout = sm::layoutOf(op.getSource().getType()),
                 toLayout = sm::layoutOf(op.getType());
  sm::AxisLayoutAttr from = fromLayout.getAxes()[fromLayout.indexOf(over)],
                     to = toLayout.getAxes()[toLayout.indexOf(over)];
  // For each element that is left those that a thread combines.
  std::vector<std::vector<int64_t>> parts(shape.extents[shape.indexOf(over)]);
  for (int64_t lane = 0; lane < 32; ++lane) {
    std::vector<int64_t> &own = parts[to.indicesOf(lane, 0)[0]];
    if (own.empty())
      llvm::append_range(own, from.indicesOf(lane, 0));
  }
  int64_t axis = source->shape.indexOf(over), inner = 1;
  for (int64_t extent : ArrayRef(source->shape.extents).drop_front(axis + 1))
    inner *= extent;
  int64_t width = source->shape.extents[axis],
          outer = source->shape.lanes() / (width * inner),
          left = static_cast<int64_t>(parts.size());
  auto result = std::make_shared<TileValue>();
  result->shape = shape;
  result->values.resize(shape.lanes());
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t part = 0; part < left; ++part)
      for (int64_t i = 0; i < inner; ++i) {
        double &combined = result->values[(o * left + part) * inner + i];
        for (auto [n, index] : llvm::enumerate(parts[part])) {
          double value = source->values[(o * width + index) * inner + i];
          if (n == 0 || std::isnan(value) || std::isnan(combined))
            combined = n == 0 ? value : std::nan("");
          else if (op.getKind() == tile::Combine::Add)
            combined = static_cast<float>(combined + value);
          else
            combined = op.getKind() == tile::Combine::Max
                           ? std::max(combined, value)
                           : std::min(combined, value);
        }
      }
  return result;
}

llvm::Error Executor::runFor(scf::ForOp op) {
  int64_t low = valueOf(op.getLowerBound())->ints[0];
  int64_t high = valueOf(op.getUpperBound())->ints[0];
  int64_t step = valueOf(op.getStep())->ints[0];
  if (step < 1)
    return errorAt(op, "has step " + llvm::Twine(step));
  SmallVector<TileRef> carried = valuesOf(op.getInitArgs());
  for (int64_t i = low; i < high; i += step) {
    values[op.getInductionVar()] = reference::makeScalar(i);
    define(op.getRegionIterArgs(), carried);
    if (llvm::Error failure = run(*op.getBody()))
      return failure;
    carried = valuesOf(op.getBody()->getTerminator()->getOperands());
  }
  define(op.getResults(), carried);
  return llvm::Error::success();
}

llvm::Error Executor::runIf(scf::IfOp op) {
  Region &region = valueOf(op.getCondition())->ints[0] ? op.getThenRegion()
                                                       : op.getElseRegion();
  if (region.empty())
    return llvm::Error::success();
  if (llvm::Error failure = run(region.front()))
    return failure;
  define(op.getResults(),
         valuesOf(region.front().getTerminator()->getOperands()));
  return llvm::Error::success();
}

} // namespace selvedge::physical
