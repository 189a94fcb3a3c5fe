// Data that kernels are sensitive to.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_CHECKDATA_H
#define SELVEDGE_TOOLS_SELVEDGE_CHECKDATA_H

#include "tools/selvedge/RandomSequence.h"
#include "tools/selvedge/RunCase.h"

namespace selvedge::cli {

/// What the floats of a case are.
struct Kit {
  enum class Kind {
    /// Standard normal.
    Normal,
    /// Nearly equal in each tensor: logits are large, and all about the same.
    Level,
    /// Values around the ends of a type's range in one tensor.
    Edges,
    /// One value at some index of one tensor.
    Plant
  };

  Kind kind = Kind::Normal;
  /// Position in Manifest::tensors, for Edges and Plant.
  size_t tensor = 0;
  /// The level, or what is planted.
  double value = 0;

  /// "k has nan".
  std::string describe(const Manifest &signature) const;
  /// Whether it has NaN or Inf.
  bool isNonFinite() const;
};

/// The kits for the float inputs of an op; normal data several times.
std::vector<Kit> makeKits(const Manifest &signature);

/// Adds a kit to the options of a case with these dims.
void addKit(const Kit &kit, const Manifest &signature, const DimValues &dims,
            RandomSequence &random, CaseOptions &options);

/// How the elements of an integer tensor lie in their required range.
enum class RangePattern {
  Random,
  Lowest,
  Highest,
  LowestFirst,
  LowestBetween,
  LowestLast,
  Edges
};

/// Values of a tensor with a required range, to be repeated, or "" for random
/// ones. `edges` are values of interest, in the range or not.
std::string makeRangeValues(RangePattern pattern, int64_t lo, int64_t hi,
                            const std::vector<int64_t> &edges,
                            RandomSequence &random);

/// `count` values that bound segments of lo..hi: those of the pattern `Lowest*`
/// have an empty segment at that end, or between others; `Lowest` and `Highest`
/// only have empty ones.
std::string makeSegments(RangePattern pattern, int64_t count, int64_t lo,
                         int64_t hi, const std::vector<int64_t> &edges,
                         RandomSequence &random);

/// How the elements of a tensor select something of `count` things.
enum class SelectionPattern {
  /// Each selects one.
  Random,
  /// Each the same one.
  Equal,
  /// Some select nothing: they are garbage.
  Some,
  /// None selects anything.
  None
};

/// Values to be repeated, or "" for random ones that each select something.
std::string makeSelections(SelectionPattern pattern, int64_t count,
                           RandomSequence &random);

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_CHECKDATA_H
