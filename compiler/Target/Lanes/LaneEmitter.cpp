// Emits the code of one thread of a kernel: structure and elementwise
// operations. SPDX-License-Identifier: MIT
#include "compiler/Target/Lanes/LaneEmitter.h"
#include "dialect/Sm/SmScheduler.h"

#include "mlir/IR/Matchers.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/SaveAndRestore.h"

namespace selvedge::lanes {

using namespace mlir;
using namespace selvedge::sm;

Value LaneEmitter::i32(int64_t v) {
  return arith::ConstantIntOp::create(b, loc(), v, 32);
}

Value LaneEmitter::add(Value x, Value y) {
  return arith::AddIOp::create(b, loc(), x, y);
}

Value LaneEmitter::mul(Value x, Value y) {
  return arith::MulIOp::create(b, loc(), x, y);
}

Value LaneEmitter::zero(Type type) {
  return arith::ConstantOp::create(b, loc(), b.getZeroAttr(type));
}

Value LaneEmitter::conjunction(ArrayRef<Value> values) {
  Value result;
  for (Value v : values)
    if (v)
      result = result && result != v
                   ? arith::AndIOp::create(b, loc(), result, v).getResult()
                   : v;
  return result;
}

Value LaneEmitter::intrinsic(StringRef name, Type result, ValueRange args) {
  auto call = result
                  ? LLVM::CallIntrinsicOp::create(b, loc(), result,
                                                  b.getStringAttr(name), args)
                  : LLVM::CallIntrinsicOp::create(b, loc(),
                                                  b.getStringAttr(name), args);
  return result ? call.getResult(0) : Value();
}

Value LaneEmitter::inlineAsm(Type result, ValueRange args, StringRef text,
                             StringRef constraints) {
  auto op = LLVM::InlineAsmOp::create(
      b, loc(), result ? TypeRange(result) : TypeRange(), args, text,
      constraints,
      /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT),
      ArrayAttr());
  return result ? op.getRes() : Value();
}

Value LaneEmitter::pair(Value low, Value high) {
  // The halves of one vector are that vector.
  auto half = [](Value v, int64_t index) -> Value {
    auto extract = v.getDefiningOp<LLVM::ExtractElementOp>();
    if (!extract ||
        cast<VectorType>(extract.getVector().getType()).getNumElements() != 2)
      return {};
    auto position = extract.getPosition().getDefiningOp<arith::ConstantIntOp>();
    return position && position.value() == index ? extract.getVector()
                                                 : Value();
  };
  if (Value whole = half(low, 0); whole && whole == half(high, 1))
    return whole;
  Value vector =
      LLVM::PoisonOp::create(b, loc(), VectorType::get({2}, low.getType()));
  vector = LLVM::InsertElementOp::create(b, loc(), vector, low, i32(0));
  return LLVM::InsertElementOp::create(b, loc(), vector, high, i32(1));
}

/// Whether registers of this type travel in pairs.
static bool isPaired(Type element, int64_t count) {
  return (element.isBF16() || element.isF16()) && count % 2 == 0;
}

SmallVector<Type> LaneEmitter::carriedTypes(TypeRange types) {
  SmallVector<Type> result;
  for (Type type : types) {
    if (isa<TokenType>(type))
      continue;
    Type element = getElementTypeOrSelf(type);
    LayoutAttr layout = layoutOf(type);
    int64_t count = layout ? layout.getNumRegs() : 1;
    if (isPaired(element, count))
      result.append(count / 2, pairType(element));
    else
      result.append(count, element);
  }
  return result;
}

Value LaneEmitter::castTo(Type type, Value v) {
  return v.getType() == type
             ? v
             : LLVM::BitcastOp::create(b, loc(), type, v).getResult();
}

SmallVector<Value> LaneEmitter::carry(ValueRange values) {
  SmallVector<Value> result;
  for (Value v : values) {
    Registers &all = lanes(v);
    if (isa<TokenType>(v.getType()))
      continue;
    Type element = getElementTypeOrSelf(v.getType());
    if (!isPaired(element, all.size())) {
      llvm::append_range(result, all);
      continue;
    }
    for (size_t i = 0; i < all.size(); i += 2)
      result.push_back(castTo(pairType(element), pair(all[i], all[i + 1])));
  }
  return result;
}

