// Emits the code of one thread of a kernel: global and shared memory.
// SPDX-License-Identifier: MIT
#include "compiler/Target/Lanes/LaneEmitter.h"
#include "dialect/Tile/Accumulate.h"

#include "llvm/Support/FormatVariadic.h"

namespace selvedge::lanes {

using namespace mlir;
using namespace selvedge::sm;

//===-- Addresses ---------------------------------------------------------===//

/// The constant that is added to a register's index, if any; `index` becomes
/// the rest.
static int64_t takeConstant(Value &index) {
  auto sum = index.getDefiningOp<arith::AddIOp>();
  auto constant =
      sum ? sum.getRhs().getDefiningOp<arith::ConstantIntOp>() : nullptr;
  if (!constant)
    return 0;
  index = sum.getLhs();
  return constant.value();
}

Value LaneEmitter::offsetPointer(Value pointer, Value tensor,
                                 ArrayRef<Value> indices, bool isContiguous) {
  Type element = cast<tile::GlobalType>(tensor.getType()).getElementType();
  Value size = arith::ConstantIntOp::create(b, loc(), bytesOf(element), 64);
  // The scaled stride is the same in every step, and for all accesses; where
  // code is rarely executed it must not take registers of all other code.
  bool isScaledLast = isRare(current);
  Value offset;
  int64_t ahead = 0;
  for (auto [i, place, stride] :
       llvm::enumerate(indices, globals[tensor].strides)) {
    if (!place)
      continue;
    bool isAdjacent = isContiguous && i + 1 == indices.size();
    Value index = place;
    // The index of an element that exists does not wrap; where none exists the
    // address is not used.
    if (auto known = stride.getDefiningOp<arith::ConstantIntOp>())
      ahead += takeConstant(index) * known.value() * bytesOf(element);
    Value part = arith::ExtSIOp::create(b, loc(), b.getI64Type(), index);
    if (isScaledLast)
      part = isAdjacent ? part : mul(part, stride);
    else
      part = mul(part, isAdjacent ? size : mul(stride, size));
    offset = offset ? add(offset, part) : part;
  }
  if (offset)
    pointer = bytesAhead(pointer, isScaledLast ? mul(offset, size) : offset);
  return bytesAhead(
      pointer, arith::ConstantIntOp::create(b, loc(), ahead, 64).getResult());
}

Value LaneEmitter::elementPointer(Value tensor, ArrayRef<Value> indices) {
  return offsetPointer(globals[tensor].pointer, tensor, indices,
                       /*isContiguous=*/false);
}

Value LaneEmitter::vectorPointer(Value tensor, ArrayRef<Value> indices) {
  // The index of an element that exists does not wrap, nor does it less what a
  // register adds; where none exists the address is not used.
  SmallVector<Value> first(indices);
  int64_t ahead = takeConstant(first.back());
  Type element = cast<tile::GlobalType>(tensor.getType()).getElementType();
  Value pointer = offsetPointer(globals[tensor].pointer, tensor, first,
                                /*isContiguous=*/true);
  return bytesAhead(pointer, static_cast<int32_t>(ahead * bytesOf(element)));
}

Value LaneEmitter::takeStep(Value &index) {
  Value rest = index;
  int64_t ahead = takeConstant(rest);
  auto sum = rest.getDefiningOp<arith::AddIOp>();
  auto loop =
      dyn_cast<LoopLikeOpInterface>(b.getInsertionBlock()->getParentOp());
  if (!sum || !loop || loop.isDefinedOutsideOfLoop(sum.getLhs()) ||
      !llvm::is_contained(llvm::make_second_range(threadParts), sum.getRhs()))
    return {};
  index = add(sum.getRhs(), i32(ahead));
  return sum.getLhs();
}

Value LaneEmitter::stepPointer(Value tensor, ArrayRef<Value> indices) {
  // The elements of a range do not wrap: its start and the place in it may be
  // multiplied one by one.
  SmallVector<Value> places(indices), steps;
  for (Value &place : places)
    steps.push_back(takeStep(place));
  Value pointer = offsetPointer(globals[tensor].pointer, tensor, places,
                                /*isContiguous=*/true);
  return offsetPointer(pointer, tensor, steps, /*isContiguous=*/true);
}

/// The address of an element, as a step from that of the one before where only
/// the last index differs, by a constant: a multiplication for each could be
/// computed ahead, in as many registers. The index of an element that exists
/// does not wrap; where none exists the address is not used.
struct LaneEmitter::Walk {
  SmallVector<Value> place;
  int64_t ahead = 0;
  /// Of all indices.
  SmallVector<int64_t> aheads;
  Value pointer;

