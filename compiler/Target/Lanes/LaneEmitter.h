// Emits the code of one thread of a kernel.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_TARGET_LANES_LANEEMITTER_H
#define SELVEDGE_COMPILER_TARGET_LANES_LANEEMITTER_H

#include "compiler/Target/Lanes/SharedMemory.h"
#include "dialect/Sm/Sm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace selvedge::lanes {

using tile::bytesOf;

/// Sum of `strides[b]` over the set bits of `id`; null where all are 0.
mlir::Value bitSum(mlir::OpBuilder &b, mlir::Location loc, mlir::Value id,
                   llvm::ArrayRef<int64_t> strides);

/// Walks an sm.kernel in form async and emits an llvm.func. A register tile
/// maps to its thread's registers, in the order of its layout; a scalar
/// to one value; a token to none.
class LaneEmitter {
public:
  LaneEmitter(sm::KernelOp kernel, mlir::OpBuilder builder)
      : kernel(kernel), b(builder), shared(kernel),
        numWarps(kernel.getWarps()) {}
  virtual ~LaneEmitter() = default;

  /// Emits the function at the builder's insertion point.
  mlir::LogicalResult run();

  /// Dynamic shared memory that the kernel needs, in bytes.
  int64_t getSharedBytes() const { return shared.getBytes(); }

protected:
  using Registers = llvm::SmallVector<mlir::Value>;
  /// A tensor argument: base pointer and strides in elements.
  struct Global {
    mlir::Value pointer;
    llvm::SmallVector<mlir::Value> strides;
  };
  /// An index into a buffer: what depends on the thread, and a constant.
  struct SharedIndex {
    SharedIndex(mlir::Value part, int64_t ahead = 0)
        : part(part), ahead(ahead) {}

    mlir::Value part;
    int64_t ahead;
  };
  /// Global access by one thread of `width` adjacent elements.
  struct Access {
    mlir::Value pointer;
    /// Presence per element; null where an element is always present.
    llvm::SmallVector<mlir::Value> present;
    /// Registers of the tile that the elements are.
    llvm::SmallVector<int64_t> regs;

    /// Whether all elements are present together: one predicate for all.
    bool isUniform() const { return llvm::all_equal(present); }
  };

  /// A register of a tile whose number along the first axis, the rows, is known
  /// at run time only.
  struct RegisterPlace {
    RegisterPlace(sm::LayoutAttr layout, mlir::Value rowOffset)
        : layout(layout), rowOffset(rowOffset) {}

    sm::LayoutAttr layout;
    /// Index that the row's register contributes.
    mlir::Value rowOffset;
    /// Register along the second axis.
    int64_t colReg = 0;
    /// What was computed for this place.
    llvm::DenseMap<mlir::Value, mlir::Value> known;

    /// Moves along the second axis.
    void enter(int64_t reg) {
      if (reg != colReg)
        known.clear();
      colReg = reg;
    }
  };

  // Structure and elementwise operations (LaneEmitter.cpp).
  void emitSignature();
  mlir::LogicalResult emitBlock(mlir::Block &block);
  /// Targets add their own operations here.
  virtual mlir::LogicalResult emitOp(mlir::Operation &op);
  mlir::Value emitBlockId(sm::BlockIdOp op);
  mlir::LogicalResult emitFor(mlir::scf::ForOp loop);
  /// Where a loop begins or ends.
  virtual mlir::Value loopBound(mlir::scf::ForOp loop, mlir::Value bound) {
    return lane1(bound);
  }
  /// Whether a branch is taken.
  virtual mlir::Value branchCondition(mlir::scf::IfOp branch) {
    return lane1(branch.getCondition());
  }
  mlir::LogicalResult emitWhile(mlir::scf::WhileOp loop);
  mlir::LogicalResult emitIf(mlir::scf::IfOp branch);
  mlir::LogicalResult emitElementwise(mlir::Operation &op);
  /// Registers `reg` and the next one of a select; none where they are no pair.
  std::optional<std::pair<mlir::Value, mlir::Value>>
  selectPair(mlir::arith::SelectOp select, size_t reg);
  // Conditions as bits (LaneMask.cpp).
  /// Per row of a thread, words with a bit for each of its columns.
  struct MaskWords {
    int colAxis = 0;
    llvm::SmallVector<llvm::SmallVector<mlir::Value>> words;
  };
  mlir::Value columnsUpTo(mlir::Value first, mlir::Value limit, int64_t count);
  mlir::Value lowestBits(mlir::Value count);
  MaskWords maskWords(mlir::Value condition);
  bool selectByBits(mlir::arith::SelectOp select);
  /// `op`, elementwise, on one register per operand.
  mlir::Value scalarOp(mlir::Operation &op,
                       llvm::ArrayRef<mlir::Value> operands);
  /// Whether an operation is executed where some lane of a warp needs it only:
  /// registers that it takes would be missing everywhere else.
  static bool isRare(mlir::Operation *op);
  mlir::LogicalResult emitRareBlock(mlir::Block &block);
  /// Has ptxas not unroll a loop.
  void keepRolled(mlir::scf::ForOp loop);
  void emitRange(sm::RangeOp range);
  void emitBroadcast(sm::BroadcastOp broadcast);
  void emitConvert(sm::ConvertOp convert);

