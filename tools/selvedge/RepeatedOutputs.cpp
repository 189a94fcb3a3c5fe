// Outputs of launches in a row, which have to be equal.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/RepeatedOutputs.h"

#include <algorithm>
#include <fmt/format.h>

namespace selvedge::cli {

namespace {

/// Device memory for the outputs of one round.
constexpr uint64_t roundBytes = uint64_t(256) << 20;

/// How many launches have outputs at a time.
size_t countSlots(const Images &images, int64_t launches) {
  uint64_t bytes = 1;
  for (const auto &[name, image] : images)
    bytes += image->bytes().size();
  // Beside the first launch's there is a place for another one's.
  uint64_t room = std::max<uint64_t>(roundBytes / bytes, 2);
  return static_cast<size_t>(std::min(room, static_cast<uint64_t>(launches)));
}

} // namespace

Result<RepeatedOutputs> RepeatedOutputs::place(const Device &device,
                                               const Images &images,
                                               int64_t launches) {
  RepeatedOutputs outputs(device);
  outputs.launches = launches;
  Result<PlacedTensors> first = placeTensors(device, images);
  if (!first.ok())
    return first.status();
  outputs.slots.push_back(std::move(*first));
  if (launches == 1)
    return outputs;
  Result<PlacedTensors> before = placeTensors(device, images);
  if (!before.ok())
    return before.status();
  outputs.before = std::move(*before);
  for (size_t i = countSlots(images, launches); i > 1; --i) {
    PlacedTensors &slot = outputs.slots.emplace_back();
    for (const auto &[name, one] : outputs.before) {
      Result<Placed> room = one.makeRoom(device, name);
      if (!room.ok())
        return room.status();
      slot.emplace(name, std::move(*room));
    }
  }
  Result<BitCompare> compare = BitCompare::load(device);
  if (!compare.ok())
    return compare.status();
  outputs.compare.emplace(std::move(*compare));
  return outputs;
}

Result<std::vector<const PlacedTensors *>> RepeatedOutputs::nextRound() {
  round.first += round.count;
  // The first launch's outputs are kept.
  round.slot = round.first == 0 ? 0 : 1;
  round.count = std::min(launches - round.first,
                         static_cast<int64_t>(slots.size() - round.slot));
  std::vector<const PlacedTensors *> outputs;
  for (int64_t i = 0; i < round.count; ++i) {
    size_t slot = round.slot + static_cast<size_t>(i);
    outputs.push_back(&slots[slot]);
    // The first ones were uploaded.
    for (const auto &[name, one] : before)
      if (slot > 0)
        if (Status s = slots[slot].at(name).restore(device, one); !s.ok())
          return s;
  }
  return outputs;
}

Result<std::vector<int32_t>> RepeatedOutputs::findDifferent() const {
  std::vector<int32_t> flags(static_cast<size_t>(round.count), 0);
  if (launches == 1)
    return flags;
  auto bytes = std::as_writable_bytes(std::span(flags));
  Result<DeviceBuffer> buffer = device.allocate(bytes.size());
  if (!buffer.ok())
    return buffer.status();
  if (Status s = device.copyTo(buffer->data(), bytes); !s.ok())
    return s;
  // The first launch's are those that the others are compared with.
  for (size_t i = isFirst() ? 1 : 0; i < flags.size(); ++i)
    for (const auto &[name, one] : slots[round.slot + i])
      if (Status s = one.compare(*compare, slots[0].at(name),
                                 static_cast<int32_t *>(buffer->data()) + i);
          !s.ok())
        return s;
  if (Status s = device.copyFrom(bytes, buffer->data()); !s.ok())
    return s;
  return flags;
}

Status RepeatedOutputs::check(const Problem &problem, Outputs &first) const {
  if (isFirst()) {
    Result<Outputs> outputs = checkTensors(problem, device, slots[0]);
    if (!outputs.ok())
      return outputs.status();
    first = std::move(*outputs);
  }
  Result<std::vector<int32_t>> different = findDifferent();
  if (!different.ok())
    return different.status();
  for (size_t i = 0; i < different->size(); ++i) {
    // All bytes are those of the first launch, which have been checked.
    if ((*different)[i] == 0)
      continue;
    // It may be those of the first launch that a later one changed.
    for (size_t slot : {round.slot + i, size_t(0)}) {
      Result<Outputs> outputs = checkTensors(problem, device, slots[slot]);
      if (!outputs.ok())
        return outputs.status();
      auto number = round.first + static_cast<int64_t>(i) + 1;
      if (Status s = compareBits(
              problem, *outputs,
              slot == 0
                  ? fmt::format("the first launch, after launch {}", number)
                  : fmt::format("launch {} of {}", number, launches),
              first, "the first");
          !s.ok())
        return s;
    }
  }
  return Status();
}

} // namespace selvedge::cli
