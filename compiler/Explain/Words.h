// Values of the tile dialect in the words of the program.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_EXPLAIN_WORDS_H
#define SELVEDGE_COMPILER_EXPLAIN_WORDS_H

#include "compiler/Explain/Explanation.h"
#include "dialect/Tile/Tile.h"

#include "llvm/Support/MemoryBuffer.h"

#include <map>
#include <memory>

#include "mlir/IR/AffineExpr.h"

namespace selvedge::explain {

/// The texts of a source file and of what it imports, by lines.
class SourceText {
public:
  SourceText(llvm::StringRef file, llvm::StringRef source);
  /// The first place in the source that `loc` names.
  Place placeOf(mlir::Location loc) const;
  /// The lines of the explained file (no name), or of one that a place is in.
  llvm::ArrayRef<llvm::StringRef> linesOf(const std::string &file) const;

private:
  struct File {
    std::unique_ptr<llvm::MemoryBuffer> buffer;
    llvm::SmallVector<llvm::StringRef> lines;
  };
  std::string main;
  /// Imported files are read when a place is in them.
  mutable std::map<std::string, File> files;
};

/// `v` as an expression over axes, dims and tensors; `...` for what the
/// language has no short name for.
std::string wordsFor(mlir::Value v);

/// An affine function of the op's dims.
std::string wordsFor(mlir::AffineExpr expr, mlir::ArrayAttr dims);

/// Shape of a tensor of the signature: `[B, M, G*R, 128]`.
std::string shapeWords(tile::TensorArgAttr tensor, mlir::ArrayAttr dims);

/// The tensors of the signature, and those between kernels.
std::vector<Tensor> tensorsOf(tile::ProgramOp program);

/// A constant attribute: `0`, `-inf`.
std::string wordsFor(mlir::Attribute constant);

/// The clause of the source that a predicate comes from: `valid`, `where` or
/// nothing.
std::string clauseOf(mlir::Value predicate);

/// The value behind operations that only repeat it.
mlir::Value stripRepeats(mlir::Value v);

/// The predicates of a mask in the order of its sink's presence.
llvm::SmallVector<mlir::Value> conjuncts(mlir::Value condition);

} // namespace selvedge::explain

#endif // SELVEDGE_COMPILER_EXPLAIN_WORDS_H
