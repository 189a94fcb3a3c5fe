// Cases of `check`, made from the signature of an op and its plan.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/CheckCases.h"

#include "tools/selvedge/UniqueValues.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace selvedge::cli {

namespace {

/// Extents of a dim that kernels do not take by blocks, and of one that is a
/// factor of an extent: heads that share something.
constexpr int64_t fewExtents[] = {1, 2, 3};
constexpr int64_t factorExtents[] = {1, 2, 3, 4, 8};

/// Steps of a loop that take a ring of four slots round twice.
constexpr int64_t manySteps = 12;

/// How much more work than CheckSource::limit a case may be whose lead is an
/// edge of a block, or a loop of many steps. A step of the largest block, of
/// one tile, may be half of the limit.
constexpr double edgeWork = 4, longWork = 8;

/// Rows of a multiple of this are accessed by vectors.
constexpr int64_t vector = 8;

/// Dims that are tried to find those that select a variant.
constexpr int64_t largestTried = 1 << 15;
constexpr int variantTries = 4000;

/// Whether `expr` has a product of which `dim` is a factor.
bool isFactor(const DimExpr &expr, int64_t dim, bool inProduct = false) {
  if (expr.kind == DimExpr::Kind::Dim)
    return inProduct && expr.value == dim;
  inProduct |= expr.kind == DimExpr::Kind::Mul;
  return std::ranges::any_of(expr.operands, [&](const DimExpr &operand) {
    return isFactor(operand, dim, inProduct);
  });
}

/// The extent of a loop of many steps.
int64_t longExtent(const std::set<int64_t> &blocks) {
  return manySteps * *blocks.rbegin() + vector;
}

/// Extents around the edges of blocks: less than one, some, a rest behind some;
/// of a loop also many steps, in whole vectors.
std::set<int64_t> aroundBlocks(const std::set<int64_t> &blocks, bool isLoop) {
  std::set<int64_t> extents = {1};
  for (int64_t block : blocks)
    if (block > 1)
      for (int64_t extent :
           {block - 1, block, block + 1, 2 * block + vector, 3 * block})
        extents.insert(extent);
  if (isLoop) {
    int64_t block = *blocks.rbegin();
    extents.insert({5 * block + 3, longExtent(blocks)});
  }
  return extents;
}

const ManifestRange *rangeOf(const Manifest &signature, size_t tensor) {
  for (const ManifestRange &range : signature.ranges)
    if (range.tensor == tensor)
      return &range;
  return nullptr;
}

/// The dim of an extent that is one, and a constant more.
std::optional<size_t> dimOf(const DimExpr &extent) {
  if (extent.kind == DimExpr::Kind::Dim)
    return static_cast<size_t>(extent.value);
  bool isMore = extent.kind == DimExpr::Kind::Add &&
                extent.operands[1].kind == DimExpr::Kind::Constant;
  return isMore ? dimOf(extent.operands[0]) : std::nullopt;
}

bool isInput(const ManifestTensor &tensor) {
  return tensor.role == Role::In || tensor.role == Role::InOut;
}

} // namespace

CaseMaker::CaseMaker(CheckSource given)
    : source(std::move(given)), random(source.seed, "check") {
  const Manifest &signature = source.problem.signature;
  std::vector<Lead> allLeads;
  for (size_t i = 0; i < signature.dims.size(); ++i) {
    auto isOneOf = [&](const ManifestTensor &tensor) {
      return std::ranges::any_of(tensor.shape, [&](const DimExpr &extent) {
        return isFactor(extent, static_cast<int64_t>(i));
      });
    };
    std::set<int64_t> extents(std::begin(fewExtents), std::end(fewExtents));
    auto found = source.facts.blocks.find(signature.dims[i]);
    if (found != source.facts.blocks.end())
      extents = aroundBlocks(found->second,
                             source.facts.loops.contains(signature.dims[i]));
    else if (std::ranges::any_of(signature.tensors, isOneOf))
      extents.insert(std::begin(factorExtents), std::end(factorExtents));
    auto size =
        std::ranges::find(signature.launchSizes, i, &ManifestLaunchSize::dim);
    if (size != signature.launchSizes.end()) {
      std::erase_if(extents, [&](int64_t extent) {
        return extent < size->lo || extent > size->hi;
      });
      extents.insert({size->lo, size->hi});
    } else {
      allLeads.push_back({i, 0});
    }
    pools.emplace_back(extents.begin(), extents.end());
    for (int64_t extent : extents)
      allLeads.push_back({i, extent});
    if (found != source.facts.blocks.end() &&
        allLeads.back().value == longExtent(found->second))
      allLeads.back().isLong = true;
  }
  findVariants();
  for (const auto &[variant, dims] : variants)
    allLeads.push_back({0, 0, variant});
  if (allLeads.empty())
    allLeads.push_back({});
  leads = Deck<Lead>(std::move(allLeads));
  kits = Deck<Kit>(makeKits(signature));
  std::vector<std::string> kinds = {"", ""};
  if (source.hasLayouts)
    for (const char *kind :
         {"padded", "permuted", "transposed", "unaligned", "broadcast"})
      kinds.push_back(kind);
  layouts = Deck<std::string>(std::move(kinds));
  poisons = Deck<std::string>(
      {"nan", "inf", "ninf", "max", "random", "subnormal", "ff"});
  patterns = Deck<RangePattern>(
      {RangePattern::Random, RangePattern::Lowest, RangePattern::Highest,
       RangePattern::LowestFirst, RangePattern::LowestBetween,
       RangePattern::LowestLast, RangePattern::Edges, RangePattern::Edges});
  selections = Deck<SelectionPattern>(
      {SelectionPattern::Random, SelectionPattern::Random,
       SelectionPattern::Equal, SelectionPattern::Some, SelectionPattern::Some,
       SelectionPattern::None});
  flags = Deck<std::string>({"", "0,1", "1", "1,1,1,0,1", "0,0,1,1,1,2"});
  std::vector<std::optional<int64_t>> values = {std::nullopt, std::nullopt, 0,
                                                1, 17};
  for (const auto &[dim, blocks] : source.facts.blocks)
    for (int64_t block : blocks)
      values.push_back(block + 1);
  scalars = Deck<std::optional<int64_t>>(std::move(values));
}

