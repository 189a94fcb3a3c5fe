// What the program says of each product and reduction of a kernel.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_MEMORY_PROGRAMSINKS_H
#define SELVEDGE_COMPILER_VERIFY_MEMORY_PROGRAMSINKS_H

#include "compiler/Verify/Arithmetic/IndexNames.h"
#include "compiler/Verify/Memory/GlobalMemory.h"
#include "compiler/Verify/Memory/Places.h"
#include "compiler/Verify/Memory/SourceTensors.h"

namespace selvedge::verify {

/// Which lanes contribute to the products and reductions of a kernel of `tile`,
/// and which it loads, as functions of where they lie.
class ProgramSinks {
public:
  /// A product, reduction or load of the program.
  struct Sink {
    /// What it sums up; none for a load.
    SourceTensors::Names sources;
    /// Those of them that lanes tell apart: a factor that all lanes share may
    /// be taken out of a maximum.
    SourceTensors::Names tileSources;
    /// Those of them that it sums up whichever sides of choices are taken.
    SourceTensors::Names anySide;
    /// Of a reduction, what it sums up where no loop runs a step.
    std::optional<SourceTensors::Names> withoutSteps = std::nullopt;
    /// None where lowering decides which axis a predicate belongs to.
    std::optional<llvm::SmallVector<mlir::Value, 4>> presence;
    /// What the presence is a function of: axes, and coordinates as "@b".
    llvm::SmallVector<mlir::StringAttr, 4> places = {};
    /// The operation of the program, and the axis that it sums up along.
    mlir::Operation *op = nullptr;
    mlir::StringAttr over = {};
    std::string name = {};
    /// Whether only loops along that axis are around it: it is executed
    /// wherever something of it is stored.
    bool isAlone = false;
  };
  /// A store of the program: the tensors that its elements are made of, and the
  /// sinks.
  struct Store {
    SourceTensors::Names sources;
    /// Those of rows for which no loop runs a step.
    SourceTensors::Names withoutSteps = {};
    llvm::DenseSet<const Sink *> sinks = {};
  };
  using Candidates = llvm::SmallVector<const Sink *, 2>;

  /// With `hasParts` loops have been split: the presence of a step that need
  /// not test all of it is a part of what others of the same sources have, and
  /// says less than the program.
  ProgramSinks(tile::KernelOp kernel, bool hasParts);

  /// Names of scalar indices, by tensor and dimension.
  const IndexNames &getNames() const { return names; }

  /// Whether the loops are those of the program: each sink has all of its
  /// presence.
  bool isWhole() const { return !hasParts; }
  /// Calls `visit` for each product and reduction.
  void forEachSink(llvm::function_ref<void(const Sink &)> visit) const;
  llvm::ArrayRef<Store> storesTo(llvm::StringRef tensor) const {
    auto known = stores.find(tensor.str());
    return known == stores.end() ? llvm::ArrayRef<Store>()
                                 : llvm::ArrayRef<Store>(known->second);
  }

  tile::KernelOp getKernel() const { return kernel; }

  /// Whether `found` are tensors that `names` are among, or with `isPart` some
  /// of them, and others of integers alone: lowering may make numbers of
  /// integers that only decided.
  bool areOfMore(const SourceTensors::Names &found,
                 const SourceTensors::Names &names, bool isPart = false) const;

  /// Whether tiles with the axis may lie at several places at once: the program
  /// reads shifted ones.
  bool isShifted(mlir::StringAttr axis) const { return shifted.contains(axis); }
  /// Whether only indices are shifted: ranges of the axis begin at one place.
  bool hasOneStart(mlir::StringAttr axis) const {
    return !severalStarts.contains(axis);
  }

  /// Lanes of a sink where it is executed.
  struct Lanes {
    /// "product over j", "max over j", "load of k"
    std::string sink;
    /// The axis of which all lanes are compared.
    mlir::StringAttr over;
    /// Axes with their extents.
    llvm::SmallVector<std::pair<mlir::StringAttr, int64_t>, 2> axes;
    Places::Number place;
    llvm::SmallVector<mlir::Value> presence;
    /// A load may leave out what nobody will see.
    bool isLoad = false;
  };
  /// Those that one of `sm` may be which sums up `sources`.
  /// Of a product that lags (`isPart`) one operand says what it contributes to.
  Candidates find(llvm::StringRef sink, const SourceTensors::Names &sources,
                  bool isPart) const;
  /// Keeps the candidates whose presence is that of `found`, for some of its
  /// rows; if none are left, keeps all and returns what is wrong. Adds the
  /// lanes that it has computed to `work`.
  std::string check(const Lanes &found, Candidates &candidates,
                    const Places &places, const GlobalMemory &memory,
                    int64_t callers, LaneTiles::Scalars scalars,
                    uint64_t &work) const;

  /// What a kernel has executed of a sink: where its first lanes lay, and how
  /// many there were.
  struct Executed {
    Places::Number place;
    llvm::ArrayRef<std::pair<mlir::StringAttr, int64_t>> axes;
  };
  /// Lanes of `sink` that the program has for some rows of `at` and that
  /// nothing in `executed` has summed up, as "i = 3, j = 64"; empty for none.
  /// `at` has the axes of the rows, not that of the sum.
  std::string findMissing(const Sink &sink, const Executed &at,
                          llvm::ArrayRef<Executed> executed, Places &places,
                          const GlobalMemory &memory, int64_t callers,
                          uint64_t &work) const;

private:
  void add(mlir::Operation *op, mlir::StringAttr over, const std::string &sink,
           mlir::ValueRange sources, std::optional<mlir::ValueRange> presence,
           mlir::Value maximised = {});
  void addStores();
  void findShifted();
  void dropParts();
  void findPlaces(Sink &sink) const;
  std::optional<int64_t> scalarOf(mlir::Value value, Places::Number place,
                                  const Places &places,
                                  const GlobalMemory &memory,
                                  int64_t callers) const;
  /// The name of a coordinate of the kernel; null for other values.
  mlir::StringAttr coordinateOf(mlir::Value value) const;
  /// How many lanes along an axis of the kernel's exist behind a place.
  std::optional<int64_t> countOf(mlir::StringAttr axis, Places::Number place,
                                 const Places &places,
                                 const GlobalMemory &memory) const;

  mutable tile::KernelOp kernel;
  IndexNames names;
  SourceTensors tensors;
  llvm::DenseSet<mlir::StringAttr> shifted, severalStarts;
  std::map<std::string, std::vector<Sink>> sinks;
  std::map<std::string, std::vector<Store>> stores;
  bool hasParts;
};

/// "max over j", "product over j".
std::string nameOfReduction(tile::Combine kind, mlir::StringAttr axis);
std::string nameOfProduct(mlir::StringAttr axis);
/// The conditions of selects to -inf by which lanes of a tile of scores are
/// removed.
void collectMasks(mlir::Value value,
                  llvm::SmallVectorImpl<mlir::Value> &conditions);
/// "load of k"
std::string nameOfLoad(llvm::StringRef tensor);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_MEMORY_PROGRAMSINKS_H
