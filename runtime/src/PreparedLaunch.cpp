// A plan in the form in which it is launched again and again.
// SPDX-License-Identifier: MIT
#include "runtime/src/PreparedLaunch.h"

#include "runtime/src/FindLast.h"
#include "runtime/src/PackScalar.h"

#include <algorithm>
#include <memory_resource>

namespace selvedge::inline runtime {

namespace {

/// Stack memory for the parameters of a launch; more comes from the heap.
constexpr size_t scratchBytes = 4096;

} // namespace

void *PreparedLaunch::Place::in(const LaunchView &view) const {
  switch (kind) {
  case Kind::Argument:
    return view.tensors[value].data;
  case Kind::Workspace:
    return static_cast<std::byte *>(view.workspace) + value;
  case Kind::Nowhere:
    break;
  }
  return nullptr;
}

PreparedLaunch::Place PreparedLaunch::placeOf(const ManifestTensor &tensor,
                                              const LaunchView &view,
                                              uint64_t packed) {
  if (tensor.role == Role::Temp)
    return {Place::Kind::Workspace,
            packed - reinterpret_cast<uintptr_t>(view.workspace)};
  if (auto argument = findLast(view.tensors, tensor.name))
    return {Place::Kind::Argument, *argument};
  return {};
}

PreparedLaunch::PreparedLaunch(const Manifest &manifest, const LaunchView &view,
                               Plan plan, const KernelsByVariant &kernels,
                               int multiprocessors)
    : signature(manifest, view), workspaceBytes(plan.workspaceBytes) {
  for (const ManifestScalar &scalar : manifest.scalars)
    if (auto argument = findLast(view.scalars, scalar.name))
      checked.push_back({*argument, scalar.dtype});
  for (PlannedLaunch &planned : plan.launches) {
    const ManifestLaunch &launch = *planned.launch;
    LaunchShape shape{planned.grid, static_cast<uint32_t>(launch.block),
                      planned.isDependent};
    if (launch.persistent)
      shape.grid[0] =
          std::min(shape.grid[0], static_cast<uint32_t>(multiprocessors));
    const ManifestLaunch *first =
        manifest.variants[planned.variant].launches.data();
    steps.push_back(
        {&(*kernels[planned.variant])[static_cast<size_t>(&launch - first)],
         shape, planned.params.size()});
    size_t base = params.size();
    params.reserve(base + planned.params.size());
    for (size_t i = 0; i < launch.args.size(); ++i)
      addParam(manifest, view, launch.args[i], planned.params[i]);
    for (PlannedMap &map : planned.maps) {
      auto param = std::ranges::find(maps, base + map.param, &MapParam::param);
      param->cache = std::make_unique<TensorMapCache>(std::move(map));
    }
  }
}

void PreparedLaunch::addParam(const Manifest &manifest, const LaunchView &view,
                              const ManifestArg &arg, uint64_t packed) {
  size_t param = params.size();
  params.push_back(packed);
  if (arg.kind == ManifestArg::Kind::Scalar) {
    const ManifestScalar &scalar = manifest.scalars[arg.index];
    if (auto argument = findLast(view.scalars, scalar.name))
      scalars.push_back({param, *argument, scalar.dtype});
    return;
  }
  if (arg.kind == ManifestArg::Kind::Counter)
    counters.push_back(param);
  bool isMap = arg.kind == ManifestArg::Kind::TensorMap;
  if (!isMap && arg.kind != ManifestArg::Kind::Pointer)
    return;
  Place place = placeOf(manifest.tensors[arg.index], view, packed);
  if (isMap)
    maps.push_back({param, place, nullptr});
  else
    pointers.push_back({param, place});
}

bool PreparedLaunch::accepts(const LaunchView &view) const {
  auto workspace = reinterpret_cast<uintptr_t>(view.workspace);
  if (view.workspaceBytes < workspaceBytes ||
      (workspaceBytes > 0 && (workspace == 0 || workspace % workspaceAlign)))
    return false;
  return signature.matches(view) &&
         std::ranges::all_of(checked, [&](const CheckedScalar &scalar) {
           return isScalarOf(scalar.dtype, view.scalars[scalar.argument].value);
         });
}

Status PreparedLaunch::launch(const CudaDriver &driver, LaunchCounters *pool,
                              const LaunchView &view, void *stream) const {
  alignas(TensorMap) std::array<std::byte, scratchBytes> scratch;
  std::pmr::monotonic_buffer_resource memory(scratch.data(), scratch.size());
  std::pmr::vector<TensorMap> descriptors(maps.size(), &memory);
  std::pmr::vector<uint64_t> values(params.begin(), params.end(), &memory);
  std::pmr::vector<void *> addresses(params.size(), &memory);
  for (const PointerParam &pointer : pointers)
    values[pointer.param] = reinterpret_cast<uintptr_t>(pointer.place.in(view));
  for (const ScalarParam &scalar : scalars)
    values[scalar.param] =
        packScalar(scalar.dtype, view.scalars[scalar.argument].value);
  for (size_t param : counters) {
    Result<uint64_t> counter = pool->take(stream);
    if (!counter.ok())
      return counter.status();
    values[param] = *counter;
  }
  for (size_t i = 0; i < values.size(); ++i)
    addresses[i] = &values[i];
  for (size_t i = 0; i < maps.size(); ++i) {
    const MapParam &map = maps[i];
    if (Status s = map.cache->get(driver, map.place.in(view), descriptors[i]);
        !s.ok())
      return s;
    addresses[map.param] = &descriptors[i];
  }
  std::span<void *> rest(addresses);
  for (const Step &step : steps) {
    if (Status s = step.kernel->launch(step.shape, rest.first(step.paramCount),
                                       stream);
        !s.ok())
      return s;
    rest = rest.subspan(step.paramCount);
  }
  return Status();
}

std::shared_ptr<const PreparedLaunch>
LaunchCache::find(const LaunchView &view) {
  std::lock_guard lock(mutex);
  auto found = std::ranges::find_if(
      launches, [&](const auto &launch) { return launch->accepts(view); });
  if (found == launches.end())
    return nullptr;
  std::rotate(launches.begin(), found, found + 1);
  return launches.front();
}

void LaunchCache::insert(std::shared_ptr<const PreparedLaunch> launch) {
  std::lock_guard lock(mutex);
  if (launches.size() == capacity)
    launches.pop_back();
  launches.insert(launches.begin(), std::move(launch));
}

} // namespace selvedge::inline runtime