size_t CaseMaker::getRound() const {
  return std::max({leads.size(), kits.size(), layouts.size(), poisons.size(),
                   patterns.size()});
}

std::vector<std::string> CaseMaker::getVariants() const {
  std::vector<std::string> names;
  for (const auto &[variant, dims] : variants)
    names.push_back(source.program->variants[variant].name);
  return names;
}

/// Finds small dims for each variant by trial.
void CaseMaker::findVariants() {
  if (!source.program)
    return;
  const Manifest &signature = source.problem.signature;
  std::vector<int64_t> tried = {1, 3};
  for (int64_t extent = 8; extent <= largestTried; extent *= 2)
    tried.insert(tried.end(), {extent, extent + 8});
  for (int i = 0; i < variantTries; ++i) {
    DimValues dims;
    for (size_t d = 0; d < signature.dims.size(); ++d)
      dims.push_back(tried[static_cast<size_t>(
          random.uniform(0, static_cast<int64_t>(tried.size()) - 1))]);
    if (costOf(dims) > source.limit || !hasValues(dims))
      continue;
    for (size_t v = 0; v < source.program->variants.size(); ++v) {
      const ManifestVariant &variant = source.program->variants[v];
      bool isFor = std::ranges::all_of(
          variant.dimConditions, [&](const DimExpr &condition) {
            Result<int64_t> value = condition.evaluate(dims, signature.dims);
            return value.ok() && *value >= 0;
          });
      if (!isFor)
        continue;
      auto found = variants.find(v);
      if (found == variants.end() || costOf(dims) < costOf(found->second))
        variants[v] = dims;
      // Later ones are for what earlier ones leave over.
      break;
    }
  }
  // The last one takes what others do not: strides, in any dims.
  size_t last = source.program->variants.size() - 1;
  variants.emplace(last, DimValues(signature.dims.size(), 2));
}

int64_t CaseMaker::leastOf(size_t dim) const {
  auto blocks = source.facts.blocks.find(source.problem.signature.dims[dim]);
  return blocks == source.facts.blocks.end() ? 1 : *blocks->second.begin();
}

double CaseMaker::costOf(const DimValues &dims) const {
  double cost = 1, constants = 1;
  for (size_t i = 0; i < dims.size(); ++i)
    cost *= static_cast<double>(std::max(leastOf(i), *dims[i]));
  // A tensor may have a dim twice.
  double elements = 1;
  for (const ManifestTensor &tensor : source.problem.signature.tensors) {
    double product = 1, all = 1;
    for (const DimExpr &extent : tensor.shape) {
      if (extent.kind == DimExpr::Kind::Constant)
        product *= static_cast<double>(extent.value);
      Result<int64_t> value =
          extent.evaluate(dims, source.problem.signature.dims);
      if (value.ok())
        all *= static_cast<double>(std::max<int64_t>(1, *value));
    }
    constants = std::max(constants, product);
    elements = std::max(elements, all);
  }
  return std::max(cost * constants, elements);
}

void CaseMaker::clampLaunchSizes(DimValues &dims) const {
  for (const ManifestLaunchSize &size : source.problem.signature.launchSizes)
    dims[size.dim] = std::clamp(*dims[size.dim], size.lo, size.hi);
}

