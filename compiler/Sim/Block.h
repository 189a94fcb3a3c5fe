// A thread block while it is executed.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SIM_BLOCK_H
#define SELVEDGE_COMPILER_SIM_BLOCK_H

#include "compiler/Sim/Barriers.h"
#include "compiler/Sim/SharedMemory.h"
#include "compiler/Sim/Simulator.h"
#include "compiler/Sim/TensorCore.h"
#include "compiler/Sim/Warp.h"

#include <random>

namespace selvedge::sim {

/// Executes the warps of a block, one after the other as far as a schedule has
/// them go, and what its engines do.
class Block {
public:
  Block(const Program &program, const Launch &launch, uint32_t number,
        GlobalMemory &global, const Schedule &schedule);

  /// Lets each warp go on once; false when all threads have ended, or one has
  /// failed.
  bool turn();
  /// What went wrong; empty: nothing.
  const std::string &getFault() const { return fault; }
  uint64_t executed() const;
  /// Phases of the mbarrier that had most.
  int64_t maxPhases() const;

private:
  /// How an instruction ends: the next one follows, another one, or none now.
  enum class Flow : uint8_t { Next, Moved, Stop };

  // Schedule and control (Block.cpp).
  bool runWarp(Warp &w);
  void runFragment(Warp &w, size_t index, uint64_t budget);
  bool isReady(const Warp &w, const Fragment &f) const;
  Flow execute(Warp &w, Fragment &f, const Instr &in, uint32_t lanes);
  Flow branch(Warp &w, Fragment &f, const Instr &in);
  Flow join(Warp &w, Fragment &f);
  Flow exit(Warp &w, Fragment &f, uint32_t lanes);
  /// Lanes for which a guard holds.
  uint32_t guarded(Warp &w, const Fragment &f, const Instr &in);
  /// Whether all lanes of the warp are here; they are one fragment then.
  bool gather(Warp &w, Fragment &f);

  // Faults (Faults.cpp).
  /// Finds what must not be on its way when a block ends.
  void finish();
  /// Who waits for whom.
  std::string describeWaits() const;
  std::string describe(const Warp &w, const Fragment &f) const;
  void fail(const Warp &w, unsigned lane, const Instr &in, std::string what);
  void failRace(const Warp &w, unsigned lane, const Instr &in,
                const Accessor &by, const Race &race, bool isWrite,
                uint32_t offset);
  std::string nameOf(Worker who) const;

  // States of registers (Registers.cpp).
  /// Undefined bytes of a register; fails where a product has to write it.
  Shadow see(Warp &w, Slot slot, unsigned lane, const Instr &in);
  /// Whether a register that decides something is defined in all lanes.
  bool needs(Warp &w, Slot slot, uint32_t lanes, const Instr &in,
             const char *what);
  void clean(Warp &w, Slot slot, uint32_t lanes);
  void setShadow(Warp &w, Slot slot, unsigned lane, Shadow shadow);
  /// The result is undefined where an operand is.
  void spread(Warp &w, const Instr &in, uint32_t lanes, unsigned operands);

  // Arithmetic (IntOps.cpp, FloatOps.cpp).
  void spreadBitwise(Warp &w, const Instr &in, uint32_t lanes);
  void spreadShift(Warp &w, const Instr &in, uint32_t lanes);
  /// Whether a divisor is defined and not zero; the fault is told.
  template <typename Word>
  bool checkDivisor(Warp &w, const Instr &in, const Word *by, uint32_t lanes);
  void executeInt(Warp &w, const Instr &in, uint32_t lanes);
  void executeIntWide(Warp &w, const Instr &in, uint32_t lanes);
  void executeCompare(Warp &w, const Instr &in, uint32_t lanes);
  void executeSelect(Warp &w, const Instr &in, uint32_t lanes);
  void executeMove(Warp &w, const Instr &in, uint32_t lanes);
  void executeConversion(Warp &w, const Instr &in, uint32_t lanes);
  void executeBits(Warp &w, const Instr &in, uint32_t lanes);
  void executeFloat(Warp &w, const Instr &in, uint32_t lanes);

  // Memory (MemoryOps.cpp).
  void loadGlobal(Warp &w, const Instr &in, uint32_t lanes);
  void storeGlobal(Warp &w, const Instr &in, uint32_t lanes);
  void atomic(Warp &w, const Instr &in, uint32_t lanes);
  void addGlobal(Warp &w, const Instr &in, uint32_t lanes);
  void loadShared(Warp &w, const Instr &in, uint32_t lanes);
  void storeShared(Warp &w, const Instr &in, uint32_t lanes);
  void copyAsync(Warp &w, const Instr &in, uint32_t lanes);
  void finishCopy(Warp &w, unsigned lane, const Instr &in,
                  CopyQueue::Copy &copy);
  void awaitCopies(Warp &w, const Instr &in, uint32_t lanes);
  /// Whether the launches before are complete for a thread, or do not mind what
  /// it does with some bytes; the fault is told.
  bool isBehindLaunches(Warp &w, unsigned lane, const Instr &in,
                        const GlobalMemory::Place &place, uint64_t size,
                        bool isWrite);
  std::optional<GlobalMemory::Place> findGlobal(Warp &w, unsigned lane,
                                                const Instr &in,
                                                uint64_t address, uint64_t size,
                                                uint64_t align, bool isWrite);
  /// Marks bytes as written in this launch by one who is alone.
  bool claim(Warp &w, unsigned lane, const Instr &in,
             const GlobalMemory::Place &place, uint64_t size, uint64_t who);
  /// Offset in shared memory of an address.
  std::optional<uint32_t> findShared(Warp &w, unsigned lane, const Instr &in,
                                     uint64_t address, uint64_t size,
                                     uint64_t align);
  uint64_t addressOf(Warp &w, const Instr &in, unsigned lane) {
    return in.wide ? w.wide(in.a)[lane] : w.word(in.a)[lane];
  }
  Accessor threadAccess(const Warp &w, unsigned lane, const Instr &in) const;
  Accessor engineAccess(const Warp &w, unsigned lane, const Instr &in,
                        Worker who, Time time, bool isAsync) const;
  /// Reads or writes shared memory after the check.
  bool noteRead(const Accessor &by, Warp &w, unsigned lane, const Instr &in,
                uint32_t offset, uint32_t size);
  bool noteWrite(const Accessor &by, Warp &w, unsigned lane, const Instr &in,
                 uint32_t offset, uint32_t size, const uint8_t *data = nullptr);

