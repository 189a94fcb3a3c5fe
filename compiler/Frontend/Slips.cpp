// Elaborator: what is well-typed and hardly meant.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Elaborator.h"

using namespace mlir;

namespace selvedge::frontend {

void Elaborator::warnOfIndex(const Expr &index, const TensorInfo &info,
                             const DimInfo &dim, const Val &value) {
  if (value.is(Val::Kind::Ssa))
    warnIfOutside(index.loc, info, dim, value);
  auto over = dyn_cast_if_present<AffineSymbolExpr>(value.upper);
  bool isPlain = index.kind == Expr::Kind::Name && !dim.name.empty() &&
                 isa<AffineSymbolExpr>(dim.extent);
  if (!isPlain || !over || over == dim.extent)
    return;
  // A range over one dimension may well index another: of two sequences, say.
  // Not where the tensor has the range's own dimension, or by its name.
  size_t position = &dim - info.dims.data();
  bool isSwapped = llvm::any_of(
      info.dims, [&](const DimInfo &other) { return other.extent == over; });
  bool isNamesake = index.name == info.decl->dims[position].binder ||
                    index.name == StringRef(dim.name.lower());
  if (!isSwapped && !isNamesake)
    return;
  StringRef name = dimNames[over.getPosition()];
  diags.warning(index.loc,
                "'" + index.name + "' runs over '" + name +
                    "', but indexes dimension '" + dim.name + "' of '" +
                    info.decl->name + "'",
                isSwapped ? "indices stand in the order of the declaration"
                          : "write '" + index.name + " in " + dim.name +
                                "' where the range begins");
  diags.note(info.decl->loc, "the tensor is declared here");
}

void Elaborator::warnIfOutside(SMLoc loc, const TensorInfo &info,
                               const DimInfo &dim, const Val &value) {
  auto isKnown = [&](AffineExpr expr) {
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    return constant && constant.getValue() >= 0;
  };
  bool isAbove = value.lower && isKnown(difference(value.lower, dim.extent));
  auto upper = dyn_cast_if_present<AffineConstantExpr>(value.upper);
  if (!isAbove && !(upper && upper.getValue() <= 0))
    return;
  diags.warning(
      loc, "this index is outside of the dimension wherever it is used",
      info.decl->isStored() ? "nothing is stored" : "all lanes are absent");
}

} // namespace selvedge::frontend
