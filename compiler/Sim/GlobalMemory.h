// Global memory of the simulated device: tensors with the state of each byte.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SIM_GLOBALMEMORY_H
#define SELVEDGE_COMPILER_SIM_GLOBALMEMORY_H

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace selvedge::sim {

/// What a byte is.
enum class State : uint8_t {
  Defined,
  /// Nobody has written it: what is computed from it is undefined.
  Undefined,
  /// Between the rows of a tensor: nobody may touch it.
  Outside
};

/// A tensor in memory.
struct Region {
  std::string name;
  std::vector<uint8_t> bytes;
  std::vector<State> state;
  bool isWritable = false;
  /// Words that threads of different blocks share, by atomic operations alone.
  bool isAtomic = false;
  /// Per byte who has written it in this launch: 0 nobody.
  std::vector<uint64_t> writer = {};
  /// What this launch does with each unit of bytes, and what those do that may
  /// still run beside it: the temps of an op, of which each begins with a unit,
  /// are one region.
  enum Use : uint8_t { Read = 1, Written = 2 };
  static constexpr uint64_t unit = 64;
  std::vector<uint8_t> now = {}, before = {};

  /// Notes a use of some bytes; whether a launch before minds it.
  bool use(uint64_t offset, uint64_t size, bool isWrite);
};

/// All tensors, each alone in a part of the address space.
class GlobalMemory {
public:
  /// A place in a region.
  struct Place {
    Region *region;
    uint64_t offset;
  };

  /// Adds a region and gives the address of its first byte.
  uint64_t add(Region region);
  Region &at(uint64_t address);
  /// The bytes at an address; none, and `problem` says why, where they do not
  /// all lie inside of one tensor, or are not aligned to `align`.
  std::optional<Place> find(uint64_t address, uint64_t size, uint64_t align,
                            std::string &problem);
  /// Forgets who wrote what: kernels follow each other. What launches have used
  /// since one that was not dependent may still be in use.
  void startLaunch(bool isDependent);
  /// An addition to a word of f32 or u32. Nobody reads the word in the same
  /// launch, so additions wait for its end, and for an order that does not
  /// depend on the schedule: that of blocks, threads and their programs.
  void addLater(const Place &place, std::pair<uint32_t, uint32_t> thread,
                uint32_t bits, bool isFloat);
  void finishLaunch();

private:
  struct Addition {
    Place place;
    /// Number of the block and of the thread in it.
    std::pair<uint32_t, uint32_t> thread;
    /// In the order of execution.
    size_t number;
    uint32_t bits;
    bool isFloat;
  };
  std::vector<Region> regions;
  std::vector<Addition> additions;
};

} // namespace selvedge::sim

#endif // SELVEDGE_COMPILER_SIM_GLOBALMEMORY_H
