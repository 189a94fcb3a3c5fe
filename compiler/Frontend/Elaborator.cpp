// Elaborator: shared helpers and the emission of the program.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Elaborator.h"
#include "compiler/Frontend/UnusedTemps.h"
#include "dialect/Tile/UniqueTensors.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;
using namespace selvedge::tile;

namespace selvedge::frontend {

Elaborator::Elaborator(MLIRContext *ctx, Diagnostics &diags,
                       const FileAst &file)
    : ctx(ctx), diags(diags), file(file) {}

Location Elaborator::at(SMLoc loc) const {
  auto [line, column] = diags.lineAndColumn(loc);
  Location place = FileLineColLoc::get(ctx, diags.file(loc), line, column);
  return clause.empty() ? place
                        : NameLoc::get(StringAttr::get(ctx, clause), place);
}

bool Elaborator::spend(SMLoc loc) {
  // Functions are inlined: a few lines can stand for an enormous program.
  constexpr unsigned kMaxSteps = 200000;
  if (++steps <= kMaxSteps)
    return true;
  diags.error(loc, "expects a program of at most " + Twine(kMaxSteps) +
                       " operations after inlining");
  return false;
}

Variable *Elaborator::find(StringRef name) {
  if (frames.empty())
    return nullptr;
  auto &scopes = frames.back().scopes;
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope)
    if (auto it = scope->find(name); it != scope->end())
      return it->second.get();
  return nullptr;
}

bool Elaborator::isHidden(SMLoc loc, StringRef name) const {
  // The op of the chain in whose text `loc` lies begins last before it.
  size_t author = chain.size();
  for (auto [i, op] : llvm::enumerate(chain))
    if (diags.file(op->loc) == diags.file(loc) &&
        op->loc.getPointer() <= loc.getPointer() &&
        (author == chain.size() ||
         chain[author]->loc.getPointer() < op->loc.getPointer()))
      author = i;
  if (author == chain.size())
    return false;
  return llvm::any_of(
      ArrayRef(chain).take_front(author), [&](const OpDecl *op) {
        return llvm::any_of(op->inputs, [&](const ArgDecl &input) {
          return input.name == name;
        });
      });
}

Variable *Elaborator::define(SMLoc loc, StringRef name, Val value,
                             bool isMutable) {
  auto &slot = frames.back().scopes.back()[name];
  bool isTaken =
      slot || findView(name) || (lookupSignature(name) && !isHidden(loc, name));
  if (isTaken) {
    diags.error(loc, "the name '" + name + "' is taken", "choose another one");
    if (slot)
      return slot.get();
  }
  slot = std::make_unique<Variable>();
  slot->name = name;
  slot->value = std::move(value);
  slot->isMutable = isMutable;
  return slot.get();
}

std::vector<StringRef> Elaborator::visibleNames() const {
  std::vector<StringRef> names;
  if (!frames.empty())
    for (const Scope &scope : frames.back().scopes)
      for (const auto &[name, variable] : scope)
        names.push_back(name);
  for (const auto &[name, value] : params)
    names.push_back(name);
  names.insert(names.end(), dimNames.begin(), dimNames.end());
  for (const TensorInfo &t : tensors)
    names.push_back(t.decl->name);
  for (const ScalarInfo &s : scalars)
    names.push_back(s.decl->name);
  for (const auto &[name, definitions] : functions)
    if (findView(name))
      names.push_back(name);
  return names;
}

bool isElement(double value, Type type) {
  if (type.isInteger()) {
    bool isUnsigned = type.isUnsignedInteger();
    return value == std::trunc(value) && value >= (isUnsigned ? 0 : INT8_MIN) &&
           value <= (isUnsigned ? UINT8_MAX : INT8_MAX);
  }
  llvm::APFloat number(value);
  bool losesInfo = false;
  const llvm::fltSemantics &semantics =
      cast<FloatType>(type).getFloatSemantics();
  number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return std::isnan(value) || !losesInfo;
}

Type Elaborator::elementOf(const Val &v) const {
  Builder b(ctx);
  switch (v.kind) {
  case Val::Kind::Int:
  case Val::Kind::Affine:
    return b.getI32Type();
  case Val::Kind::Float:
    return b.getF32Type();
  case Val::Kind::Bool:
    return b.getI1Type();
  case Val::Kind::Ssa:
    return v.ssa ? getElementTypeOrSelf(v.ssa.getType()) : b.getI1Type();
  default:
    return {};
  }
}

