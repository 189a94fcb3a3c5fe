// Loads and stores of tiles.
// SPDX-License-Identifier: MIT
#include "compiler/Reference/Memory.h"
#include "dialect/Tile/Accumulate.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <cmath>
#include <limits>

using namespace mlir;

namespace selvedge::reference {

namespace {

std::string describeElement(const Tensor &tensor, ArrayRef<int64_t> index) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "tensor '" << tensor.arg.getName().getValue() << "' at [";
  llvm::interleaveComma(index, os);
  os << "], but its shape is [";
  llvm::interleaveComma(tensor.shape, os);
  os << "]";
  return text;
}

} // namespace

llvm::Expected<Addresses> addressLanes(Operation *op, const Tensor &tensor,
                                       ArrayRef<TileRef> indices,
                                       std::vector<uint8_t> present,
                                       const TileShape &shape) {
  Addresses lanes;
  lanes.present = std::move(present);
  if (lanes.present.empty())
    lanes.present.assign(shape.lanes(), Present);
  lanes.elements.assign(lanes.present.size(), 0);
  llvm::SmallVector<LanePositions, 4> from;
  for (const TileRef &index : indices)
    from.push_back(lanePositions(index->shape, shape));
  for (size_t lane = 0; lane < lanes.present.size(); ++lane) {
    if (!(lanes.present[lane] & Present)) {
      lanes.elements[lane] = -1;
      continue;
    }
    int64_t element = 0;
    bool inside = tensor.present;
    for (size_t d = 0; d < indices.size(); ++d) {
      int64_t index = indices[d]->ints[from[d][lane]];
      inside &= index >= 0 && index < tensor.shape[d];
      element = element * tensor.shape[d] + index;
    }
    lanes.elements[lane] = element;
    if (inside)
      continue;
    llvm::SmallVector<int64_t> index;
    for (size_t d = 0; d < indices.size(); ++d)
      index.push_back(indices[d]->ints[from[d][lane]]);
    if (!tensor.present)
      return errorAt(op, "accesses tensor '" + tensor.arg.getName().getValue() +
                             "', which was not passed");
    return errorAt(op, "accesses " + describeElement(tensor, index));
  }
  return lanes;
}

TileShape storeShape(const TileRef &value, ArrayRef<TileRef> indices) {
  TileShape shape = value->shape;
  for (const TileRef &index : indices)
    for (auto [axis, extent] :
         llvm::zip(index->shape.axes, index->shape.extents))
      if (shape.indexOf(axis) < 0)
        shape.push(axis, extent);
  return shape;
}

int64_t Tensor::size() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

