// How a value depends on where a range is cut into blocks.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_FRONTEND_FOLDFORM_H
#define SELVEDGE_COMPILER_FRONTEND_FOLDFORM_H

#include "dialect/Tile/Tile.h"

#include <optional>

namespace selvedge::frontend {

/// Why a value depends on the cut.
enum class CutReason {
  PerStep,       ///< something is added once per block
  Reads,         ///< what a variable holds between two blocks is used
  Mixed,         ///< a variable is added to and compared with
  Block,         ///< a reduction over one block is used as if it were over all
  Weights,       ///< weights relative to the scores so far
  Running,       ///< a softmax of the scores so far
  NotRescaled,   ///< weights meet a sum that their update does not rescale
  Unweighted,    ///< something else than weights enters a rescaled sum
  ScoresPerStep, ///< a softmax is updated once per block with equal scores
  Include,       ///< a softmax includes a score once per block
  BlockSoftmax,  ///< a softmax begins and ends with the block
};

/// What is known of a value of one step of a range by blocks.
struct Form {
  enum class Kind {
    Unset,  ///< not reached yet
    Start,  ///< the index at which the block begins
    Fixed,  ///< a lane is the same whatever block it is in
    Weight, ///< lanes are linear in weights that an update returned
    Fold,  ///< a carried value or none, combined with reductions over the block
    State, ///< maximum or sum of a carried softmax
    Cut,   ///< depends on the cut
  };
  Kind kind = Kind::Unset;
  /// Fixed: the constant that all lanes hold.
  std::optional<double> constant;
  /// Fold: how it combines; none for a carried value as the step finds it.
  std::optional<tile::Combine> combine;
  /// Fold, State, Cut: number of the carried value; -1 for none.
  int carried = -1;
  /// Weight, Fold, Cut: number of the carried maximum of the softmax; -1: none.
  int state = -1;
  /// Weight, Fold, State: the maximum that it is relative to.
  mlir::Value reference;
  /// Cut: why, and where it begins.
  CutReason reason = CutReason::Block;
  mlir::Operation *where = nullptr;

  bool is(Kind k) const { return kind == k; }
  bool isFixed() const { return kind == Kind::Fixed; }
  /// A reduction over the block that no carried value is part of.
  bool isPart() const { return kind == Kind::Fold && carried < 0; }
  bool operator==(const Form &other) const;

  static Form fixed(std::optional<double> constant = {});
  static Form part(tile::Combine how);
  static Form cut(CutReason reason, mlir::Operation *where, int carried = -1,
                  int state = -1);
};

/// The form of a result of `op` that uses `operand` in a way without a rule.
Form misuse(mlir::Operation *op, const Form &operand);
/// The form of `x` combined with `y`.
Form combineForms(tile::Combine how, const Form &x, const Form &y,
                  mlir::Operation *op);
/// The form of `x` or `y`, chosen by what is the same in every cut, or by which
/// step of a loop it is.
Form joinForms(const Form &x, const Form &y, mlir::Operation *op);
/// The form of `x` times, or over, something that is the same in every cut.
Form scaleForm(const Form &x, std::optional<double> factor,
               mlir::Operation *op);
/// The form of a reduction of `x`; `overBlock` if it runs over the cut axis.
Form reduceForm(tile::Combine how, const Form &x, bool overBlock,
                mlir::Operation *op);

} // namespace selvedge::frontend

#endif // SELVEDGE_COMPILER_FRONTEND_FOLDFORM_H