void LaneEmitter::bindCarried(ValueRange values, ValueRange carried) {
  unsigned next = 0;
  for (Value v : values) {
    unsigned count = carriedTypes(v.getType()).size();
    Registers all;
    LayoutAttr layout = layoutOf(v.getType());
    Type element = getElementTypeOrSelf(v.getType());
    bool isPair = layout && isPaired(element, layout.getNumRegs());
    for (Value c : carried.slice(next, count)) {
      if (!isPair) {
        all.push_back(c);
        continue;
      }
      Value both = castTo(VectorType::get({2}, element), c);
      for (int64_t i = 0; i < 2; ++i)
        all.push_back(LLVM::ExtractElementOp::create(b, loc(), both, i32(i)));
    }
    registers[v] = std::move(all);
    next += count;
  }
}

Value LaneEmitter::laneOf(Value v, LayoutAttr full, int64_t reg) {
  Registers &all = registers[v];
  LayoutAttr own = layoutOf(v.getType());
  if (!own)
    return all.front();
  SmallVector<int64_t> position = full.unflatten(reg), mine;
  for (AxisLayoutAttr axis : own.getAxes())
    mine.push_back(position[full.indexOf(axis.getName())]);
  return all[own.flatten(mine)];
}

/// Runs of doubling strides become one shift, mask and multiply.
Value bitSum(OpBuilder &b, Location loc, Value id, ArrayRef<int64_t> strides) {
  auto constant = [&](int64_t v) -> Value {
    return arith::ConstantIntOp::create(b, loc, v, 32);
  };
  Value sum;
  for (size_t first = 0; first < strides.size();) {
    size_t last = first + 1;
    while (last < strides.size() && strides[first] != 0 &&
           strides[last] == 2 * strides[last - 1])
      ++last;
    if (strides[first] != 0) {
      Value part =
          first
              ? arith::ShRUIOp::create(b, loc, id, constant(first)).getResult()
              : id;
      if (last < strides.size())
        part = arith::AndIOp::create(
            b, loc, part, constant((int64_t(1) << (last - first)) - 1));
      part = arith::MulIOp::create(b, loc, part, constant(strides[first]));
      sum = sum ? arith::AddIOp::create(b, loc, sum, part).getResult() : part;
    }
    first = last;
  }
  return sum;
}

static bool isAcrossWarps(AxisLayoutAttr axis) {
  return llvm::any_of(axis.getWarps(), [](int64_t stride) { return stride; });
}

Value LaneEmitter::threadPart(AxisLayoutAttr axis) {
  if (rareLane && !isAcrossWarps(axis)) {
    Value part = bitSum(b, loc(), rareLane, axis.getLanes());
    return part ? part : i32(0);
  }
  Value &cached = threadParts[axis];
  if (cached)
    return cached;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(warpId.getDefiningOp());
  Value fromLane = bitSum(b, kernel.getLoc(), laneId, axis.getLanes());
  Value fromWarp = bitSum(b, kernel.getLoc(), warpId, axis.getWarps());
  if (fromLane && fromWarp)
    return cached =
               arith::AddIOp::create(b, kernel.getLoc(), fromLane, fromWarp);
  if (fromLane || fromWarp)
    return cached = fromLane ? fromLane : fromWarp;
  return cached = arith::ConstantIntOp::create(b, kernel.getLoc(), 0, 32);
}

/// Size of a TMA descriptor (CUDA driver API, "CUtensorMap").
static constexpr int64_t tensorMapBytes = 128;

/// Whether a kernel reads rows more than once, by vectors.
static bool readsRowsAgain(KernelOp kernel) {
  bool readsAgain = false;
  kernel.walk([&](LoadOp load) {
    readsAgain |= load.getVector() > 1 && load.getCache() == Cache::EvictLast;
  });
  return readsAgain;
}