SmallVector<StringAttr> Elaborator::axesOfVal(const Val &v) const {
  SmallVector<StringAttr> axes;
  if (v.ssa)
    return SmallVector<StringAttr>(axesOf(v.ssa.getType()));
  for (Value term : v.conjuncts)
    axes = tb->unionOf(axes, axesOf(term.getType()));
  return axes;
}

std::string Elaborator::axisList(ArrayRef<StringAttr> axes) const {
  std::string text = "[";
  for (StringAttr axis : axes)
    text += (text.size() > 1 ? ", " : "") + axis.getValue().str();
  return text + "]";
}

std::string Elaborator::describe(const Val &v) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  switch (v.kind) {
  case Val::Kind::Error:
    return "an error";
  case Val::Kind::Unit:
    return "nothing";
  case Val::Kind::Int:
    os << v.intValue;
    return text;
  case Val::Kind::Float:
    os << v.floatValue;
    return text;
  case Val::Kind::Bool:
    return v.intValue ? "true" : "false";
  case Val::Kind::Type:
    os << "the type " << nameOf(v.type);
    return text;
  case Val::Kind::Affine:
    return "an integer";
  case Val::Kind::Ssa: {
    os << nameOf(elementOf(v));
    SmallVector<StringAttr> axes = axesOfVal(v);
    os << (axes.empty() ? std::string(" scalar") : axisList(axes));
    return text;
  }
  case Val::Kind::Pair:
    return "a pair";
  case Val::Kind::Tensor:
    return ("the tensor '" + tensors[v.tensor].decl->name + "'").str();
  case Val::Kind::Softmax:
    return "an online softmax";
  case Val::Kind::Full:
    return "':'";
  case Val::Kind::Pull:
    return "a derivative, which is a function";
  }
  return text;
}

Value Elaborator::constantByte(Location l, int64_t value, IntegerType type) {
  auto bits = static_cast<int8_t>(value);
  Value constant = tb->create<arith::ConstantOp>(
      l, IntegerAttr::get(signlessOf(type), bits));
  return type.isUnsigned()
             ? tb->create<UnrealizedConversionCastOp>(l, type, constant)
             : constant;
}

Value Elaborator::materialise(SMLoc loc, const Val &v, Type want) {
  if (v.isError())
    return {};
  if (!inKernel()) {
    diags.error(loc, "expects a compile-time value, but got " + describe(v));
    return {};
  }
  Location l = at(loc);
  bool wantsFloat = want && isa<FloatType>(want);
  switch (v.kind) {
  case Val::Kind::Int:
    if (wantsFloat)
      return tb->constant(l, want, static_cast<double>(v.intValue));
    if (auto byte = dyn_cast_if_present<IntegerType>(want);
        byte && isByte(byte) &&
        isElement(static_cast<double>(v.intValue), byte))
      return constantByte(l, v.intValue, byte);
    if (v.intValue != static_cast<int32_t>(v.intValue)) {
      diags.error(loc, "expects an integer of 32 bits, but got " + describe(v));
      return {};
    }
    return tb->constantInt(l, v.intValue);
  case Val::Kind::Float:
    return tb->constant(l, wantsFloat ? want : Builder(ctx).getF32Type(),
                        v.floatValue);
  case Val::Kind::Bool:
    return tb->constantBool(l, v.intValue);
  case Val::Kind::Affine: {
    Value value = tb->affine(l, v.affine);
    if (wantsFloat && want.isF32())
      return tb->create<arith::SIToFPOp>(l, want, value);
    return value;
  }
  case Val::Kind::Ssa: {
    Value value = v.ssa ? v.ssa : tb->conjunction(l, v.conjuncts);
    if (wantsFloat && want.isF32() && elementOf(v).isInteger(32))
      return tb->create<arith::SIToFPOp>(
          l, withElementType(value.getType(), want), value);
    return value;
  }
  case Val::Kind::Tensor:
    diags.error(loc, "expects a value, but got " + describe(v),
                "index the tensor: " + tensors[v.tensor].decl->name + "[...]");
    return {};
  case Val::Kind::Pair:
    diags.error(loc, "expects a value, but got a pair",
                "a pair can only index a product dimension such as G*R");
    return {};
  default:
    diags.error(loc, "expects a value, but got " + describe(v));
    return {};
  }
}

