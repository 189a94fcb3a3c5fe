// Proof that one store writes every element of its tensor.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Tile/StoreCoverage.h"
#include "compiler/Verify/Arithmetic/KernelSeed.h"
#include "compiler/Verify/Arithmetic/PredicateWords.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::tile;

StoreCoverage::StoreCoverage(StoreOp store, Rows rows,
                             std::optional<SegmentRows> segments)
    : store(store), kernel(store->getParentOfType<KernelOp>()),
      shape(kernel.getTensorArgOf(store.getTensor()).getShape()), rows(rows),
      segments(std::move(segments)) {
  for (Operation *op = store->getParentOp(); op != kernel;
       op = op->getParentOp()) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      loops.push_back(loop);
    else
      isConditional = true;
  }
  seedSignature(kernel.getProgram().getDims(), kernel.getProgram().getTensors(),
                outside, dims);
  for (auto [i, dim] : llvm::enumerate(dims))
    outside.define(kernel.getDimArg(i), dim);
  if (std::optional<AffineMap> conditions = kernel.getProgram().getConditions())
    seedConditions(*conditions, outside, dims);
  // Bounds of an index would say that its loop runs.
  for (scf::ForOp loop : loops)
    outside.define(loop.getInductionVar(), outside.newSymbol());
  // A tensor without elements needs no store.
  for (AffineExpr extent : shape.getResults())
    assumePositive(extent, outside, dims);
}

StoreCoverage::StoreCoverage(StoreOp store, Rows rows, PartRows parts)
    : StoreCoverage(store, rows) {
  equalParts = std::move(parts);
}

std::optional<std::string> StoreCoverage::gap() {
  if (isConditional)
    return "stands under a condition";
  for (auto [d, index, extent] :
       llvm::enumerate(store.getIndices(), shape.getResults()))
    // Its bound makes the number that of the tile's segment.
    if (rows == Rows::OfSegments && segments->segment == d)
      continue;
    else if (rows == Rows::OfSegments && d == segments->dim)
      useSegments();
    else if (rows == Rows::OfParts && d == equalParts->dim) {
      if (!spansParts(index, *equalParts))
        return "does not provably run over all parts of dimension " +
               std::to_string(d);
    } else if (!spans(index, extent))
      return "does not provably run over all of dimension " + std::to_string(d);
  // Of a number both digits run, or neither is known to.
  for (const auto &[axis, part] : parts)
    if (!part.hasQuotient || !part.hasRemainder)
      return "uses one digit of axis '" + axis.str() + "' only";
  if (std::string name = mayNotRun(); !name.empty())
    return name + " may run zero times";
  if (!holdsInside(store.getPresence()))
    return "may leave out elements inside of the shape";
  return std::nullopt;
}

void StoreCoverage::useSegments() {
  StringAttr axis =
      axisNames(store.getIndices()[segments->dim].getType()).front();
  usedAxes.insert(axis);
  for (auto [i, range] :
       llvm::enumerate(kernel.getRanges().getAsRange<IterAttr>()))
    if (range.getName() == axis)
      usedScalars.insert(kernel.getCoord(i));
}

std::optional<Polynomial> StoreCoverage::countOf(Value scalar,
                                                 StringAttr block) {
  auto argument = dyn_cast<BlockArgument>(scalar);
  if (!argument)
    return std::nullopt;
  if (argument.getOwner()->getParentOp() == kernel) {
    unsigned shared = kernel.getProgram().getNumSharedArgs();
    if (argument.getArgNumber() < shared)
      return std::nullopt;
    auto range =
        cast<IterAttr>(kernel.getRanges()[argument.getArgNumber() - shared]);
    if (range.getBlock() != block)
      return std::nullopt;
    return outside.of(range.getExtent().getResult(0), dims);
  }
  for (scf::ForOp loop : loops) {
    if (loop.getInductionVar() != argument)
      continue;
    auto size = loop.getStep().getDefiningOp<BlockSizeOp>();
    bool isStep = block ? size && size.getBlockAttr() == block
                        : matchPattern(loop.getStep(), m_One());
    if (isStep && matchPattern(loop.getLowerBound(), m_Zero()))
      return outside.of(loop.getUpperBound());
  }
  return std::nullopt;
}

