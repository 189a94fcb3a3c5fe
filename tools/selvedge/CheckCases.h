// Cases of `check`, made from the signature of an op and its plan.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_CHECKCASES_H
#define SELVEDGE_TOOLS_SELVEDGE_CHECKCASES_H

#include "compiler/Driver/PlanFacts.h"
#include "tools/selvedge/CheckData.h"
#include "tools/selvedge/Deck.h"
#include "tools/selvedge/RunCase.h"

namespace selvedge::cli {

/// What cases are made from.
struct CheckSource {
  /// The signature, of makeSignature().
  Problem problem;
  PlanFacts facts;
  /// The host program; null where a device has none.
  const Manifest *program = nullptr;
  /// `--set` of the user: these scalars are not varied.
  std::vector<std::string> sets;
  /// Tensors whose elements select something (findSelectors()).
  std::set<std::string> selectors;
  /// Whether tensors lie in memory as a layout says.
  bool hasLayouts = true;
  /// Kinds of poison per case.
  size_t poisons = 2;
  /// The product of all dims, at least a block each, and of a tensor's constant
  /// extents, at most; and the elements of a tensor.
  double limit = 0;
  uint64_t seed = 0;
};

/// A case, and what is special about its data.
struct CheckCase {
  CaseOptions options;
  /// "normal", "k has nan".
  std::string kit;
};

/// Draws cases: each has one thing that it is for (a dim around the edge of a
/// block, or 0; dims that select a variant), and the rest at random.
class CaseMaker {
public:
  explicit CaseMaker(CheckSource source);

  /// After so many cases everything has been drawn once.
  size_t getRound() const;
  CheckCase next();

  const CheckSource &getSource() const { return source; }
  const std::vector<Kit> &getKits() const { return kits.getCards(); }
  /// Names of the variants that some dims select.
  std::vector<std::string> getVariants() const;

private:
  /// A dim that has a value, or a variant's dims.
  struct Lead {
    size_t dim = 0;
    int64_t value = 0;
    std::optional<size_t> variant = std::nullopt;
    /// Whether the value is for a loop of many steps, whose tensors are such
    /// that rings carry them.
    bool isLong = false;
  };

  void findVariants();
  DimValues drawDims(const Lead &lead);
  /// Keeps the sizes that launches choose in their ranges.
  void clampLaunchSizes(DimValues &dims) const;
  /// Elements of a dim that are executed at least: those of its smallest block.
  int64_t leastOf(size_t dim) const;
  double costOf(const DimValues &dims) const;
  /// Whether the required ranges of all tensors have a value.
  bool hasValues(const DimValues &dims) const;
  /// Changes dims so that they have.
  void makeRanges(DimValues &dims, const Lead &lead) const;
  void addIntegers(CaseOptions &options, DimValues &dims, const Lead &lead);
  std::string drawRange(const ManifestRange &range, RangePattern pattern,
                        const DimValues &dims);
  std::string drawUniqueFill(const ManifestTensor &tensor,
                             const DimValues &dims,
                             std::optional<int64_t> things);
  void addScalars(CaseOptions &options);
  bool isOmitted(const CaseOptions &options, const std::string &name) const;

  CheckSource source;
  RandomSequence random;
  uint64_t numCases = 0;
  /// Positive values by dim.
  std::vector<std::vector<int64_t>> pools;
  /// Dims by variant.
  std::map<size_t, DimValues> variants;
  Deck<Lead> leads;
  Deck<Kit> kits;
  Deck<std::string> layouts;
  Deck<std::string> poisons;
  Deck<RangePattern> patterns;
  Deck<SelectionPattern> selections;
  Deck<std::string> flags;
  Deck<std::optional<int64_t>> scalars;
};

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_CHECKCASES_H
