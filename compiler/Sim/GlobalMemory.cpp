// Global memory of the simulated device.
// SPDX-License-Identifier: MIT
#include "compiler/Sim/GlobalMemory.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace selvedge::sim {

/// Every region has a window of addresses, and begins in its middle: what is
/// missed by little or by much is told by the distance.
static constexpr unsigned windowBits = 40;
static constexpr uint64_t windowStart = uint64_t(1) << 39;

uint64_t GlobalMemory::add(Region region) {
  region.writer.assign(region.isWritable ? region.bytes.size() : 0, 0);
  regions.push_back(std::move(region));
  return (uint64_t(regions.size()) << windowBits) + windowStart;
}

Region &GlobalMemory::at(uint64_t address) {
  return regions[(address >> windowBits) - 1];
}

std::optional<GlobalMemory::Place> GlobalMemory::find(uint64_t address,
                                                      uint64_t size,
                                                      uint64_t align,
                                                      std::string &problem) {
  uint64_t number = address >> windowBits;
  if (number == 0 || number > regions.size()) {
    problem = address == 0
                  ? "the address is null"
                  : "no tensor is near address " + std::to_string(address);
    return std::nullopt;
  }
  Region &region = regions[number - 1];
  auto offset = static_cast<int64_t>(address - (number << windowBits)) -
                static_cast<int64_t>(windowStart);
  auto end = static_cast<int64_t>(region.bytes.size());
  auto length = static_cast<int64_t>(size);
  if (offset < 0 || offset + length > end) {
    problem = "bytes " + std::to_string(offset) + ".." +
              std::to_string(offset + length - 1) + " are outside of '" +
              region.name + "', which has " + std::to_string(end);
    return std::nullopt;
  }
  if (address % align != 0) {
    problem = "byte " + std::to_string(offset) + " of '" + region.name +
              "' is not aligned to " + std::to_string(align) + " bytes";
    return std::nullopt;
  }
  Place place{&region, static_cast<uint64_t>(offset)};
  auto states = region.state.begin() + offset;
  auto gap = std::find(states, states + length, State::Outside);
  if (gap != states + length) {
    problem = "byte " + std::to_string(gap - region.state.begin()) + " of '" +
              region.name + "' lies between the rows of the tensor";
    return std::nullopt;
  }
  return place;
}

bool Region::use(uint64_t offset, uint64_t size, bool isWrite) {
  bool isMinded = false;
  uint64_t last = std::min<uint64_t>(
      (offset + std::max<uint64_t>(size, 1) - 1) / unit, now.size() - 1);
  for (uint64_t i = offset / unit; i <= last; ++i) {
    now[i] |= isWrite ? Written : Read;
    isMinded |= (before[i] & (isWrite ? Written | Read : Written)) != 0;
  }
  return isMinded;
}

void GlobalMemory::startLaunch(bool isDependent) {
  for (Region &region : regions) {
    std::fill(region.writer.begin(), region.writer.end(), 0);
    region.now.resize(region.bytes.size() / Region::unit + 1);
    region.before.resize(region.now.size());
    for (size_t i = 0; i < region.now.size(); ++i) {
      uint8_t used = std::exchange(region.now[i], 0);
      region.before[i] = isDependent ? region.before[i] | used : 0;
    }
  }
  additions.clear();
}

void GlobalMemory::addLater(const Place &place,
                            std::pair<uint32_t, uint32_t> thread, uint32_t bits,
                            bool isFloat) {
  additions.push_back({place, thread, additions.size(), bits, isFloat});
}

void GlobalMemory::finishLaunch() {
  std::sort(additions.begin(), additions.end(),
            [](const Addition &a, const Addition &b) {
              return std::pair(a.thread, a.number) <
                     std::pair(b.thread, b.number);
            });
  for (const Addition &addition : additions) {
    uint8_t *at = addition.place.region->bytes.data() + addition.place.offset;
    uint32_t word = 0;
    std::memcpy(&word, at, 4);
    word = addition.isFloat
               ? std::bit_cast<uint32_t>(std::bit_cast<float>(word) +
                                         std::bit_cast<float>(addition.bits))
               : word + addition.bits;
    std::memcpy(at, &word, 4);
  }
  additions.clear();
}

} // namespace selvedge::sim
