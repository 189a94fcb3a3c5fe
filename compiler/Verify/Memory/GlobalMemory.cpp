// The tensors of a plan while its launches are executed with concrete sizes.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Memory/GlobalMemory.h"

#include "compiler/Verify/Arithmetic/InitValues.h"
#include "compiler/Verify/Arithmetic/PredicateWords.h"
#include "dialect/Tile/Accumulate.h"
#include "dialect/Tile/Limits.h"
#include "dialect/Tile/UniqueTensors.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::tile;

/// Where segments begin and end: their lengths are samples, in proportion if
/// there are fewer rows. The last row is of no segment.
static std::vector<int64_t> rowsOf(ArrayRef<int64_t> extents, int64_t end,
                                   int64_t first, ArrayRef<int64_t> samples) {
  if (extents.size() != 1 || samples.empty())
    return {};
  int64_t most = std::max<int64_t>(end - 1, 0), all = 0;
  auto length = [&](int64_t segment) {
    return std::max<int64_t>(
        0, samples[(first + segment) % static_cast<int64_t>(samples.size())]);
  };
  for (int64_t i = 0; i + 1 < extents.front(); ++i)
    all += length(i);
  std::vector<int64_t> rows(extents.front());
  for (int64_t i = 0; i + 1 < extents.front(); ++i)
    rows[i + 1] = rows[i] + (all > most ? length(i) * most / all : length(i));
  return rows;
}

/// A step that goes through all of `count` numbers, modulo that, and is none of
/// a range where there are three or more.
static int64_t stepThrough(int64_t count) {
  int64_t step = 3;
  while (count > 0 && std::gcd(step, count) != 1)
    ++step;
  return step;
}

/// What is too much to store no limit allows to go through.
constexpr uint64_t tooMuch = uint64_t(1) << 48;

/// Elements of which all are listed though few are written: as fast as that.
constexpr uint64_t mostOfSome = uint64_t(1) << 16;

GlobalMemory::GlobalMemory(sm::PlanOp plan, ArrayRef<int64_t> sizes,
                           ArrayRef<int64_t> samples, bool hasOptionals,
                           int64_t turn, Parts parts)
    : sizes(sizes), samples(samples), isComplete(hasOptionals) {
  Builder b(plan.getContext());
  SmallVector<Attribute> symbols = llvm::map_to_vector(
      sizes, [&](int64_t size) -> Attribute { return b.getIndexAttr(size); });
  for (auto arg : plan.getTensors().getAsRange<TensorArgAttr>()) {
    Contents &contents = tensors[arg.getName()];
    contents.arg = arg;
    SmallVector<Attribute> extents;
    uint64_t count = 1;
    (void)arg.getShape().constantFold(symbols, extents);
    for (Attribute extent : extents) {
      contents.extents.push_back(cast<IntegerAttr>(extent).getInt());
      count = llvm::SaturatingMultiply(
          count, static_cast<uint64_t>(contents.extents.back()));
    }
    if (arg.getRole() == Role::In)
      continue;
    bool isSparse = parts == Parts::Some && count > mostOfSome;
    // Numbers of elements do not wrap.
    if (count > tooMuch)
      addWork(tooMuch);
    else if (!isSparse)
      addWork(count > WrittenElements::mostListed ? tooMuch : count / 4);
    contents.written = WrittenElements(count, isSparse);
  }
  for (StringAttr name : getUniqueTensors(plan)) {
    Contents &contents = tensors[name];
    int64_t count = 1;
    for (int64_t extent : contents.extents)
      count = llvm::SaturatingMultiply<uint64_t>(count, extent);
    contents.uniqueStep = stepThrough(count);
  }
  int64_t firstSample = 0, shift = 0, floats = 0;
  for (auto arg : plan.getTensors().getAsRange<TensorArgAttr>())
    if (arg.getRole() == Role::In && arg.getElementType().isInteger())
      tensors[arg.getName()].shift = std::exchange(shift, shift + turn);
    else if (arg.getRole() == Role::In)
      tensors[arg.getName()].shift = floats++;
  for (auto promise : plan.getPromises().getAsRange<RequireAttr>())
    if (!promise.getOrdered()) {
      tensors[promise.getTensor()].most = extentOf(promise.getHi());
    } else {
      Contents &contents = tensors[promise.getTensor()];
      // All of them are listed, too, and would be before anybody asks whether
      // they are too many.
      constexpr int64_t mostRows = 1 << 16;
      if (!contents.extents.empty() && contents.extents.front() > mostRows) {
        addWork(tooMuch);
        continue;
      }
      contents.rows =
          rowsOf(contents.extents, extentOf(promise.getHi()).value_or(0),
                 std::exchange(firstSample, firstSample + turn), samples);
    }
}