  // Warps (WarpOps.cpp).
  void shuffle(Warp &w, const Instr &in, uint32_t lanes);
  void vote(Warp &w, const Instr &in, uint32_t lanes);
  void loadMatrix(Warp &w, const Instr &in, uint32_t lanes);
  void storeMatrix(Warp &w, const Instr &in, uint32_t lanes);

  // Tensor cores (TensorCore.cpp, Wgmma.cpp).
  void mma(Warp &w, const Instr &in);
  void wgmma(Warp &w, const Instr &in);
  bool checkSameProducts(Warp &w, const Instr &in, uint64_t a, uint64_t b,
                         uint32_t scale);
  /// 16 bytes of an operand in shared memory by its descriptor.
  const uint8_t *chunk(Warp &w, const Instr &in, uint32_t address,
                       bool &isUndefined);

  // Barriers (Synchronise.cpp).
  Flow barrier(Warp &w, Fragment &f, const Instr &in, uint32_t lanes);
  std::shared_ptr<const std::unique_ptr<Knowledge>>
  arriveAtBarrier(Warp &w, const Instr &in, uint32_t id, uint32_t count,
                  uint32_t lanes);
  void warpSync(Warp &w, uint32_t lanes);
  void release(Warp &w, uint32_t lanes);
  void initMBarrier(Warp &w, const Instr &in, uint32_t lanes);
  void arrive(Warp &w, const Instr &in, uint32_t lanes);
  Flow tryWait(Warp &w, Fragment &f, const Instr &in, uint32_t lanes);
  void fence(Warp &w, const Instr &in, uint32_t lanes);
  Flow setRegisters(Warp &w, Fragment &f, const Instr &in);
  MBarrier *findMBarrier(Warp &w, unsigned lane, const Instr &in,
                         uint64_t address);
  void settle(uint32_t address, MBarrier &barrier);

  // Bulk copies (BulkLoads.cpp, BulkStores.cpp).
  struct BulkLoad {
    uint32_t to;
    uint64_t map; // 0: from `from`
    std::array<int32_t, 5> at;
    uint64_t from;
    uint32_t bytes;
    uint32_t barrier;
    Time phase;
    Warp *warp;
    unsigned lane;
    const Instr *in;
  };
  void startLoad(Warp &w, const Instr &in, uint32_t lanes);
  bool finishLoad(const BulkLoad &load);
  void startStore(Warp &w, const Instr &in, uint32_t lanes);
  bool addAt(Warp &w, unsigned lane, const Instr &in,
             const GlobalMemory::Place &place, uint32_t bytes, float part);
  bool finishStore(Warp &w, unsigned lane, const Instr &in, BulkStore &store);
  void commitBulk(Warp &w, uint32_t lanes);
  void awaitBulk(Warp &w, const Instr &in, uint32_t lanes);
  /// Calls visit(shared offset, element offset in the tensor or -1, bytes) for
  /// each row of a box; the elements that exist come first in it.
  struct BoxRow {
    uint32_t shared;
    uint64_t global;
    uint32_t bytes, inside, before;
  };
  std::vector<BoxRow> rowsOf(const TensorMap &map,
                             const std::array<int32_t, 5> &at);
  std::optional<TensorMap> findMap(Warp &w, unsigned lane, const Instr &in,
                                   uint64_t address);

  /// A tensor map takes boxes whose rows begin at whole words of 16 bytes:
  /// others are illegal instructions on an H200.
  bool beginsAtWord(Warp &w, unsigned lane, const Instr &in,
                    const TensorMap &map, int32_t first);

  const Program &program;
  const Launch &launch;
  uint32_t number;
  GlobalMemory &global;
  const Schedule &schedule;
  std::mt19937_64 random;
  SharedMemory shared;
  Workers workers;
  std::vector<Knowledge> knowledge; // by thread
  std::vector<Warp> warps;
  std::array<NamedBarrier, 16> named = {};
  std::map<uint32_t, MBarrier> mbarriers; // by offset
  std::vector<BulkLoad> loads;
  Fragments fragments; // of the product at hand
  /// Registers that no warp has.
  uint32_t freeRegisters = 0;
  /// Products of each warpgroup, as the warp that is ahead has issued them.
  struct Issued {
    uint32_t pc;
    uint64_t a, b;
    uint32_t scale;
  };
  std::vector<std::vector<Issued>> issued; // by warpgroup
  std::vector<size_t> numIssued;           // by warp
  /// Grows when something happens that others may wait for.
  uint32_t changes = 0;
  bool hasProgress = false;
  std::string fault;
};

/// Addresses of tensor maps in the parameter space.
inline constexpr uint64_t mapSpace = uint64_t(0xFFF) << 40;

} // namespace selvedge::sim

#endif // SELVEDGE_COMPILER_SIM_BLOCK_H