DimValues CaseMaker::drawDims(const Lead &lead) {
  if (lead.variant)
    return variants.at(*lead.variant);
  DimValues dims;
  for (const std::vector<int64_t> &pool : pools)
    dims.push_back(pool[static_cast<size_t>(
        random.uniform(0, static_cast<int64_t>(pool.size()) - 1))]);
  if (dims.empty())
    return dims;
  dims[lead.dim] = lead.value;
  while (costOf(dims) > source.limit) {
    std::optional<size_t> largest;
    for (size_t i = 0; i < dims.size(); ++i)
      if (i != lead.dim && *dims[i] > leastOf(i) &&
          (!largest || dims[i] > dims[*largest]))
        largest = i;
    // An edge of a block is worth more work, but not its square.
    double most = (lead.isLong ? longWork : edgeWork) * source.limit;
    bool isMuch = costOf(dims) > most && *dims[lead.dim] > 1;
    if (!largest && !isMuch)
      break;
    if (!largest)
      largest = lead.dim;
    auto &pool = pools[*largest];
    auto smaller = std::ranges::lower_bound(pool, *dims[*largest] / 2);
    dims[*largest] = smaller == pool.begin() ? 1 : *std::prev(smaller);
  }
  // Few extents would suit vectors all at once.
  if (lead.isLong || random.uniform(0, 1) == 0)
    for (size_t i = 0; i < dims.size(); ++i)
      if (i != lead.dim && leastOf(i) > 1)
        dims[i] = (*dims[i] + vector - 1) / vector * vector;
  return dims;
}

bool CaseMaker::isOmitted(const CaseOptions &options,
                          const std::string &name) const {
  return std::ranges::find(options.problem.omitted, name) !=
         options.problem.omitted.end();
}

bool CaseMaker::hasValues(const DimValues &dims) const {
  const Manifest &signature = source.problem.signature;
  return std::ranges::all_of(signature.ranges, [&](const ManifestRange &range) {
    auto shape = shapeOf(signature, signature.tensors[range.tensor], dims);
    Result<int64_t> lo = range.lo.evaluate(dims, signature.dims);
    Result<int64_t> hi = range.hi.evaluate(dims, signature.dims);
    return !shape.ok() || !lo.ok() || !hi.ok() || *lo <= *hi ||
           std::ranges::find(*shape, 0) != shape->end();
  });
}

void CaseMaker::makeRanges(DimValues &dims, const Lead &lead) const {
  if (hasValues(dims))
    return;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i == lead.dim)
      continue;
    DimValues changed = dims;
    // As large as any other: `len in 0..N - A`.
    for (const std::optional<int64_t> &other : dims)
      changed[i] = std::max(*changed[i], *other);
    if (hasValues(changed)) {
      dims = changed;
      return;
    }
    changed[i] = 0;
    if (hasValues(changed)) {
      dims = changed;
      return;
    }
  }
}

std::string CaseMaker::drawRange(const ManifestRange &range,
                                 RangePattern pattern, const DimValues &dims) {
  const Manifest &signature = source.problem.signature;
  Result<int64_t> lo = range.lo.evaluate(dims, signature.dims);
  Result<int64_t> hi = range.hi.evaluate(dims, signature.dims);
  auto shape = shapeOf(signature, signature.tensors[range.tensor], dims);
  if (!lo.ok() || !hi.ok() || !shape.ok() || *lo > *hi)
    return "";
  std::vector<int64_t> edges = {*lo, *lo + 1, *hi - 1, *hi};
  for (const auto &[dim, blocks] : source.facts.blocks)
    for (int64_t edge : aroundBlocks(blocks, /*isLoop=*/true))
      edges.push_back(edge);
  if (!range.ordered)
    return makeRangeValues(pattern, *lo, *hi, edges, random);
  int64_t count = 1;
  for (int64_t extent : *shape)
    count *= extent;
  return makeSegments(pattern, count, *lo, *hi, edges, random);
}

/// Values of a tensor that is unique, which may select one of `things`.
std::string CaseMaker::drawUniqueFill(const ManifestTensor &tensor,
                                      const DimValues &dims,
                                      std::optional<int64_t> things) {
  auto shape = shapeOf(source.problem.signature, tensor, dims);
  if (!things || !shape.ok())
    return "";
  int64_t count = 1;
  for (int64_t extent : *shape)
    count *= extent;
  return makeUnique(selections.draw(random), count, *things);
}