void GlobalMemory::setNumbers(StringRef integers, StringRef tensor,
                              unsigned dim, int64_t size) {
  auto of = tensors.find(integers), to = tensors.find(tensor);
  if (of != tensors.end() && to != tensors.end() &&
      dim < to->second.extents.size())
    of->second.numbered = llvm::divideCeilSigned(to->second.extents[dim], size);
}

void GlobalMemory::setSegments(StringRef tensor, ArrayRef<int64_t> ends) {
  tensors[tensor].rows.assign(ends.begin(), ends.end());
}

bool GlobalMemory::canBePassed() const {
  return llvm::all_of(tensors, [](const auto &entry) {
    return llvm::all_of(entry.second.extents, [](int64_t extent) {
      return extent <= tile::maxExtent;
    });
  });
}

std::optional<int64_t> GlobalMemory::extentOf(AffineMap extent) const {
  // Tiles of segments say nothing of their rows.
  if (extent.getNumDims() != 0)
    return std::nullopt;
  Builder b(extent.getContext());
  SmallVector<Attribute> symbols = llvm::map_to_vector(
      sizes, [&](int64_t size) -> Attribute { return b.getIndexAttr(size); });
  SmallVector<Attribute> result;
  if (failed(extent.constantFold(symbols, result)))
    return std::nullopt;
  return cast<IntegerAttr>(result.front()).getInt();
}

void GlobalMemory::begin() {
  for (auto &entry : tensors) {
    entry.second.written.fill(Never);
    entry.second.storedBy = {};
  }
}

void GlobalMemory::assumeLaunched() {
  for (auto &entry : tensors) {
    entry.second.written.fill(Initialised);
    entry.second.isInitialised = true;
  }
}

/// The tensor that an operation stores or adds to; null for another one.
static Value storedTensor(Operation *op) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<sm::StoreOp, sm::BulkReduceOp>(
          [](auto store) { return store.getTensor(); })
      .Case([](sm::TmaStoreOp store) { return store.getMap(); })
      .Default([](Operation *) { return Value(); });
}

bool hasStoreTo(sm::KernelOp kernel, StringRef tensor) {
  return kernel
      .walk([&](Operation *op) {
        Value target = storedTensor(op);
        return target && tensorName(target) == tensor ? WalkResult::interrupt()
                                                      : WalkResult::advance();
      })
      .wasInterrupted();
}

StringRef initialisedBy(sm::KernelOp kernel) {
  std::optional<SourceAttr> source = kernel.getSource();
  StringRef name =
      source ? source->getKernel().getLeafReference().getValue() : "";
  return name.consume_front("init_") ? name : "";
}

