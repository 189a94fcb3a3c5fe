// Executes the launches of a variant with several sizes.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_MEMORY_VARIANTRUNS_H
#define SELVEDGE_COMPILER_VERIFY_MEMORY_VARIANTRUNS_H

#include "compiler/Verify/Async/TrialSearch.h"
#include "compiler/Verify/Memory/KernelRuns.h"
#include "compiler/Verify/Memory/NumberedDims.h"
#include "compiler/Verify/Memory/RequiredStores.h"

#include <deque>
#include <set>

namespace selvedge::verify {

/// Executes the launches of a variant, one after the other, with the sizes of
/// LaunchTrials.h: as large as a budget of work allows, then others until every
/// operation has been executed.
class VariantRuns {
public:
  using Launches = llvm::ArrayRef<std::pair<sm::LaunchOp, sm::KernelOp>>;

  /// `programs`: what each kernel is compared with; null for nothing.
  VariantRuns(sm::VariantOp variant, Launches launches,
              llvm::ArrayRef<const ProgramSinks *> programs);

  mlir::LogicalResult run();
  /// Less: of launches that were executed with those of their own variants, a
  /// few sizes that show whether they go together.
  mlir::LogicalResult runTogether();
  /// What has not been executed, after run(): the place of the operation, and
  /// words.
  using Remark = std::pair<mlir::Location, std::string>;
  llvm::ArrayRef<Remark> getRemarks() const { return remarks; }

private:
  void noteRows(tile::KernelOp kernel);
  /// A launch that is executed alone, as if the others had been; by all of its
  /// thread blocks, or by some, or one, of which nothing is demanded together.
  struct Alone {
    size_t launch;
    bool bySome;
    std::optional<int64_t> block = std::nullopt;
  };

  /// The tensors of a trial.
  GlobalMemory makeMemory(const LaunchTrial &trial, bool bySome) const;
  /// How far a trial is from what `distance` is told of, what it lacks, and
  /// the thread block that is nearest.
  struct Scanned {
    TrialNeed need = BranchDistance::unknown;
    int64_t block = 0;
  };
  /// Follows control flow alone.
  Scanned scan(const LaunchTrial &trial, size_t launch,
               BranchDistance &distance);
  /// The numbers of a trial that wishes are for.
  TrialNeed::Ways changesFor(const LaunchTrial &trial, size_t launch,
                             const BranchDistance::Ways &ways,
                             const GlobalMemory &memory) const;
  /// Executes a trial, with at most `limit` of the work that is left.
  Outcome execute(const LaunchTrial &trial, uint64_t limit,
                  std::optional<Alone> alone = std::nullopt);
  Outcome launchAll(const LaunchTrial &trial, GlobalMemory &memory,
                    uint64_t limit, std::optional<Alone> alone);
  mlir::LogicalResult runUsual(uint64_t budget, unsigned scale);
  bool hasRoles() const;
  /// Where the usual sizes have many thread blocks: learns from few what each
  /// takes.
  mlir::LogicalResult measureBlocks(uint64_t limit);
  /// What a trial takes if each thread block takes the least that those of its
  /// launch took.
  uint64_t expectedWork(const LaunchTrial &trial,
                        std::optional<Alone> alone) const;
  /// Sizes that look for what the usual ones have not reached, and who executes
  /// them.
  enum class Further { ByAll, AtLimits, BySome };
  std::optional<LaunchTrial> makeTrial(Further kind, size_t launch,
                                       unsigned number) const;
  mlir::LogicalResult runFurther(Further kind);
  /// What those have not reached: sizes that are nearer and nearer to it.
  mlir::LogicalResult runTowards();
  mlir::LogicalResult runTowards(size_t launch, mlir::Block *block);
  /// How far a trial is from a block; none for one that says nothing. `outcome`
  /// is that of its execution, if it took place.
  std::optional<TrialNeed> approach(const LaunchTrial &trial, size_t launch,
                                    BranchDistance &distance, uint64_t limit,
                                    Outcome &outcome);
  /// What nobody has reached, as if sizes did: those of a few trials must allow
  /// it.
  void runForced();
  /// The ordered integers that a kernel reads, and that are promised to be so.
  llvm::SmallVector<tile::RequireAttr> promisesOf(sm::KernelOp kernel) const;
  /// A few rows of segments, and how many.
  struct BrokenTrial {
    LaunchTrial trial;
    int64_t rows;
  };
  std::optional<BrokenTrial> brokenTrial(size_t launch,
                                         tile::RequireAttr promise) const;
  /// Memory with these ends, for a trial of as many segments; none where that
  /// would take too long.
  std::optional<GlobalMemory> takeEnds(LaunchTrial &trial,
                                       tile::RequireAttr promise,
                                       llvm::ArrayRef<int64_t> ends) const;
  Outcome executeBroken(size_t launch, const LaunchTrial &trial,
                        GlobalMemory &memory, bool byAll);
  /// What no promised ends reach: segments that go on behind the last row.
  mlir::LogicalResult runBehind();
  /// Kernels that initialise by the ends of segments, with ends that break the
  /// promise: all elements are initialised then.
  mlir::LogicalResult runBroken();
  mlir::LogicalResult runBroken(size_t launch, llvm::StringRef initialised,
                                tile::RequireAttr promise);
  /// What a kernel has initialised: how many elements, and whether these are
  /// all. Of one segment by all of its thread blocks, of more by some.
  struct Initialised {
    Outcome outcome;
    uint64_t count = 0;
    bool isComplete = false;
  };
  Initialised initialise(size_t launch, llvm::StringRef tensor,
                         LaunchTrial trial, tile::RequireAttr promise,
                         llvm::ArrayRef<int64_t> ends);
  /// Every operation was executed, or never is: an error if not.
  mlir::LogicalResult checkReached();
  /// Whether a launch has operations that nothing has executed, or stores what
  /// nothing has stored, that others may execute.
  bool isOpen(size_t launch, Further kind);
  /// What the programs store must be stored: rows of segments in a trial, and
  /// something of each output in one of them.
  mlir::LogicalResult checkRows(const GlobalMemory &memory);
  mlir::LogicalResult checkElements(GlobalMemory &memory, int64_t callers);
  mlir::LogicalResult checkStored();

  sm::VariantOp variant;
  Launches launches;
  std::vector<SegmentRows> segments;
  std::vector<NumberedDim> numbered;
  /// The kernels of the program as it was written.
  std::vector<tile::KernelOp> written;
  /// The dims of which their ranges have blocks.
  llvm::SmallVector<unsigned> rows;
  /// Outputs of the programs of which nothing has been stored yet.
  std::set<std::string> unstored;
  std::deque<KernelRuns> kernels;
  /// Of each launch the least work per thread block of an accepted trial.
  llvm::SmallVector<std::optional<uint64_t>> leastWork;
  uint64_t work = 0, maxWork = 0;
  llvm::SmallVector<Remark> remarks;
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_MEMORY_VARIANTRUNS_H
