// What the program says of each product and reduction of a kernel.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_MEMORY_PROGRAMSINKS_H
#define SELVEDGE_COMPILER_VERIFY_MEMORY_PROGRAMSINKS_H

#include "compiler/Verify/Arithmetic/IndexNames.h"
#include "compiler/Verify/Memory/GlobalMemory.h"
#include "compiler/Verify/Memory/Places.h"

namespace selvedge::verify {

/// Which lanes contribute to the products and reductions of a kernel of `tile`,
/// and which it loads, as functions of where they lie.
class ProgramSinks {
public:
  explicit ProgramSinks(tile::KernelOp kernel);

  /// Names of scalar indices, by tensor and dimension.
  const IndexNames &getNames() const { return names; }

  /// Whether tiles with the axis may lie at several places at once: the program
  /// reads shifted ones.
  bool isShifted(mlir::StringAttr axis) const { return shifted.contains(axis); }

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
    /// Whether there may be fewer than in the program: a load may leave out
    /// what nobody will see.
    bool mayBeFewer = false;
  };
  /// Compares the presence of a sink of `sm` with that of the program for some
  /// of its rows; returns what is wrong, empty for nothing.
  std::string check(const Lanes &found, const Places &places,
                    const GlobalMemory &memory, int64_t callers,
                    LaneTiles::Scalars scalars,
                    LaneTiles::Elements elements) const;

private:
  using Presence = llvm::SmallVector<mlir::Value, 4>;

  void add(const std::string &sink, mlir::ValueRange presence,
           mlir::Value maximised = {});
  std::optional<int64_t> scalarOf(mlir::Value value, Places::Number place,
                                  const Places &places,
                                  const GlobalMemory &memory,
                                  int64_t callers) const;

  mutable tile::KernelOp kernel;
  IndexNames names;
  llvm::DenseSet<mlir::StringAttr> shifted;
  /// Of each sink those that are no part of another, which steps have that need
  /// not test all of it.
  std::map<std::string, std::vector<Presence>> sinks;
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