  /// The same for accesses by vectors, whichever index it is that differs, from
  /// a first one that is stepPointer()'s: a loop keeps one address, not one for
  /// each of them.
  Value stepTo(LaneEmitter &emitter, Value tensor, ArrayRef<Value> indices) {
    SmallVector<Value> next(indices);
    SmallVector<int64_t> constants =
        llvm::map_to_vector(next, [](Value &v) { return takeConstant(v); });
    SmallVector<size_t> moved;
    for (size_t i = 0; i < constants.size() && pointer && next == place; ++i)
      if (constants[i] != aheads[i])
        moved.push_back(i);
    pointer = pointer && next == place && moved.size() == 1
                  ? emitter.indexAhead(tensor, pointer, moved[0],
                                       constants[moved[0]] - aheads[moved[0]])
                  : emitter.stepPointer(tensor, indices);
    place = next;
    aheads = constants;
    return pointer;
  }

  Value to(LaneEmitter &emitter, Value tensor, ArrayRef<Value> indices) {
    SmallVector<Value> next(indices);
    int64_t nextAhead = next.empty() ? 0 : takeConstant(next.back());
    pointer = pointer && next == place
                  ? emitter.columnsAhead(tensor, pointer, nextAhead - ahead)
                  : emitter.elementPointer(tensor, indices);
    place = next;
    ahead = nextAhead;
    return pointer;
  }
};

Value LaneEmitter::columnsAhead(Value tensor, Value pointer, int64_t columns) {
  Type element = cast<tile::GlobalType>(tensor.getType()).getElementType();
  Value bytes =
      arith::ConstantIntOp::create(b, loc(), columns * bytesOf(element), 64);
  return bytesAhead(pointer, mul(globals[tensor].strides.back(), bytes));
}

Value LaneEmitter::indexAhead(Value tensor, Value pointer, size_t index,
                              int64_t count) {
  Type element = cast<tile::GlobalType>(tensor.getType()).getElementType();
  int64_t bytes = count * bytesOf(element);
  if (index + 1 == globals[tensor].strides.size())
    return bytesAhead(pointer, static_cast<int32_t>(bytes));
  return bytesAhead(pointer,
                    mul(globals[tensor].strides[index],
                        arith::ConstantIntOp::create(b, loc(), bytes, 64)));
}

SmallVector<LaneEmitter::Access>
LaneEmitter::accesses(LayoutAttr layout, Value tensor, ValueRange indices,
                      ValueRange presence, int64_t width, AddressOf addressOf) {
  SmallVector<Access> all;
  forEachAccess(layout, tensor, indices, presence, width, addressOf,
                /*walks=*/false,
                [&](Access &access) { all.push_back(access); });
  return all;
}

void LaneEmitter::forEachAccess(LayoutAttr layout, Value tensor,
                                ValueRange indices, ValueRange presence,
                                int64_t width, AddressOf addressOf, bool walks,
                                llvm::function_ref<void(Access &)> visit) {
  int64_t count = layout ? layout.getNumRegs() : 1;
  auto at = [&](Value v, int64_t reg) {
    return layout ? laneOf(v, layout, reg) : lane1(v);
  };
  // Adjacent elements are consecutive digits of the first register mode of the
  // last index's axis.
  int64_t axis = -1;
  if (width > 1)
    axis = layout.indexOf(
        layoutOf(indices.back().getType()).getAxes()[0].getName());
  // Elements of several rows in a column share a part of their addresses.
  int64_t rows = walks ? layout.getAxes()[0].getNumRegs() : 1;
  SmallVector<Walk> walkOfRow(rows);
  for (int64_t n = 0; n < count; ++n) {
    int64_t reg = n % rows * (count / rows) + n / rows;
    Access access;
    if (width > 1) {
      SmallVector<int64_t> position = layout.unflatten(reg);
      if (position[axis] % width != 0)
        continue;
      for (int64_t i = 0; i < width; ++i, ++position[axis])
        access.regs.push_back(layout.flatten(position));
    } else {
      access.regs.push_back(reg);
    }
    auto place = llvm::map_to_vector(
        indices, [&](Value index) { return at(index, reg); });
    bool isStep = addressOf == &LaneEmitter::stepPointer && width > 1;
    access.pointer = walks        ? walkOfRow[n % rows].to(*this, tensor, place)
                     : isStep     ? walkOfRow[0].stepTo(*this, tensor, place)
                     : width == 1 ? elementPointer(tensor, place)
                                  : (this->*addressOf)(tensor, place);
    // Equal conditions are one value: elements that are present together are
    // accessed together.
    SmallVector<Value> before;
    for (int64_t r : access.regs) {
      auto conditions =
          llvm::map_to_vector(presence, [&](Value p) { return at(p, r); });
      bool isSame = !access.present.empty() && conditions == before;
      access.present.push_back(isSame ? access.present.back()
                                      : conjunction(conditions));
      before = conditions;
    }
    visit(access);
  }
}

Value LaneEmitter::isOwner(LayoutAttr layout) {
  SmallVector<Value> conditions;
  int64_t idleLanes = 31, idleWarps = numWarps - 1;
  if (layout)
    for (AxisLayoutAttr axis : layout.getAxes()) {
      for (auto [bit, stride] : llvm::enumerate(axis.getLanes()))
        idleLanes &= stride ? ~(int64_t(1) << bit) : ~int64_t(0);
      for (auto [bit, stride] : llvm::enumerate(axis.getWarps()))
        idleWarps &= stride ? ~(int64_t(1) << bit) : ~int64_t(0);
    }
  auto isZero = [&](Value id, int64_t mask) {
    Value bits = arith::AndIOp::create(b, loc(), id, i32(mask));
    return arith::CmpIOp::create(b, loc(), arith::CmpIPredicate::eq, bits,
                                 i32(0))
        .getResult();
  };
  if (idleLanes)
    conditions.push_back(isZero(laneId, idleLanes));
  if (idleWarps)
    conditions.push_back(isZero(warpId, idleWarps));
  return conjunction(conditions);
}

//===-- Global accesses ---------------------------------------------------===//

namespace {

/// How `bytes` travel: PTX suffix, register type, constraint letter, count.
struct Words {
  StringRef suffix;
  Type type;
  char constraint;
  int64_t count;
};

Words wordsFor(OpBuilder &b, int64_t bytes) {
  if (bytes == 1)
    return {"b8", b.getI16Type(), 'h', 1};
  if (bytes == 2)
    return {"b16", b.getI16Type(), 'h', 1};
  return {"b32", b.getI32Type(), 'r', bytes / 4};
}

/// How PTX says what an access asks of the first cache.
StringRef suffixOf(std::optional<Cache> cache) {
  if (!cache)
    return "";
  switch (*cache) {
  case Cache::EvictLast:
    return ".L1::evict_last";
  case Cache::EvictFirst:
    return ".L1::evict_first";
  case Cache::Streaming:
    return ".cs";
  }
  llvm_unreachable("a hint of no kind");
}

std::string braces(char first, int64_t from, int64_t count) {
  std::string text;
  for (int64_t i = 0; i < count; ++i)
    text += llvm::formatv("{0}{1}{2}", i ? ", " : "", first, from + i);
  return count == 1 ? text : "{" + text + "}";
}

} // namespace

LaneEmitter::Registers LaneEmitter::loadRaw(Value pointer, Value present,
                                            int64_t bytes, StringRef cache,
                                            Value fill) {
  Words words = wordsFor(b, bytes);
  std::string vector =
      words.count == 1 ? "" : llvm::formatv(".v{0}", words.count).str();
  std::string outputs, clear;
  for (int64_t i = 0; i < words.count; ++i) {
    outputs += llvm::formatv("=&{0},", words.constraint);
    clear += llvm::formatv("mov.{0} ${1}, {2}; ",
                           words.constraint == 'h' ? "b16" : "b32", i,
                           fill ? "$" + std::to_string(words.count + 2) : "0");
  }
  std::string targets = braces('$', 0, words.count);
  SmallVector<Value> args{pointer};
  std::string text, constraints = outputs + "l";
  if (present) {
    args.push_back(present);
    constraints += ",b";
    if (fill) {
      bool isHalf = words.constraint == 'h';
      args.push_back(
          isHalf
              ? arith::TruncIOp::create(b, loc(), words.type, fill).getResult()
              : fill);
      constraints += isHalf ? ",h" : ",r";
    }
    text = llvm::formatv("{0}@${3} ld.global{6}{1}.{2} {4}, [${5}];", clear,
                         vector, words.suffix, words.count + 1, targets,
                         words.count, cache);
  } else {
    text = llvm::formatv("ld.global{4}{0}.{1} {2}, [${3}];", vector,
                         words.suffix, targets, words.count, cache);
  }
  Type result = words.type;
  if (words.count > 1)
    result = LLVM::LLVMStructType::getLiteral(
        b.getContext(), SmallVector<Type>(words.count, words.type));
  Value loaded = inlineAsm(result, args, text, constraints);
  if (words.count == 1)
    return {loaded};
  Registers raw;
  for (int64_t w = 0; w < words.count; ++w)
    raw.push_back(LLVM::ExtractValueOp::create(b, loc(), loaded, w));
  return raw;
}

LaneEmitter::Registers LaneEmitter::unpack(ArrayRef<Value> words, int64_t bytes,
                                           Type element) {
  if (element.isInteger(1)) {
    // In memory a condition is a byte, true if any bit is set.
    Registers bits = unpack(words, bytes, b.getI8Type());
    for (Value &bit : bits)
      bit = arith::CmpIOp::create(b, loc(), arith::CmpIPredicate::ne, bit,
                                  zero(bit.getType()));
    return bits;
  }
  Registers elements;
  int64_t perWord =
      std::max<int64_t>(1, std::min<int64_t>(4, bytes) / bytesOf(element));
  for (Value word : words) {
    if (perWord > 1) {
      Value pair = LLVM::BitcastOp::create(
          b, loc(), VectorType::get({perWord}, element), word);
      for (int64_t i = 0; i < perWord; ++i)
        elements.push_back(
            LLVM::ExtractElementOp::create(b, loc(), pair, i32(i)));
      continue;
    }
    if (bytes == 1)
      word = arith::TruncIOp::create(b, loc(), element, word);
    elements.push_back(
        word.getType() == element
            ? word
            : LLVM::BitcastOp::create(b, loc(), element, word).getResult());
  }
  return elements;
}

LaneEmitter::Registers LaneEmitter::loadWords(Value pointer, Value present,
                                              int64_t bytes, Type element,
                                              StringRef cache) {
  return unpack(loadRaw(pointer, present, bytes, cache), bytes, element);
}

void LaneEmitter::storeWords(Value pointer, Value present,
                             ArrayRef<Value> values, StringRef cache) {
  if (values.front().getType().isInteger(1)) {
    SmallVector<Value> asBytes = llvm::map_to_vector(values, [&](Value v) {
      return arith::ExtUIOp::create(b, loc(), b.getI8Type(), v).getResult();
    });
    return storeWords(pointer, present, asBytes, cache);
  }
  Type element = values.front().getType();
  int64_t bytes = bytesOf(element) * values.size();
  Words words = wordsFor(b, bytes);
  int64_t perWord = values.size() / words.count;
  SmallVector<Value> args;
  std::string constraints;
  for (int64_t w = 0; w < words.count; ++w) {
    Value word = values[w * perWord];
    if (perWord > 1) {
      Type pairType = VectorType::get({perWord}, element);
      Value pair = LLVM::PoisonOp::create(b, loc(), pairType);
      for (int64_t i = 0; i < perWord; ++i)
        pair = LLVM::InsertElementOp::create(b, loc(), pair,
                                             values[w * perWord + i], i32(i));
      word = pair;
    }
    if (bytes == 1)
      word = arith::ExtUIOp::create(b, loc(), words.type, word);
    args.push_back(
        word.getType() == words.type
            ? word
            : LLVM::BitcastOp::create(b, loc(), words.type, word).getResult());
    constraints += words.constraint;
    constraints += ",";
  }
  args.push_back(pointer);
  constraints += "l";
  std::string guard;
  if (present) {
    args.push_back(present);
    constraints += ",b";
    guard = llvm::formatv("@${0} ", words.count + 1);
  }
  std::string vector =
      words.count == 1 ? "" : llvm::formatv(".v{0}", words.count).str();
  std::string text = llvm::formatv("{0}st.global{5}{1}.{2} [${3}], {4};", guard,
                                   vector, words.suffix, words.count,
                                   braces('$', 0, words.count), cache);
  inlineAsm({}, args, text, constraints + ",~{memory}");
}

LaneEmitter::Registers LaneEmitter::loadAccess(const Access &access,
                                               Type element, StringRef cache) {
  int64_t width = access.regs.size();
  if (access.isUniform())
    return loadWords(access.pointer, access.present.front(),
                     width * bytesOf(element), element, cache);
  // Only where all lanes exist may one instruction read them together.
  auto branch = scf::IfOp::create(b, loc(), SmallVector<Type>(width, element),
                                  conjunction(access.present), true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(
      b, loc(),
      loadWords(access.pointer, {}, width * bytesOf(element), element, cache));
  b.setInsertionPointToStart(branch.elseBlock());
  Registers single;
  for (int64_t i = 0; i < width; ++i) {
    Value pointer =
        bytesAhead(access.pointer, static_cast<int32_t>(i * bytesOf(element)));
    llvm::append_range(single, loadWords(pointer, access.present[i],
                                         bytesOf(element), element, cache));
  }
  scf::YieldOp::create(b, loc(), single);
  return Registers(branch.getResults());
}

void LaneEmitter::storeAccess(const Access &access, ArrayRef<Value> values,
                              StringRef cache) {
  if (access.isUniform()) {
    storeWords(access.pointer, access.present.front(), values, cache);
    return;
  }
  auto branch = scf::IfOp::create(b, loc(), TypeRange(),
                                  conjunction(access.present), true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  storeWords(access.pointer, {}, values, cache);
  b.setInsertionPointToStart(branch.elseBlock());
  for (auto [i, v] : llvm::enumerate(values)) {
    Value pointer = bytesAhead(access.pointer,
                               static_cast<int32_t>(i * bytesOf(v.getType())));
    storeWords(pointer, access.present[i], v, cache);
  }
}

void LaneEmitter::addElement(Value pointer, Value present, Value value) {
  bool isFloat = isa<FloatType>(value.getType());
  std::string text =
      llvm::formatv("{0}red.global.add.{1} [$0], $1;", present ? "@$2 " : "",
                    isFloat ? "f32" : "u32");
  SmallVector<Value> args{pointer, value};
  std::string constraints = isFloat ? "l,f" : "l,r";
  if (present) {
    args.push_back(present);
    constraints += ",b";
  }
  inlineAsm({}, args, text, constraints + ",~{memory}");
}

void LaneEmitter::emitLoad(LoadOp load) {
  LayoutAttr layout = layoutOf(load.getType());
  Type element = getElementTypeOrSelf(load.getType());
  Registers result(layout ? layout.getNumRegs() : 1);
  StringRef cache = suffixOf(load.getCache());
  // A step's vector: the next one is so many bytes further, whatever the
  // strides, which would take registers of the loop.
  SmallVector<Access> all =
      accesses(layout, load.getTensor(), load.getIndices(), load.getPresence(),
               load.getVector(),
               isRare(load) || load.getCache() || isVector(load)
                   ? &LaneEmitter::vectorPointer
                   : &LaneEmitter::elementPointer);
  auto keep = [&](const Access &access, ArrayRef<Value> values) {
    for (auto [reg, v] : llvm::zip_equal(access.regs, values))
      result[reg] = v;
  };
  SmallVector<Cut> cuts;
  if (load.getCache())
    cuts = cutsOf(layout, load.getIndices(), load.getPresence(), all,
                  bytesOf(element));
  if (cuts.empty()) {
    for (const Access &access : all)
      keep(access, loadAccess(access, element, cache));
  } else {
    APInt zero(8 * bytesOf(element), 0);
    std::optional<RowFill> fill = fillOf(load);
    if (fill)
      doneByLoad.insert(fill->select);
    Registers values =
        loadCut(all, cuts, element, cache, fill ? fill->bits : zero);
    for (auto [i, access] : llvm::enumerate(all))
      keep(access,
           ArrayRef(values).slice(i * load.getVector(), load.getVector()));
  }
  prefetchNext(load, all);
  lanes(load) = result;
}

/// Layout of the union of the axes of `values`; null without axes.
static LayoutAttr unionLayout(MLIRContext *ctx, ValueRange values) {
  SmallVector<AxisLayoutAttr> axes;
  for (Value v : values)
    if (LayoutAttr layout = layoutOf(v.getType()))
      for (AxisLayoutAttr axis : layout.getAxes())
        if (!llvm::is_contained(axes, axis))
          axes.push_back(axis);
  return axes.empty() ? LayoutAttr() : LayoutAttr::get(ctx, axes);
}

/// Accesses whose addresses are computed ahead of all of them.
static constexpr int64_t fewAddresses = 16;

void LaneEmitter::emitStore(StoreOp store) {
  LayoutAttr layout = unionLayout(b.getContext(), store.getIndices());
  Value owner = isOwner(layout);
  StringRef cache = suffixOf(store.getCache());
  auto valuesOf = [&](const Access &access) {
    return llvm::map_to_vector(access.regs, [&](int64_t reg) {
      return layout ? laneOf(store.getValue(), layout, reg)
                    : lane1(store.getValue());
    });
  };
  auto storeOne = [&](Access &access, ArrayRef<Value> values) {
    bool uniform = access.isUniform();
    Value first = conjunction({access.present.front(), owner});
    if (tile::addsToMemory(store))
      return addElement(access.pointer, first, values.front());
    for (Value &p : access.present)
      p = uniform ? first : conjunction({p, owner});
    storeAccess(access, values, cache);
  };
  // Until then two share a register.
  auto takeFromWord = [&](Value element) {
    auto extract = element.getDefiningOp<LLVM::ExtractElementOp>();
    return extract && extract.getVector().getDefiningOp<LLVM::BitcastOp>()
               ? b.clone(*extract)->getResult(0)
               : element;
  };
  // Many addresses beside their accesses: together they would fill the
  // registers. Few before all of them: ptxas takes what follows a predicated
  // store for divergent.
  // Rows that are stored by vectors are contiguous.
  bool isRowOfProducts = multipliesByWarps && store.getVector() > 1;
  AddressOf addressOf = store.getCache() || isRowOfProducts
                            ? &LaneEmitter::vectorPointer
                            : &LaneEmitter::elementPointer;
  bool mayBeCut = !owner && store.getCache();
  if (store.getVector() == 1 && layout && layout.getNumRegs() > fewAddresses &&
      !mayBeCut)
    return forEachAccess(
        layout, store.getTensor(), store.getIndices(), store.getPresence(),
        /*width=*/1, addressOf,
        /*walks=*/true, [&](Access &access) {
          storeOne(access, llvm::map_to_vector(valuesOf(access), takeFromWord));
        });
  SmallVector<Access> all =
      accesses(layout, store.getTensor(), store.getIndices(),
               store.getPresence(), store.getVector(), addressOf);
  SmallVector<Cut> cuts =
      mayBeCut
          ? cutsOf(layout, store.getIndices(), store.getPresence(), all,
                   bytesOf(getElementTypeOrSelf(store.getValue().getType())))
          : SmallVector<Cut>();
  if (!cuts.empty())
    return storeCut(all, cuts, valuesOf, cache);
  for (Access &access : all)
    storeOne(access, valuesOf(access));
}

//===-- Shared memory -----------------------------------------------------===//

Value LaneEmitter::sharedPointer(Value byteOffset) {
  Value base = LLVM::AddressOfOp::create(
      b, loc(), LLVM::LLVMPointerType::get(b.getContext(), 3), "selvedge_smem");
  return bytesAhead(base, byteOffset);
}

/// Of eight rows those with an even number come first.
Value LaneEmitter::placeOfRow(Value row) {
  Value ofEight = arith::AndIOp::create(b, loc(), row, i32(7)),
        eights = arith::AndIOp::create(b, loc(), row, i32(~int64_t(7)));
  return add(eights, bitSum(b, loc(), ofEight, {4, 1, 2}));
}

Value LaneEmitter::sharedOffset(BufferType type, Value row, Value col) {
  if (type.getInterleaved())
    row = placeOfRow(row);
  int64_t bytes = bytesOf(type.getElementType()), perChunk = 16 / bytes;
  // Eight rows lie in eight different groups of banks: a row's chunks are an
  // odd multiple of the swizzle's, so that rows that are so many apart begin in
  // the same group, and have to differ.
  int64_t sharing = bankGroups / (type.getSwizzle() + 1);
  Value within = col;
  Value offset = mul(arith::AndIOp::create(b, loc(), within, i32(perChunk - 1)),
                     i32(bytes));
  if (type.getPanel()) {
    int64_t panelBytes = type.getRows() * type.getPanelRowBytes();
    Value panel = arith::ShRUIOp::create(b, loc(), within,
                                         i32(llvm::Log2_64(type.getPanel())));
    offset = add(offset, mul(panel, i32(panelBytes)));
    within = arith::AndIOp::create(b, loc(), within, i32(type.getPanel() - 1));
  }
  Value chunk =
      arith::ShRUIOp::create(b, loc(), within, i32(llvm::Log2_64(perChunk)));
  Value swizzled = arith::XOrIOp::create(
      b, loc(), chunk,
      arith::AndIOp::create(
          b, loc(),
          sharing > 1 ? arith::ShRUIOp::create(b, loc(), row,
                                               i32(llvm::Log2_64(sharing)))
                            .getResult()
                      : row,
          i32(type.getSwizzle())));
  return add(offset, add(mul(row, i32(type.getPanelRowBytes())),
                         mul(swizzled, i32(16))));
}

Value LaneEmitter::sharedAddress(BufferType type, Value base, SharedIndex row,
                                 SharedIndex col) {
  // Whole periods of the swizzle are a constant of the address.
  auto split = [&](SharedIndex index, int64_t period) {
    int64_t ahead = index.ahead / period * period;
    return SharedIndex(add(index.part, i32(index.ahead - ahead)), ahead);
  };
  int64_t bytes = bytesOf(type.getElementType()),
          colPeriod = (type.getSwizzle() + 1) * (16 / bytes);
  row = split(row, type.getSwizzle() ? bankGroups : 1);
  col = split(col, type.getPanel() ? std::max(type.getPanel(), colPeriod)
                                   : colPeriod);
  return addressFrom(type, base, sharedOffset(type, row.part, col.part),
                     row.ahead, col.ahead);
}

/// A sum of a pointer, what depends on the thread and a constant, in this
/// order. A slot's offset and a thread's share no bit: their integer sum would
/// become an `or`, of which no access to memory takes a part over.
Value LaneEmitter::addressFrom(BufferType type, Value base, Value offset,
                               int64_t rows, int64_t cols) {
  int64_t bytes = bytesOf(type.getElementType()), perChunk = 16 / bytes,
          rest = cols % ((type.getSwizzle() + 1) * perChunk);
  assert((!type.getSwizzle() || rows % bankGroups == 0) &&
         rest % perChunk == 0 &&
         "expects whole periods of rows, and whole chunks");
  cols -= rest;
  if (rest)
    offset = arith::XOrIOp::create(b, loc(), offset,
                                   i32(static_cast<int32_t>(rest * bytes)));
  int64_t panel = type.getPanel() ? type.getPanel() : type.getCols(),
          rowBytes = type.getPanelRowBytes(),
          ahead = rows * rowBytes + cols % panel * bytes +
                  cols / panel * type.getRows() * rowBytes;
  return bytesAhead(bytesAhead(sharedPointer(base), offset),
                    static_cast<int32_t>(ahead));
}

void LaneEmitter::emitAlloc(AllocOp alloc) {
  bufferBases[alloc] = i32(shared.offsetOf(alloc));
}

void LaneEmitter::emitSlot(SlotOp slot) {
  Value offset =
      mul(lane1(slot.getStage()), i32(slot.getType().getStageBytes()));
  bufferBases[slot] = add(bufferBases[slot.getRing()], offset);
}

void LaneEmitter::emitAwait(AwaitOp await) {
  intrinsic("llvm.nvvm.cp.async.wait.group", {}, {i32(await.getPending())});
}

/// Elements of an axis that a thread holds side by side, wherever it has some:
/// at most `most`.
static int64_t sideBySide(AxisLayoutAttr axis, int64_t most) {
  if (axis.getRegStrides().empty() || axis.getRegStrides().front() != 1)
    return 1;
  auto count = static_cast<uint64_t>(most);
  for (ArrayRef<int64_t> parts :
       {axis.getRegSizes().take_front(), axis.getRegStrides().drop_front(),
        axis.getLanes(), axis.getWarps()})
    for (int64_t part : parts)
      count = std::gcd(count, static_cast<uint64_t>(part));
  return llvm::bit_floor(count);
}

void LaneEmitter::emitStage(StageOp stage) {
  BufferType type = stage.getBuffer().getType();
  LayoutAttr layout = layoutOf(stage.getSource().getType());
  int64_t rowAt = layout.indexOf(type.getRowAxis()),
          colAt = layout.indexOf(type.getColAxis());
  AxisLayoutAttr rowAxis = layout.getAxes()[rowAt],
                 colAxis = layout.getAxes()[colAt];
  // A chunk of the swizzle is contiguous.
  int64_t width = sideBySide(colAxis, 16 / bytesOf(type.getElementType()));
  Value base = bufferBases[stage.getBuffer()];
  const Registers &all = lanes(stage.getSource());
  for (int64_t reg = 0; reg < layout.getNumRegs(); ++reg) {
    SmallVector<int64_t> position = layout.unflatten(reg);
    if (position[colAt] % width != 0)
      continue;
    SharedIndex row(threadPart(rowAxis), rowAxis.regOffset(position[rowAt])),
        col(threadPart(colAxis), colAxis.regOffset(position[colAt]));
    SmallVector<Value> values;
    for (int64_t i = 0; i < width; ++i, ++position[colAt])
      values.push_back(all[layout.flatten(position)]);
    storeShared(sharedAddress(type, base, row, col), values);
  }
}

} // namespace selvedge::lanes