void GlobalMemory::startLaunch(Operation *kernel) {
  SmallVector<Contents *> stored;
  llvm::SmallSetVector<Contents *, 4> storedAtAll;
  auto launched = cast<sm::KernelOp>(kernel);
  std::optional<SourceAttr> source = launched.getSource();
  bool isOfProgram = source && initialisedBy(launched).empty();
  initialises = !isOfProgram;
  kernel->walk([&](Operation *op) {
    Value target = storedTensor(op);
    auto it = target ? tensors.find(tensorName(target)) : tensors.end();
    if (it != tensors.end())
      storedAtAll.insert(&it->second);
    if (auto store = dyn_cast<sm::StoreOp>(op)) {
      initialises &= it != tensors.end() && !it->second.isInitialised &&
                     !addsToMemory(store) &&
                     isInit(store.getValue(), it->second.arg);
      if (it != tensors.end())
        stored.push_back(&it->second);
      if (it != tensors.end() &&
          !llvm::is_contained(it->second.writers, kernel))
        it->second.writers.push_back(kernel);
    }
    // Those of lanes are known.
    auto access = dyn_cast<TensorAccessOpInterface>(op);
    initialises &= !access || !access.isStore() || access.isOfLanes();
  });
  // Kernels of a program run one after the other: a later one may store what
  // another one has.
  if (isOfProgram)
    for (Contents *contents : storedAtAll)
      if (Attribute last =
              std::exchange(contents->storedBy, source->getKernel());
          last && last != contents->storedBy)
        contents->written.exchange(Stored, Initialised | Perhaps);
  initialises &= !stored.empty();
  // A later launch of constants stores what the program says.
  if (initialises)
    for (Contents *contents : stored)
      contents->isInitialised = true;
}

/// The number of an element; none outside of the tensor.
static std::optional<int64_t> elementAt(ArrayRef<int64_t> indices,
                                        ArrayRef<int64_t> extents) {
  int64_t element = 0;
  for (auto [index, extent] : llvm::zip_equal(indices, extents)) {
    if (index < 0 || index >= extent)
      return std::nullopt;
    element = element * extent + index;
  }
  return element;
}

std::optional<int64_t>
GlobalMemory::elementOf(StringRef name, ArrayRef<int64_t> indices) const {
  auto it = tensors.find(name);
  if (it == tensors.end() || it->second.arg.getRole() != Role::In)
    return std::nullopt;
  Type type = it->second.arg.getElementType();
  if (type.isInteger() && samples.empty())
    return std::nullopt;
  std::optional<int64_t> found = elementAt(indices, it->second.extents);
  if (!found)
    return std::nullopt;
  int64_t element = *found;
  // Now and then a number is none of an element that exists.
  constexpr int64_t gap = numWithLast + 1;
  if (it->second.uniqueStep > 0) {
    int64_t count = 1;
    for (int64_t extent : it->second.extents)
      count *= extent;
    return element % gap == numWithLast - 1
               ? -1
               : (element * it->second.uniqueStep + 1) % count;
  }
  if (!type.isInteger()) {
    // Neighbours along any dimension differ, and so do tensors.
    static constexpr double numbers[] = {1, -1, 0.5, 0, -1};
    return LaneTiles::bitsOf(
        numbers[(element + it->second.shift) % std::size(numbers)]);
  }
  if (!it->second.rows.empty())
    return it->second.rows[element];
  if (int64_t numbered = it->second.numbered; numbered > 0)
    return element % gap == numWithLast - 1
               ? (element / gap % 2 ? -1 : numbered)
               : (element + 1) % numbered;
  int64_t sample = samples[sampleOf(it->second, element)];
  // What is promised to lie in a range may end anywhere in it.
  if (std::optional<int64_t> most = it->second.most; most && *most >= 0)
    sample = sample > *most ? sample % (*most + 1) : sample;
  return type.isInteger(1) ? sample & 1 : sample;
}

std::optional<int64_t> KnownElements::operator()(Value of,
                                                 ArrayRef<int64_t> indices) {
  if (of != tensor) {
    tensor = of;
    name = tensorName(of);
  }
  return memory.elementOf(name, indices);
}

std::optional<size_t> GlobalMemory::sampleOf(StringRef name,
                                             ArrayRef<int64_t> indices) const {
  auto it = tensors.find(name);
  if (it == tensors.end() || it->second.arg.getRole() != Role::In ||
      !it->second.arg.getElementType().isInteger() ||
      it->second.uniqueStep > 0 || !it->second.rows.empty() ||
      it->second.numbered > 0 || samples.empty())
    return std::nullopt;
  std::optional<int64_t> element = elementAt(indices, it->second.extents);
  return element ? std::optional(sampleOf(it->second, *element)) : std::nullopt;
}

