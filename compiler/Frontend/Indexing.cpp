// Elaborator: elements of tensors.
// SPDX-License-Identifier: MIT
#include "compiler/Analysis/Loads.h"
#include "compiler/Frontend/Elaborator.h"

using namespace mlir;
using namespace selvedge::tile;

namespace selvedge::frontend {

Val Elaborator::evalIndex(const Expr &e) {
  if (e.args[0]->kind == Expr::Kind::Name)
    if (const FnDecl *view = findView(e.args[0]->name))
      return evalView(e, *view);
  Access access;
  if (!resolveAccess(e, access))
    return Val::error();
  const TensorInfo &info = tensors[access.tensor];
  if (info.decl->isOutput) {
    diags.unsupported(
        e.loc, "loading the output '" + info.decl->name + "'",
        "what a later kernel loads is stored to a 'temp', too; in "
        "the kernel that stores it an element has no defined "
        "value");
    return Val::error();
  }
  if (info.decl->isTemp && !checkTempLoad(e.loc, tensors[access.tensor]))
    return Val::error();
  if (info.decl->isInOut)
    stores->load(e.loc, info.decl->name, access.tensor, access.values);
  addValidity(access);
  addViewTerms(access);
  return load(e.loc, access);
}

bool Elaborator::checkTempLoad(SMLoc loc, TensorInfo &temp) {
  StringRef name = temp.decl->name;
  if (temp.isStoredHere)
    diags.error(loc,
                "temp '" + name + "' is stored and loaded by the same kernel",
                "iterations of a kernel run in any order: load it in a later "
                "kernel");
  else if (!temp.isStoredBefore)
    diags.error(loc, "temp '" + name +
                         "' is loaded, but no kernel before "
                         "this one stores it");
  temp.isLoadedHere = true;
  return !temp.isStoredHere && temp.isStoredBefore;
}

/// The axis of `:`, of a dimension `dim`, or of a slice; none for other
/// indices.
static StringRef axisOfWhole(const Expr &index, StringRef dim) {
  if (index.kind == Expr::Kind::Full)
    return dim;
  bool isSlice = index.kind == Expr::Kind::Slice &&
                 index.args[1]->kind == Expr::Kind::Name;
  return isSlice ? index.args[1]->name : StringRef();
}

bool Elaborator::reportDiagonal(SMLoc loc, StringRef axis,
                                ArrayRef<StringRef> others,
                                const ArgDecl &tensor) {
  if (!llvm::is_contained(others, axis))
    return false;
  diags.error(loc,
              "two indices of '" + tensor.name + "' have the axis '" + axis +
                  "', so they are equal: this is a diagonal",
              "give one of them a parameter of its own, 'E: int = " + axis +
                  "'");
  diags.note(tensor.loc, "the tensor is declared here");
  return true;
}

bool Elaborator::resolveAccess(const Expr &e, Access &access) {
  Val base = eval(*e.args[0]);
  if (base.isError())
    return false;
  if (!base.is(Val::Kind::Tensor)) {
    diags.error(e.loc,
                "expects a tensor of the signature before '[', but got " +
                    describe(base));
    return false;
  }
  if (!inKernel()) {
    diags.error(e.loc, "an element of a tensor is known at run time only");
    return false;
  }
  access.tensor = base.tensor;
  const TensorInfo &info = tensors[base.tensor];
  size_t count = e.args.size() - 1;
  if (count != info.dims.size()) {
    diags.error(e.loc, "expects " + Twine(info.dims.size()) + " indices of '" +
                           info.decl->name + "', but got " + Twine(count));
    diags.note(info.decl->loc, "the tensor is declared here");
    return false;
  }
  bool ok = true;
  llvm::SmallVector<StringRef> whole;
  for (size_t i = 0; i < count; ++i) {
    const Expr &index = *e.args[i + 1];
    if (StringRef axis = axisOfWhole(index, info.dims[i].name); !axis.empty()) {
      ok &= !reportDiagonal(index.loc, axis, whole, *info.decl);
      whole.push_back(axis);
    }
    Val v = index.kind == Expr::Kind::Full ? evalFull(index.loc, info.dims[i])
                                           : eval(index);
    bool isIndex = !v.isError() && addIndex(index.loc, access, info.dims[i], v);
    if (isIndex)
      warnOfIndex(index, info, info.dims[i], v);
    ok &= isIndex;
  }
  return ok;
}

AffineExpr Elaborator::endOf(const Val &bound) const {
  if (bound.isOfDims())
    return asAffine(bound);
  if (bound.atMost)
    return bound.atMost;
  return bound.upper ? bound.upper - 1 : AffineExpr();
}

Val Elaborator::rangeVal(SMLoc loc, StringAttr axis, Value start, const Val &lo,
                         const Val &hi) {
  Location l = at(loc);
  Value index = tb->create<RangeOp>(
      l, tb->tileOf(Builder(ctx).getI32Type(), axis), start);
  Val v = Val::ofSsa(index);
  Value stop = materialise(loc, hi);
  if (stop) {
    Value inside = tb->compare(l, arith::CmpIPredicate::slt, index, stop);
    tb->setInside(axis, inside);
    v.preds.add(inside);
  }
  v.preds.add(hi.preds);
  v.preds.add(lo.preds);
  v.nonNegative = true;
  // A condition on memory keeps no access inside of a tensor.
  if (!stop || !analysis::isOfData(stop))
    v.upper = endOf(hi);
  if (lo.isOfDims())
    v.lower = asAffine(lo);
  v.range = RangeInfo{axis, {}};
  if (!(lo.is(Val::Kind::Int) && lo.intValue == 0))
    v.range->lo = materialise(loc, lo);
  return v;
}

Val Elaborator::evalFull(SMLoc loc, const DimInfo &dim) {
  auto extent = dyn_cast<AffineConstantExpr>(dim.extent);
  if (!extent) {
    diags.error(loc, "expects a dimension bound at compile time for ':'",
                dim.name.empty()
                    ? "loop over it with 'for'"
                    : "loop over it with 'for', or bind it to a parameter: '" +
                          dim.name + ": int = 64'");
    return Val::error();
  }
  if (dim.name.empty()) {
    diags.error(loc, "expects a dimension with a name for ':'",
                "axes are equal by name: bind the extent to a parameter");
    return Val::error();
  }
  constexpr int64_t kLongest = 1 << 16;
  if (extent.getValue() > kLongest) {
    diags.error(loc,
                "expects a dimension of at most " + Twine(kLongest) +
                    " for ':', but got " + Twine(extent.getValue()),
                "loop over it with 'for'");
    return Val::error();
  }
  return rangeVal(loc, tb->fullAxis(dim.name, extent.getValue()),
                  tb->constantInt(at(loc), 0), Val::ofInt(0),
                  Val::ofInt(extent.getValue()));
}

Value Elaborator::indexValue(SMLoc loc, const Val &index, PredSet &preds) {
  Type type = elementOf(index);
  if (!type || !type.isInteger(32)) {
    diags.error(loc, "expects an integer as index, but got " + describe(index));
    return {};
  }
  Value value = materialise(loc, index);
  preds.add(index.preds);
  return value;
}

Val Elaborator::pairIndex(SMLoc loc, Access &access, const DimInfo &dim,
                          const Val &index) {
  Value parts[2];
  const Val *vals[2] = {&index.pair->first, &index.pair->second};
  AffineExpr extents[2] = {dim.factors->first, dim.factors->second};
  Val result = Val::of(Val::Kind::Ssa);
  result.nonNegative = true;
  for (int i = 0; i < 2; ++i) {
    parts[i] = indexValue(loc, *vals[i], result.preds);
    if (!parts[i])
      return Val::error();
    Val v = toSsa(loc, *vals[i]);
    result.nonNegative &=
        requireInside(loc, v, parts[i], extents[i], result.preds);
    access.coordinates.push_back(
        {static_cast<unsigned>(access.indices.size()), parts[i]});
  }
  access.preds.add(result.preds);
  Location l = at(loc);
  Value scale = tb->affine(l, extents[1]), outer = parts[0];
  tb->unify(l, outer, scale);
  Value base = tb->create<arith::MulIOp>(l, outer, scale);
  Value inner = parts[1];
  tb->unify(l, base, inner);
  result.ssa = tb->create<arith::AddIOp>(l, base, inner);
  result.upper = dim.extent;
  return result;
}

bool Elaborator::addIndex(SMLoc loc, Access &access, const DimInfo &dim,
                          Val index) {
  unsigned position = access.indices.size();
  Value value;
  if (index.is(Val::Kind::Pair)) {
    if (!dim.factors) {
      diags.error(loc, "expects one index, but got a pair",
                  "a pair indexes a product dimension such as G*R");
      return false;
    }
    index = pairIndex(loc, access, dim, index);
    if (index.isError())
      return false;
    value = index.ssa;
  } else {
    if (index.isOfDims()) {
      auto slack =
          dyn_cast<AffineConstantExpr>(difference(dim.extent, asAffine(index)));
      bool isNegative = index.is(Val::Kind::Int) && index.intValue < 0;
      if (isNegative || (slack && slack.getValue() <= 0)) {
        diags.error(loc, "this index is always outside of the dimension");
        return false;
      }
    }
    value = indexValue(loc, index, access.preds);
    if (!value)
      return false;
    if (index.slice) {
      if (!addSlice(loc, access, dim.extent, index, value))
        return false;
    } else {
      requireInside(loc, toSsa(loc, index), value, dim.extent, access.preds);
      access.coordinates.push_back({position, value});
    }
  }
  access.indices.push_back(std::move(index));
  access.values.push_back(value);
  access.axes = tb->unionOf(access.axes, axesOf(value.getType()));
  return true;
}

void Elaborator::addValidity(Access &access) {
  const ArgDecl &decl = *tensors[access.tensor].decl;
  if (!decl.valid)
    return;
  constexpr size_t kDepth = 32;
  if (frames.size() > kDepth) {
    diags.error(decl.valid->loc,
                "'valid' of '" + decl.name + "' depends on itself");
    return;
  }
  Frame frame;
  frame.scopes.emplace_back();
  for (auto [dim, index] : llvm::zip(decl.dims, access.indices)) {
    if (dim.binder.empty())
      continue;
    auto variable = std::make_unique<Variable>();
    variable->value = index;
    frame.scopes.back()[dim.binder] = std::move(variable);
  }
  frames.push_back(std::move(frame));
  Val condition = evalCondition(*decl.valid, "'valid'", "valid");
  frames.pop_back();
  if (condition.isError() ||
      (condition.is(Val::Kind::Bool) && condition.intValue))
    return;
  SmallVector<Value> terms(condition.preds.begin(), condition.preds.end());
  llvm::append_range(terms, termsOf(decl.valid->loc, condition));
  for (Value term : terms) {
    // An axis that no index has cannot tell which element is meant.
    if (tb->unionOf(access.axes, axesOf(term.getType())) != access.axes) {
      diags.error(decl.valid->loc,
                  "'valid' mentions an axis that the index lacks");
      return;
    }
    access.preds.add(term);
  }
}

Val Elaborator::load(SMLoc loc, Access &access) {
  Val v = loadPresent(loc, access);
  if (tensors[access.tensor].gradient && v.is(Val::Kind::Ssa))
    diffLoads.push_back({v.ssa, access});
  return v;
}

Val Elaborator::loadPresent(SMLoc loc, Access &access) {
  const TensorInfo &info = tensors[access.tensor];
  Location l = at(loc);
  Value tensor = kernelBlock->getArgument(dimNames.size() + access.tensor);
  Type type = tb->tileOf(info.element, access.axes);
  // Without a default an absent tensor has no elements.
  if (info.decl->isOptional && !info.decl->defaultValue)
    access.preds.add(
        tb->create<IsPresentOp>(l, Builder(ctx).getI1Type(), tensor));
  PredSet presence = access.preds;
  Val otherwise;
  if (info.decl->defaultValue) {
    Frame frame;
    frame.scopes.emplace_back();
    frames.push_back(std::move(frame));
    otherwise = eval(*info.decl->defaultValue);
    frames.pop_back();
    Val s = otherwise.isError()
                ? otherwise
                : toSsa(info.decl->defaultValue->loc, otherwise, info.element);
    if (s.isError())
      return s;
    if (s.ssa.getType() != info.element) {
      diags.error(info.decl->defaultValue->loc,
                  "expects a default of type " + info.decl->elementType +
                      ", but got " + describe(otherwise));
      return Val::error();
    }
    Value present =
        tb->create<IsPresentOp>(l, Builder(ctx).getI1Type(), tensor);
    presence.add(present);
    Value loaded = tb->create<LoadOp>(l, type, tensor, access.values,
                                      ValueRange(presence));
    Value result = tb->create<arith::SelectOp>(
        l, tb->broadcast(l, present, access.axes), loaded,
        tb->broadcast(l, s.ssa, access.axes));
    Val v = Val::ofSsa(result, access.preds);
    // The promise covers the given tensor; a default inside it keeps it so.
    if (info.promise && otherwise.isOfDims()) {
      AffineExpr value = asAffine(otherwise);
      AffineExpr hi = info.promise.getHi().getResult(0);
      if (provablyNonNegative(difference(hi, value)))
        v.promise = info.promise;
    }
    return v;
  }
  Value result =
      tb->create<LoadOp>(l, type, tensor, access.values, ValueRange(presence));
  Val v = Val::ofSsa(result, access.preds);
  v.promise = info.promise;
  return v;
}

} // namespace selvedge::frontend