bool StoreCoverage::collectLanes(RangeOp range, const Polynomial &weight,
                                 SmallVectorImpl<Digit> &digits) {
  StringAttr name = axisNames(range.getType()).front();
  if (!usedAxes.insert(name).second)
    return false;
  auto axes = kernel.getAxes().getAsRange<AxisAttr>();
  auto axis =
      llvm::find_if(axes, [&](AxisAttr a) { return a.getName() == name; });
  Value start = range.getStart();
  if (!(*axis).getBlock()) {
    digits.push_back({weight, (*axis).getExtent()});
    if (matchPattern(start, m_Zero()))
      return true;
    sliceDigits.push_back({range, (*axis).getExtent()});
    return collect(start, weight, digits);
  }
  // The index in a part, and what lies before the part.
  Value before;
  if (auto sum = start.getDefiningOp<arith::AddIOp>()) {
    start = sum.getLhs();
    before = sum.getRhs();
  }
  std::optional<Polynomial> count = countOf(start, (*axis).getBlock());
  if (!count || !usedScalars.insert(start).second)
    return false;
  digits.push_back({weight, *count, start});
  laneDigits.push_back({range, before ? start : Value()});
  return !before || collect(before, weight, digits);
}

AffineExpr StoreCoverage::extentOf(Value scalar) {
  auto argument = dyn_cast_if_present<BlockArgument>(scalar);
  unsigned shared = kernel.getProgram().getNumSharedArgs();
  if (!argument || argument.getOwner()->getParentOp() != kernel ||
      argument.getArgNumber() < shared)
    return {};
  return cast<IterAttr>(kernel.getRanges()[argument.getArgNumber() - shared])
      .getExtent()
      .getResult(0);
}

std::optional<PartRows> StoreCoverage::partsOfRows() {
  for (auto [d, index] : llvm::enumerate(store.getIndices())) {
    StoreCoverage other(store);
    SmallVector<Digit> digits;
    if (!other.collect(index, 1, digits) || digits.size() != 2 ||
        digits[0].weight != 1 || !digits[1].scalar)
      continue;
    auto length =
        dyn_cast_if_present<AffineConstantExpr>(extentOf(digits[0].scalar));
    AffineExpr count = extentOf(digits[1].scalar);
    if (length && count && digits[1].weight == length.getValue())
      return PartRows{tensorName(store.getTensor()), static_cast<unsigned>(d),
                      count, length.getValue()};
  }
  return std::nullopt;
}

bool StoreCoverage::spansParts(Value index, const PartRows &part) {
  SmallVector<Digit> digits;
  return collect(index, 1, digits) && digits.size() == 2 &&
         digits[0].weight == 1 && digits[0].count == part.length &&
         digits[1].weight == part.length &&
         extentOf(digits[1].scalar) == part.count;
}

/// `p` over a symbol that is a factor of all of its terms; none for others.
static std::optional<Polynomial> dividedBy(const Polynomial &p,
                                           const Polynomial &divisor) {
  const auto &terms = divisor.getTerms();
  if (terms.size() != 1 || terms.begin()->first.size() != 1 ||
      terms.begin()->second != 1)
    return std::nullopt;
  unsigned symbol = terms.begin()->first.front();
  Polynomial result;
  for (const auto &[monomial, coefficient] : p.getTerms()) {
    const auto *at = llvm::find(monomial, symbol);
    if (at == monomial.end())
      return std::nullopt;
    Polynomial term(static_cast<int64_t>(coefficient));
    for (const unsigned *id = monomial.begin(); id != monomial.end(); ++id)
      if (id != at)
        term = term * Polynomial::symbol(*id);
    result += term;
  }
  return result;
}

/// r / R and r mod R run over all pairs of digits while r runs over a multiple
/// of R.
bool StoreCoverage::collectPart(Operation *op, const Polynomial &weight,
                                SmallVectorImpl<Digit> &digits) {
  auto range = strip(op->getOperand(0)).getDefiningOp<RangeOp>();
  if (!range)
    return false;
  StringAttr name = axisNames(range.getType()).front();
  auto axes = kernel.getAxes().getAsRange<AxisAttr>();
  auto axis =
      llvm::find_if(axes, [&](AxisAttr a) { return a.getName() == name; });
  Value start = range.getStart(), divisor = strip(op->getOperand(1));
  std::optional<Polynomial> count = countOf(start, (*axis).getBlock());
  Polynomial radix = outside.of(divisor);
  std::optional<Polynomial> quotients =
      count ? dividedBy(*count, radix) : std::nullopt;
  if (!(*axis).getBlock() || !quotients || !outside.isNonNegative(radix - 1))
    return false;
  auto [known, isNew] = parts.insert({name, {start, divisor}});
  Parts &part = known->second;
  if (isNew ? !usedAxes.insert(name).second || !usedScalars.insert(start).second
            : part.start != start || part.divisor != divisor)
    return false;
  bool isQuotient = isa<arith::DivUIOp>(op);
  digits.push_back({weight, isQuotient ? *quotients : radix});
  return !std::exchange(isQuotient ? part.hasQuotient : part.hasRemainder,
                        true);
}