/// Blocks that a multiprocessor shall run at a time. Rows that are read more
/// than once are given threads on the ground that 1024 are resident
/// (`tile-row-classes`).
static int32_t residentBlocks(KernelOp kernel, bool readsAgain) {
  constexpr int64_t residentThreads = 1024;
  return readsAgain
             ? std::max<int64_t>(1, residentThreads / (32 * kernel.getWarps()))
             : 1;
}

void LaneEmitter::emitSignature() {
  isBoundByIssue = readsRowsAgain(kernel);
  multipliesByWarps = kernel.walk([](MmaOp) { return WalkResult::interrupt(); })
                          .wasInterrupted();
  MLIRContext *ctx = b.getContext();
  SmallVector<Type> types;
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    if (auto tensor = dyn_cast<tile::GlobalType>(argument.getType())) {
      types.push_back(LLVM::LLVMPointerType::get(ctx, 1));
      types.append(tensor.getRank(), b.getI64Type());
    } else if (isa<TensorMapType>(argument.getType())) {
      types.push_back(LLVM::LLVMPointerType::get(ctx));
    } else if (isa<CounterType>(argument.getType())) {
      types.push_back(LLVM::LLVMPointerType::get(ctx, 1));
    } else {
      types.push_back(argument.getType());
    }
  }
  function = LLVM::LLVMFuncOp::create(
      b, kernel.getLoc(), kernel.getSymName(),
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(ctx), types));
  function->setAttr("nvvm.kernel", b.getUnitAttr());
  function->setAttr("nvvm.maxntid",
                    b.getDenseI32ArrayAttr(
                        {static_cast<int32_t>(32 * kernel.getWarps()), 1, 1}));
  function->setAttr("nvvm.minctasm", b.getI32IntegerAttr(residentBlocks(
                                         kernel, isBoundByIssue)));
  Block *entry = function.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  unsigned next = 0;
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    if (auto tensor = dyn_cast<tile::GlobalType>(argument.getType())) {
      Global &global = globals[argument];
      global.pointer = entry->getArgument(next++);
      for (unsigned d = 0; d < tensor.getRank(); ++d)
        global.strides.push_back(entry->getArgument(next++));
      auto known =
          cast<PointerArgAttr>(kernel.getArgs()[argument.getArgNumber()])
              .getStrides();
      for (auto [stride, value] :
           llvm::zip(llvm::reverse(known), llvm::reverse(global.strides)))
        value = arith::ConstantIntOp::create(b, kernel.getLoc(), stride, 64);
    } else {
      // The descriptor lies in the parameter space; without these attributes it
      // would be copied to local memory, where TMA cannot read it.
      if (isa<TensorMapType>(argument.getType())) {
        function.setArgAttr(next, "llvm.byval",
                            TypeAttr::get(LLVM::LLVMArrayType::get(
                                b.getI8Type(), tensorMapBytes)));
        function.setArgAttr(next, "llvm.align", b.getI64IntegerAttr(64));
        function.setArgAttr(next, "nvvm.grid_constant", b.getUnitAttr());
      }
      registers[argument] = {entry->getArgument(next++)};
    }
  }
  thread = intrinsic("llvm.nvvm.read.ptx.sreg.tid.x", b.getI32Type(), {});
  laneId = arith::AndIOp::create(b, loc(), thread, i32(31));
  // The shuffle tells ptxas that the warp number is the same in all lanes.
  Value warp = arith::ShRUIOp::create(b, loc(), thread, i32(5));
  warpId = intrinsic("llvm.nvvm.shfl.sync.idx.i32", b.getI32Type(),
                     {i32(-1), warp, i32(0), i32(31)});
}

LogicalResult LaneEmitter::run() {
  emitSignature();
  if (failed(emitBlock(kernel.getBody().front())))
    return failure();
  LLVM::ReturnOp::create(b, kernel.getLoc(), ValueRange());
  return success();
}