llvm::Error errorAt(Operation *op, const llvm::Twine &message) {
  std::string place;
  llvm::raw_string_ostream os(place);
  FileLineColLoc file;
  op->getLoc()->walk([&](Location part) {
    file = dyn_cast<FileLineColLoc>(part);
    return file ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (file)
    os << file.getFilename().getValue() << ':' << file.getLine() << ':'
       << file.getColumn();
  else
    os << op->getLoc();
  return llvm::createStringError(place + ": error: '" +
                                 op->getName().getStringRef() + "' " + message +
                                 "\n");
}

llvm::Expected<TileRef> loadTile(tile::LoadOp op, Tensor &tensor,
                                 ArrayRef<TileRef> indices,
                                 ArrayRef<TileRef> presence,
                                 const TileShape &shape) {
  llvm::Expected<Addresses> lanes =
      addressLanes(op, tensor, indices, conjunction(presence, shape), shape);
  if (!lanes)
    return lanes.takeError();
  if (!tensor.read.empty())
    for (int64_t element : lanes->elements)
      if (element >= 0)
        // Iterations run in parallel and may read the same element.
        std::atomic_ref(tensor.read[element])
            .store(1, std::memory_order_relaxed);
  if (!tensor.written.empty())
    for (int64_t element : lanes->elements)
      if (element >= 0 && !tensor.written[element])
        std::atomic_ref(tensor.initial[element])
            .store(1, std::memory_order_relaxed);
  bool zero = op.getFill() == tile::Fill::Zero;
  const TileValue &elements = tensor.elements;
  auto result = std::make_shared<TileValue>();
  result->shape = shape;
  result->isFloat = elements.isFloat;
  // An absent lane is poison, so that a missing predicate on a sink shows.
  auto gather = [&](const auto &in, auto &out, auto absent) {
    out.resize(lanes->elements.size());
    for (size_t lane = 0; lane < out.size(); ++lane)
      out[lane] =
          lanes->elements[lane] < 0 ? absent : in[lanes->elements[lane]];
  };
  if (!elements.isFloat) {
    int64_t poison = op.getTensor().getType().getElementType().isInteger(1)
                         ? 1
                         : poisonInteger;
    gather(elements.ints, result->ints, zero ? 0 : poison);
    if (!elements.unsure.empty())
      gather(elements.unsure, result->unsure, uint8_t(0));
    return result;
  }
  gather(elements.values, result->values,
         zero ? 0 : std::numeric_limits<double>::quiet_NaN());
  if (!elements.bounds.empty())
    gather(elements.bounds, result->bounds, 0.0);
  return result;
}

void Tensor::add(int64_t element, const TileValue &value, int64_t lane,
                 bool isUnsure) {
  if (!elements.isFloat) {
    elements.ints[element] =
        static_cast<int32_t>(elements.ints[element] + value.ints[lane]);
    elements.unsure[element] |= isUnsure || value.unsureAt(lane);
    return;
  }
  if (additions.empty()) {
    additions.assign(size(), 0);
    magnitudes.assign(size(), 0);
  }
  constexpr double unit = 0x1p-24;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Num x = value.at(lane);
  double &magnitude = magnitudes[element], &sum = elements.values[element];
  double &bound = elements.bounds[element];
  if (additions[element] == 0)
    magnitude = std::abs(sum);
  double before = static_cast<double>(additions[element]++) * magnitude;
  magnitude += std::abs(x.value) + x.bound;
  sum += x.value;
  if (isUnsure || std::isinf(x.bound)) {
    bound = infinity;
  } else if (std::isfinite(sum)) {
    // n additions in any order round n times, each time a sum of some terms,
    // which may overflow. Inf and NaN stay in any order.
    auto count = static_cast<double>(additions[element]);
    bool mayOverflow = magnitude > std::numeric_limits<float>::max();
    bound +=
        mayOverflow ? infinity : x.bound + unit * (count * magnitude - before);
  }
}

llvm::Error storeTile(tile::StoreOp op, Tensor &tensor, const TileRef &value,
                      ArrayRef<TileRef> indices, ArrayRef<TileRef> presence) {
  TileShape shape = storeShape(value, indices);
  llvm::Expected<Addresses> lanes =
      addressLanes(op, tensor, indices, conjunction(presence, shape), shape);
  if (!lanes)
    return lanes.takeError();
  LanePositions from = lanePositions(value->shape, shape);
  for (size_t lane = 0; lane < from.size(); ++lane) {
    int64_t element = lanes->elements[lane];
    bool unsure = lanes->present[lane] & Unsure;
    if (element < 0)
      continue;
    if (tile::addsToMemory(op)) {
      if (!tensor.written.empty() && !tensor.written[element])
        tensor.initial[element] = 1;
      tensor.add(element, *value, from[lane], unsure);
      continue;
    }
    // Iterations run in parallel; only an erroneous program has two of them
    // here.
    std::atomic_ref<uint8_t> stored(tensor.stored[element]);
    bool isFirst = !stored.exchange(1, std::memory_order_relaxed);
    if (!isFirst && tensor.mayMeet)
      continue;
    if (!isFirst)
      return errorAt(op, "stores element " + llvm::Twine(element) +
                             " of tensor '" + tensor.arg.getName().getValue() +
                             "' twice in one kernel");
    if (!tensor.written.empty())
      tensor.written[element] = 1;
    if (!value->isFloat) {
      tensor.elements.ints[element] = value->ints[from[lane]];
      tensor.elements.unsure[element] = unsure || value->unsureAt(from[lane]);
      continue;
    }
    Num x = value->at(from[lane]);
    tensor.elements.values[element] = x.value;
    tensor.elements.bounds[element] =
        unsure ? std::numeric_limits<double>::infinity() : x.bound;
  }
  return llvm::Error::success();
}

} // namespace selvedge::reference
