// What threads know to be over: vector clocks of a thread block.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SIM_CLOCKS_H
#define SELVEDGE_COMPILER_SIM_CLOCKS_H

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace selvedge::sim {

/// Numbers threads, and after them what works on its own: the copies of a
/// thread, the products of a warp, the copies that a barrier counts.
using Worker = uint32_t;
/// Grows with each release of a warp, or with each group of an engine.
using Time = uint32_t;

/// Per worker up to which time its accesses are over. Accesses of threads are
/// made by another proxy than those of the engines: `visible` are those that
/// the engines see, too.
struct Knowledge {
  std::vector<Time> all, visible;

  static Time at(const std::vector<Time> &times, Worker who) {
    return who < times.size() ? times[who] : 0;
  }
  static void raise(std::vector<Time> &times, Worker who, Time time) {
    if (who >= times.size())
      times.resize(who + 1, 0);
    times[who] = std::max(times[who], time);
  }
  static void join(std::vector<Time> &into, const std::vector<Time> &from) {
    if (into.size() < from.size())
      into.resize(from.size(), 0);
    for (size_t i = 0; i < from.size(); ++i)
      into[i] = std::max(into[i], from[i]);
  }
  void join(const Knowledge &other) {
    join(all, other.all);
    join(visible, other.visible);
  }
};

/// The engines whose work is ordered by groups, or by a barrier's phases.
enum class Engine : uint8_t { Copies, Products, BulkReads, Barrier };

/// Numbers the workers of a block.
class Workers {
public:
  explicit Workers(uint32_t threads) : next(threads) {}

  /// The engine `kind` of a thread, warp or barrier.
  Worker of(Engine kind, uint32_t owner) {
    auto [it, isNew] = numbers.try_emplace({kind, owner}, next);
    if (isNew)
      ++next;
    return it->second;
  }
  /// What a number stands for: the engine and its owner.
  std::pair<Engine, uint32_t> nameOf(Worker worker) const {
    for (const auto &[key, number] : numbers)
      if (number == worker)
        return key;
    return {Engine::Copies, 0};
  }

private:
  std::map<std::pair<Engine, uint32_t>, Worker> numbers;
  uint32_t next;
};

} // namespace selvedge::sim

#endif // SELVEDGE_COMPILER_SIM_CLOCKS_H
