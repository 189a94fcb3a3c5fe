// Rule R5: in one kernel no element is stored twice, nor stored and loaded by
// different iterations.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_FRONTEND_STORECHECK_H
#define SELVEDGE_COMPILER_FRONTEND_STORECHECK_H

#include "compiler/Frontend/Diagnostics.h"
#include "dialect/Tile/Tile.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

#include <map>
#include <optional>

namespace selvedge::frontend {

/// Collects the stores of a kernel, and the loads of what it may store, and
/// proves that they do not meet, or refuses them.
class StoreCheck {
public:
  explicit StoreCheck(Diagnostics &diags) : diags(diags) {}

  /// Declares an input of integers, and whether the caller promises that those
  /// from 0 on differ: each then tells by its value where it was loaded.
  void declare(mlir::Value tensor, llvm::StringRef name, bool isUnique) {
    integers[tensor] = {name, isUnique};
  }

  /// Declares an iteration: the index of a kernel range or loop, scalar or
  /// tile. Iterations are entered and left like blocks.
  /// One that tells others, too, says so by their positions: rows of segments,
  /// which have none in common, tell the segment. Where its numbers are known
  /// to lie in 0..most, their multiples may tell it as well.
  void enter(llvm::StringRef name, mlir::Value index,
             llvm::ArrayRef<size_t> tells = {},
             std::optional<int64_t> most = std::nullopt);
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
  /// The greatest number of an iteration; none where it may be any integer.
  std::optional<int64_t> mostOf(size_t iteration) const {
    return iterations[iteration].most;
  }
  void leave(size_t depth) { iterations.resize(depth); }
  size_t depth() const { return iterations.size(); }
  /// The ranges of the kernel have been entered; what follows are loops.
  void endRanges() { numRanges = iterations.size(); }

  /// An index, or a part of one, and the dimension that it belongs to. Indices
  /// of one dimension together tell its elements apart.
  /// Of a slice it is a number: elements `value * step` and the `length - 1`
  /// behind it, whose step is at least their length unless `value` is constant.
  struct Coordinate {
    unsigned dim;
    mlir::Value value;
    int64_t step = 1, length = 1;
  };

  /// Checks a store of tensor number `tensor` against its iterations and
  /// against the kernel's other stores.
  void store(llvm::SMLoc loc, llvm::StringRef tensorName, unsigned tensor,
             llvm::ArrayRef<Coordinate> coordinates,
             llvm::ArrayRef<mlir::Value> indices);
  /// Checks a load of a tensor that the kernel may store: of the elements that
  /// the same iteration stores later, or of others than the kernel stores.
  void load(llvm::SMLoc loc, llvm::StringRef tensorName, unsigned tensor,
            llvm::ArrayRef<mlir::Value> indices);
  /// Checks an addition to elements, in which iterations may meet unless
  /// `inOrder`. True where iterations or statements may meet. Where those of
  /// the kernel's ranges do that may not, `meeting` gets their names and the
  /// addition is not the kernel's.
  bool add(llvm::SMLoc loc, llvm::StringRef tensorName, unsigned tensor,
           llvm::ArrayRef<Coordinate> coordinates, bool inOrder,
           llvm::SmallVectorImpl<llvm::StringRef> &meeting);
  /// Reports that iterations of `name` may meet in an element that is added to
  /// in order.
  void reportMeeting(llvm::SMLoc loc, llvm::StringRef tensorName,
                     llvm::StringRef name);
  /// Forgets the accesses from number `count` on, of a loop that is built
  /// again.
  void truncate(size_t count) {
    accesses.erase(accesses.begin() + static_cast<ptrdiff_t>(count),
                   accesses.end());
  }
  size_t count() const { return accesses.size(); }

private:
  struct Iteration {
    llvm::StringRef name;
    mlir::Value index;
    /// Positions of those that it tells, and of those that together tell it.
    llvm::SmallVector<size_t, 2> tells, toldBy;
    std::optional<int64_t> most = std::nullopt;
  };
  /// constant + sum of factor * leaf.
  struct Linear {
    int64_t constant = 0;
    std::map<const void *, std::pair<mlir::Value, int64_t>> terms;
  };
  enum class Use { Load, Store, Add };
  struct Access {
    llvm::SMLoc loc;
    unsigned tensor;
    Use use;
    std::vector<Coordinate> coordinates = {};
    std::vector<Linear> indices = {};
    /// As they are, to compare those of a load and of a store.
    std::vector<mlir::Value> values = {};
  };

  Linear linear(mlir::Value value) const;
  void addLinear(mlir::Value value, int64_t factor, unsigned depth,
                 Linear &result) const;
  /// Positions of the iterations that `value` depends on.
  llvm::DenseSet<size_t> dependencies(mlir::Value value) const;
  /// The indices of an element, and all that they tell: what is divided and
  /// taken modulo the same number, and where a unique integer was loaded.
  std::vector<Linear> toldBy(const Access &access) const;
  /// What `quotient` and `rest` are of, if they are of one integer and number;
  /// else null.
  mlir::Value dividend(const Linear &quotient, const Linear &rest) const;
  /// The load that an index is, of an input of integers; else null.
  tile::LoadOp loadedIndex(const Linear &index) const;
  /// Positions of the iterations that the indices tell apart.
  llvm::DenseSet<size_t> determined(const Access &access) const;
  /// An iteration, and what it is multiplied by.
  using Multiple = std::pair<size_t, int64_t>;
  /// Whether a sum of these, and of what is known, tells each of them.
  bool tellsEach(llvm::SmallVector<Multiple> multiples) const;
  /// Whether two indices are different numbers in all iterations and lanes.
  bool differ(const Linear &a, const Linear &b) const;
  /// How to keep iterations of `name` apart.
  std::string mendOf(llvm::StringRef name, const Access &access) const;
  bool disjoint(const Access &a, const Access &b) const;
  void report(llvm::SMLoc loc, const llvm::Twine &message,
              const llvm::Twine &hint, const Access &other);

  struct Integers {
    llvm::StringRef name;
    bool isUnique = false;
  };

  Diagnostics &diags;
  llvm::DenseMap<mlir::Value, Integers> integers;
  std::vector<Iteration> iterations;
  size_t numRanges = 0;
  std::vector<Access> accesses;
};

} // namespace selvedge::frontend

#endif // SELVEDGE_COMPILER_FRONTEND_STORECHECK_H
