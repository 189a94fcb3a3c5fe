// Which variants a GPU can launch.
// SPDX-License-Identifier: MIT
#include "selvedge/Plan.h"

#include <algorithm>
#include <fmt/format.h>

namespace selvedge::inline runtime {

namespace {

const ManifestLaunch *findTooLarge(const ManifestVariant &variant,
                                   int64_t sharedMemoryPerBlock) {
  auto launch =
      std::ranges::find_if(variant.launches, [&](const ManifestLaunch &l) {
        return l.smemBytes > sharedMemoryPerBlock;
      });
  return launch == variant.launches.end() ? nullptr : &*launch;
}

bool hasMaps(const ManifestLaunch &launch) {
  return std::ranges::any_of(launch.args, [](const ManifestArg &arg) {
    return arg.kind == ManifestArg::Kind::TensorMap;
  });
}

/// Whether a variant is taken whatever the arguments are.
bool takesAll(const ManifestVariant &variant) {
  return variant.when.empty() && variant.dimConditions.empty() &&
         std::ranges::none_of(variant.launches, hasMaps);
}

} // namespace

Result<std::vector<size_t>> fitToDevice(Manifest &manifest,
                                        int64_t sharedMemoryPerBlock,
                                        std::string_view device) {
  std::vector<size_t> places;
  std::vector<ManifestVariant> fitting;
  std::string tooLarge;
  for (size_t i = 0; i < manifest.variants.size(); ++i) {
    ManifestVariant &variant = manifest.variants[i];
    if (const ManifestLaunch *launch =
            findTooLarge(variant, sharedMemoryPerBlock)) {
      tooLarge =
          fmt::format("kernel '{}' of its variant '{}' needs {} bytes of "
                      "shared memory per thread block",
                      launch->kernel, variant.name, launch->smemBytes);
      continue;
    }
    bool isLast = takesAll(variant);
    places.push_back(i);
    fitting.push_back(std::move(variant));
    if (isLast)
      break;
  }
  bool isComplete = !fitting.empty() && takesAll(fitting.back());
  if (!isComplete && !tooLarge.empty())
    return Status::unavailable(fmt::format(
        "this artefact of op '{}' does not run on {}: {}, and the GPU has {}; "
        "compile it for this GPU, with --shared-memory {} or in process",
        manifest.op, device, tooLarge, sharedMemoryPerBlock,
        sharedMemoryPerBlock));
  manifest.variants = std::move(fitting);
  return places;
}

} // namespace selvedge::inline runtime