LogicalResult LaneEmitter::emitBlock(Block &block) {
  for (Operation &op : block) {
    current = &op;
    if (failed(emitOp(op)))
      return failure();
  }
  return success();
}

Value LaneEmitter::emitBlockId(BlockIdOp op) {
  Value block =
      intrinsic("llvm.nvvm.read.ptx.sreg.ctaid.x", b.getI32Type(), {});
  if (!op.getColumns())
    return block;
  // BlockIdOp::placeOf().
  auto quotient = [&](Value x, Value y) -> Value {
    return arith::DivUIOp::create(b, loc(), x, y);
  };
  auto difference = [&](Value x, Value y) -> Value {
    return arith::SubIOp::create(b, loc(), x, y);
  };
  Value columns = lane1(op.getColumns()),
        blocks =
            intrinsic("llvm.nvvm.read.ptx.sreg.nctaid.x", b.getI32Type(), {});
  Value most = arith::MaxUIOp::create(
      b, loc(), i32(1), quotient(i32(BlockIdOp::windowPlaces), columns));
  Value first = mul(quotient(block, mul(most, columns)), most);
  Value rows = arith::MinUIOp::create(
      b, loc(), most, difference(quotient(blocks, columns), first));
  Value inside = difference(block, mul(first, columns)),
        column = quotient(inside, rows),
        row = add(first, difference(inside, mul(column, rows)));
  return add(mul(row, columns), column);
}

