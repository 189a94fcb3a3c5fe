// How the lanes of a warp give each other a tile that changes its layout.
// SPDX-License-Identifier: MIT
#include "dialect/Sm/WarpMove.h"

#include "dialect/Sm/Sm.h"

#include <map>

namespace selvedge::sm {

using namespace mlir;

namespace {

constexpr int64_t numLanes = WarpMove::numLanes;
using PerLane = WarpMove::PerLane;
using Round = WarpMove::Round;

/// The elements of a tile that threads of one warp hold, as numbers: those of
/// the first warp. `sizes` are the same for all layouts of the tile.
class Elements {
public:
  Elements(LayoutAttr layout, ArrayRef<int64_t> sizes) : ofLane(numLanes) {
    SmallVector<int64_t> strides(sizes.size(), 1);
    for (size_t d = sizes.size() - 1; d-- > 0;)
      strides[d] = strides[d + 1] * sizes[d + 1];
    for (auto [axis, stride] : llvm::zip_equal(layout.getAxes(), strides))
      for (auto [bit, step] : llvm::enumerate(axis.getLanes()))
        for (int64_t lane = 0; lane < numLanes; ++lane)
          ofLane[lane] += (lane >> bit & 1) * step * stride;
    int64_t numRegs = layout.getNumRegs();
    for (int64_t reg = 0; reg < numRegs; ++reg) {
      int64_t number = 0;
      for (auto [axis, stride, r] :
           llvm::zip_equal(layout.getAxes(), strides, layout.unflatten(reg)))
        number += axis.regOffset(r) * stride;
      ofReg.push_back(number);
    }
  }

  int64_t of(int64_t lane, int64_t reg) const {
    return ofLane[lane] + ofReg[reg];
  }

private:
  std::vector<int64_t> ofLane, ofReg;
};

/// Which lane holds what a lane needs for a register of the result, and in
/// which of its registers.
struct Need {
  PerLane lanes, regs;
};

SmallVector<int64_t> sizesOf(LayoutAttr layout) {
  SmallVector<int64_t> sizes;
  for (AxisLayoutAttr axis : layout.getAxes())
    sizes.push_back(axis.getSize());
  return sizes;
}

/// By register of the result.
std::optional<std::vector<Need>> findNeeds(LayoutAttr from, LayoutAttr to) {
  for (auto [a, b] : llvm::zip_equal(from.getAxes(), to.getAxes()))
    if (a.getWarps() != b.getWarps() || a.getSize() != b.getSize())
      return std::nullopt;
  Elements held(from, sizesOf(from)), wanted(to, sizesOf(from));
  // Holders of an element.
  DenseMap<int64_t, SmallVector<std::pair<int64_t, int64_t>, 1>> holders;
  int64_t numRegs = from.getNumRegs();
  for (int64_t lane = 0; lane < numLanes; ++lane)
    for (int64_t reg = 0; reg < numRegs; ++reg)
      holders[held.of(lane, reg)].push_back({lane, reg});
  std::vector<Need> needs(to.getNumRegs());
  for (auto [reg, need] : llvm::enumerate(needs))
    for (int64_t lane = 0; lane < numLanes; ++lane) {
      auto found = holders.find(wanted.of(lane, static_cast<int64_t>(reg)));
      if (found == holders.end())
        return std::nullopt;
      // Itself, if it can; otherwise one whose number is most like its own, so
      // that lanes read each other by the same rule.
      auto distance = [&](const std::pair<int64_t, int64_t> &holder) {
        return llvm::popcount(static_cast<uint64_t>(holder.first ^ lane));
      };
      auto [best, source] =
          *llvm::min_element(found->second, [&](auto a, auto b) {
            return distance(a) < distance(b);
          });
      need.lanes[lane] = best;
      need.regs[lane] = source;
    }
  return needs;
}

/// Registers of the result that are made of the same registers of the source.
struct Family {
  SmallVector<int64_t> sources, results;
};

std::vector<Family> familiesOf(ArrayRef<Need> needs) {
  std::map<std::vector<int64_t>, size_t> numbers;
  std::vector<Family> families;
  for (auto [reg, need] : llvm::enumerate(needs)) {
    SmallVector<int64_t> sources = distinct(need.regs);
    llvm::sort(sources);
    auto [at, isNew] = numbers.try_emplace(
        std::vector<int64_t>(sources.begin(), sources.end()), families.size());
    if (isNew)
      families.push_back({sources, {}});
    families[at->second].results.push_back(static_cast<int64_t>(reg));
  }
  return families;
}

/// Makes the rounds of one family after the other.
class RoundMaker {
public:
  RoundMaker(WarpMove &move, ArrayRef<Need> needs) : move(move), needs(needs) {
    move.received.resize(needs.size());
  }

