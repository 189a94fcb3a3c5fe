// A kernel of form `lanes` as an array of instructions.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SIM_PROGRAM_H
#define SELVEDGE_COMPILER_SIM_PROGRAM_H

#include <cstdint>
#include <string>
#include <vector>

namespace selvedge::sim {

/// Lanes of a warp.
inline constexpr unsigned warpLanes = 32;
/// All of them.
inline constexpr uint32_t allLanes = ~uint32_t(0);

/// A register of 32 bits per lane; 64-bit values have two neighbours.
using Slot = uint32_t;
inline constexpr Slot noSlot = ~Slot(0);

/// What an instruction does. Operands: `dst`, `a`, `b`, `c`, lists in
/// `Program::lists`.
enum class Op : uint8_t {
  // Control: `target` is an instruction.
  Jump,
  BranchIfNot,
  Join, // where ways of control meet
  Exit,
  Trap,
  // Launches: waits for those before, lets the next one begin.
  AwaitLaunch,
  AdmitLaunch,
  // Registers.
  Move,
  MoveWide,
  Undefine,
  // Arithmetic: `kind` is an Int, Compare, Float, Unary; `width` the bits.
  IntBinary,
  IntCompare,
  Select,
  SelectWide,
  ZeroExtend, // from `width` bits to 32 or, wide, 64
  SignExtend,
  Truncate, // to `width` bits
  ToWide,   // zero extends a register
  ToWideSigned,
  FromWide,
  AddWideConstant,
  FloatBinary,
  FloatUnary,
  FloatFma,
  FloatCompare,
  FloatConvert, // between float types: `width` from, `other` to
  IntToFloat,
  FloatToInt,
  Pair,        // two floats to two halves of a register
  PairFma,     // of two halves
  ExtractBits, // `width` bits from bit `imm` on
  InsertBits,
  // What a thread is.
  ThreadId,
  BlockId,
  BlockCount,
  LaneId,
  // Memory.
  LoadGlobal,
  StoreGlobal,
  LoadShared,
  StoreShared,
  Atomic,    // `kind` is an Atomic
  AddGlobal, // `kind` 1: f32, 0: u32
  CopyAsync,
  CommitCopies,
  AwaitCopies,
  Prefetch,
  // Warps.
  Shuffle,
  VoteAny,
  WarpSync,
  LoadMatrix,
  StoreMatrix,
  Mma,
  // Barriers.
  BarrierSync,
  BarrierArrive,
  MBarrierInit,
  MBarrierArrive,
  MBarrierTryWait,
  FenceMBarrierInit,
  FenceProxy,
  // Bulk copies.
  TensorLoad,
  TensorStore,
  TensorAdd,
  BulkLoad,
  BulkReduce,
  CommitBulk,
  AwaitBulk,
  // Warpgroups.
  WgmmaFence,
  Wgmma,
  CommitWgmma,
  AwaitWgmma,
  SetRegisters
};

enum class Int : uint8_t {
  Add,
  Sub,
  Mul,
  And,
  Or,
  Xor,
  Shl,
  ShrU,
  ShrS,
  DivU,
  DivS,
  RemU,
  RemS,
  CeilDivS,
  CeilDivU,
  FloorDivS,
  MinS,
  MaxS,
  MinU,
  MaxU,
  /// Of one operand; the smallest number has none.
  AbsS
};

enum class Compare : uint8_t { Eq, Ne, LtS, LeS, GtS, GeS, LtU, LeU, GtU, GeU };

/// What an atomic operation leaves in a word that holds x: x + b, the lesser of
/// x and b, or c where x equals b.
enum class Atomic : uint8_t { Add, MinU, CompareAndSwap };

/// How floats compare: bit 0 equal, 1 greater, 2 less, 3 unordered.
enum FloatOrder : uint8_t { equal = 1, greater = 2, less = 4, unordered = 8 };

enum class Float : uint8_t { Add, Sub, Mul, Div, Max, Min, MaxNum, MinNum };

enum class Unary : uint8_t {
  Neg,
  Abs,
  Sqrt,
  Rsqrt,
  Exp,
  Exp2,
  Log,
  Log2,
  Tanh,
  Floor,
  Ceil,
  Trunc,
  RoundEven,
  Reciprocal
};

/// Types of floats; the language has no other in registers.
enum FloatType : uint8_t { f32, f16, bf16 };

/// One instruction.
struct Instr {
  Op op = Op::Join;
  uint8_t kind = 0;
  uint8_t width = 32;
  uint8_t other = 0;
  /// Whether the address operand is wide.
  bool wide = false;
  /// Lanes whose guard is false (or true, if negated) do nothing.
  bool negated = false;
  Slot guard = noSlot;
  Slot dst = noSlot, a = noSlot, b = noSlot, c = noSlot;
  uint32_t target = 0;
  /// Part of Program::lists.
  uint32_t first = 0, count = 0;
  int64_t imm = 0;
  /// Number of the operation that it comes from, for messages.
  uint32_t origin = 0;
};

/// A register that never changes.
struct Preset {
  Slot slot;
  bool wide;
  /// Value, or number of the kernel's argument.
  uint64_t value;
  bool isArgument;
};

/// One kernel.
struct Program {
  std::string name;
  std::vector<Instr> code;
  std::vector<Slot> lists;
  std::vector<Preset> presets;
  uint32_t numSlots = 0;
  /// Threads that the kernel is compiled for.
  uint32_t maxThreads = 0;
  /// Per argument whether it is a tensor map in the parameter space.
  std::vector<bool> isMap;
  /// Smallest access to shared memory, in bytes.
  uint32_t granule = 16;
  /// Texts that say where instructions come from, and lines of the module's
  /// text; 0: none.
  std::vector<std::string> origins;
  std::vector<uint32_t> lines;
  /// By instruction whether any warp has executed it.
  mutable std::vector<uint8_t> isReached;

  const Slot *list(const Instr &in) const { return lists.data() + in.first; }
};

} // namespace selvedge::sim

#endif // SELVEDGE_COMPILER_SIM_PROGRAM_H