LogicalResult LaneEmitter::emitOp(Operation &op) {
  if (isa<sm::ReturnOp>(op))
    return success();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return emitFor(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return emitIf(branch);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return emitWhile(loop);
  if (auto mma = dyn_cast<MmaOp>(op))
    return emitMma(mma);
  if (auto yield = dyn_cast<scf::YieldOp>(op)) {
    scf::YieldOp::create(b, loc(), carry(yield.getResults()));
    return success();
  }
  if (auto condition = dyn_cast<scf::ConditionOp>(op)) {
    scf::ConditionOp::create(b, loc(), lane1(condition.getCondition()),
                             carry(condition.getArgs()));
    return success();
  }
  if (auto block = dyn_cast<BlockIdOp>(op))
    lanes(block) = {emitBlockId(block)};
  else if (isa<BarrierOp>(op))
    intrinsic("llvm.nvvm.barrier.cta.sync.aligned.all", {}, {i32(0)});
  else if (isa<AwaitLaunchOp>(op))
    inlineAsm({}, {}, "griddepcontrol.wait;", "~{memory}");
  else if (isa<AdmitLaunchOp>(op))
    inlineAsm({}, {}, "griddepcontrol.launch_dependents;", "~{memory}");
  else if (auto present = dyn_cast<IsPresentOp>(op)) {
    Value null = LLVM::ZeroOp::create(
        b, loc(), LLVM::LLVMPointerType::get(b.getContext(), 1));
    lanes(present) = {LLVM::ICmpOp::create(b, loc(), LLVM::ICmpPredicate::ne,
                                           globals[present.getTensor()].pointer,
                                           null)};
  } else if (auto range = dyn_cast<RangeOp>(op))
    emitRange(range);
  else if (auto splat = dyn_cast<SplatOp>(op))
    lanes(splat) = Registers(layoutOf(splat.getType()).getNumRegs(),
                             lane1(splat.getValue()));
  else if (auto broadcast = dyn_cast<BroadcastOp>(op))
    emitBroadcast(broadcast);
  else if (auto convert = dyn_cast<ConvertOp>(op)) {
    if (convert.getOverflow() == tile::Overflow::Sat)
      return convert.emitOpError("expects 'clamp' or 'inf': sm-keep-infinity "
                                 "tells what is too large from Inf");
    emitConvert(convert);
  } else if (auto any = dyn_cast<AnyOp>(op))
    emitAny(any);
  else if (auto test = dyn_cast<NotFiniteOp>(op))
    emitNotFinite(test);
  else if (auto fold = dyn_cast<FoldOp>(op))
    emitFold(fold);
  else if (auto reduce = dyn_cast<ReduceOp>(op))
    return emitReduce(reduce);
  else if (auto relayout = dyn_cast<RelayoutOp>(op))
    return emitRelayout(relayout);
  else if (auto load = dyn_cast<LoadOp>(op))
    emitLoad(load);
  else if (auto store = dyn_cast<StoreOp>(op))
    emitStore(store);
  else if (auto alloc = dyn_cast<AllocOp>(op))
    emitAlloc(alloc);
  else if (auto slot = dyn_cast<SlotOp>(op))
    emitSlot(slot);
  else if (auto copy = dyn_cast<CopyAsyncOp>(op))
    emitCopy(copy);
  else if (auto await = dyn_cast<AwaitOp>(op))
    emitAwait(await);
  else if (auto stage = dyn_cast<StageOp>(op))
    emitStage(stage);
  else
    return emitElementwise(op);
  return success();
}

void LaneEmitter::keepRolled(scf::ForOp loop) {
  MLIRContext *ctx = b.getContext();
  auto unroll = LLVM::LoopUnrollAttr::get(ctx, BoolAttr::get(ctx, true), {}, {},
                                          {}, {}, {}, {});
  loop->setAttr("loop_annotation", LLVM::LoopAnnotationAttr::get(
                                       ctx, {}, {}, {}, unroll, {}, {}, {}, {},
                                       {}, {}, {}, {}, {}, {}, {}));
}

bool LaneEmitter::isRare(Operation *op) {
  for (Operation *inner = op, *outer = op->getParentOp(); outer;
       inner = outer, outer = outer->getParentOp())
    if (auto branch = dyn_cast<scf::IfOp>(outer);
        branch &&
        isa_and_present<AnyOp, NotFiniteOp>(
            branch.getCondition().getDefiningOp()) &&
        inner->getBlock() == branch.thenBlock())
      return true;
  return false;
}

LogicalResult LaneEmitter::emitFor(scf::ForOp loop) {
  SmallVector<Value> inits = carry(loop.getInitArgs());
  auto emitted = scf::ForOp::create(
      b, loc(), loopBound(loop, loop.getLowerBound()),
      loopBound(loop, loop.getUpperBound()), lane1(loop.getStep()), inits);
  if (isRare(loop))
    keepRolled(emitted);
  registers[loop.getInductionVar()] = {emitted.getInductionVar()};
  {
    OpBuilder::InsertionGuard guard(b);
    if (inits.empty())
      emitted.getBody()->getTerminator()->erase();
    b.setInsertionPointToEnd(emitted.getBody());
    bindCarried(loop.getRegionIterArgs(), emitted.getRegionIterArgs());
    if (rareLane)
      registers[loop.getInductionVar()] = {
          inlineAsm(b.getI32Type(), {emitted.getInductionVar()},
                    "mov.b32 $0, $1;", "=r,r")};
    if (failed(emitBlock(*loop.getBody())))
      return failure();
  }
  bindCarried(loop.getResults(), emitted.getResults());
  return success();
}

LogicalResult LaneEmitter::emitWhile(scf::WhileOp loop) {
  auto emitted = scf::WhileOp::create(
      b, loc(), carriedTypes(loop.getResultTypes()), carry(loop.getInits()));
  for (auto [from, to] :
       llvm::zip_equal(loop->getRegions(), emitted->getRegions())) {
    Block &source = from.front(), &block = to.emplaceBlock();
    for (Type type : carriedTypes(source.getArgumentTypes()))
      block.addArgument(type, loop.getLoc());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(&block);
    bindCarried(source.getArguments(), block.getArguments());
    if (failed(emitBlock(source)))
      return failure();
  }
  bindCarried(loop.getResults(), emitted.getResults());
  return success();
}

LogicalResult LaneEmitter::emitIf(scf::IfOp branch) {
  auto emitted = scf::IfOp::create(
      b, loc(), carriedTypes(branch.getResultTypes()), branchCondition(branch),
      !branch.getElseRegion().empty());
  for (auto [from, to] :
       llvm::zip_equal(branch->getRegions(), emitted->getRegions())) {
    if (from.empty())
      continue;
    OpBuilder::InsertionGuard guard(b);
    to.front().clear();
    b.setInsertionPointToEnd(&to.front());
    bool loads = from.walk([](LoadOp) { return WalkResult::interrupt(); })
                     .wasInterrupted();
    Operation &last = from.front().back();
    if (failed(loads && !rareLane && isRare(&last) ? emitRareBlock(from.front())
                                                   : emitBlock(from.front())))
      return failure();
  }
  bindCarried(branch.getResults(), emitted.getResults());
  return success();
}

/// Reads the lane's number anew, so that nothing that depends on it is computed
/// before, and kept.
LogicalResult LaneEmitter::emitRareBlock(Block &block) {
  llvm::SaveAndRestore lane(rareLane);
  rareLane = inlineAsm(b.getI32Type(), {}, "mov.u32 $0, %laneid;", "=r");
  llvm::SetVector<RangeOp> ranges;
  block.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (auto range = operand.getDefiningOp<RangeOp>();
          range && !block.findAncestorOpInBlock(*range) &&
          !isAcrossWarps(layoutOf(range.getType()).getAxes()[0]))
        ranges.insert(range);
  });
  SmallVector<std::pair<Value, Registers>> before;
  for (RangeOp range : ranges) {
    before.emplace_back(range, lanes(range));
    emitRange(range);
  }
  LogicalResult emitted = emitBlock(block);
  for (auto &[range, kept] : before)
    lanes(range) = kept;
  return emitted;
}

