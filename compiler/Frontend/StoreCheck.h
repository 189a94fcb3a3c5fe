// Rule R5: in one kernel no element is stored twice.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_FRONTEND_STORECHECK_H
#define SELVEDGE_COMPILER_FRONTEND_STORECHECK_H

#include "compiler/Frontend/Diagnostics.h"
#include "dialect/Tile/Tile.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

#include <map>
#include <optional>

namespace selvedge::frontend {

/// Collects the stores of a kernel and proves that they are disjoint, or
/// refuses them.
class StoreCheck {
public:
  explicit StoreCheck(Diagnostics &diags) : diags(diags) {}

  /// Declares an iteration: the index of a kernel range or loop, scalar or
  /// tile. Iterations are entered and left like blocks.
  /// One that tells others, too, says so by their positions: rows of segments,
  /// which have none in common, tell the segment.
  void enter(llvm::StringRef name, mlir::Value index,
             llvm::ArrayRef<size_t> tells = {});
  /// Declares pairs and both of their parts, each of which the pair tells, and
  /// which together tell the pair.
  void enterPair(llvm::StringRef name, mlir::Value pair,
                 llvm::ArrayRef<llvm::StringRef> partNames,
                 llvm::ArrayRef<mlir::Value> parts);
  bool hasPairs() const {
    return llvm::any_of(iterations, [](const Iteration &iteration) {
      return !iteration.toldBy.empty();
    });
  }
  /// The position of the iteration with this index.
  std::optional<size_t> find(mlir::Value index) const;
  void leave(size_t depth) { iterations.resize(depth); }
  size_t depth() const { return iterations.size(); }

  /// An index, or a part of one, and the dimension that it belongs to. Indices
  /// of one dimension together tell its elements apart.
  struct Coordinate {
    unsigned dim;
    mlir::Value value;
  };

  /// Checks a store of tensor number `tensor` against its iterations and
  /// against the kernel's other stores.
  void store(llvm::SMLoc loc, llvm::StringRef tensorName, unsigned tensor,
             llvm::ArrayRef<Coordinate> coordinates);
  /// Forgets the stores from number `count` on, of a loop that is built again.
  void truncate(size_t count) { stores.resize(count); }
  size_t count() const { return stores.size(); }

private:
  struct Iteration {
    llvm::StringRef name;
    mlir::Value index;
    /// Positions of those that it tells, and of those that together tell it.
    llvm::SmallVector<size_t, 2> tells, toldBy;
  };
  /// constant + sum of factor * leaf.
  struct Linear {
    int64_t constant = 0;
    std::map<const void *, std::pair<mlir::Value, int64_t>> terms;
  };
  struct Store {
    llvm::SMLoc loc;
    unsigned tensor;
    std::vector<unsigned> dims;
    std::vector<Linear> indices;
  };

  Linear linear(mlir::Value value) const;
  void addLinear(mlir::Value value, int64_t factor, unsigned depth,
                 Linear &result) const;
  /// Positions of the iterations that `value` depends on.
  llvm::DenseSet<size_t> dependencies(mlir::Value value) const;
  bool disjoint(const Store &a, const Store &b) const;

  Diagnostics &diags;
  std::vector<Iteration> iterations;
  std::vector<Store> stores;
};

} // namespace selvedge::frontend

#endif // SELVEDGE_COMPILER_FRONTEND_STORECHECK_H
