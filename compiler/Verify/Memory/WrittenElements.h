// What has become of the elements of a tensor.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_MEMORY_WRITTENELEMENTS_H
#define SELVEDGE_COMPILER_VERIFY_MEMORY_WRITTENELEMENTS_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <array>
#include <vector>

namespace selvedge::verify {

/// A byte per element. Where some thread blocks of a large launch are executed
/// only those pages take memory in which something is written.
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
    pages.clear();
    places.clear();
    latest = none;
    if (!isSparse)
      listed.assign(count, value);
  }
  uint8_t operator[](uint64_t element) const {
    if (!isSparse)
      return listed[element];
    const Page *page = find(element / pageSize);
    return page ? (*page)[element % pageSize] : initial;
  }
  uint8_t &operator[](uint64_t element) {
    if (!isSparse)
      return listed[element];
    uint64_t number = element / pageSize;
    if (!find(number)) {
      latest = number;
      latestPlace = pages.size();
      places[number] = latestPlace;
      pages.emplace_back().fill(initial);
    }
    return pages[latestPlace][element % pageSize];
  }
  /// All bytes, one after the other; null where only some are kept.
  uint8_t *data() { return isSparse ? nullptr : listed.data(); }
  /// Elements that have one of the bits `from` get `to` in place of them.
  void exchange(uint8_t from, uint8_t to) {
    auto change = [=](uint8_t &value) {
      if ((value & from) != 0)
        value = (value & ~from) | to;
    };
    change(initial);
    llvm::for_each(listed, change);
    for (Page &page : pages)
      llvm::for_each(page, change);
  }
  /// Whether one of these bits is set in some element.
  bool hasAny(uint8_t bits) const {
    return (count > 0 && isSparse && (initial & bits) != 0) ||
           llvm::any_of(listed, [=](uint8_t v) { return (v & bits) != 0; }) ||
           llvm::any_of(pages, [=](const Page &page) {
             return llvm::any_of(page,
                                 [=](uint8_t v) { return (v & bits) != 0; });
           });
  }

private:
  /// As many elements as a row of a tile has, or more: what is accessed next
  /// mostly lies in the same page.
  static constexpr uint64_t pageSize = 256;
  using Page = std::array<uint8_t, pageSize>;
  static constexpr uint64_t none = ~uint64_t(0);

  /// Null for a page that nothing was written to.
  const Page *find(uint64_t number) const {
    if (number != latest) {
      auto place = places.find(number);
      if (place == places.end())
        return nullptr;
      latest = number;
      latestPlace = place->second;
    }
    return &pages[latestPlace];
  }

  uint64_t count = 0;
  bool isSparse = false;
  uint8_t initial = 0;
  std::vector<uint8_t> listed;
  std::vector<Page> pages;
  llvm::DenseMap<uint64_t, size_t> places;
  /// The page that was accessed last.
  mutable uint64_t latest = none;
  mutable size_t latestPlace = 0;
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_MEMORY_WRITTENELEMENTS_H
