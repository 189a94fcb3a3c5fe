// What an expression of the language stands for during elaboration.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_FRONTEND_VALUE_H
#define SELVEDGE_COMPILER_FRONTEND_VALUE_H

#include "compiler/Frontend/Ast.h"
#include "dialect/Tile/Tile.h"

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

#include <map>
#include <memory>
#include <optional>

namespace selvedge::frontend {

/// Whether tensors alone hold elements of a type: it has to be converted before
/// anything but a copy or a selection is made of it.
inline bool isByte(mlir::Type type) {
  return type && (type.isInteger(8) || tile::isByteFloat(type));
}

/// Whether a type of 8 bits has a number.
bool isElement(double value, mlir::Type type);

/// The types that arithmetic does not take, though they are of numbers.
inline bool isNarrow(mlir::Type type) {
  return type && (type.isBF16() || type.isF16() || isByte(type));
}

/// Predicates (i1 scalars or tiles), each once. Equal predicates are equal SSA
/// values: TileBuilder shares and hoists integer operations.
class PredSet {
public:
  void add(mlir::Value pred) {
    if (!llvm::is_contained(preds, pred))
      preds.push_back(pred);
  }
  void add(const PredSet &other) {
    for (mlir::Value pred : other.preds)
      add(pred);
  }
  bool contains(mlir::Value pred) const {
    return llvm::is_contained(preds, pred);
  }
  bool empty() const { return preds.empty(); }
  size_t size() const { return preds.size(); }
  auto begin() const { return preds.begin(); }
  auto end() const { return preds.end(); }
  operator mlir::ValueRange() const { return preds; }

private:
  llvm::SmallVector<mlir::Value, 4> preds;
};

/// The axis that a range runs along and where it starts counting.
struct RangeInfo {
  mlir::StringAttr axis;
  /// Lower bound; null for 0.
  mlir::Value lo;
  /// Whether blocks begin where a table of segments says, so that what counts
  /// from the lower bound is tested where it forms an index.
  bool isSegment = false;
};

struct Variable;
struct Val;
struct Sweep;

/// What tells the elements of a slice from those of others: those of `number`
/// begin at `number * step`, and there are `length` of them.
struct SliceInfo {
  /// Null where nothing is known of where the slice begins.
  std::shared_ptr<Val> number;
  int64_t step = 1, length = 1;
};

/// A value of the language. Constants and affine functions of the op's dims
/// stay symbolic until an operation needs them.
struct Val {
  enum class Kind {
    Error,   ///< reported already; silences what depends on it
    Unit,    ///< an update without a result
    Int,     ///< compile-time integer
    Float,   ///< compile-time number
    Bool,    ///< compile-time condition
    Type,    ///< element type
    Affine,  ///< integer function of the dims
    Ssa,     ///< scalar or tile, with its presence
    Pair,    ///< index of a product dimension
    Tensor,  ///< a tensor of the signature
    Softmax, ///< an online softmax state
    Full,    ///< `:` in an index
    Pull,    ///< a function: its argument times `slope`, or through `sweep`
  };
  Kind kind = Kind::Error;
  int64_t intValue = 0;
  double floatValue = 0;
  mlir::Type type;
  mlir::AffineExpr affine;
  /// Scalar or tile; null for a conjunction that nobody asked for as a whole.
  mlir::Value ssa;
  /// Terms of a run-time `&&`, each a predicate of its own under `where`.
  llvm::SmallVector<mlir::Value, 2> conjuncts;
  /// Terms of a run-time `||`, whose negations are the terms of its negation.
  llvm::SmallVector<mlir::Value, 2> disjuncts;
  PredSet preds;
  /// Set for range variables and `:`.
  std::optional<RangeInfo> range;
  std::shared_ptr<std::pair<Val, Val>> pair;
  /// Of a product with a constant of at least 1: the other factor, and it.
  std::shared_ptr<std::pair<Val, int64_t>> multiple;
  /// Set for `first +: length` in an index.
  std::optional<SliceInfo> slice;
  std::shared_ptr<Val> slope;
  /// Of a pull: loads of inputs that are `diff`, as numbers of `diffLoads`, and
  /// how the function's value changes with each.
  std::shared_ptr<std::vector<std::pair<size_t, Val>>> inputSlopes;
  std::shared_ptr<Sweep> sweep;
  /// Position in the signature.
  unsigned tensor = 0;
  Variable *softmax = nullptr;
  /// Facts of i32 values, wherever `preds` hold: >= 0; < upper.
  bool nonNegative = false;
  mlir::AffineExpr upper;
  /// A number that it is at most where it is one of 0..upper - 1; see
  /// Elaborator::greatestOf.
  std::optional<int64_t> most;
  /// At least this much where arithmetic does not wrap.
  mlir::AffineExpr lower;
  /// At most this much, however far below 0: what is computed from it may wrap.
  mlir::AffineExpr atMost;
  /// The promise that covers a loaded integer, or one that a minimum is of: its
  /// end bounds that, too.
  tile::RequireAttr promise;

  bool is(Kind k) const { return kind == k; }
  bool isError() const { return kind == Kind::Error; }
  /// Whether this is a function of the op's dims, constants included.
  bool isOfDims() const { return kind == Kind::Int || kind == Kind::Affine; }
  bool isNumber() const { return kind == Kind::Int || kind == Kind::Float; }
  bool isConst() const { return isNumber() || kind == Kind::Bool; }
  double number() const {
    return kind == Kind::Int ? static_cast<double>(intValue) : floatValue;
  }

  static Val error() { return {}; }
  static Val of(Kind kind) {
    Val v;
    v.kind = kind;
    return v;
  }
  static Val ofInt(int64_t i) {
    Val v = of(Kind::Int);
    v.intValue = i;
    return v;
  }
  static Val ofFloat(double f) {
    Val v = of(Kind::Float);
    v.floatValue = f;
    return v;
  }
  static Val ofBool(bool b) {
    Val v = of(Kind::Bool);
    v.intValue = b;
    return v;
  }
  static Val ofType(mlir::Type type) {
    Val v = of(Kind::Type);
    v.type = type;
    return v;
  }
  static Val ofSsa(mlir::Value ssa, PredSet preds = {}) {
    Val v = of(Kind::Ssa);
    v.ssa = ssa;
    v.preds = std::move(preds);
    return v;
  }
};

/// What lies between the argument of a function that reduces rows, and its
/// value: how gradients go back.
struct Sweep {
  Val x, value;
  /// Uses of the argument in the function.
  llvm::DenseSet<mlir::OpOperand *> uses;
  /// The operations that depend on it or on `loads`, in order.
  std::vector<mlir::Operation *> operations;
  /// Loads of inputs that are `diff`, as numbers of `diffLoads`.
  std::vector<size_t> loads;
};

/// A name bound by let, var or a range. A softmax state keeps its parts here.
struct Variable {
  llvm::StringRef name;
  Val value;
  bool isMutable = false;
  /// Softmax: rows, running reference, sum of weights, presence of the state.
  llvm::SmallVector<mlir::StringAttr, 2> rows;
  mlir::Value max, sum;
  PredSet preds;

  bool isSoftmax() const { return value.is(Val::Kind::Softmax); }
};

/// Names of one block.
using Scope = std::map<llvm::StringRef, std::unique_ptr<Variable>>;

/// What a function body or a kernel can see besides the op's signature.
struct Frame {
  std::vector<Scope> scopes;
  /// Definition being inlined, for `super`; null in a kernel.
  const FnDecl *fn = nullptr;
};

} // namespace selvedge::frontend

#endif // SELVEDGE_COMPILER_FRONTEND_VALUE_H