bool StoreCoverage::collect(Value index, const Polynomial &weight,
                            SmallVectorImpl<Digit> &digits) {
  index = strip(index);
  if (auto range = index.getDefiningOp<RangeOp>())
    return collectLanes(range, weight, digits);
  if (isa_and_nonnull<arith::DivUIOp, arith::RemUIOp>(index.getDefiningOp()))
    return collectPart(index.getDefiningOp(), weight, digits);
  if (auto sum = index.getDefiningOp<arith::AddIOp>())
    return collect(sum.getLhs(), weight, digits) &&
           collect(sum.getRhs(), weight, digits);
  if (auto product = index.getDefiningOp<arith::MulIOp>()) {
    // The factor is a number that dims determine: a polynomial in them.
    auto isFixed = [&](const Polynomial &p) {
      return llvm::all_of(p.getTerms(), [&](const auto &term) {
        return llvm::all_of(term.first,
                            [&](unsigned id) { return id < dims.size(); });
      });
    };
    Polynomial factor = outside.of(product.getRhs());
    if (isFixed(factor))
      return collect(product.getLhs(), weight * factor, digits);
    factor = outside.of(product.getLhs());
    return isFixed(factor) &&
           collect(product.getRhs(), weight * factor, digits);
  }
  // From the last number to the first.
  if (auto rest = index.getDefiningOp<arith::SubIOp>()) {
    size_t before = digits.size();
    if (!collect(rest.getRhs(), weight, digits))
      return false;
    Polynomial last;
    for (const Digit &digit : ArrayRef(digits).drop_front(before))
      last += digit.weight * (digit.count - 1);
    return weight * outside.of(rest.getLhs()) == last;
  }
  // A sum of digits is not negative.
  if (auto most = index.getDefiningOp<arith::MaxSIOp>();
      most && matchPattern(most.getRhs(), m_Zero()))
    return collect(most.getLhs(), weight, digits);
  std::optional<Polynomial> count = countOf(index, StringAttr());
  if (!count || !usedScalars.insert(index).second)
    return matchPattern(index, m_Zero());
  digits.push_back({weight, *count, index});
  return true;
}

/// The lowest digit weighs 1, every other one as much as those below can say.
bool StoreCoverage::spans(Value index, AffineExpr extent) {
  SmallVector<Digit> digits;
  if (!collect(index, 1, digits))
    return false;
  llvm::erase_if(digits, [](const Digit &d) { return d.count == 1; });
  Polynomial covered = 1;
  while (!digits.empty()) {
    auto next = llvm::find_if(
        digits, [&](const Digit &d) { return d.weight == covered; });
    if (next == digits.end())
      return false;
    covered = covered * next->count;
    digits.erase(next);
  }
  return outside.isNonNegativeByCases(covered - outside.of(extent, dims));
}

std::string StoreCoverage::mayNotRun() {
  for (auto [i, attr] : llvm::enumerate(kernel.getRanges())) {
    auto range = cast<IterAttr>(attr);
    Polynomial extent = outside.of(range.getExtent().getResult(0), dims);
    if (!usedScalars.contains(kernel.getCoord(i)) &&
        !outside.isNonNegative(extent - 1))
      return "stands in the range '" + range.getName().str() + "', which";
  }
  for (scf::ForOp loop : loops) {
    Polynomial length =
        outside.of(loop.getUpperBound()) - outside.of(loop.getLowerBound());
    if (!usedScalars.contains(loop.getInductionVar()) &&
        !outside.isNonNegativeByCases(length - 1))
      return "stands in a loop that";
  }
  return "";
}

/// Of digits, what they are together: of an element they do not wrap, since
/// each is at most its index.
static Polynomial defineDigits(Value value, IndexValues &values) {
  Polynomial p;
  if (auto most = value.getDefiningOp<arith::MaxSIOp>())
    p = defineDigits(most.getLhs(), values);
  else if (auto product = value.getDefiningOp<arith::MulIOp>())
    p = defineDigits(product.getLhs(), values) * values.of(product.getRhs());
  else
    return values.of(value);
  values.define(value, p);
  return p;
}

void StoreCoverage::takeSegment(IndexValues &values) {
  SegmentEnds loads =
      endsOf(kernel, store.getIndices()[*segments->segment], *segments);
  if (!loads.end)
    return;
  for (auto select : kernel.getBody().getOps<arith::SelectOp>())
    if (llvm::is_contained(loads.end.getPresence(), select.getCondition()))
      values.define(select.getResult(), values.of(select.getTrueValue()));
}