/// A half of a word that was loaded, widened: a bf16 is the upper half of an
/// f32, which takes one instruction instead of two.
static Value widenHalf(OpBuilder &b, Operation &op, Value half) {
  auto extract = half.getDefiningOp<LLVM::ExtractElementOp>();
  auto pair =
      extract ? extract.getVector().getDefiningOp<LLVM::BitcastOp>() : nullptr;
  if (!isa<arith::ExtFOp>(op) || !half.getType().isBF16() || !pair ||
      !pair.getArg().getType().isInteger(32))
    return {};
  APInt position;
  if (!matchPattern(extract.getPosition(), m_ConstantInt(&position)))
    return {};
  Location loc = op.getLoc();
  auto constant = [&](int64_t v) {
    return arith::ConstantIntOp::create(b, loc, v, 32);
  };
  Value bits = position.isZero()
                   ? arith::ShLIOp::create(b, loc, pair.getArg(), constant(16))
                         .getResult()
                   : arith::AndIOp::create(b, loc, pair.getArg(),
                                           constant(-(int64_t(1) << 16)))
                         .getResult();
  return LLVM::BitcastOp::create(b, loc, b.getF32Type(), bits);
}

Value LaneEmitter::scalarOp(Operation &op, ArrayRef<Value> operands) {
  if (isBoundByIssue && operands.size() == 1)
    if (Value widened = widenHalf(b, op, operands[0]))
      return widened;
  NamedAttrList attrs(op.getAttrs());
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue()))
      attrs.set("value", dense.getSplatValue<Attribute>());
  OperationState state(op.getLoc(), op.getName());
  state.addOperands(operands);
  state.addTypes(getElementTypeOrSelf(op.getResult(0).getType()));
  state.attributes = attrs;
  return b.create(state)->getResult(0);
}

/// Whether two scalars are the same conjunction.
static bool isSameCondition(Value a, Value b) {
  if (a == b)
    return true;
  auto x = a.getDefiningOp<arith::AndIOp>(),
       y = b.getDefiningOp<arith::AndIOp>();
  return x && y && isSameCondition(x.getLhs(), y.getLhs()) &&
         isSameCondition(x.getRhs(), y.getRhs());
}

