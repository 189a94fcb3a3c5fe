// Makes the sizes for which launches are executed.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ASYNC_TRIALMAKER_H
#define SELVEDGE_COMPILER_VERIFY_ASYNC_TRIALMAKER_H

#include "compiler/Verify/Async/KernelDims.h"
#include "compiler/Verify/Async/LaunchTrials.h"

namespace selvedge::verify {

/// What a dim becomes that a variant does not take as given: what divides a
/// block, of which little or much.
enum class Prefers { Given, Even, Many };

/// The trials of one scale.
class TrialMaker {
public:
  TrialMaker(sm::VariantOp variant,
             llvm::ArrayRef<std::pair<sm::LaunchOp, sm::KernelOp>> launches,
             unsigned scale);

  /// Dims that these launches take and do not cut, and others do: what ends in
  /// them is long.
  void noteLimits(llvm::ArrayRef<std::pair<sm::LaunchOp, sm::KernelOp>> others);
  std::vector<LaunchTrial> run(llvm::ArrayRef<unsigned> rows);
  /// Few pairs as rows of one box, if boxes have pairs: the last of a tile see
  /// the first key of a step that the first do not.
  std::optional<LaunchTrial> ofPairs();
  /// If kernels take several integers of the caller: of the rows the first see
  /// keys, and the last are past them.
  std::optional<LaunchTrial> ofBands();
  std::optional<LaunchTrial> further(unsigned number);
  /// Those that come first; `isLast` says that there are no more.
  std::optional<LaunchTrial> directed(unsigned number, bool &isLast);
  std::optional<LaunchTrial> ofSteps(unsigned number, bool &isLast);
  std::optional<LaunchTrial> ofLimits(unsigned number);
  std::optional<LaunchTrial> deep(unsigned number);

private:
  /// The dims that the bounds of a kernel's loops are made of.
  llvm::SmallVector<size_t> dimsOfEnds(sm::KernelOp kernel) const;
  /// More segments than rows: a segment's number is far above its rows. What
  /// is cut has whole blocks if `isWhole`.
  std::optional<LaunchTrial> ofShortSegments(int64_t limit, bool isWhole);
  friend class DirectedTrial;
  static constexpr int64_t off = 3; // less than a row of any product
  /// The first scale of which no step is whole.
  static constexpr unsigned smallScale = 4;

  static bool isCut(const Dim &dim) { return dim.block > 1; }
  /// Whether a dim is one number of pairs that are cut.
  bool isOfPairs(unsigned symbol) const;
  /// Dims that have one element: those that nothing cuts, and of pairs one
  /// number, the first or the second one; the other has all rows.
  llvm::SmallVector<bool> single(bool first) const;
  /// Whether something differs along a dim, such as lengths.
  bool hasIntegers(unsigned symbol) const;
  /// Whether the grid of a launch depends on a dim.
  bool isCounted(unsigned symbol) const;
  bool hasSegments() const;
  /// As many heads and the like as the scale has, or as there are lengths.
  int64_t nextUncut(unsigned symbol, int64_t lengths);
  int64_t stepOf(const Dim &dim) const {
    return dim.step ? dim.step : dim.block;
  }
  /// Of all dims, blocks included.
  int64_t largestStep() const;
  /// As many of all that is cut, and little of the rest.
  LaunchTrial ofCuts(int64_t size);
  int64_t twoBlocks(const Dim &dim) const;
  int64_t partOfBlock(const Dim &dim) const;
  /// The trial, with sizes that the variant is taken for and that ranges have
  /// elements of; none if there are no such sizes.
  std::optional<LaunchTrial> taken(LaunchTrial trial,
                                   Prefers prefers = Prefers::Given) const;
  void add(llvm::function_ref<int64_t(const Dim &)> sizeOf, int64_t blocks,
           llvm::ArrayRef<int64_t> samples, int64_t callers,
           bool hasOptionals = true);
  /// Two blocks of a dim, and little of all others.
  void addRows(unsigned symbol);
  void addNone(unsigned symbol);

  sm::VariantOp variant;
  llvm::ArrayRef<std::pair<sm::LaunchOp, sm::KernelOp>> launches;
  unsigned scale, kind = 0;
  /// Of the trial at hand: dims that are not cut, and whether one of them has
  /// as many elements as there are lengths.
  unsigned uncut = 0;
  bool hasLengths = false;
  llvm::SmallVector<Dim> dims;
  /// Of each dim what noteLimits() found.
  llvm::SmallVector<bool> areLimits;
  /// What is cut last is what steps take.
  const Dim *last = nullptr, *first = nullptr;
  /// Of all dims that are cut, at the largest scale.
  int64_t largest = 0;
  std::vector<LaunchTrial> trials;
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ASYNC_TRIALMAKER_H
