// Shared memory of a thread block: bytes, their states, and who is at them.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SIM_SHAREDMEMORY_H
#define SELVEDGE_COMPILER_SIM_SHAREDMEMORY_H

#include "compiler/Sim/Clocks.h"
#include "compiler/Sim/GlobalMemory.h"

namespace selvedge::sim {

/// Address of the first byte; like on hardware the first KiB is taken.
inline constexpr uint32_t sharedStart = 1024;

/// Who makes an access, and what it knows.
struct Accessor {
  /// A thread, or an engine that works for `thread`.
  Worker who;
  Time time;
  uint32_t thread;
  /// Whether it works through the proxy of the engines.
  bool isAsync;
  const Knowledge *knowledge;
  /// Instruction, for messages.
  uint32_t origin;
};

/// An access that nothing orders before another one.
struct Race {
  Worker who;
  uint32_t origin;
  bool wasWrite;
  /// Whether only a proxy fence is missing.
  bool lacksFence;
};

/// The memory. Accesses are in bytes from its start and inside of it.
class SharedMemory {
public:
  SharedMemory(uint32_t size, uint32_t granule, uint32_t threads);

  uint32_t size() const { return static_cast<uint32_t>(bytes.size()); }
  uint8_t *data(uint32_t offset) { return bytes.data() + offset; }
  State *states(uint32_t offset) { return state.data() + offset; }

  /// Notes an access and returns one that is not ordered before it, if any.
  /// Bytes are read or written by the caller.
  std::optional<Race> read(const Accessor &by, uint32_t offset, uint32_t size);
  /// Threads may write the same bytes at the same time: `data`, if given, is
  /// what is written.
  std::optional<Race> write(const Accessor &by, uint32_t offset, uint32_t size,
                            const uint8_t *data = nullptr);

private:
  static constexpr uint32_t none = ~uint32_t(0);

  struct Write {
    Worker who = 0;
    Time time = 0;
    uint32_t origin = 0;
    /// More of them, in a list; all wrote the same bytes.
    uint32_t others = none;
  };
  /// Reads by lanes of a warp, or by an engine.
  struct Read {
    Worker who;
    Time time;
    uint32_t lanes;
    uint32_t origin;
    uint32_t next;
  };
  /// Who is at some bytes: the last write, and the reads since then in a list.
  struct Record {
    Write write = {};
    uint32_t reads = none;
  };

  bool isAfter(const Accessor &by, const Write &write, bool &lacksFence) const;
  bool isAfter(const Accessor &by, const Read &read, bool &lacksFence) const;
  std::optional<Race> findWrite(const Accessor &by, const Record &record) const;
  std::optional<Race> noteRead(const Accessor &by, Record &record);
  std::optional<Race> noteWrite(const Accessor &by, Record &record,
                                bool isSame);
  /// Calls visit(record) for the records of some bytes; stops at a race.
  template <typename F>
  std::optional<Race> visit(uint32_t offset, uint32_t size, F f);
  /// Gives the parts of a cell records of their own.
  void split(uint32_t cell);
  uint32_t addRead(const Read &read);
  void dropReads(Record &record);

  uint32_t granule;
  uint32_t threads;
  std::vector<uint8_t> bytes;
  std::vector<State> state;
  /// Cells of 16 bytes have one record, or, where smaller accesses have been,
  /// one per granule: those of `parts` from `firstPart` on.
  std::vector<Record> cells;
  std::vector<uint32_t> firstPart;
  std::vector<Record> parts;
  std::vector<uint32_t> freeParts;
  std::vector<Read> reads;
  std::vector<Write> otherWrites;
  uint32_t freeRead = none;
};

} // namespace selvedge::sim

#endif // SELVEDGE_COMPILER_SIM_SHAREDMEMORY_H
