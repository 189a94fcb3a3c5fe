// Emission of tile operations inside one kernel.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_FRONTEND_TILEBUILDER_H
#define SELVEDGE_COMPILER_FRONTEND_TILEBUILDER_H

#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"

#include <unordered_map>

namespace selvedge::frontend {

/// Builds the body of a kernel. Operations on integers and conditions are
/// shared and placed in the outermost block that has their operands, so that
/// equal predicates are one SSA value and one that does not depend on a loop is
/// defined outside of it.
class TileBuilder {
public:
  /// Builds into `body`; the first block arguments are the dims.
  TileBuilder(mlir::MLIRContext *ctx, mlir::Block *body);

  mlir::MLIRContext *context() const { return ctx; }

  /// Creates an operation with one result.
  template <typename OpTy, typename... Args>
  mlir::Value create(mlir::Location loc, Args &&...args) {
    return place(OpTy::create(detached, loc, std::forward<Args>(args)...));
  }
  /// Creates an operation at the end of the current block, never shared.
  template <typename OpTy, typename... Args>
  OpTy createHere(mlir::Location loc, Args &&...args) {
    OpTy op = OpTy::create(detached, loc, std::forward<Args>(args)...);
    insert(op, scopes.back());
    return op;
  }

  /// Enters the body of `loop`, which stands at the end of the current block.
  void enter(mlir::Operation *loop, mlir::Block *body);
  /// Creates a loop and enters its body; its terminator is to be added last.
  mlir::scf::ForOp enterLoop(mlir::Location loc, mlir::Value start,
                             mlir::Value stop, mlir::Value step,
                             mlir::ValueRange inits = {});
  void leave();
  /// True when `value` is defined outside of the current block.
  bool isOutside(mlir::Value value) const;
  unsigned loopDepth() const { return scopes.size() - 1; }

  /// Adds an axis to the kernel under a name made unique from `name`; `key`
  /// identifies its origin, so that building a loop again finds it again.
  mlir::StringAttr addAxis(const void *key, llvm::StringRef name,
                           llvm::StringRef block, int64_t extent);
  /// The axis of a whole dimension, `:`.
  mlir::StringAttr fullAxis(llvm::StringRef dim, int64_t extent);
  /// The axis `:` of a dimension if there is one.
  mlir::StringAttr findFullAxis(llvm::StringRef dim) const;
  /// Says which lanes of an axis are inside its range.
  void setInside(mlir::StringAttr axis, mlir::Value inside);
  /// Which lanes of an axis are inside its range or extent; null if all are.
  mlir::Value insideOf(mlir::Location loc, mlir::StringAttr axis);
  /// True for a block size that an axis has.
  bool isBlock(llvm::StringRef name) const;
  mlir::ArrayAttr axesAttr() const;

  /// Union in canonical order.
  llvm::SmallVector<mlir::StringAttr>
  unionOf(llvm::ArrayRef<mlir::StringAttr> a,
          llvm::ArrayRef<mlir::StringAttr> b) const;
  mlir::Type tileOf(mlir::Type element,
                    llvm::ArrayRef<mlir::StringAttr> axes) const;

  mlir::Value constant(mlir::Location loc, mlir::Type type, double value);
  mlir::Value constantInt(mlir::Location loc, int64_t value);
  mlir::Value constantBool(mlir::Location loc, bool value);
  /// Computes an affine function of the dims in i32.
  mlir::Value affine(mlir::Location loc, mlir::AffineExpr expr);
  /// Repeats `value` to exactly `axes`, of which it has a subset.
  mlir::Value broadcast(mlir::Location loc, mlir::Value value,
                        llvm::ArrayRef<mlir::StringAttr> axes);
  /// Broadcasts both to the union of their axes.
  void unify(mlir::Location loc, mlir::Value &a, mlir::Value &b);
  /// Conjunction of conditions, broadcast; null for none.
  mlir::Value conjunction(mlir::Location loc, mlir::ValueRange conditions);
  /// Disjunction of conditions, of which there is one at least.
  mlir::Value disjunction(mlir::Location loc, mlir::ValueRange conditions);
  /// A comparison of integers becomes the opposite one, and a negation what it
  /// negates: equal conditions are equal values.
  mlir::Value negate(mlir::Location loc, mlir::Value condition);
  mlir::Value either(mlir::Location loc, mlir::Value a, mlir::Value b);
  mlir::Value compare(mlir::Location loc, mlir::arith::CmpIPredicate how,
                      mlir::Value a, mlir::Value b);
  /// Division, rounded down or up, and modulo; a run-time divisor below 1
  /// counts as 1.
  mlir::Value floorDiv(mlir::Location loc, mlir::Value a, mlir::Value b);
  mlir::Value ceilDiv(mlir::Location loc, mlir::Value a, mlir::Value b);
  mlir::Value modulo(mlir::Location loc, mlir::Value a, mlir::Value b);

private:
  mlir::Value atLeastOne(mlir::Location loc, mlir::Value divisor);

  struct BlockScope {
    mlir::Block *block;
    /// Loop under construction at the end of the block.
    mlir::Operation *openLoop = nullptr;
    /// Shared operations by hash.
    std::unordered_multimap<size_t, mlir::Operation *> shared;
  };
  struct Axis {
    mlir::StringAttr name;
    tile::AxisAttr attr;
    const void *key;
    std::string dim;
    mlir::Value inside = {};
  };

  mlir::Value place(mlir::Operation *op);
  /// Inserts `op` at the end of `scope`, or gives the equal one that is there.
  mlir::Value share(mlir::Operation *op, BlockScope &scope);
  /// The value, computed again in the outermost block that has what it is made
  /// of; itself if that is the current one.
  mlir::Value outsideOfLoops(mlir::Value value,
                             llvm::DenseMap<mlir::Value, mlir::Value> &known);
  void insert(mlir::Operation *op, BlockScope &scope);
  BlockScope &scopeFor(mlir::Operation *op);
  mlir::StringAttr uniqueAxisName(llvm::StringRef name) const;

  mlir::MLIRContext *ctx;
  mlir::OpBuilder detached;
  std::vector<BlockScope> scopes;
  std::vector<Axis> axes;
};

} // namespace selvedge::frontend

#endif // SELVEDGE_COMPILER_FRONTEND_TILEBUILDER_H
