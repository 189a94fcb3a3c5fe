// Which product, reduction or load of the program each of a kernel is.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_MEMORY_SINKMATCHES_H
#define SELVEDGE_COMPILER_VERIFY_MEMORY_SINKMATCHES_H

#include "compiler/Verify/Memory/ProgramSinks.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace selvedge::verify {

/// A product or reduction of a kernel of `sm`.
struct SinkUse {
  std::string name;
  mlir::StringAttr over;
  llvm::SmallVector<mlir::Value, 2> sources;
  llvm::SmallVector<mlir::Value, 4> presence = {};
  /// One operand of a product that stands elsewhere.
  bool isPart = false;

  /// The axes of the sources, with their extents.
  llvm::SmallVector<std::pair<mlir::StringAttr, int64_t>, 2> axes() const;
};
llvm::SmallVector<SinkUse, 1> sinksOf(mlir::Operation *op);

/// Compares the sinks of a kernel of `sm`, wherever they are executed, with
/// those of the program. One that may be several of the program must be one of
/// them in all executions.
class SinkMatches {
public:
  SinkMatches(sm::KernelOp kernel, const ProgramSinks &program);

  const ProgramSinks &getProgram() const { return program; }
  /// Places of all executions.
  Places &getPlaces() { return places; }
  /// What follows is executed with other sizes.
  void startTrial();

  /// An execution of `op`, which sums up `sources`; returns what is wrong,
  /// empty for nothing.
  std::string check(mlir::Operation *op, mlir::ValueRange sources,
                    const ProgramSinks::Lanes &found, GlobalMemory &memory,
                    int64_t callers, LaneTiles::Scalars scalars);
  /// A product or reduction that was executed, with the lanes of its operands.
  void noteExecuted(mlir::Operation *op, mlir::Value firstSource,
                    Places::Number place);
  /// What follows is another thread block.
  void startBlock() { counts.clear(); }
  /// The same once more, by one of several agents, on a way that does not
  /// depend on data: false where the program sums these lanes up less often.
  bool countExecuted(mlir::Operation *op, mlir::Value firstSource,
                     Places::Number place, unsigned agent);
  /// A store that was executed.
  void noteStored(mlir::Operation *op, mlir::Value stored,
                  llvm::StringRef tensor, Places::Number place);
  /// What is stored must be made of the tensors that the program makes it of;
  /// returns what is wrong, empty for nothing.
  const std::string &checkStored(mlir::Value stored, llvm::StringRef tensor);

  /// The coordinate that an index of a dimension of a tensor is; null for none.
  mlir::StringAttr nameOfIndex(mlir::MLIRContext *context,
                               llvm::StringRef tensor, size_t dim);

  /// When all thread blocks have been executed: what the program sums up and
  /// they have not; an operation that sums up other parts of it.
  struct Missing {
    mlir::Operation *op = nullptr;
    std::string sink = {}, place = {};
  };
  std::optional<Missing> findMissing(GlobalMemory &memory, int64_t callers);

private:
  struct Match {
    ProgramSinks::Candidates candidates;
    /// What the comparison is a function of: scalars of the kernel, and places.
    llvm::SmallVector<mlir::Value, 4> scalars;
    llvm::SmallVector<mlir::StringAttr, 4> places;
    /// Those for which the candidates have been compared.
    std::set<std::vector<int64_t>> compared = {};
    /// Where it was executed, and the axes of its operands.
    mlir::StringAttr over = {};
    llvm::SmallVector<std::pair<mlir::StringAttr, int64_t>, 2> axes = {};
    llvm::DenseSet<Places::Number> executed = {};
    /// Whether it sums up what threads have summed up by themselves: it has no
    /// lanes of the program.
    bool isOfParts = false;
    /// One of the candidates, and how many there are before any is left out;
    /// none of what may be executed as often as one likes.
    const ProgramSinks::Sink *counted = nullptr;
    unsigned most = 0;
  };
  using Key = std::pair<mlir::Operation *, mlir::Value>;
  struct Stored {
    std::string tensor;
    llvm::SmallVector<std::pair<mlir::StringAttr, int64_t>, 2> axes;
    llvm::DenseSet<Places::Number> places = {};
  };

  std::string compareStored(mlir::Value stored, llvm::StringRef tensor) const;
  void addSides(Match &match, const SinkUse &use,
                const llvm::DenseSet<const ProgramSinks::Sink *> &whole);
  Match find(mlir::ValueRange sources, const ProgramSinks::Lanes &found,
             bool isPart) const;
  /// Where rows of a sink must have been summed up: where others of its lanes
  /// were, and where what is made of it is stored.
  std::vector<ProgramSinks::Executed>
  findRows(const ProgramSinks::Sink &sink, llvm::ArrayRef<const Match *> found);

  const ProgramSinks &program;
  SourceTensors tensors;
  Places places;
  /// By operation and, of products of several pairs, first operand.
  llvm::MapVector<Key, Match> matches;
  llvm::MapVector<mlir::Operation *, Stored> stores;
  /// Results of nameOfIndex(), by tensor and dimension.
  llvm::StringMap<llvm::SmallVector<std::optional<mlir::StringAttr>>> names;
  /// Results of checkStored(), which no execution changes.
  std::map<std::pair<const void *, std::string>, std::string> compared;
  /// How often an agent of the thread block has summed up lanes.
  std::map<std::tuple<const ProgramSinks::Sink *, Places::Number, unsigned>,
           unsigned>
      counts;
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_MEMORY_SINKMATCHES_H