LogicalResult GlobalMemory::load(Operation *op, StringRef tensor,
                                 ValueRange indices, ValueRange presence,
                                 LaneTiles &lanes) {
  return access(op, tensor, indices, presence, lanes, Access::Load);
}

LogicalResult GlobalMemory::store(Operation *op, StringRef tensor,
                                  ValueRange indices, ValueRange presence,
                                  LaneTiles &lanes) {
  return access(op, tensor, indices, presence, lanes, Access::Store);
}

LogicalResult GlobalMemory::add(Operation *op, StringRef tensor,
                                ValueRange indices, ValueRange presence,
                                LaneTiles &lanes) {
  if (auto it = tensors.find(tensor); it != tensors.end())
    it->second.isAddedTo = true;
  return access(op, tensor, indices, presence, lanes, Access::Add);
}

LogicalResult GlobalMemory::checkOutput(Operation *op,
                                        const Contents &contents) {
  if (contents.arg.getRole() != Role::In)
    return success();
  return refuse(op->emitOpError("expects an output to store to, found input '")
                << contents.arg.getName().getValue() << "'");
}

namespace {

/// Indices and predicates that share axes, and no axis with others.
struct Component {
  LaneSpace space = {};
  SmallVector<const LaneTile *> presence = {};
  /// By dimension of the tensor.
  SmallVector<std::pair<size_t, const LaneTile *>> indices = {};

  bool sharesAxis(const LaneTile &tile) const {
    return llvm::any_of(tile.axes, [&](StringAttr axis) {
      return llvm::is_contained(space.axes, axis);
    });
  }
  void join(const Component &other) {
    for (auto [axis, extent] :
         llvm::zip_equal(other.space.axes, other.space.extents)) {
      space.axes.push_back(axis);
      space.extents.push_back(extent);
    }
    llvm::append_range(presence, other.presence);
    llvm::append_range(indices, other.indices);
  }
};

/// Which elements of a tensor lanes that are present access: their number, and
/// whether that and the presence are known.
struct Offset {
  int64_t element = 0;
  bool isCertain = true, isKnown = true;

  friend Offset operator+(const Offset &a, const Offset &b) {
    return {a.element + b.element, a.isCertain && b.isCertain,
            a.isKnown && b.isKnown};
  }
};

/// What lanes of a component contribute, and the first index outside of its
/// dimension, as (dimension, index), of a lane that is certainly present.
struct Offsets {
  SmallVector<Offset, 0> offsets = {};
  std::optional<std::pair<size_t, int64_t>> outside = std::nullopt;
  bool hasCertain = false, isEmpty = true;
};

} // namespace

/// What the lanes of a component contribute to the number of an element.
/// Without `keeps` their list is empty.
static Offsets offsetsOf(const Component &component, ArrayRef<int64_t> extents,
                         ArrayRef<int64_t> strides, bool keeps) {
  Offsets result;
  SmallVector<const LaneTile *> tiles(component.presence);
  for (auto [d, tile] : component.indices)
    tiles.push_back(tile);
  LaneSpace space = component.space;
  space.putLongestLast();
  forEachRow(space, tiles, [&](ArrayRef<LaneRow> rows, int64_t count) {
    ArrayRef<LaneRow> presence = rows.take_front(component.presence.size());
    for (int64_t lane = 0; lane < count; ++lane) {
      if (llvm::any_of(presence, [&](LaneRow row) { return row[lane] == 0; }))
        continue;
      Offset offset;
      for (LaneRow row : presence)
        offset.isCertain &= row[lane] != LaneTile::unknown;
      for (auto [index, row] : llvm::zip_equal(
               component.indices, rows.drop_front(presence.size()))) {
        size_t d = index.first;
        int64_t number = row[lane];
        offset.isKnown &= number != LaneTile::unknown;
        bool isInside = number >= 0 && number < extents[d];
        if (offset.isKnown && offset.isCertain && !isInside && !result.outside)
          result.outside = {d, number};
        // Where that is not known the proofs of bounds tell.
        offset.isKnown &= isInside;
        offset.element += number * strides[d];
      }
      result.hasCertain |= offset.isCertain;
      result.isEmpty = false;
      if (keeps)
        result.offsets.push_back(offset);
    }
  });
  return result;
}