  // Memory (LaneMemory.cpp).
  void emitLoad(sm::LoadOp load);
  void emitStore(sm::StoreOp store);
  /// One atomic addition in memory, where `present` is not null and false none.
  void addElement(mlir::Value pointer, mlir::Value present, mlir::Value value);
  void emitAwait(sm::AwaitOp await);
  void emitStage(sm::StageOp stage);
  void emitAlloc(sm::AllocOp alloc);
  void emitSlot(sm::SlotOp slot);
  /// How adjacent elements are addressed.
  using AddressOf = mlir::Value (LaneEmitter::*)(mlir::Value,
                                                 llvm::ArrayRef<mlir::Value>);
  llvm::SmallVector<Access>
  accesses(sm::LayoutAttr layout, mlir::Value tensor, mlir::ValueRange indices,
           mlir::ValueRange presence, int64_t width,
           AddressOf addressOf = &LaneEmitter::elementPointer);
  struct Walk;
  /// The address of an element so many further along an index; rows of the
  /// tensor are contiguous.
  mlir::Value indexAhead(mlir::Value tensor, mlir::Value pointer, size_t index,
                         int64_t count);
  mlir::Value columnsAhead(mlir::Value tensor, mlir::Value pointer,
                           int64_t columns);
  /// Each access while its address is the last thing that was computed. With
  /// `walks` elements of several rows in a column come one after the other, and
  /// an address is a step from the one before in its row (Walk).
  void forEachAccess(sm::LayoutAttr layout, mlir::Value tensor,
                     mlir::ValueRange indices, mlir::ValueRange presence,
                     int64_t width, AddressOf addressOf, bool walks,
                     llvm::function_ref<void(Access &)> visit);
  /// The address so many bytes ahead.
  mlir::Value bytesAhead(mlir::Value pointer, mlir::LLVM::GEPArg bytes) {
    return mlir::LLVM::GEPOp::create(b, loc(), pointer.getType(), b.getI8Type(),
                                     pointer,
                                     llvm::ArrayRef<mlir::LLVM::GEPArg>{bytes});
  }
  /// `pointer` plus the offset of an element, by indices of which some may be
  /// null; of a tensor whose rows are contiguous the last stride is 1.
  mlir::Value offsetPointer(mlir::Value pointer, mlir::Value tensor,
                            llvm::ArrayRef<mlir::Value> indices,
                            bool isContiguous);
  /// Address of one element.
  mlir::Value elementPointer(mlir::Value tensor,
                             llvm::ArrayRef<mlir::Value> indices);
  /// Address of adjacent elements. Registers of one row share what they are
  /// counted from: loops keep one address for all of them.
  mlir::Value vectorPointer(mlir::Value tensor,
                            llvm::ArrayRef<mlir::Value> indices);
  /// Address of adjacent elements, as one that the loop around does not change
  /// plus what its steps add, the same for all registers.
  mlir::Value stepPointer(mlir::Value tensor,
                          llvm::ArrayRef<mlir::Value> indices);
  /// What the steps of the loop around add to a register of a range, where that
  /// is plain to see; `index` becomes the rest.
  mlir::Value takeStep(mlir::Value &index);
  /// `cache` is what PTX says of the first cache, such as `.cs`.
  Registers loadAccess(const Access &access, mlir::Type element,
                       llvm::StringRef cache = "");
  void storeAccess(const Access &access, llvm::ArrayRef<mlir::Value> values,
                   llvm::StringRef cache);
  /// Reads `bytes` at `pointer` in words of 32 bits, or as one that is shorter.
  /// Where `present` is false memory is not touched, and each is `fill`, an i32
  /// (null: zero).
  Registers loadRaw(mlir::Value pointer, mlir::Value present, int64_t bytes,
                    llvm::StringRef cache, mlir::Value fill = {});
  /// The elements of what loadRaw() has read.
  Registers unpack(llvm::ArrayRef<mlir::Value> words, int64_t bytes,
                   mlir::Type element);
  /// The same, as elements.
  Registers loadWords(mlir::Value pointer, mlir::Value present, int64_t bytes,
                      mlir::Type element, llvm::StringRef cache = "");
  void storeWords(mlir::Value pointer, mlir::Value present,
                  llvm::ArrayRef<mlir::Value> values, llvm::StringRef cache);
  /// Whether this thread is the one that stores or copies where a tile is
  /// repeated over threads; null: all differ.
  mlir::Value isOwner(sm::LayoutAttr layout);

