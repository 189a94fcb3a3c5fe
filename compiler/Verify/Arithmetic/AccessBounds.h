// Proof that accesses stay inside their tensors.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ARITHMETIC_ACCESSBOUNDS_H
#define SELVEDGE_COMPILER_VERIFY_ARITHMETIC_ACCESSBOUNDS_H

#include "compiler/Verify/Arithmetic/KernelSeed.h"
#include "compiler/Verify/Arithmetic/TileWords.h"

#include <functional>
#include <map>

namespace selvedge::verify {

/// Says what a kernel's arguments and axes are, given the dims.
using Seed =
    std::function<void(IndexValues &, llvm::ArrayRef<Polynomial> dims)>;

/// An access to a tensor of the signature.
struct TensorAccess {
  mlir::Operation *op;
  tile::TensorArgAttr tensor;
  mlir::Value handle;
  mlir::ValueRange indices, presence;
  /// Adds to an error what else there is to say of the tensor.
  std::function<void(mlir::InFlightDiagnostic &)> describe = nullptr;
};

/// How hard a proof is tried. One that fails takes longest.
enum class Effort {
  Quick,    ///< without cases
  Usual,    ///< by the cases of minima, maxima and selects
  Thorough, ///< also by those of data, of whole numbers
  BySizes   ///< also for each size of a dim, where a variant is for few
};

/// Checks the accesses of one kernel against the signature of its op.
class AccessBounds {
public:
  AccessBounds(mlir::ArrayAttr dims, mlir::ArrayAttr tensors, Seed seed)
      : dims(dims), tensors(tensors), seed(std::move(seed)) {}

  /// Code that only a broken promise executes counts as never executed from now
  /// on.
  void assumePromises(mlir::ArrayAttr made) { promises = made; }
  /// What is proved from now on holds for this size of a dim alone.
  void assumeSize(DimSize size) { given = size; }

  /// Wherever the presence is true each index is inside its dimension, and an
  /// optional tensor is there.
  llvm::LogicalResult check(const TensorAccess &access);
  /// The number of iterations does not depend on unbounded data.
  llvm::LogicalResult check(mlir::scf::ForOp loop);
  /// Whether the loop has no step, for any sizes.
  bool isEmpty(mlir::scf::ForOp loop, Effort effort);
  /// The same of a loop that has none by the words that its role takes a tile
  /// by, or of one to a step of its own range: wherever they are posted there
  /// is one step at most.
  ///
  ///     %last = %from + (%to - 1 - %from) / 64 * 64
  ///     scf.for %j = %from to min(%to, %last) step 64
  bool isEmptyOfWords(mlir::scf::ForOp loop, bool isThorough);
  /// Whether no sizes take the arm of the branch. Thoroughly: also of whole
  /// numbers.
  bool isNeverTaken(mlir::scf::IfOp branch, bool arm, bool isThorough = false);
  /// The same of a branch in a loop whose number and what it is compared with
  /// are multiples of a step apart, but for a constant.
  ///
  ///     scf.for %j = %k * 64 to %k * 64 + 64 step 64
  ///       scf.if %j + 63 >= %k * 64 + 64
  bool isNeverTakenBySteps(mlir::scf::IfOp branch, bool arm);
  /// The same of a branch in another one that contradicts it, whichever of
  /// several conditions that one is taken by; and of what is done without a
  /// number that is loaded where the condition is true, in a branch that needs
  /// that number.
  ///
  ///     scf.if %a < %b || %c < %c { scf.if %a < %b { } else { never } }
  ///     %len = sm.load %lens[%b] where(%p, %q)
  ///     scf.if %len > 0 { scf.if %p && %q { } else { never } }
  ///
  /// Or by the words that the role takes a tile by.
  bool isNeverTakenInside(mlir::scf::IfOp branch, bool arm);
  /// The same by the words that the branch's role takes a tile by, wherever
  /// they are posted.
  ///
  ///     sm.post min(%m, %i * 64 + 64) to %end           // "order": %i * 64 <
  ///     %m scf.while (%to = receive %end, ...) { scf.if 0 < %to { } else { } }
  /// Thoroughly: of whole numbers, too, which may take long.
  bool isNeverTakenOfWords(mlir::scf::IfOp branch, bool arm, bool isThorough);