LogicalResult GlobalMemory::access(Operation *op, StringRef name,
                                   ValueRange indices, ValueRange presence,
                                   LaneTiles &lanes, Access kind) {
  auto it = tensors.find(name);
  if (it == tensors.end())
    return success();
  Contents &contents = it->second;
  if (kind != Access::Load && failed(checkOutput(op, contents)))
    return failure();
  // An axis of one of several indices and predicates multiplies what others
  // access.
  SmallVector<Component> components;
  auto add = [&](Component part, const LaneTile &tile) {
    part.space.add(tile);
    llvm::erase_if(components, [&](const Component &other) {
      bool isJoined = other.sharesAxis(tile);
      if (isJoined) {
        LaneSpace own = std::exchange(part.space, LaneSpace());
        part.join(other);
        for (auto [axis, extent] : llvm::zip_equal(own.axes, own.extents))
          if (!llvm::is_contained(part.space.axes, axis)) {
            part.space.axes.push_back(axis);
            part.space.extents.push_back(extent);
          }
      }
      return isJoined;
    });
    components.push_back(std::move(part));
  };
  for (Value predicate : presence) {
    const LaneTile &tile = lanes.of(predicate);
    add({.presence = {&tile}}, tile);
  }
  for (auto [d, index] : llvm::enumerate(indices)) {
    const LaneTile &tile = lanes.of(index);
    add({.indices = {{d, &tile}}}, tile);
  }
  // What callers bring, and keep, is there.
  bool isKept = contents.arg.getRole() == Role::InOut ||
                isa_and_nonnull<StringAttr>(contents.arg.getInit());
  // A temp is whole before it is read, whether data say that it is or not.
  bool isTemp = contents.arg.getRole() == Role::Temp;
  bool countsElements =
      kind == Access::Store || (contents.arg.getRole() != Role::In && !isKept);
  SmallVector<int64_t> strides(contents.extents.size(), 1);
  for (size_t d = strides.size(); d-- > 1;)
    strides[d - 1] = strides[d] * contents.extents[d];
  std::optional<std::pair<size_t, int64_t>> outside;
  bool hasCertain = true;
  // The longest list goes through elements side by side.
  SmallVector<Offset, 0> elements{Offset()}, inner{Offset()};
  for (const Component &component : components) {
    Offsets found =
        offsetsOf(component, contents.extents, strides, countsElements);
    work += component.space.size();
    if (!outside)
      outside = found.outside;
    hasCertain &= found.hasCertain;
    SmallVector<Offset, 0> &more = found.offsets;
    if (found.isEmpty)
      return success();
    if (!countsElements)
      continue;
    if (more.size() > inner.size())
      std::swap(more, inner);
    SmallVector<Offset, 0> product;
    product.reserve(elements.size() * more.size());
    for (const Offset &a : elements)
      for (const Offset &b : more)
        product.push_back(a + b);
    elements = std::move(product);
  }
  if (outside && hasCertain)
    return refuse(op->emitOpError("expects index ")
                  << outside->first << " of tensor '" << name
                  << "' to be inside, found " << outside->second << " of "
                  << contents.extents[outside->first]);
  work += lanes.getWork();
  if (!countsElements)
    return success();
  work += elements.size() * inner.size();
  if (kind != Access::Store && contents.isUnknown)
    return success();
  auto isSure = [](const Offset &offset) {
    return offset.isCertain && offset.isKnown;
  };
  // Most operations do what is allowed with lanes that are known: one loop
  // without questions; any other element is looked at again below.
  uint8_t *written = contents.written.data();
  if (kind == Access::Store && written && llvm::all_of(elements, isSure) &&
      llvm::all_of(inner, isSure)) {
    uint8_t refused = initialises ? uint8_t(-1) : uint8_t(Stored),
            added = initialises ? uint8_t(Initialised) : uint8_t(Stored);
    for (const Offset &a : elements)
      for (const Offset &b : inner) {
        uint8_t &element = written[a.element + b.element];
        if (LLVM_UNLIKELY(element & refused))
          return write(op, contents, a.element + b.element, true);
        element |= added;
      }
    return success();
  }
  for (const Offset &a : elements)
    for (const Offset &b : inner) {
      Offset offset = a + b;
      if (kind != Access::Store) {
        if (offset.isKnown && (offset.isCertain || isTemp) &&
            failed(read(op, contents, offset.element)))
          return failure();
        continue;
      }
      if (!offset.isKnown)
        contents.isUnknown = true;
      else if (failed(write(op, contents, offset.element, offset.isCertain)))
        return failure();
    }
  return success();
}