  // Vectors that the end of a row may cut (LaneCut.cpp).
  struct Cut {
    /// All elements of an access exist; its first one lies before the end of
    /// the row; the end is among them; what concerns the row as a whole holds
    /// (null: always).
    mlir::Value isWhole, begins, isCut, inRow;
    /// The index of the first element and its bound, per predicate.
    llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> bounds;
  };
  /// What a select puts past the end of rows that were loaded.
  struct RowFill {
    mlir::arith::SelectOp select;
    /// As an element.
    llvm::APInt bits;
  };
  std::optional<RowFill> fillOf(sm::LoadOp load);
  /// How the end of a row cuts `accesses`; none where it does not, or where
  /// something else decides which elements exist.
  llvm::SmallVector<Cut> cutsOf(sm::LayoutAttr layout, mlir::ValueRange indices,
                                mlir::ValueRange presence,
                                llvm::ArrayRef<Access> accesses,
                                int64_t elementBytes);
  /// Whether a thread loads adjacent elements of a tile with one axis.
  static bool isVector(sm::LoadOp load);
  void prefetchNext(sm::LoadOp load, llvm::ArrayRef<Access> accesses);
  mlir::Value isBeforeEnd(const Cut &cut, int64_t element);
  mlir::Value isAnyCut(llvm::ArrayRef<Cut> cuts);
  Registers loadCut(llvm::ArrayRef<Access> accesses, llvm::ArrayRef<Cut> cuts,
                    mlir::Type element, llvm::StringRef cache,
                    const llvm::APInt &fill);
  void
  storeCut(llvm::ArrayRef<Access> accesses, llvm::ArrayRef<Cut> cuts,
           llvm::function_ref<llvm::SmallVector<mlir::Value>(const Access &)>
               valuesOf,
           llvm::StringRef cache);

  /// Rows of a buffer that begin in different groups of banks, one after the
  /// other.
  static constexpr int64_t bankGroups = 8;
  /// Address of an element of a buffer, swizzled.
  mlir::Value sharedAddress(sm::BufferType type, mlir::Value base,
                            SharedIndex row, SharedIndex col);
  /// Its bytes behind the buffer's first.
  mlir::Value placeOfRow(mlir::Value row);
  mlir::Value sharedOffset(sm::BufferType type, mlir::Value row,
                           mlir::Value col);
  /// Address of the element that is `rows` and `cols` further than the one at
  /// `offset`, where each index and what is added to it have no bit in common.
  /// `rows` is a multiple of bankGroups if there is a swizzle, `cols` one of 16
  /// bytes.
  mlir::Value addressFrom(sm::BufferType type, mlir::Value base,
                          mlir::Value offset, int64_t rows, int64_t cols);
  mlir::Value sharedPointer(mlir::Value byteOffset);

  // Copies to shared memory (LaneCopy.cpp).
  void emitCopy(sm::CopyAsyncOp copy);
  void emitUnrolledCopy(sm::CopyAsyncOp copy);
  /// Whether a copy by elements can be a loop over rows.
  bool canRoll(sm::CopyAsyncOp copy);
  void emitRolledCopy(sm::CopyAsyncOp copy);
  void storeShared(mlir::Value to, llvm::ArrayRef<mlir::Value> values);
  /// Index that register `reg` contributes along `axis`.
  mlir::Value regOffset(sm::AxisLayoutAttr axis, mlir::Value reg);
  /// `v` at one place, computed there.
  mlir::Value evaluate(mlir::Value v, RegisterPlace &place);
  Registers evaluate(mlir::ValueRange values, RegisterPlace &place);

  // Tensor cores (LaneMma.cpp).
  mlir::LogicalResult emitMma(sm::MmaOp mma);
  llvm::SmallVector<mlir::Value> fragment(mlir::Value buffer,
                                          mlir::StringAttr majorAxis,
                                          int64_t major, mlir::Value majorBase,
                                          int64_t k, bool isA);
  llvm::SmallVector<mlir::Value> registerFragment(mlir::Value tile,
                                                  mlir::StringAttr over,
                                                  int64_t block, int64_t k);

  // Reductions (LaneReduce.cpp).
  mlir::Value combineRegisters(sm::ReduceOp reduce,
                               llvm::ArrayRef<int64_t> regs);
  mlir::LogicalResult emitReduce(sm::ReduceOp reduce);
  void emitFold(sm::FoldOp fold);
  void emitAny(sm::AnyOp any);

