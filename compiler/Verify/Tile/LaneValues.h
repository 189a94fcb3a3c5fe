// Values of kernels as functions of their lanes, the same however written.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_TILE_LANEVALUES_H
#define SELVEDGE_COMPILER_VERIFY_TILE_LANEVALUES_H

#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <map>
#include <optional>
#include <vector>

namespace selvedge::verify {

/// Numbers for values of two kernels: equal numbers are equal functions of the
/// lanes along the axes. A scalar and a tile of it in each lane have one
/// number, so sizes and repetition do not matter, nor does the order of axes
/// that are summed over. Integers are sums of
/// multiples modulo 2^width; a sink without lanes is what it gives then; a
/// product is a sum of products.
class LaneValues {
public:
  using Number = unsigned;

  /// A value of which nothing is known.
  Number fresh() { return intern({Tag::Fresh, nextFresh++}); }
  Number integer(int64_t value, unsigned width);
  std::optional<int64_t> constantOf(Number number) const;
  Number multiple(Number number, int64_t factor, unsigned width);
  /// Of an expression over 32-bit integers.
  Number affine(mlir::AffineExpr expr, llvm::ArrayRef<Number> symbols);
  /// Of what an operation of either dialect reads, where it is a scalar.
  Number element(Number tensor, llvm::ArrayRef<Number> indices,
                 llvm::ArrayRef<Number> presence);
  Number presenceOf(Number tensor) { return intern({Tag::Given, tensor}); }
  /// What unsigned `x / by` and `x mod by` are from here on.
  void defineQuotient(Number x, Number by, Number quotient, Number remainder);
  Number range(mlir::StringAttr axis, Number start);
  /// Blocks of that name have this size.
  void bindSize(mlir::StringAttr block, int64_t size) { sizes[block] = size; }
  /// 0 for one that has none.
  int64_t sizeOf(mlir::StringAttr block) const { return sizes.lookup(block); }

  void bind(mlir::Value value, Number number) { known[value] = number; }
  void bind(mlir::ValueRange values, mlir::ValueRange others);
  /// Of a value that is bound or whose operation was visited.
  Number of(mlir::Value value) const;
  llvm::SmallVector<Number> of(mlir::ValueRange values) const;
  /// The same of predicates; those that always hold say nothing.
  llvm::SmallVector<Number> ofPresence(mlir::ValueRange presence) const;

  /// Numbers the results of an operation without regions that stores nothing.
  /// `stored` counts what was stored to the tensor of a load.
  void visit(mlir::Operation *op, unsigned stored);

private:
  enum Tag : uint64_t {
    Fresh,
    Integer,
    Float,
    Range,
    Load,
    Reduce,
    Step,
    Quotient,
    Remainder,
    Product,
    FloorDiv,
    CeilDiv,
    SignedRemainder,
    Element,
    Given,
    Widen,
    Multiply,
    Add,
    Other
  };
  using Key = std::vector<uint64_t>;
  /// Multiples of numbers that are no sums, and a constant, modulo 2^width.
  struct Sum {
    unsigned width = 0;
    uint64_t constant = 0;
    std::map<Number, uint64_t> terms = {};
  };

  Number intern(Key key);
  Number commuting(Tag tag, Number a, Number b);
  Number divide(Tag tag, Number x, Number by);
  Number add(const Sum &sum);
  Sum sumOf(Number number, unsigned width) const;
  Sum sumOf(mlir::Value value) const;
  Number multiply(Number a, Number b, unsigned width);
  static Sum combine(Sum a, const Sum &b, uint64_t factor);
  Number floating(llvm::APFloat value);
  Number identity(tile::Combine kind, mlir::Type element);
  Number reduce(tile::Combine kind, mlir::Type element, Number source,
                mlir::ArrayAttr over, llvm::ArrayRef<Number> presence);
  std::optional<Number> ofConstant(mlir::arith::ConstantOp op);
  std::optional<Number> ofInteger(mlir::Operation *op);
  std::optional<Number> ofLogic(mlir::Operation *op);
  std::optional<Number> ofLimits(mlir::Operation *op);
  std::optional<Number> ofFloat(mlir::Operation *op);
  std::optional<Number> ofTile(mlir::Operation *op, unsigned stored);
  Number ofProduct(tile::DotOp dot);
  void visitStep(tile::SoftmaxUpdateOp step);
  void visitOther(mlir::Operation *op, unsigned stored);
  bool isNever(mlir::ValueRange presence) const;

  llvm::DenseMap<mlir::Value, Number> known;
  std::map<Key, Number> numbers;
  std::vector<Sum> sums;
  llvm::DenseMap<mlir::StringAttr, int64_t> sizes;
  /// Constants that numbers are at least.
  llvm::DenseMap<Number, int64_t> least;
  uint64_t nextFresh = 0;
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_TILE_LANEVALUES_H
