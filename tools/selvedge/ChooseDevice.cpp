// Which device executes.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/RunDevices.h"

#include <fmt/format.h>

namespace selvedge::cli {

Result<std::optional<Device>> chooseDevice(const std::string &wanted,
                                           std::string &arch) {
  const std::optional<Device> reference;
  if (wanted == "ref" || wanted == "sim")
    return reference;
  Result<int> ordinal = parseOrdinal(wanted);
  if (!ordinal.ok())
    return ordinal.status();
  Result<Device> device = Device::open(*ordinal);
  if (!device.ok() && wanted.empty())
    return reference;
  if (!device.ok())
    return Status::unavailable(
        fmt::format("--device {}: {}", wanted, device.status().message()));
  if (!arch.empty())
    return std::optional<Device>(*device);
  Result<std::string> best = bestArch(*device);
  if (!best.ok() && wanted.empty())
    return reference;
  if (!best.ok())
    return best.status();
  arch = *best;
  return std::optional<Device>(*device);
}

} // namespace selvedge::cli