  void add(const Family &family) {
    if (!addExchange(family))
      addOneByOne(family);
  }

private:
  /// Lane bits take the place of register bits: a lane takes the same register
  /// of several lanes, and each of those offers another one to each. In round c
  /// a lane that takes source number s receives result number c xor s, so
  /// that everyone offers and receives one register per round.
  bool addExchange(const Family &family) {
    size_t count = family.results.size();
    if (!llvm::isPowerOf2_64(count) ||
        !llvm::isPowerOf2_64(family.sources.size()) ||
        count < family.sources.size())
      return false;
    std::vector<Round> made(count);
    std::vector<PerLane> received(count);
    for (Round &round : made)
      round.offers.fill(-1);
    for (int64_t lane = 0; lane < numLanes; ++lane) {
      int64_t source = needs[family.results.front()].regs[lane];
      size_t number =
          llvm::find(family.sources, source) - family.sources.begin();
      for (auto [result, reg] : llvm::enumerate(family.results)) {
        const Need &need = needs[reg];
        if (need.regs[lane] != source)
          return false;
        size_t color = result ^ number;
        Round &round = made[color];
        int64_t &offer = round.offers[need.lanes[lane]];
        if (offer >= 0 && offer != source)
          return false;
        offer = source;
        round.reads[lane] = need.lanes[lane];
        received[result][lane] = static_cast<int64_t>(next() + color);
      }
    }
    for (Round &round : made)
      for (int64_t &offer : round.offers)
        if (offer < 0)
          offer = *llvm::find_if(round.offers, [](auto o) { return o >= 0; });
    for (auto [result, reg] : llvm::enumerate(family.results))
      move.received[reg] = received[result];
    llvm::append_range(move.rounds, made);
    return true;
  }

  /// All offer the same register, and whoever needs that takes it.
  void addOneByOne(const Family &family) {
    for (int64_t reg : family.results)
      for (int64_t source : family.sources) {
        const Need &need = needs[reg];
        Round round = {{}, need.lanes};
        round.offers.fill(source);
        bool isOwn = true;
        for (int64_t lane = 0; lane < numLanes; ++lane)
          if (need.regs[lane] == source) {
            isOwn &= need.lanes[lane] == lane;
            move.received[reg][lane] = static_cast<int64_t>(next());
          }
        for (int64_t lane = 0; isOwn && lane < numLanes; ++lane)
          round.reads[lane] = lane;
        move.rounds.push_back(round);
      }
  }

  size_t next() const { return move.rounds.size(); }