Val Elaborator::toSsa(SMLoc loc, const Val &v, Type want) {
  Value value = materialise(loc, v, want);
  if (!value)
    return Val::error();
  Val result = v;
  result.kind = Val::Kind::Ssa;
  result.ssa = value;
  if (v.is(Val::Kind::Affine) || v.is(Val::Kind::Int)) {
    AffineExpr expr = asAffine(v);
    result.nonNegative = provablyNonNegative(expr);
    result.upper = expr + 1;
    result.lower = expr;
  }
  return result;
}

OwningOpRef<ModuleOp>
Elaborator::run(const OpDecl &op, const Bindings *bindings, bool isGradient) {
  frames.emplace_back().scopes.emplace_back();
  this->isGradient = isGradient;
  if (!flatten(op, isGradient))
    return {};
  collectFunctions();
  if (!bindParameters(bindings) || !buildSignature())
    return {};

  OwningOpRef<ModuleOp> module = ModuleOp::create(at(op.loc));
  OpBuilder builder(ctx);
  builder.setInsertionPointToEnd(module->getBody());
  SmallVector<StringRef> dims(dimNames.begin(), dimNames.end());
  auto program = ProgramOp::create(
      builder, at(op.loc),
      builder.getStringAttr((isGradient ? "grad_" : "") + op.name),
      builder.getStrArrayAttr(dims), tensorAttrs(), scalarAttrs(),
      builder.getArrayAttr(promises), paramAttrs(),
      /*version=*/nullptr, /*version_of=*/nullptr,
      /*row_threads=*/nullptr, /*conditions=*/nullptr,
      /*shared_memory=*/nullptr);
  builder.createBlock(&program.getBody());
  setSchedulePins(program, schedulePins());
  const OpDecl &base = *chain.back();
  if (base.kernels.empty())
    diags.error(base.loc, "op '" + base.name + "' has no kernel");
  std::set<StringRef> names;
  for (const KernelDecl &kernel : base.kernels) {
    if (!names.insert(kernel.name).second)
      diags.error(kernel.loc, "kernel '" + kernel.name + "' is defined twice");
    else if (StringRef(kernel.name).starts_with("init_"))
      diags.error(kernel.loc,
                  "kernel '" + kernel.name +
                      "' has a name that starts with 'init_'",
                  "such kernels are the compiler's: they store out_init");
    else
      emitKernels(kernel, builder);
  }
  if (diags.hasErrors())
    return {};
  // Which ranges are split is known now.
  setLaunchSizes(program, chosenSizes());
  setBroadcastDims(program, broadcastDims());
  setReducedDims(program, reducedDims);
  setUniqueTensors(program, uniqueTensors());
  // Variables that loops carry for nobody: sums that another kernel adds in
  // order, too.
  PassManager pm(ctx, ModuleOp::getOperationName());
  pm.addPass(createRemoveDeadValuesPass());
  if (failed(pm.run(*module)))
    return {};
  eraseDeadOps(*module);
  eraseUnusedTemps(program);
  return module;
}