LogicalResult GlobalMemory::forBox(
    Operation *op, StringRef name, ArrayRef<int64_t> start,
    ArrayRef<int64_t> box,
    llvm::function_ref<LogicalResult(Contents &, int64_t)> visit) {
  auto it = tensors.find(name);
  if (it == tensors.end())
    return success();
  Contents &contents = it->second;
  if (failed(checkOutput(op, contents)))
    return failure();
  SmallVector<int64_t> from, to;
  for (auto [first, size, extent] :
       llvm::zip_equal(start, box, contents.extents)) {
    from.push_back(std::max<int64_t>(0, first));
    to.push_back(std::min(first + size, extent));
    if (from.back() >= to.back())
      return success();
  }
  SmallVector<int64_t> index(from);
  while (true) {
    int64_t element = 0;
    for (auto [i, extent] : llvm::zip_equal(index, contents.extents))
      element = element * extent + i;
    for (int64_t last = from.back(); last < to.back(); ++last)
      if (failed(visit(contents, element++)))
        return failure();
    size_t d = index.size() - 1;
    while (d > 0 && ++index[d - 1] == to[d - 1]) {
      --d;
      index[d] = from[d];
    }
    if (d == 0)
      return success();
  }
}

LogicalResult GlobalMemory::storeBox(Operation *op, StringRef name,
                                     ArrayRef<int64_t> start,
                                     ArrayRef<int64_t> box) {
  return forBox(op, name, start, box, [&](Contents &contents, int64_t element) {
    return write(op, contents, element, /*isCertain=*/true);
  });
}

LogicalResult GlobalMemory::addBox(Operation *op, StringRef name,
                                   ArrayRef<int64_t> start,
                                   ArrayRef<int64_t> box) {
  return forBox(op, name, start, box, [&](Contents &contents, int64_t element) {
    contents.isAddedTo = true;
    return read(op, contents, element);
  });
}

std::string GlobalMemory::nameOf(const Contents &contents, int64_t element) {
  SmallVector<std::string> indices;
  for (int64_t extent : llvm::reverse(contents.extents)) {
    indices.push_back(std::to_string(element % extent));
    element /= extent;
  }
  return (contents.arg.getName().getValue() + "[" +
          llvm::join(llvm::reverse(indices), ", ") + "]")
      .str();
}

LogicalResult GlobalMemory::write(Operation *op, Contents &contents,
                                  int64_t element, bool isCertain) {
  uint8_t &written = contents.written[element];
  // What is initialised later is lost.
  if (LLVM_UNLIKELY(written & Stored || (initialises && written != Never)))
    return refuse(op->emitOpError("expects to store each element once, found ")
                  << nameOf(contents, element) << " a second time");
  written |= !isCertain ? Perhaps : initialises ? Initialised : Stored;
  return success();
}

LogicalResult GlobalMemory::read(Operation *op, const Contents &contents,
                                 int64_t element) {
  if (contents.isUnknown || contents.written[element] != Never)
    return success();
  InFlightDiagnostic diag =
      op->emitOpError("expects launches before this one to write what it reads "
                      "or adds to, found none that writes ")
      << nameOf(contents, element);
  for (Operation *writer : contents.writers)
    if (auto kernel = op->getParentOfType<sm::KernelOp>(); kernel != writer)
      diag.attachNote(writer->getLoc())
          << "kernel '" << kernel.getSymName() << "' reads what kernel '"
          << cast<sm::KernelOp>(writer).getSymName() << "' writes in part";
  return refuse(diag);
}

