// Integers of a kernel as sums, the same however they are written.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_TILE_INDEXFORMS_H
#define SELVEDGE_COMPILER_VERIFY_TILE_INDEXFORMS_H

#include "dialect/Tile/Tile.h"

#include <map>

namespace selvedge::verify {

/// Integers of two kernels in a normal form: a sum of multiples of what is no
/// sum, modulo 2^32. A tile is a function of its lanes; what is equal in all of
/// them has the form of a scalar. Ranges do not wrap, as `verify-tile-bounds`
/// takes it.
class IndexForms {
public:
  /// The number of a form: equal forms have equal numbers.
  using Form = unsigned;

  Form of(mlir::Value value);
  /// Values of two kernels that are the same.
  void bind(mlir::Value value, Form form) { known[value] = form; }
  /// A value of which nothing is known but that it is `size` times a number.
  Form multiple(mlir::Value value, int64_t size);
  /// Whether a value is the same in all lanes.
  bool isUniform(Form form) const;
  /// What a load of integers reads where it is present.
  Form element(tile::LoadOp load);

private:
  using Atom = unsigned;
  struct Sum {
    std::map<Atom, int64_t> terms = {};
    int64_t constant = 0;

    auto operator<=>(const Sum &) const = default;
  };
  /// What an atom is: a tag, and what the tag says.
  using Key = std::vector<uint64_t>;
  struct AtomInfo {
    int64_t lanes = 0; // of a lane along an axis: how many there are
    bool isUniform = true;
  };

  Atom atom(Key key, AtomInfo info);
  Form form(Sum sum);
  Form single(Atom atom) { return form({{{atom, 1}}, 0}); }
  Form compute(mlir::Value value);
  Form opaque(mlir::Operation *op, mlir::OpResult result);
  Form quotient(const Sum &sum, int64_t by);
  static Sum combine(const Sum &a, const Sum &b, int64_t factor);

  llvm::DenseMap<mlir::Value, Form> known;
  std::map<Key, Atom> atoms;
  std::vector<AtomInfo> infos;
  std::map<Sum, Form> forms;
  std::vector<Sum> sums;
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_TILE_INDEXFORMS_H