void Elaborator::emitKernel(const KernelDecl &kernel, OpBuilder &builder) {
  auto block = std::make_unique<Block>();
  Builder b(ctx);
  for (size_t i = 0; i < dimNames.size(); ++i)
    block->addArgument(b.getI32Type(), at(chain.back()->loc));
  for (const TensorInfo &t : tensors)
    block->addArgument(GlobalType::get(ctx, t.dims.size(), t.element),
                       at(t.decl->loc));
  for (const ScalarInfo &s : scalars)
    block->addArgument(s.type, at(s.decl->loc));
  kernelBlock = block.get();
  currentKernel = &kernel;
  leftAdds.clear();
  tb = std::make_unique<TileBuilder>(ctx, kernelBlock);
  stores = std::make_unique<StoreCheck>(diags);
  for (auto [i, tensor] : llvm::enumerate(tensors)) {
    tensor.isStoredBefore |= tensor.isStoredHere;
    tensor.isStoredHere = tensor.isLoadedHere = false;
    if (!tensor.decl->isStored() && tensor.element.isInteger(32))
      stores->declare(block->getArgument(dimNames.size() + i),
                      tensor.decl->name, tensor.isUnique);
  }
  folds = std::make_unique<FoldCheck>(diags);
  diffLoads.clear();
  bound.clear();
  frames.clear();
  frames.emplace_back().scopes.emplace_back();

  llvm::scope_exit leave([&] {
    frames.clear();
    tb.reset();
    stores.reset();
    folds.reset();
    kernelBlock = nullptr;
    currentKernel = nullptr;
  });
  if (kernel.condition &&
      !constantCondition(*kernel.condition,
                         evalCondition(*kernel.condition, "condition of 'if'"))
           .value_or(false))
    return;

  SmallVector<Attribute> iters;
  unsigned errorsBefore = diags.errorCount();
  bool ok = true;
  std::optional<SegmentRange> segments = findSegments(kernel, ok);
  // Rows that a loop takes are no tiles to be handed out.
  if (segments && (isLoopInOrder(*segments->rows, 0) ||
                   isLoopInOrder(*segments->segment, 0)))
    segments.reset();
  for (const RangeDecl &range : kernel.ranges) {
    if (!ok)
      break;
    if (range.names.size() == 1 && isLoopInOrder(range, 0))
      continue;
    if (segments && &range == segments->rows)
      ok = bindSegments(*segments, *block, iters);
    else if (!segments || &range != segments->segment)
      ok = bindKernelRange(range, *block, iters);
  }
  stores->endRanges();
  if (ok)
    elaborateInOrder(orderedAdds ? ArrayRef(orderedAdds->loops)
                                 : ArrayRef<KernelIndex>(),
                     kernel);
  tb->createHere<ReturnOp>(at(kernel.loc));
  dropSigns(*block);
  // What an error leaves out would be reported again.
  if (diags.errorCount() == errorsBefore)
    folds->run(*block);

  // Of a kernel whose additions have kernels of their own nothing may be left.
  bool isEmpty =
      !leftAdds.empty() &&
      !kernelBlock->walk([](StoreOp) { return WalkResult::interrupt(); })
           .wasInterrupted();
  if (isEmpty)
    return;
  SmallVector<NamedAttribute> attrs{
      b.getNamedAttr("sym_name",
                     b.getStringAttr(orderedAdds ? StringRef(orderedAdds->name)
                                                 : kernel.name)),
      b.getNamedAttr("ranges", b.getArrayAttr(iters)),
      b.getNamedAttr("axes", tb->axesAttr())};
  auto op = KernelOp::create(builder, at(kernel.loc), TypeRange(), ValueRange(),
                             attrs);
  op.getBody().push_back(block.release());
  tellBindings(op);
}

void Elaborator::tellBindings(KernelOp kernel) {
  // Some have left the program since.
  DenseSet<Value> present;
  if (!bound.empty())
    kernel.walk([&](Block *block) {
      present.insert_range(block->getArguments());
      for (Operation &op : *block)
        present.insert_range(op.getResults());
    });
  auto isPresent = [&](Value value) { return present.contains(value); };
  for (const auto &[loc, value, preds] : bound)
    if (isPresent(value) && llvm::all_of(preds, isPresent))
      onBinding(loc, value, preds);
  bound.clear();
}

/// Bytes have no sign inside kernels: what widens them says which they are.
void Elaborator::dropSigns(Block &kernel) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](IntegerType type) { return signlessOf(type); });
  for (BlockArgument argument : kernel.getArguments())
    argument.setType(replacer.replace(argument.getType()));
  SmallVector<UnrealizedConversionCastOp> casts;
  kernel.walk([&](Operation *op) {
    replacer.replaceElementsIn(op, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                               /*replaceTypes=*/true);
    if (auto cast = dyn_cast<UnrealizedConversionCastOp>(op))
      casts.push_back(cast);
  });
  for (UnrealizedConversionCastOp cast : casts) {
    cast.getResult(0).replaceAllUsesWith(cast.getOperand(0));
    cast.erase();
  }
}

void Elaborator::eraseDeadOps(Operation *root) {
  // Predicates that reached no sink, and what only they used.
  SmallVector<Operation *> ops;
  root->walk([&](Operation *op) { ops.push_back(op); });
  for (bool changed = true; changed;) {
    changed = false;
    for (Operation *&op : llvm::reverse(ops)) {
      if (op && op != root && isOpTriviallyDead(op) &&
          op->getNumRegions() == 0) {
        op->erase();
        op = nullptr;
        changed = true;
      }
    }
  }
}

} // namespace selvedge::frontend
