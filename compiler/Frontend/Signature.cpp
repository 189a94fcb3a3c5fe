// Elaborator: dims, tensors, scalars and promises of an op.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Elaborator.h"

#include <cmath>

using namespace mlir;
using namespace selvedge::tile;

namespace selvedge::frontend {

bool Elaborator::buildSignature() {
  std::vector<const ArgDecl *> args;
  for (const OpDecl *op : llvm::reverse(chain))
    for (const ArgDecl &arg : op->inputs)
      args.push_back(&arg);
  for (const ArgDecl &arg : chain.back()->outputs)
    args.push_back(&arg);
  for (const ArgDecl &arg : chain.back()->temps)
    args.push_back(&arg);

  std::set<StringRef> names;
  for (const ArgDecl *arg : args) {
    if (!names.insert(arg->name).second)
      diags.error(arg->loc, "an argument '" + arg->name + "' exists already");
    else if (params.count(arg->name) || builtinType(arg->name))
      diags.error(arg->loc, "the name '" + arg->name + "' is taken");
  }
  for (const ArgDecl *arg : args)
    for (const DimDecl &dim : arg->dims)
      collectDims(*dim.extent, names);
  for (const OpDecl *op : llvm::reverse(chain))
    for (const LaunchDecl &launch : op->launches)
      addLaunchSize(launch);
  if (diags.hasErrors())
    return false;

  for (const ArgDecl *arg : args) {
    if (arg->isTemp && gradients.empty())
      addGradients(names);
    if (arg->isTensor)
      addTensor(*arg);
  }
  if (gradients.empty())
    addGradients(names);
  for (const ArgDecl *arg : args)
    if (!arg->isTensor)
      addScalar(*arg);
  for (const OpDecl *op : llvm::reverse(chain))
    for (const RequireDecl &require : op->requirements)
      addPromise(require);
  checkViews();
  return !diags.hasErrors();
}

void Elaborator::collectDims(const Expr &extent, std::set<StringRef> &taken) {
  if (extent.kind == Expr::Kind::Name && !params.count(extent.name)) {
    if (taken.count(extent.name) || builtinType(extent.name)) {
      diags.error(extent.loc, "expects a dimension, but '" + extent.name +
                                  "' is something else");
      return;
    }
    if (dimIndex.emplace(extent.name, dimNames.size()).second)
      dimNames.push_back(extent.name);
  }
  for (const ExprPtr &arg : extent.args)
    collectDims(*arg, taken);
}

AffineExpr Elaborator::evalExtent(const Expr &e, StringRef what) {
  Val v = eval(e);
  if (v.isOfDims())
    return asAffine(v);
  if (!v.isError())
    diags.error(e.loc, "expects " + what +
                           " that is a function of dims, but "
                           "got " +
                           describe(v));
  return {};
}

void Elaborator::addTensor(const ArgDecl &arg) {
  TensorInfo info{&arg, resolveType(arg.typeLoc, arg.elementType), {}, {}, {},
                  {}};
  std::set<StringRef> binders;
  for (const DimDecl &dim : arg.dims) {
    DimInfo d;
    const Expr &extent = *dim.extent;
    d.extent = evalExtent(extent, "a dimension");
    if (auto constant = dyn_cast_if_present<AffineConstantExpr>(d.extent);
        constant && constant.getValue() < 1) {
      diags.error(dim.loc, "expects a dimension of at least 1, but got " +
                               Twine(constant.getValue()));
      return;
    }
    if (extent.kind == Expr::Kind::Name)
      d.name = extent.name;
    if (extent.kind == Expr::Kind::Binary && extent.name == "*") {
      AffineExpr a = evalExtent(*extent.args[0], "a dimension");
      AffineExpr b = evalExtent(*extent.args[1], "a dimension");
      if (a && b)
        d.factors = {a, b};
    }
    if (!dim.binder.empty() && !binders.insert(dim.binder).second)
      diags.error(dim.loc,
                  "expects distinct names, but got '" + dim.binder + "' twice");
    if (!d.extent)
      return;
    info.dims.push_back(d);
  }
  if (arg.dims.empty())
    diags.error(arg.typeLoc,
                "expects a dimension in the type of '" + arg.name + "'",
                "a scalar has a type without brackets");
  if (arg.isStored() && !addOutputTraits(arg, info))
    return;
  if (arg.defaultValue && !arg.isOptional)
    diags.error(arg.defaultValue->loc, "a default needs an optional tensor",
                "write '?' after the type of '" + arg.name + "'");
  if (info.element)
    tensors.push_back(std::move(info));
}

void Elaborator::addGradients(std::set<StringRef> &names) {
  for (size_t i = 0, count = tensors.size(); i < count; ++i) {
    const ArgDecl &input = *tensors[i].decl;
    if (!input.isDiff)
      continue;
    if (!isa<FloatType>(tensors[i].element)) {
      diags.error(input.typeLoc, "expects numbers in '" + input.name +
                                     "', which is 'diff', but got " +
                                     input.elementType);
      continue;
    }
    if (!isGradient)
      continue;
    auto &[name, decl] = gradients.emplace_back();
    name = ("d_" + input.name).str();
    decl.name = name;
    decl.loc = input.loc;
    decl.typeLoc = input.typeLoc;
    decl.elementType = "f32";
    decl.isTensor = decl.isOutput = true;
    decl.isDeterministic = input.isDeterministic;
    if (!names.insert(decl.name).second || params.count(decl.name))
      diags.error(input.loc, "the name '" + decl.name + "' is taken",
                  "it is that of the gradient of '" + input.name + "'");
    TensorInfo info = tensors[i];
    info.decl = &decl;
    info.element = Builder(ctx).getF32Type();
    info.init = Builder(ctx).getF32FloatAttr(0);
    info.promise = {};
    info.isUnique = false;
    addReducedDims(input, info, names);
    tensors[i].gradient = tensors.size();
    tensors.push_back(std::move(info));
  }
}

void Elaborator::addReducedDims(const ArgDecl &input, TensorInfo &gradient,
                                std::set<StringRef> &names) {
  for (auto [i, dim] : llvm::enumerate(input.dims)) {
    if (!dim.isBroadcast)
      continue;
    auto name = StringAttr::get(ctx, gradient.decl->name + "_" + Twine(i));
    if (names.count(name) || params.count(name) ||
        !dimIndex.emplace(name, dimNames.size()).second) {
      diags.error(dim.loc, "the name '" + name.getValue() + "' is taken",
                  "it is that of a dimension of '" + gradient.decl->name + "'");
      continue;
    }
    gradient.dims[i] = {getAffineSymbolExpr(dimNames.size(), ctx), name, {}};
    dimNames.push_back(name);
    reducedDims.push_back(
        {name, StringAttr::get(ctx, input.name), static_cast<int64_t>(i)});
  }
}

bool Elaborator::addOutputTraits(const ArgDecl &arg, TensorInfo &info) {
  if (arg.isOptional || arg.defaultValue || (arg.valid && !arg.isInOut)) {
    diags.unsupported(arg.loc, arg.isInOut
                                   ? "an inout that is optional"
                                   : "an output or temp that is optional, has "
                                     "a default or is valid in parts");
    return false;
  }
  Builder b(ctx);
  if (info.element && info.element.isInteger(1)) {
    diags.unsupported(arg.typeLoc,
                      (arg.isTemp ? "a " : "an ") + arg.storedWord() +
                          " of type bool",
                      "store 'select(c, 1, 0) as u8' to one of u8");
    return false;
  }
  if (arg.isTemp && arg.initKeep) {
    diags.error(arg.loc, "temp '" + arg.name + "' has nothing to keep",
                "it exists during the op alone: write 'out_init(0)'");
    return false;
  }
  if (arg.isInOut && (arg.init || arg.initKeep)) {
    diags.error(arg.loc, "inout '" + arg.name + "' has an 'out_init'",
                "its elements stay as they are where no kernel stores them");
    return false;
  }
  if (arg.isInOut) {
    // Nothing is initialised.
  } else if (arg.initKeep) {
    info.init = b.getStringAttr("keep");
  } else if (!arg.init && arg.isTemp) {
    // Stores have to cover it, which tile-output-init proves.
  } else if (!arg.init) {
    diags.error(arg.loc,
                "output '" + arg.name +
                    "' does not say what elements hold "
                    "that no kernel stores",
                "write 'out_init(0)' or 'out_init(keep)' after its type");
    return false;
  } else {
    Val v = eval(*arg.init);
    if (v.isError())
      return false;
    double value = v.number();
    if (!v.isNumber() ||
        (info.element && info.element.isInteger(32) &&
         static_cast<double>(static_cast<float>(value)) != value) ||
        (isByte(info.element) && !isElement(value, info.element))) {
      diags.error(arg.init->loc,
                  "expects a number in 'out_init', but got " + describe(v));
      return false;
    }
    info.init = b.getF32FloatAttr(static_cast<float>(value));
  }
  if (info.element && isByteFloat(info.element) && !arg.overflow.empty()) {
    diags.error(arg.loc,
                "'overflow' belongs to bf16 and f16, but '" + arg.name +
                    "' is of " + nameOf(info.element),
                "narrowing to it saturates, Inf as well");
    return false;
  }
  bool isHalf = info.element && info.element.isF16();
  info.overflow = isHalf ? Overflow::Inf : Overflow::Sat;
  if (arg.overflow == "sat")
    info.overflow = Overflow::Sat;
  if (arg.overflow == "inf")
    info.overflow = Overflow::Inf;
  return true;
}

void Elaborator::addScalar(const ArgDecl &arg) {
  if (arg.isStored()) {
    diags.error(arg.typeLoc, "expects a tensor type for " + arg.storedWord() +
                                 " '" + arg.name + "'");
    return;
  }
  if (arg.isDiff) {
    diags.error(arg.loc, "'diff' belongs to tensors, but '" + arg.name +
                             "' is a scalar");
    return;
  }
  if (arg.isOptional || arg.valid) {
    diags.error(arg.loc, "'?' and 'valid' belong to tensors, but '" + arg.name +
                             "' is a scalar");
    return;
  }
  Type type = resolveType(arg.typeLoc, arg.elementType);
  if (!type)
    return;
  if (!type.isF32() && !type.isInteger(32)) {
    diags.unsupported(arg.typeLoc, "a scalar of type '" + arg.elementType + "'",
                      "scalars are f32 or i32");
    return;
  }
  ScalarInfo info{&arg, type, {}};
  if (arg.defaultValue) {
    Val v = eval(*arg.defaultValue);
    Builder b(ctx);
    if (v.isError())
      return;
    if (v.isNumber() && type.isF32())
      info.value = b.getF32FloatAttr(static_cast<float>(v.number()));
    else if (v.is(Val::Kind::Int) &&
             v.intValue == static_cast<int32_t>(v.intValue))
      info.value = b.getI32IntegerAttr(static_cast<int32_t>(v.intValue));
    else if (v.is(Val::Kind::Affine))
      info.value = AffineMapAttr::get(mapOf(v.affine));
    else
      diags.error(arg.defaultValue->loc,
                  "expects a default of type " + arg.elementType + " for '" +
                      arg.name + "', but got " + describe(v));
  }
  scalars.push_back(info);
}

void Elaborator::addPromise(const RequireDecl &require) {
  auto it = llvm::find_if(tensors, [&](const TensorInfo &t) {
    return t.decl->name == require.tensor;
  });
  if (it == tensors.end() || !it->element.isInteger(32) ||
      it->decl->isStored()) {
    SmallVector<StringRef> names;
    for (const TensorInfo &t : tensors)
      names.push_back(t.decl->name);
    diags.error(require.loc,
                "expects an i32 input tensor in 'requires', but got '" +
                    require.tensor + "'",
                didYouMean(require.tensor, names));
    return;
  }
  if (!require.hi) {
    if (std::exchange(it->isUnique, true))
      diags.error(require.loc,
                  "'" + require.tensor + "' is required to be unique already");
    return;
  }
  if (require.isOrdered && it->dims.size() != 1) {
    diags.error(require.loc, "expects a tensor of one dimension in 'segments', "
                             "but '" +
                                 require.tensor + "' has " +
                                 Twine(it->dims.size()));
    return;
  }
  AffineExpr lo = require.lo ? evalExtent(*require.lo, "a bound")
                             : getAffineConstantExpr(0, ctx);
  AffineExpr hi = evalExtent(*require.hi, "a bound");
  if (!lo || !hi)
    return;
  if (it->promise) {
    diags.error(require.loc,
                "'" + require.tensor + "' has a required range already");
    return;
  }
  it->promise = RequireAttr::get(ctx, StringAttr::get(ctx, require.tensor),
                                 mapOf(lo), mapOf(hi), require.isOrdered);
  promises.push_back(it->promise);
}

/// Whether `name` occurs in an expression.
static bool mentions(const Expr &e, StringRef name) {
  return (e.kind == Expr::Kind::Name && e.name == name) ||
         llvm::any_of(e.args,
                      [&](const ExprPtr &arg) { return mentions(*arg, name); });
}

void Elaborator::addLaunchSize(const LaunchDecl &launch) {
  StringRef name = launch.name;
  bool isTaken = params.count(name) || builtinType(name);
  auto check = [&](const std::vector<ArgDecl> &args) {
    for (const ArgDecl &arg : args) {
      isTaken |= arg.name == name;
      for (const DimDecl &dim : arg.dims)
        if (mentions(*dim.extent, name))
          diags.error(launch.loc,
                      "the caller chooses '" + name + "': '" + arg.name +
                          "' has it in its shape",
                      "only temps may have a size that each launch chooses");
    }
  };
  for (const OpDecl *op : chain) {
    check(op->inputs);
    check(op->outputs);
  }
  for (const LaunchSizeInfo &other : launchSizes)
    isTaken |= other.decl->name == name;
  if (isTaken)
    diags.error(launch.loc, "the name '" + name + "' is taken");
  constexpr int64_t kMost = 65535;
  Val lo = eval(*launch.lo), hi = eval(*launch.hi);
  if (lo.isError() || hi.isError())
    return;
  if (!lo.is(Val::Kind::Int) || !hi.is(Val::Kind::Int) || lo.intValue < 1 ||
      hi.intValue < lo.intValue || hi.intValue > kMost) {
    diags.error(launch.loc, "expects bounds 1 <= lo <= hi <= " + Twine(kMost) +
                                " known at compile time, but got " +
                                describe(lo) + ".." + describe(hi));
    return;
  }
  if (dimIndex.emplace(name, dimNames.size()).second)
    dimNames.push_back(name);
  launchSizes.push_back({&launch, lo.intValue, hi.intValue, {}});
}

SmallVector<LaunchSize> Elaborator::chosenSizes() const {
  SmallVector<LaunchSize> sizes;
  for (const LaunchSizeInfo &size : launchSizes)
    sizes.push_back({size.decl->name, size.lo, size.hi, mapOf(size.parts)});
  return sizes;
}

AffineMap Elaborator::mapOf(ArrayRef<AffineExpr> results) const {
  return AffineMap::get(0, dimNames.size(), results, ctx);
}

SmallVector<BroadcastDims> Elaborator::broadcastDims() const {
  SmallVector<BroadcastDims> inputs;
  for (const TensorInfo &t : tensors) {
    BroadcastDims input{StringAttr::get(ctx, t.decl->name), {}};
    for (auto [i, dim] : llvm::enumerate(t.decl->dims))
      if (dim.isBroadcast)
        input.dims.push_back(static_cast<int64_t>(i));
    if (!input.dims.empty())
      inputs.push_back(std::move(input));
  }
  return inputs;
}

SmallVector<StringAttr> Elaborator::uniqueTensors() const {
  SmallVector<StringAttr> names;
  for (const TensorInfo &t : tensors)
    if (t.isUnique)
      names.push_back(StringAttr::get(ctx, t.decl->name));
  return names;
}

ArrayAttr Elaborator::tensorAttrs() const {
  SmallVector<Attribute> attrs;
  for (const TensorInfo &t : tensors) {
    SmallVector<AffineExpr> shape;
    for (const DimInfo &dim : t.dims)
      shape.push_back(dim.extent);
    attrs.push_back(TensorArgAttr::get(ctx, StringAttr::get(ctx, t.decl->name),
                                       t.decl->isOutput  ? Role::Out
                                       : t.decl->isTemp  ? Role::Temp
                                       : t.decl->isInOut ? Role::InOut
                                                         : Role::In,
                                       t.element, mapOf(shape),
                                       t.decl->isOptional, t.init, t.overflow));
  }
  return ArrayAttr::get(ctx, attrs);
}

ArrayAttr Elaborator::scalarAttrs() const {
  SmallVector<Attribute> attrs;
  for (const ScalarInfo &s : scalars)
    attrs.push_back(ScalarArgAttr::get(ctx, StringAttr::get(ctx, s.decl->name),
                                       s.type, s.value));
  return ArrayAttr::get(ctx, attrs);
}

DictionaryAttr Elaborator::paramAttrs() const {
  Builder b(ctx);
  SmallVector<NamedAttribute> attrs;
  for (StringRef name : paramOrder) {
    const Val &v = params.at(name);
    Attribute attr;
    if (v.is(Val::Kind::Type))
      attr = TypeAttr::get(v.type);
    else if (v.is(Val::Kind::Int))
      attr = b.getI64IntegerAttr(v.intValue);
    else if (v.is(Val::Kind::Bool))
      attr = b.getBoolAttr(v.intValue);
    else
      attr = b.getF64FloatAttr(v.floatValue);
    attrs.push_back(b.getNamedAttr(name, attr));
  }
  return b.getDictionaryAttr(attrs);
}

} // namespace selvedge::frontend