LogicalResult GlobalMemory::finish(Operation *plan) const {
  for (const auto &entry : tensors) {
    const Contents &contents = entry.second;
    bool isKept = isa_and_nonnull<StringAttr>(contents.arg.getInit());
    if (contents.arg.getRole() == Role::Out && !isKept &&
        failed(checkWritten(plan, entry.first())))
      return failure();
  }
  return success();
}

LogicalResult GlobalMemory::checkWritten(Operation *plan,
                                         StringRef tensor) const {
  const Contents &contents = tensors.find(tensor)->second;
  if (contents.isUnknown)
    return success();
  for (uint64_t element = 0; element < contents.written.size(); ++element)
    if (!(contents.written[element] & (Initialised | Stored)))
      return plan->emitOpError("expects launches that write every element of "
                               "every output, found none that writes ")
             << nameOf(contents, static_cast<int64_t>(element));
  return success();
}

uint64_t GlobalMemory::numWritten(StringRef tensor) const {
  const WrittenElements &written = tensors.find(tensor)->second.written;
  return llvm::count_if(llvm::seq<uint64_t>(0, written.size()),
                        [&](uint64_t element) {
                          return written[element] & (Initialised | Stored);
                        });
}

LogicalResult GlobalMemory::checkStored(Operation *plan, StringRef tensor,
                                        ArrayRef<int64_t> indices) const {
  auto it = tensors.find(tensor);
  if (it == tensors.end() || it->second.isUnknown)
    return success();
  const Contents &contents = it->second;
  int64_t element = 0;
  for (auto [index, extent] : llvm::zip_equal(indices, contents.extents)) {
    // Such a lane is absent.
    if (index < 0 || index >= extent)
      return success();
    element = element * extent + index;
  }
  if (element >= static_cast<int64_t>(contents.written.size()) ||
      (contents.written[element] & (Stored | Perhaps)) != 0)
    return success();
  return plan->emitOpError("expects launches that store what the program "
                           "stores, found none that stores ")
         << nameOf(contents, element);
}

bool GlobalMemory::isStored(StringRef tensor) const {
  auto it = tensors.find(tensor);
  return it == tensors.end() || it->second.isUnknown || it->second.isAddedTo ||
         it->second.written.hasAny(Stored | Perhaps);
}

LogicalResult GlobalMemory::checkRows(Operation *plan, StringRef tensor,
                                      unsigned dim, StringRef ends) const {
  auto of = tensors.find(tensor), segments = tensors.find(ends);
  if (of == tensors.end() || segments == tensors.end() ||
      of->second.isUnknown || segments->second.extents.size() != 1)
    return success();
  const Contents &contents = of->second;
  int64_t last = segments->second.extents.front() - 1, inner = 1, count = 1;
  for (auto [d, extent] : llvm::enumerate(contents.extents)) {
    count *= extent;
    inner *= d > dim ? extent : 1;
  }
  if (last < 1 || count > static_cast<int64_t>(contents.written.size()))
    return success();
  int64_t from = elementOf(ends, {0}).value_or(0),
          to = elementOf(ends, {last}).value_or(0),
          extent = contents.extents[dim];
  // All elements that differ in the row alone.
  for (int64_t first = 0; first < count; ++first) {
    if (first / inner % extent != 0)
      continue;
    std::optional<int64_t> missing;
    bool isAny = false;
    for (int64_t row = from; row < to; ++row) {
      int64_t element = first + row * inner;
      bool isStored = contents.written[element] & (Stored | Perhaps);
      isAny |= isStored;
      if (!isStored && !missing)
        missing = element;
    }
    // Of heads and the like of which none is stored the program may know.
    if (missing && isAny)
      return plan->emitOpError("expects launches that store all rows of "
                               "segments, found none that stores ")
             << nameOf(contents, *missing);
  }
  return success();
}

} // namespace selvedge::verify