/// A choice between two pairs of 16-bit elements under one condition, as it is
/// for columns of a row, is one of words: LLVM would take each half apart.
std::optional<std::pair<Value, Value>>
LaneEmitter::selectPair(arith::SelectOp select, size_t reg) {
  Value condition = elementOf(select.getCondition(), reg);
  if (getElementTypeOrSelf(select.getType()).getIntOrFloatBitWidth() != 16 ||
      !isSameCondition(condition, elementOf(select.getCondition(), reg + 1)))
    return std::nullopt;
  auto word = [&](Value v) {
    return LLVM::BitcastOp::create(
        b, loc(), b.getI32Type(),
        pair(elementOf(v, reg), elementOf(v, reg + 1)));
  };
  Value chosen =
      arith::SelectOp::create(b, loc(), condition, word(select.getTrueValue()),
                              word(select.getFalseValue()));
  Value both = LLVM::BitcastOp::create(
      b, loc(), VectorType::get(2, getElementTypeOrSelf(select.getType())),
      chosen);
  auto half = [&](int64_t at) {
    return LLVM::ExtractElementOp::create(b, loc(), both, i32(at)).getResult();
  };
  return std::pair(half(0), half(1));
}

LogicalResult LaneEmitter::emitElementwise(Operation &op) {
  if (op.getNumRegions() != 0 || op.getNumResults() != 1 ||
      !isMemoryEffectFree(&op))
    return op.emitOpError("has no lowering to this target");
  // Folding may have made a splat constant of a whole tile.
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
        dense && !dense.isSplat())
      return op.emitOpError("expects a splat constant");
  if (doneByLoad.contains(&op)) {
    Registers read = lanes(cast<arith::SelectOp>(op).getTrueValue());
    registers[op.getResult(0)] = read;
    return success();
  }
  LayoutAttr layout = layoutOf(op.getResult(0).getType());
  int64_t count = layout ? layout.getNumRegs() : 1;
  Registers result;
  auto select = dyn_cast<arith::SelectOp>(op);
  if (select && selectByBits(select))
    return success();
  for (int64_t reg = 0; reg < count; ++reg) {
    if (select && reg % 2 == 0 && reg + 1 < count)
      if (auto chosen = selectPair(select, reg)) {
        result.append({chosen->first, chosen->second});
        ++reg;
        continue;
      }
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(elementOf(operand, reg));
    result.push_back(scalarOp(op, operands));
  }
  lanes(op.getResult(0)) = result;
  return success();
}

void LaneEmitter::emitRange(RangeOp range) {
  AxisLayoutAttr axis = layoutOf(range.getType()).getAxes()[0];
  Value base = add(lane1(range.getStart()), threadPart(axis));
  Registers result;
  for (int64_t reg = 0; reg < axis.getNumRegs(); ++reg)
    result.push_back(axis.regOffset(reg) ? add(base, i32(axis.regOffset(reg)))
                                         : base);
  lanes(range) = result;
}

void LaneEmitter::emitBroadcast(BroadcastOp broadcast) {
  LayoutAttr layout = layoutOf(broadcast.getType());
  Registers result;
  for (int64_t reg = 0; reg < layout.getNumRegs(); ++reg)
    result.push_back(laneOf(broadcast.getSource(), layout, reg));
  lanes(broadcast) = result;
}

void LaneEmitter::emitConvert(ConvertOp convert) {
  Type element = getElementTypeOrSelf(convert.getType());
  Type pair = VectorType::get({2}, element);
  std::string name =
      element.isBF16() ? "llvm.nvvm.ff2bf16x2.rn" : "llvm.nvvm.ff2f16x2.rn";
  if (convert.getOverflow() == tile::Overflow::Clamp)
    name += ".satfinite";
  Registers source = lanes(convert.getSource()), result;
  for (size_t reg = 0; reg < source.size(); reg += 2) {
    Value low = source[reg],
          high = reg + 1 < source.size() ? source[reg + 1] : low;
    Value packed = intrinsic(name, pair, {high, low});
    for (int64_t i = 0; i < 2 && reg + i < source.size(); ++i)
      result.push_back(
          LLVM::ExtractElementOp::create(b, loc(), packed, i32(i)));
  }
  lanes(convert) = result;
}

} // namespace selvedge::lanes