  WarpMove &move;
  ArrayRef<Need> needs;
};

// In units of half a cycle's work of a multiprocessor: it moves a warp's words
// by one shuffle, or one access to shared memory, per cycle, and chooses twice
// as often (CUDA C++ Programming Guide, "Arithmetic Instructions").
constexpr int64_t moveCost = 2, selectCost = 1;
// A barrier before the reads and one before the next writes.
constexpr int64_t barrierCost = 32;

/// Accesses to shared memory by one warp, each counted as often as banks are
/// shared, where the elements of a tile lie one after the other.
int64_t countAccesses(LayoutAttr layout, int64_t bytes) {
  constexpr int64_t numBanks = 32, bankBytes = 4;
  Elements elements(layout, sizesOf(layout));
  int64_t count = 0, numRegs = layout.getNumRegs();
  for (int64_t reg = 0; reg < numRegs; ++reg) {
    llvm::SmallDenseSet<int64_t, numLanes> words;
    std::array<int64_t, numBanks> ofBank = {};
    for (int64_t lane = 0; lane < numLanes; ++lane)
      if (int64_t word = elements.of(lane, reg) * bytes / bankBytes;
          words.insert(word).second)
        ++ofBank[word % numBanks];
    count += *llvm::max_element(ofBank);
  }
  return count;
}

} // namespace

SmallVector<int64_t> distinct(const PerLane &numbers) {
  SmallVector<int64_t> result;
  for (int64_t number : numbers)
    if (!llvm::is_contained(result, number))
      result.push_back(number);
  return result;
}

bool WarpMove::Round::isOwn() const {
  return llvm::all_of(llvm::enumerate(reads), [](auto lane) {
    return lane.value() == static_cast<int64_t>(lane.index());
  });
}

bool WarpMove::LaneMap::isButterfly() const {
  return llvm::all_of(llvm::enumerate(bits), [](auto bit) {
    return bit.value() == int64_t(1) << bit.index();
  });
}

std::optional<int32_t> WarpMove::LaneMap::keptBits() const {
  int64_t kept = 0;
  for (auto [bit, value] : llvm::enumerate(bits)) {
    if (value != 0 && value != int64_t(1) << bit)
      return {};
    kept |= value;
  }
  if (kept & flips)
    return {};
  return static_cast<int32_t>(kept);
}

std::optional<WarpMove::LaneMap> WarpMove::mapOf(const PerLane &reads) {
  LaneMap map;
  map.flips = reads[0];
  int64_t taken = 0;
  for (auto [bit, value] : llvm::enumerate(map.bits)) {
    value = reads[int64_t(1) << bit] ^ map.flips;
    if (value != 0 && (!llvm::isPowerOf2_64(value) || (taken & value) != 0))
      return std::nullopt;
    taken |= value;
  }
  for (int64_t lane = 0; lane < numLanes; ++lane) {
    int64_t read = map.flips;
    for (auto [bit, value] : llvm::enumerate(map.bits))
      read ^= (lane >> bit & 1) * value;
    if (read != reads[lane])
      return std::nullopt;
  }
  return map;
}

/// None where lanes read each other in a way that no LaneMap describes.
static std::optional<WarpMove> makeMove(ArrayRef<Need> needs) {
  WarpMove move;
  RoundMaker maker(move, needs);
  for (const Family &family : familiesOf(needs))
    maker.add(family);
  for (const Round &round : move.rounds)
    if (!WarpMove::mapOf(round.reads))
      return std::nullopt;
  return move;
}

std::optional<WarpMove> WarpMove::find(LayoutAttr from, LayoutAttr to) {
  std::optional<std::vector<Need>> needs = findNeeds(from, to);
  return needs ? makeMove(*needs) : std::nullopt;
}

/// The layout of pairs of elements along the last axis; null where some pair is
/// not in two registers that follow each other.
static LayoutAttr pairsOf(LayoutAttr layout) {
  SmallVector<AxisLayoutAttr> axes(layout.getAxes());
  AxisLayoutAttr last = axes.back();
  SmallVector<int64_t> sizes(last.getRegSizes()), strides(last.getRegStrides()),
      lanes(last.getLanes()), warps(last.getWarps());
  if (sizes.empty() || strides.front() != 1 || sizes.front() % 2)
    return {};
  strides.front() = 2;
  sizes.front() /= 2;
  for (SmallVector<int64_t> *steps : {&strides, &lanes, &warps})
    for (int64_t &step : *steps) {
      if (step % 2)
        return {};
      step /= 2;
    }
  if (sizes.front() == 1) {
    sizes.erase(sizes.begin());
    strides.erase(strides.begin());
  }
  axes.back() = AxisLayoutAttr::get(layout.getContext(), last.getName(), sizes,
                                    strides, lanes, warps);
  return LayoutAttr::get(layout.getContext(), axes);
}

std::optional<WarpMove> WarpMove::findCheap(LayoutAttr from, LayoutAttr to,
                                            int64_t bytes) {
  constexpr int64_t wordBytes = 4;
  LayoutAttr pairsFrom = 2 * bytes == wordBytes ? pairsOf(from) : LayoutAttr(),
             pairsTo = pairsFrom ? pairsOf(to) : LayoutAttr();
  if (pairsTo) {
    std::optional<WarpMove> move = findCheap(pairsFrom, pairsTo, wordBytes);
    if (move)
      move->perRegister = 2;
    return move;
  }
  std::optional<std::vector<Need>> needs = findNeeds(from, to);
  if (!needs)
    return std::nullopt;
  int64_t shared = barrierCost + moveCost * (countAccesses(from, bytes) +
                                             countAccesses(to, bytes));
  // What lanes make of several registers they choose among so many rounds:
  // rounds of large tiles are made for nothing where that is too much.
  int64_t selects = 0;
  for (const Need &need : *needs)
    selects += static_cast<int64_t>(distinct(need.regs).size()) - 1;
  if (selectCost * selects > shared)
    return std::nullopt;
  std::optional<WarpMove> move = makeMove(*needs);
  bool isCheap = move && moveCost * move->countShuffles() +
                                 selectCost * move->countSelects() <=
                             shared;
  return isCheap ? move : std::nullopt;
}

int64_t WarpMove::countShuffles() const {
  return llvm::count_if(rounds, [](const Round &r) { return !r.isOwn(); });
}

PerLane WarpMove::takenFrom(int64_t result, int64_t numSources) const {
  PerLane taken;
  for (auto [lane, number] : llvm::enumerate(received[result])) {
    const Round &round = rounds[number];
    taken[lane] = round.isOwn() ? round.offers[lane] : numSources + number;
  }
  return taken;
}

int64_t WarpMove::countSelects() const {
  int64_t count = 0, numSources = 0;
  for (const Round &round : rounds) {
    numSources = std::max(numSources, *llvm::max_element(round.offers) + 1);
    if (!round.isOwn())
      count += static_cast<int64_t>(distinct(round.offers).size()) - 1;
  }
  for (size_t result = 0; result < received.size(); ++result)
    count += static_cast<int64_t>(
                 distinct(takenFrom(static_cast<int64_t>(result), numSources))
                     .size()) -
             1;
  return count;
}

} // namespace selvedge::sm
