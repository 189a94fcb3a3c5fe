// What has become of the elements of a tensor.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_MEMORY_WRITTENELEMENTS_H
#define SELVEDGE_COMPILER_VERIFY_MEMORY_WRITTENELEMENTS_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <vector>

namespace selvedge::verify {

/// A byte per element. Where some thread blocks of a large launch are executed
/// only those bytes take memory that differ from what all begin with.
class WrittenElements {
public:
  /// Elements that a list of all may have.
  static constexpr uint64_t mostListed = uint64_t(1) << 23;

  WrittenElements() = default;
  WrittenElements(uint64_t count, bool isSparse)
      : count(isSparse ? count : std::min(count, mostListed)),
        isSparse(isSparse) {}

  uint64_t size() const { return count; }
  /// All elements become `value`.
  void fill(uint8_t value) {
    initial = value;
    changed.clear();
    if (!isSparse)
      listed.assign(count, value);
  }
  uint8_t operator[](uint64_t element) const {
    if (!isSparse)
      return listed[element];
    auto found = changed.find(element);
    return found == changed.end() ? initial : found->second;
  }
  uint8_t &operator[](uint64_t element) {
    return isSparse ? changed.try_emplace(element, initial).first->second
                    : listed[element];
  }
  /// All bytes, one after the other; null where only changed ones are kept.
  uint8_t *data() { return isSparse ? nullptr : listed.data(); }
  /// Whether one of these bits is set in some element.
  bool hasAny(uint8_t bits) const {
    return (count > 0 && isSparse && (initial & bits) != 0) ||
           llvm::any_of(listed, [=](uint8_t v) { return (v & bits) != 0; }) ||
           llvm::any_of(changed, [=](const auto &entry) {
             return (entry.second & bits) != 0;
           });
  }

private:
  uint64_t count = 0;
  bool isSparse = false;
  uint8_t initial = 0;
  std::vector<uint8_t> listed;
  llvm::DenseMap<uint64_t, uint8_t> changed;
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_MEMORY_WRITTENELEMENTS_H