bool StoreCoverage::knowOfSegment(IndexValues &values,
                                  ArrayRef<Polynomial> dims,
                                  SmallVectorImpl<Polynomial> &inside) {
  Value index = store.getIndices()[segments->dim],
        number = store.getIndices()[*segments->segment];
  SegmentEnds loads = endsOf(kernel, number, *segments);
  RequireAttr promise = promiseOf(kernel, *segments);
  if (!loads.first || !loads.end || !promise)
    return false;
  Polynomial count = values.of(promise.getHi().getResult(0), dims);
  auto holds = [&](const Polynomial &goal) {
    return values.isNonNegativeByCases(goal, inside);
  };
  for (LoadOp load : {loads.first, loads.end})
    for (Value predicate : load.getPresence()) {
      SmallVector<Polynomial> goals;
      values.collect(predicate, goals);
      if (goals.empty() || !llvm::all_of(goals, holds))
        return false;
    }
  Polynomial first = values.of(loads.first.getResult()),
             end = values.of(loads.end.getResult());
  llvm::append_range(inside,
                     ArrayRef<Polynomial>{first, end - first, count - end});
  if (rows == Rows::OfNoSegment) {
    inside.push_back(values.of(index) - (end - first));
    return true;
  }
  inside.push_back(end - first - values.of(index) - 1);
  auto row = index.getDefiningOp<arith::SubIOp>();
  Polynomial from = row ? values.of(row.getRhs()) : Polynomial();
  return row && holds(from - first) && holds(first - from);
}

bool StoreCoverage::holdsInside(ValueRange presence) {
  IndexValues values;
  SmallVector<Polynomial> dims, inside;
  seedSignature(kernel.getProgram().getDims(), kernel.getProgram().getTensors(),
                values, dims);
  seedKernel(kernel, values, dims);
  for (AffineExpr extent : shape.getResults())
    assumePositive(extent, values, dims);
  bool isOfEach = segments && segments->segment;
  if (isOfEach)
    takeSegment(values);
  for (Lanes lanes : laneDigits) {
    if (!lanes.within)
      continue;
    auto sum = lanes.range.getStart().getDefiningOp<arith::AddIOp>();
    Polynomial length = values.of(extentOf(lanes.within), dims);
    values.define(lanes.range.getResult(),
                  values.newSymbol(0, length - 1) +
                      defineDigits(sum.getRhs(), values));
  }
  for (auto [index, extent] :
       llvm::zip_equal(store.getIndices(), shape.getResults())) {
    Polynomial p = values.of(index);
    inside.push_back(p);
    inside.push_back(values.of(extent, dims) - p - 1);
  }
  // An element is a number for each digit, none of them past its count.
  for (Lanes lanes : laneDigits)
    if (AffineExpr extent = extentOf(lanes.range.getStart()))
      inside.push_back(values.of(extent, dims) -
                       values.of(lanes.range.getResult()) - 1);
  for (auto [range, count] : sliceDigits)
    inside.push_back(Polynomial(count - 1) + values.of(range.getStart()) -
                     values.of(range.getResult()));
  // What is known if the promise of segments is kept.
  SmallVector<Polynomial> kept(inside);
  if (isOfEach && !knowOfSegment(values, dims, kept))
    return false;
  // Of a range that is no digit, and runs, one iteration is enough.
  auto isOfFirst = [&](Value part) {
    auto compare = part.getDefiningOp<arith::CmpIOp>();
    auto coord =
        compare ? dyn_cast<BlockArgument>(compare.getLhs()) : BlockArgument();
    return coord && coord.getOwner()->getParentOp() == kernel &&
           coord.getArgNumber() >= kernel.getProgram().getNumSharedArgs() &&
           compare.getPredicate() == arith::CmpIPredicate::slt &&
           matchPattern(compare.getRhs(), m_One()) &&
           !usedScalars.contains(coord);
  };
  bool holds = true;
  for (Value predicate : presence)
    conjuncts(predicate, [&](Value part) {
      if (isOfFirst(part) ||
          (segments && !isOfEach && saysRows(part, store, *segments, rows)) ||
          (rows == Rows::BehindParts && saysBehind(part, store, *equalParts)))
        return;
      bool isKept = isOfEach && rows == Rows::OfSegments;
      if (isOfEach && !isKept)
        if (Value otherwise = unlessBroken(part, store, *segments)) {
          part = otherwise;
          isKept = true;
        }
      SmallVector<Polynomial> goals;
      values.collect(part, goals);
      SmallVector<Polynomial> known(isKept ? kept : inside);
      values.refine(known, goals);
      bool isTrue = !goals.empty() || matchPattern(strip(part), m_One());
      holds &= isTrue && llvm::all_of(goals, [&](const Polynomial &goal) {
                 return values.isNonNegativeByCases(goal, known) ||
                        values.isNonNegativeForIntegers(goal, known);
               });
    });
  return holds;
}

} // namespace selvedge::verify