  // Layouts that meet (LaneRelayout.cpp).
  mlir::LogicalResult emitRelayout(sm::RelayoutOp relayout);
  Registers moveInWarps(const sm::WarpMove &move,
                        llvm::ArrayRef<mlir::Value> source);
  /// Of `values` the one whose number a lane has.
  mlir::Value chooseByLane(llvm::ArrayRef<mlir::Value> values,
                           const sm::WarpMove::PerLane &numbers);
  /// What the lanes read that `reads` names.
  mlir::Value readLanes(mlir::Value v, const sm::WarpMove::PerLane &reads);
  /// Address of each register's element in a flat buffer.
  llvm::SmallVector<mlir::Value> flatAddresses(mlir::Type tile,
                                               mlir::Value scratch);
  void emitNotFinite(sm::NotFiniteOp test);
  mlir::Value combine(tile::Combine kind, mlir::Value a, mlir::Value b);
  mlir::Value shuffleXor(mlir::Value v, int64_t mask);
  mlir::Value exchangeWarps(tile::Combine kind, mlir::Value v,
                            llvm::ArrayRef<int64_t> warpBits,
                            mlir::Value scratch, int64_t row);

  // Helpers.
  mlir::Value i32(int64_t v);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value zero(mlir::Type type);
  mlir::Value conjunction(llvm::ArrayRef<mlir::Value> values);
  mlir::Value intrinsic(llvm::StringRef name, mlir::Type result,
                        mlir::ValueRange args);
  mlir::Value inlineAsm(mlir::Type result, mlir::ValueRange args,
                        llvm::StringRef text, llvm::StringRef constraints);
  /// Index along `axis` that the thread number contributes; computed once.
  mlir::Value threadPart(sm::AxisLayoutAttr axis);
  /// Register `reg` of a tile laid out by `full`, read from `v`, which may
  /// lack axes or be a scalar.
  mlir::Value laneOf(mlir::Value v, sm::LayoutAttr full, int64_t reg);
  /// What two 16-bit registers are where control flow joins. LLVM splits a
  /// vector there, so that each half takes a register of its own (heads of 256
  /// spilled 0.1 KB of results); it leaves a word.
  virtual mlir::Type pairType(mlir::Type element) { return b.getI32Type(); }
  /// What a value is where control flow joins: its registers, 16-bit ones in
  /// pairs, because the hardware moves 32 bits at a time.
  llvm::SmallVector<mlir::Type> carriedTypes(mlir::TypeRange types);
  llvm::SmallVector<mlir::Value> carry(mlir::ValueRange values);
  void bindCarried(mlir::ValueRange values, mlir::ValueRange carried);
  /// The same bits as another type.
  mlir::Value castTo(mlir::Type type, mlir::Value v);
  /// Two 16-bit values as one vector.
  mlir::Value pair(mlir::Value low, mlir::Value high);
  Registers &lanes(mlir::Value v) { return registers[v]; }
  mlir::Value lane1(mlir::Value v) { return registers[v].front(); }
  /// Register `reg` of a tile, or a value that is the same for all elements.
  mlir::Value elementOf(mlir::Value v, size_t reg) {
    Registers &all = registers[v];
    return all.size() == 1 ? all.front() : all[reg];
  }
  mlir::Location loc() { return current ? current->getLoc() : kernel.getLoc(); }

  sm::KernelOp kernel;
  mlir::OpBuilder b;
  mlir::LLVM::LLVMFuncOp function;
  mlir::Operation *current = nullptr;
  mlir::Value thread, laneId, warpId;
  /// The lane's number in rarely executed code.
  mlir::Value rareLane;
  llvm::DenseMap<mlir::Value, Registers> registers;
  llvm::DenseMap<mlir::Value, Global> globals;
  llvm::DenseMap<mlir::Value, mlir::Value> bufferBases;
  llvm::DenseMap<mlir::Attribute, mlir::Value> threadParts;
  /// By fold, the sums of its first elements.
  llvm::DenseMap<mlir::Value, Registers> heads;
  /// Selects that a load has made true already; see fillOf().
  llvm::SmallPtrSet<mlir::Operation *, 4> doneByLoad;
  /// Memory is fast enough for instructions to count: rows are read again.
  bool isBoundByIssue = false;
  /// Products are those of single warps.
  bool multipliesByWarps = false;
  SharedLayout shared;
  /// Warps that a layout spans: those of the kernel, or of a warpgroup.
  int64_t numWarps;
};

} // namespace selvedge::lanes

#endif // SELVEDGE_COMPILER_TARGET_LANES_LANEEMITTER_H
