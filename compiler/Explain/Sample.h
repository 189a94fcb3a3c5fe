// Evaluates predicates at sample sizes.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_EXPLAIN_SAMPLE_H
#define SELVEDGE_COMPILER_EXPLAIN_SAMPLE_H

#include "dialect/Tile/Tile.h"

#include <map>
#include <optional>

namespace selvedge::explain {

/// One choice of dims, scalars and loaded integers, at which the tiles of a
/// kernel can be drawn: dims that tiles run over span two tiles and a half of
/// the largest size, so that whole and partial tiles show. Values may be those
/// of the kernel, or of a later form of it.
class Sample {
public:
  Sample(tile::KernelOp kernel, mlir::DictionaryAttr sizes);

  /// Index along each axis.
  using Point = std::map<std::string, int64_t>;

  /// The value of an i32 or i1 at `point`; nothing where it depends on data.
  std::optional<int64_t> evaluate(mlir::Value v, const Point &point);

  /// Has the first value of `ranges`, those of a kernel, be `value`.
  void startAt(llvm::ArrayRef<tile::RangeOp> ranges, int64_t value);

  /// Indices that the tiles of `axis` cover, a multiple of tileSize().
  int64_t coverOf(mlir::StringAttr axis);
  int64_t tileSize(mlir::StringAttr axis) const;

  /// The values that the last evaluations used: `N = 333, kv_len = 249`; of
  /// segments the first one's ends, `cu[0] = 0, cu[1] = 249`.
  std::string takeUsed();

private:
  int64_t note(llvm::StringRef name, int64_t value);
  std::optional<int64_t> argument(mlir::BlockArgument argument);
  std::optional<int64_t> loaded(tile::LoadOp load, const Point &point);
  std::optional<int64_t> loadedFromTable(tile::LoadOp load, const Point &point);
  bool isSegmentSearch(mlir::Operation *loop);
  /// Whether pictures have the lanes of an axis.
  bool isDrawn(mlir::StringAttr axis);
  int64_t affine(mlir::AffineExpr expr);
  int64_t dim(unsigned position);
  /// Length of a dim that tiles of `axis` run over.
  int64_t lengthOver(mlir::StringAttr axis);

  tile::KernelOp kernel;
  mlir::DictionaryAttr sizes;
  /// The largest tile size that the plan chose.
  int64_t largest = 0;
  std::map<std::string, std::string> used;
  /// Where ranges start, of those that do not start at the first iteration.
  llvm::DenseMap<mlir::Value, int64_t> starts;
};

} // namespace selvedge::explain

#endif // SELVEDGE_COMPILER_EXPLAIN_SAMPLE_H
