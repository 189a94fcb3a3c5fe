// Tensors of a program while the interpreter runs it.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_REFERENCE_MEMORY_H
#define SELVEDGE_COMPILER_REFERENCE_MEMORY_H

#include "compiler/Reference/Reference.h"
#include "compiler/Reference/TileValue.h"
#include "dialect/Tile/UniqueTensors.h"

#include "llvm/Support/Error.h"

namespace selvedge::reference {

/// One tensor of the signature.
struct Tensor {
  tile::TensorArgAttr arg;
  /// False for an optional tensor that the caller left out.
  bool present = false;
  /// Shape, with as many lanes as elements; axes are unused.
  std::vector<int64_t> shape;
  /// Elements as in TileValue: bounds are empty where all are exact.
  TileValue elements;
  /// Per element whether the running kernel stored it.
  std::vector<uint8_t> stored;
  /// Whether iterations may store an element twice, as inputs break the promise
  /// that they do not; one of them stays.
  bool mayMeet = false;
  /// Per element whether any kernel loaded it; empty where nobody asked.
  std::vector<uint8_t> read;
  /// Per element whether any kernel stored it, and whether one loaded it, or
  /// added to it, before; empty where nobody asked.
  std::vector<uint8_t> written, initial;

  /// Per element how often, and how much without its sign, kernels have added;
  /// empty where none has.
  std::vector<uint32_t> additions;
  std::vector<double> magnitudes;

  /// Adds a lane of `value` to an element; an error bound covers any order.
  void add(int64_t element, const TileValue &value, int64_t lane,
           bool isUnsure);

  /// Whether any kernel may write it.
  bool isWritable() const { return arg.getRole() != tile::Role::In; }
  int64_t size() const;
};

/// All run-time arguments of a program.
struct Arguments {
  std::vector<int64_t> dims;
  std::vector<Tensor> tensors;
  std::vector<TileRef> scalars;
};

/// Name of an element type as in docs/manifest.md.
llvm::StringRef dtypeOf(mlir::Type type);

/// The number that an integer of a tile stands for in a tensor of `type`: tiles
/// hold bytes with a sign, whatever the tensor's have.
double numberOf(int64_t integer, mlir::Type type);

/// Value of an affine expression without dimensions, of the program's dims.
llvm::Expected<int64_t> evaluateAffine(mlir::AffineExpr expr,
                                       llvm::ArrayRef<int64_t> dims);

/// What a program and the host plan made of it have in common.
struct Signature {
  mlir::ArrayAttr dims, tensors, scalars, promises;
  /// Inputs of which no two elements are equal, but for those below 0.
  llvm::SmallVector<mlir::StringAttr> unique = {};
  /// Whether inputs that break a promise are refused.
  bool checksPromises = true;

  /// The signature of a `tile.program` or `sm.plan`.
  template <typename Op>
  static Signature of(Op op) {
    return {op.getDims(), op.getTensors(), op.getScalars(), op.getPromises(),
            tile::getUniqueTensors(op)};
  }
};

/// Checks dims, scalars, inputs and, where the signature asks for it, promises
/// against the signature and builds the tensors: inputs rounded to their type,
/// outputs initialised.
llvm::Expected<Arguments>
bindArguments(const Signature &signature,
              const std::map<std::string, int64_t> &dims,
              const std::map<std::string, double> &scalars,
              const std::vector<HostTensor> &inputs);

/// Element number per lane of an access; -1 for lanes that are absent.
struct Addresses {
  std::vector<int64_t> elements;
  /// State of each lane as in conjunction(), never empty.
  std::vector<uint8_t> present;
};

/// Addresses the lanes of `shape`, `present` as conjunction() says. Fails on a
/// present lane outside the tensor's shape.
llvm::Expected<Addresses> addressLanes(mlir::Operation *op,
                                       const Tensor &tensor,
                                       llvm::ArrayRef<TileRef> indices,
                                       std::vector<uint8_t> present,
                                       const TileShape &shape);

/// Axes of a value and of the indices that it is stored at.
TileShape storeShape(const TileRef &value, llvm::ArrayRef<TileRef> indices);

/// The elements at index tiles, which are marked as read. Fails on a present
/// lane outside the shape.
llvm::Expected<TileRef> loadTile(tile::LoadOp op, Tensor &tensor,
                                 llvm::ArrayRef<TileRef> indices,
                                 llvm::ArrayRef<TileRef> presence,
                                 const TileShape &shape);

/// Writes the present lanes. Fails outside the shape, and on an element that
/// the running kernel has stored already.
llvm::Error storeTile(tile::StoreOp op, Tensor &tensor, const TileRef &value,
                      llvm::ArrayRef<TileRef> indices,
                      llvm::ArrayRef<TileRef> presence);

/// An error that names the operation and its place in the source.
llvm::Error errorAt(mlir::Operation *op, const llvm::Twine &message);

} // namespace selvedge::reference

#endif // SELVEDGE_COMPILER_REFERENCE_MEMORY_H
