// Rule R5: in one kernel no element is stored twice, nor stored and loaded by
// different iterations.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/StoreCheck.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/bit.h"

#include <numeric>

using namespace mlir;
using namespace selvedge::tile;

namespace selvedge::frontend {
namespace {

/// The integer that a constant holds.
std::optional<int64_t> constantOf(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  auto attr =
      constant ? dyn_cast<IntegerAttr>(constant.getValue()) : IntegerAttr();
  return attr ? std::optional(attr.getInt()) : std::nullopt;
}

} // namespace

/// What is spread over lanes.
static Value withoutBroadcast(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<SplatOp, BroadcastOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

void StoreCheck::enter(StringRef name, Value index, ArrayRef<size_t> tells,
                       std::optional<int64_t> most) {
  iterations.push_back({name, index, SmallVector<size_t, 2>(tells), {}, most});
}

void StoreCheck::enterPair(StringRef name, Value pair,
                           ArrayRef<StringRef> partNames,
                           ArrayRef<Value> parts) {
  size_t first = depth() + 1;
  SmallVector<size_t, 2> both{first, first + 1};
  iterations.push_back({name, pair, both, both});
  for (auto [partName, part] : llvm::zip_equal(partNames, parts))
    enter(partName, part);
}

std::optional<size_t> StoreCheck::find(Value index) const {
  for (auto [i, iteration] : llvm::enumerate(iterations))
    if (iteration.index == index)
      return i;
  return std::nullopt;
}

void StoreCheck::addLinear(Value value, int64_t factor, unsigned depth,
                           Linear &result) const {
  constexpr unsigned kDepth = 32; // sums that long are not index arithmetic
  constexpr int64_t kLimit = int64_t(1) << 31;
  bool isIteration = llvm::any_of(
      iterations, [&](const Iteration &i) { return i.index == value; });
  Operation *op =
      isIteration || depth > kDepth ? nullptr : value.getDefiningOp();
  if (op && isa<SplatOp, BroadcastOp>(op))
    return addLinear(op->getOperand(0), factor, depth + 1, result);
  if (op && isa<arith::AddIOp, arith::SubIOp>(op)) {
    addLinear(op->getOperand(0), factor, depth + 1, result);
    return addLinear(op->getOperand(1),
                     isa<arith::AddIOp>(op) ? factor : -factor, depth + 1,
                     result);
  }
  if (op && isa<arith::MulIOp>(op))
    for (int i : {0, 1})
      if (std::optional<int64_t> times =
              constantOf(withoutBroadcast(op->getOperand(i)));
          times && *times != 0 && std::abs(*times) < kLimit / std::abs(factor))
        return addLinear(op->getOperand(1 - i), factor * *times, depth + 1,
                         result);
  std::optional<int64_t> constant = op ? constantOf(value) : std::nullopt;
  if (constant && std::abs(result.constant) < kLimit) {
    result.constant += factor * *constant;
    return;
  }
  const void *key = value.getAsOpaquePointer();
  auto &term = result.terms[key];
  term.first = value;
  term.second += factor;
  if (term.second == 0)
    result.terms.erase(key);
}

StoreCheck::Linear StoreCheck::linear(Value value) const {
  Linear result;
  addLinear(value, 1, 0, result);
  return result;
}

llvm::DenseSet<size_t> StoreCheck::dependencies(Value value) const {
  llvm::DenseSet<size_t> found;
  llvm::DenseSet<Value> visited;
  SmallVector<Value> worklist{value};
  while (!worklist.empty()) {
    Value v = worklist.pop_back_val();
    if (!visited.insert(v).second)
      continue;
    // The index tile of a range and its first element tell the same iteration.
    bool isIteration = false;
    for (auto [i, iteration] : llvm::enumerate(iterations)) {
      auto range = iteration.index.getDefiningOp<RangeOp>();
      if (v != iteration.index && !(range && v == range.getStart()))
        continue;
      found.insert(i);
      isIteration = true;
    }
    if (isIteration)
      continue;
    if (Operation *op = v.getDefiningOp()) {
      worklist.append(op->operand_begin(), op->operand_end());
      // A loop's result may depend on anything that the loop reads.
      op->walk([&](Operation *nested) {
        worklist.append(nested->operand_begin(), nested->operand_end());
      });
      continue;
    }
    // A value carried by an open loop may depend on anything. The kernel's own
    // block has no parent yet; a loop's first argument is its index.
    auto argument = cast<BlockArgument>(v);
    if (argument.getOwner()->getParentOp() && argument.getArgNumber() > 0)
      for (size_t i = 0; i < iterations.size(); ++i)
        found.insert(i);
  }
  return found;
}

Value StoreCheck::dividend(const Linear &quotient, const Linear &rest) const {
  // a / b, and a - a / b * b.
  if (quotient.constant != 0 || rest.constant != 0 ||
      quotient.terms.size() != 1 || rest.terms.size() != 2)
    return {};
  auto [value, factor] = quotient.terms.begin()->second;
  auto division = value.getDefiningOp<arith::FloorDivSIOp>();
  if (!division || factor != 1)
    return {};
  Value by = withoutBroadcast(division.getRhs());
  auto isProduct = [&](Value part, int64_t times) {
    // By a number that is known: a multiple of the quotient.
    if (std::optional<int64_t> number = constantOf(by))
      return part == value && times == -*number;
    auto multiple = part.getDefiningOp<arith::MulIOp>();
    return multiple && times == -1 &&
           withoutBroadcast(multiple.getLhs()) == value &&
           withoutBroadcast(multiple.getRhs()) == by;
  };
  Value whole;
  bool hasProduct = false;
  for (const auto &[key, term] : rest.terms)
    if (isProduct(term.first, term.second))
      hasProduct = true;
    else if (term.second == 1)
      whole = term.first;
  if (!whole || !hasProduct || withoutBroadcast(division.getLhs()) != whole ||
      !dependencies(by).empty())
    return {};
  // The same number in every iteration and lane.
  return isTile(by.getType()) ? Value() : whole;
}

LoadOp StoreCheck::loadedIndex(const Linear &index) const {
  if (index.constant != 0 || index.terms.size() != 1)
    return {};
  auto [value, factor] = index.terms.begin()->second;
  auto load = value.getDefiningOp<LoadOp>();
  return load && factor == 1 && integers.contains(load.getTensor()) ? load
                                                                    : LoadOp();
}

std::vector<StoreCheck::Linear> StoreCheck::toldBy(const Access &access) const {
  constexpr size_t kMost = 64;
  std::vector<Linear> told(access.indices);
  llvm::DenseSet<Value> wholes;
  for (size_t i = 0; i < told.size() && told.size() < kMost; ++i) {
    // What comes later is compared with all before it.
    for (size_t j = 0; j < i; ++j)
      for (auto [quotient, rest] : {std::pair(i, j), std::pair(j, i)})
        if (Value whole = dividend(told[quotient], told[rest]);
            whole && wholes.insert(whole).second)
          told.push_back(linear(whole));
    // An element is stored where its index is not below 0.
    LoadOp load = loadedIndex(told[i]);
    if (load && integers.lookup(load.getTensor()).isUnique)
      for (Value index : load.getIndices())
        told.push_back(linear(index));
  }
  return told;
}

std::string StoreCheck::mendOf(StringRef name, const Access &access) const {
  std::string mend = ("use '" + name + "' as an index").str();
  for (const Linear &index : toldBy(access))
    if (LoadOp load = loadedIndex(index))
      if (Integers from = integers.lookup(load.getTensor()); !from.isUnique)
        return mend + ", or promise that no two elements of '" +
               from.name.str() + "' are equal: 'requires unique(" +
               from.name.str() + ")'";
  return mend + ", possibly plus what other indices fix, or add with '+='";
}

bool StoreCheck::tellsEach(SmallVector<Multiple> multiples) const {
  constexpr int64_t kNumbers = int64_t(1) << 32;
  // Sums wrap: multiples of numbers with k bits to spare differ if the factor
  // has at most k zeros at its end.
  if (multiples.size() == 1) {
    auto [iteration, factor] = multiples.front();
    std::optional<int64_t> most = iterations[iteration].most;
    return (most ? *most + 1 : kNumbers) <= kNumbers >>
           std::min(32, llvm::countr_zero(uint64_t(factor)));
  }
  // Digits of a number: each weighs more than all below it can say.
  auto weightOf = [](const Multiple &m) { return std::abs(m.second); };
  llvm::sort(multiples, [&](const Multiple &a, const Multiple &b) {
    return weightOf(a) < weightOf(b);
  });
  int64_t span = 0;
  for (const Multiple &multiple : multiples) {
    std::optional<int64_t> most = iterations[multiple.first].most;
    if (!most || weightOf(multiple) <= span)
      return false;
    if (*most > 0 && weightOf(multiple) > (kNumbers - 1 - span) / *most)
      return false;
    span += weightOf(multiple) * *most;
  }
  return true;
}

llvm::DenseSet<size_t> StoreCheck::determined(const Access &access) const {
  // An index that is a multiple of an iteration plus a function of iterations
  // that are told apart already tells that iteration apart.
  llvm::DenseSet<size_t> found;
  std::vector<Linear> told = toldBy(access);
  for (bool changed = true; changed;) {
    changed = false;
    for (const Linear &index : told) {
      SmallVector<Multiple> open;
      bool isKnown = true;
      for (const auto &[key, term] : index.terms) {
        std::optional<size_t> iteration = find(term.first);
        if (iteration && !found.contains(*iteration))
          open.push_back({*iteration, term.second});
        else if (!iteration)
          for (size_t d : dependencies(term.first))
            isKnown &= found.contains(d);
      }
      if (!isKnown || open.empty() || !tellsEach(open))
        continue;
      changed = true;
      for (auto [i, factor] : open) {
        found.insert(i);
        found.insert(iterations[i].tells.begin(), iterations[i].tells.end());
      }
    }
    for (auto [i, iteration] : llvm::enumerate(iterations))
      if (!iteration.toldBy.empty() &&
          llvm::all_of(iteration.toldBy,
                       [&](size_t by) { return found.contains(by); }))
        changed |= found.insert(i).second;
  }
  return found;
}

void StoreCheck::report(SMLoc loc, const Twine &message, const Twine &hint,
                        const Access &other) {
  diags.error(loc, message, hint);
  diags.note(other.loc, other.use == Use::Load    ? "it is loaded here"
                        : other.use == Use::Store ? "the other store is here"
                                                  : "it is added to here");
}

void StoreCheck::store(SMLoc loc, StringRef name, unsigned tensor,
                       ArrayRef<Coordinate> coordinates,
                       ArrayRef<Value> indices) {
  Access current{loc, tensor, Use::Store};
  for (const Coordinate &c : coordinates) {
    current.coordinates.push_back(c);
    current.indices.push_back(linear(c.value));
  }
  current.values = indices.vec();
  llvm::DenseSet<size_t> known = determined(current);
  for (auto [i, iteration] : llvm::enumerate(iterations)) {
    if (known.contains(i))
      continue;
    diags.error(loc,
                "stores to '" + name + "' from different iterations of '" +
                    iteration.name + "' may meet in one element",
                mendOf(iteration.name, current));
    return;
  }

  for (const Access &other : accesses) {
    if (other.tensor != tensor)
      continue;
    if (other.use == Use::Load && other.values != current.values)
      return report(loc,
                    "'" + name +
                        "' is stored and loaded at indices that may "
                        "meet in different iterations",
                    "load the same indices, or write two kernels", other);
    if (other.use == Use::Add)
      return report(loc, "'" + name + "' is stored and added to by one kernel",
                    "write two kernels", other);
    if (other.use == Use::Store && !disjoint(other, current))
      return report(loc,
                    "this store to '" + name +
                        "' may meet another one of the kernel",
                    "store each element once, or write two kernels", other);
  }
  accesses.push_back(std::move(current));
}

void StoreCheck::load(SMLoc loc, StringRef name, unsigned tensor,
                      ArrayRef<Value> indices) {
  for (const Access &other : accesses)
    if (other.tensor == tensor && other.use != Use::Load)
      return report(loc, "'" + name + "' is loaded behind a store to it",
                    "load before the store, or in a later kernel", other);
  accesses.push_back({loc, tensor, Use::Load, {}, {}, indices.vec()});
}

void StoreCheck::reportMeeting(SMLoc loc, StringRef tensorName,
                               StringRef name) {
  diags.error(loc,
              "'" + tensorName + "' is deterministic, but iterations of '" +
                  name + "' may add to one element in any order",
              "sum in a loop over '" + name +
                  "', or leave 'deterministic' out");
}

bool StoreCheck::add(SMLoc loc, StringRef name, unsigned tensor,
                     ArrayRef<Coordinate> coordinates, bool inOrder,
                     SmallVectorImpl<StringRef> &meeting) {
  Access current{loc, tensor, Use::Add};
  // A loop without lanes changes who adds to an element if it shifts lanes.
  auto hasLanes = [](Value v) { return isa<RankedTensorType>(v.getType()); };
  llvm::DenseSet<size_t> used;
  for (const Coordinate &c : coordinates) {
    current.indices.push_back(linear(c.value));
    for (size_t i : dependencies(c.value))
      if (hasLanes(c.value) || hasLanes(iterations[i].index))
        used.insert(i);
  }
  bool meets = false;
  for (const Access &other : accesses) {
    if (other.tensor != tensor)
      continue;
    meets = true;
    if (other.use != Use::Add || inOrder) {
      report(loc,
             other.use == Use::Add
                 ? "two statements add to '" + name +
                       "', which is deterministic, in one kernel"
                 : "'" + name +
                       "' is added to, and loaded or stored, by one kernel",
             "write two kernels", other);
      return meets;
    }
  }
  llvm::DenseSet<size_t> known = determined(current);
  for (auto [i, iteration] : llvm::enumerate(iterations)) {
    bool mayMeet = (i < numRanges || used.contains(i)) && !known.contains(i);
    meets |= mayMeet;
    if (!inOrder || !mayMeet)
      continue;
    // Lanes of one block meet in a loop, too.
    if (i >= numRanges || used.contains(i)) {
      meeting.clear();
      reportMeeting(loc, name, iteration.name);
      return meets;
    }
    meeting.push_back(iteration.name);
  }
  if (meeting.empty())
    accesses.push_back(std::move(current));
  return meets;
}

bool StoreCheck::differ(const Linear &a, const Linear &b) const {
  constexpr int64_t kNumbers = int64_t(1) << 32;
  int64_t difference = a.constant - b.constant, divisor = 0,
          span = std::abs(difference);
  bool isBounded = true;
  for (auto [one, other] : {std::pair(&a, &b), std::pair(&b, &a)})
    for (const auto &[key, term] : one->terms) {
      auto [value, factor] = term;
      auto same = other->terms.find(key);
      // The same in every iteration and lane.
      if (same != other->terms.end() && same->second.second == factor &&
          dependencies(value).empty() && !isTile(value.getType()))
        continue;
      divisor = std::gcd(divisor, factor);
      std::optional<size_t> iteration = find(value);
      std::optional<int64_t> most =
          iteration ? iterations[*iteration].most : std::nullopt;
      isBounded &= most && (*most == 0 || std::abs(factor) < kNumbers / *most);
      span += isBounded ? std::abs(factor) * *most : 0;
      isBounded &= span < kNumbers;
    }
  // Equal numbers are as far apart as multiples of the divisor, or, where sums
  // may wrap, of its power of two.
  if (divisor == 0)
    return static_cast<int32_t>(difference) != 0;
  return difference % (isBounded ? divisor : (divisor & -divisor)) != 0;
}

bool StoreCheck::disjoint(const Access &a, const Access &b) const {
  // A dimension indexed by a pair here and by one index there is not compared.
  auto dimOf = [](const Coordinate &c) { return c.dim; };
  if (!llvm::equal(llvm::map_range(a.coordinates, dimOf),
                   llvm::map_range(b.coordinates, dimOf)))
    return false;
  for (const auto &[p, q, x, y] :
       llvm::zip(a.coordinates, b.coordinates, a.indices, b.indices)) {
    bool isSlice = p.length != 1 || q.length != 1;
    if (isSlice && x.terms.empty() && y.terms.empty()) {
      int64_t here = x.constant * p.step, there = y.constant * q.step;
      if (here + p.length <= there || there + q.length <= here)
        return true;
      continue;
    }
    if (p.step != q.step || p.length != q.length)
      continue;
    if (differ(x, y))
      return true;
  }
  return false;
}

} // namespace selvedge::frontend