/// Adds values of the integer tensors, in their required ranges, and enlarges a
/// dim where that takes more elements.
void CaseMaker::addIntegers(CaseOptions &options, DimValues &dims,
                            const Lead &lead) {
  const Manifest &signature = source.problem.signature;
  // Dims first: what is drawn depends on all of them.
  std::map<size_t, RangePattern> drawn;
  for (size_t i = 0; i < signature.tensors.size(); ++i) {
    const ManifestTensor &tensor = signature.tensors[i];
    if (!isInput(tensor) || !rangeOf(signature, i) ||
        isOmitted(options, tensor.name))
      continue;
    RangePattern pattern = patterns.draw(random);
    drawn.emplace(i, pattern);
    constexpr int64_t length = 3;
    std::optional<size_t> dim;
    if (!tensor.shape.empty())
      dim = dimOf(tensor.shape.back());
    if (pattern >= RangePattern::LowestFirst && dim && !lead.variant &&
        *dim != lead.dim)
      dims[*dim] = std::max<int64_t>(*dims[*dim], length);
  }
  if (!lead.variant)
    makeRanges(dims, lead);
  std::map<std::string, int64_t> counts;
  if (!source.selectors.empty()) {
    std::map<std::string, int64_t> named;
    for (size_t i = 0; i < dims.size(); ++i)
      named[signature.dims[i]] = *dims[i];
    if (auto found = findSelectors(source.problem, named); found.ok())
      counts = *found;
  }
  for (size_t i = 0; i < signature.tensors.size(); ++i) {
    const ManifestTensor &tensor = signature.tensors[i];
    if (!isInput(tensor) || isFloat(tensor.dtype) ||
        isOmitted(options, tensor.name))
      continue;
    auto count = counts.find(tensor.name);
    std::optional<int64_t> things;
    if (count != counts.end())
      things = count->second;
    std::string values =
        tensor.unique ? drawUniqueFill(tensor, dims, things)
        : drawn.contains(i)
            ? drawRange(*rangeOf(signature, i), drawn.at(i), dims)
        : things ? makeSelections(selections.draw(random), *things, random)
                 : flags.draw(random);
    if (!values.empty())
      options.problem.fills.push_back(tensor.name + "=" + values);
  }
}

void CaseMaker::addScalars(CaseOptions &options) {
  options.problem.sets = source.sets;
  for (const ManifestScalar &scalar : source.problem.signature.scalars) {
    bool isGiven =
        std::ranges::any_of(source.sets, [&](const std::string &set) {
          return set.starts_with(scalar.name + "=");
        });
    bool hasDefault = scalar.defaultValue.has_value();
    if (isGiven || (scalar.dtype != DType::I32 && hasDefault))
      continue;
    if (scalar.dtype != DType::I32) {
      options.problem.sets.push_back(scalar.name + "=0.5");
      continue;
    }
    std::optional<int64_t> value = scalars.draw(random);
    if (!value && !hasDefault)
      value = 2;
    if (value)
      options.problem.sets.push_back(fmt::format("{}={}", scalar.name, *value));
  }
}

CheckCase CaseMaker::next() {
  const Manifest &signature = source.problem.signature;
  CheckCase made;
  CaseOptions &options = made.options;
  Lead lead = leads.draw(random);
  DimValues dims = drawDims(lead);
  clampLaunchSizes(dims);
  for (const ManifestTensor &tensor : signature.tensors)
    if (tensor.optional && isInput(tensor) && random.uniform(0, 4) == 0)
      options.problem.omitted.push_back(tensor.name);
  addIntegers(options, dims, lead);
  // Sums along a dimension, or all of it.
  for (const ManifestReducedDim &reduced : signature.reducedDims)
    if (Result<int64_t> whole =
            signature.tensors[reduced.tensor].shape[reduced.dimension].evaluate(
                dims, signature.dims);
        whole.ok() && *dims[reduced.dim] != 1)
      dims[reduced.dim] = *whole;
  addScalars(options);
  Kit kit = kits.draw(random);
  made.kit = kit.describe(signature);
  addKit(kit, signature, dims, random, options);
  std::vector<std::string> extents;
  for (size_t i = 0; i < dims.size(); ++i)
    extents.push_back(fmt::format("{}={}", signature.dims[i], *dims[i]));
  if (!extents.empty())
    options.problem.shapes = {fmt::format("{}", fmt::join(extents, ","))};
  // The last variant takes the strides that others do not.
  bool isLast = lead.variant && source.program &&
                *lead.variant + 1 == source.program->variants.size();
  std::string layout = isLast                        ? "unaligned"
                       : lead.variant || lead.isLong ? ""
                                                     : layouts.draw(random);
  if (!layout.empty())
    options.layouts = {layout};
  std::vector<std::string> kinds;
  for (size_t i = 0; i < source.poisons; ++i)
    kinds.push_back(poisons.draw(random));
  options.poison = fmt::format("{}", fmt::join(kinds, ","));
  bool mayLoseRows = kit.isNonFinite() && source.facts.removesPresentData &&
                     source.problem.request.masks == MaskMode::Tile;
  options.compare = mayLoseRows ? "mask,clean" : "ref,clean";
  options.seed = fmt::format("{}", source.seed + numCases++);
  return made;
}

} // namespace selvedge::cli