  /// Whether a branch in a role goes the same way for all tiles of a launch: by
  /// the words that it takes a tile by it is taken where some dim is not 0, or
  /// some number of the caller is large enough, and nowhere else.
  bool isSameForAllTiles(mlir::scf::IfOp branch);

private:
  /// Whether a condition is never false, or never true, beside what
  /// `constraints` say.
  static bool isNever(mlir::Value condition, bool value, IndexValues &values,
                      llvm::SmallVector<Polynomial> constraints,
                      bool isThorough = false);
  /// The same; if `isThorough`, also in all cases of holdsAllWays().
  bool isNeverAnyWay(mlir::Value condition, bool value, IndexValues &values,
                     llvm::ArrayRef<Polynomial> dims,
                     llvm::ArrayRef<Polynomial> constraints, bool isThorough);
  /// What the signature says of a kernel's numbers, and of the dims.
  IndexValues seeded(llvm::SmallVectorImpl<Polynomial> &dimValues);
  /// What is known at a place: only of the loops and branches around it, since
  /// a loop without iterations proves nothing for its surroundings.
  struct Place {
    IndexValues values;
    llvm::SmallVector<Polynomial> dims, conditions;
  };
  /// That of the operations of one block. What is computed for one of them is
  /// there for the next: it is defined by total operations, and true of all.
  Place &placeOf(mlir::Operation *op);
  /// A dimension, and the bound of its index that is not proved.
  struct Gap {
    unsigned dim;
    std::string bound;
  };
  std::optional<Gap> gapOf(const TensorAccess &access);
  /// Whether `end` is at most a step of the loop behind its begin, wherever
  /// both are posted; if `isThorough`, also of whole numbers.
  bool isOneStep(mlir::scf::ForOp loop, mlir::Value end, bool isThorough);
  /// Whether `end` is posted as no more than the begin of the loop.
  bool isPostedEmpty(mlir::scf::ForOp loop, mlir::Value end);
  /// Of an operation in a loop over tiles, what values are where these words
  /// are posted, and what the loop has tested.
  IndexValues valuesOf(const TileWords &posted, mlir::Operation *op,
                       llvm::SmallVectorImpl<Polynomial> &dimValues,
                       llvm::SmallVectorImpl<Polynomial> &constraints);

  /// Whether a loop has no step, one way and the other of each of `selects`.
  /// Fewer than in isEmptyAllWays(): what numbers are made of is computed where
  /// a way is taken, quotients of what is not negative there among them.
  bool isEmptyByWays(mlir::scf::ForOp loop, Place place,
                     llvm::ArrayRef<mlir::Operation *> selects);
  /// What the caller promises of an integer in memory.
  llvm::SmallVector<Polynomial> promisedOf(sm::LoadOp load, IndexValues &values,
                                           llvm::ArrayRef<Polynomial> dims);
  /// What holds, one way and the other, of something that numbers are made of.
  using Ways = std::array<llvm::SmallVector<Polynomial>, 2>;
  Ways waysOf(sm::LoadOp load, IndexValues &values,
              llvm::ArrayRef<Polynomial> dims);
  /// Whether something holds as it is, or else in all cases of the loads and
  /// selects that numbers are made of, given what holds in a case.
  bool holdsAllWays(mlir::ValueRange numbers, IndexValues &values,
                    llvm::ArrayRef<Polynomial> dims,
                    llvm::ArrayRef<Polynomial> conditions,
                    llvm::function_ref<bool(llvm::ArrayRef<Polynomial>)> holds);
  /// Whether a loop has no step, by one of the numbers that its end is the
  /// least of.
  bool endsBeforeItBegins(mlir::scf::ForOp loop, mlir::Value end, Effort effort,
                          Place place);
  /// The same in any of these cases; of whole numbers, too.
  bool isEmptyAllWays(mlir::scf::ForOp loop, mlir::Value end,
                      IndexValues &values, llvm::ArrayRef<Polynomial> dims,
                      llvm::ArrayRef<Polynomial> conditions);

  mlir::ArrayAttr dims, tensors, promises;
  std::optional<DimSize> given;
  Seed seed;
  std::map<mlir::Block *, Place> places;
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ARITHMETIC_ACCESSBOUNDS_H
