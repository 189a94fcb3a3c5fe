// Loading an artefact's code and launching its plan.
// SPDX-License-Identifier: MIT
#include "selvedge/Op.h"

#include "runtime/src/DeviceState.h"
#include "runtime/src/TensorMap.h"
#include "selvedge/Ptxas.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>

namespace selvedge::inline runtime {

namespace {

/// Dynamic shared memory that every kernel has without asking.
constexpr int64_t defaultSmemBytes = 48 * 1024;

/// A loaded module, unloaded with the last op that uses it.
struct Module {
  std::shared_ptr<DeviceState> device;
  CuHandle handle = nullptr;

  Module() = default;
  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;
  ~Module() {
    if (!handle)
      return;
    ContextScope scope(*device->driver, device->context);
    device->driver->cuModuleUnload(handle);
  }
};

/// Loads a cubin or PTX into the current context.
Status loadImage(Module &module, const std::string &image) {
  std::array<char, 4096> log = {};
  std::array<int, 2> options = {cuJitErrorLogBuffer,
                                cuJitErrorLogBufferSizeBytes};
  std::array<void *, 2> values = {log.data(),
                                  reinterpret_cast<void *>(log.size())};
  const CudaDriver &driver = *module.device->driver;
  // A std::string ends in a zero byte, which is how the driver finds the end
  // of PTX; a cubin carries its size.
  CuResult result =
      driver.cuModuleLoadDataEx(&module.handle, image.data(), options.size(),
                                options.data(), values.data());
  std::string what = "cannot load the code on the GPU";
  if (log[0])
    what += fmt::format(" [{}]", log.data());
  return driver.check(result, what);
}

/// Assembles PTX for `arch` and loads it.
Result<std::string> loadPtx(Module &module, const std::string &ptx,
                            const std::string &arch) {
  Result<std::string> cubin = assemblePtx(ptx, arch);
  // The driver can stand in for a ptxas that is missing, too old for
  // this GPU, or newer than the driver understands.
  if (cubin.ok() && loadImage(module, *cubin).ok())
    return std::string("ptx assembled by ptxas");
  module.handle = nullptr;
  if (Status status = loadImage(module, ptx); !status.ok())
    return status;
  return std::string("ptx assembled by the driver");
}

} // namespace

/// Functions are resolved at load time: launch() only looks them up.
struct Op::Impl {
  Manifest manifest;
  std::string origin;
  Module module;
  /// Per variant and launch, as in the manifest.
  std::vector<std::vector<CuHandle>> functions;

  Status resolveFunctions();
};

Status Op::Impl::resolveFunctions() {
  const CudaDriver &driver = *module.device->driver;
  for (const ManifestVariant &variant : manifest.variants) {
    std::vector<CuHandle> &row = functions.emplace_back();
    for (const ManifestLaunch &launch : variant.launches) {
      CuHandle &function = row.emplace_back();
      CuResult result = driver.cuModuleGetFunction(&function, module.handle,
                                                   launch.kernel.c_str());
      if (Status s = driver.check(
              result, fmt::format("cannot find kernel '{}'", launch.kernel));
          !s.ok())
        return s;
      if (launch.smemBytes <= defaultSmemBytes)
        continue;
      result = driver.cuFuncSetAttribute(
          function, cuFuncAttributeMaxDynamicSharedSizeBytes,
          static_cast<int>(launch.smemBytes));
      if (Status s = driver.check(
              result, fmt::format("kernel '{}' needs {} bytes of shared memory",
                                  launch.kernel, launch.smemBytes));
          !s.ok())
        return s;
    }
  }
  return Status();
}

Result<LoadPath> chooseLoadPath(const std::string &arch, int major, int minor) {
  bool specific = arch.ends_with('a');
  int number = 0;
  const char *end = arch.data() + arch.size() - (specific ? 1 : 0);
  if (!arch.starts_with("sm_"))
    return Status::badInput(fmt::format("unknown architecture '{}'", arch));
  auto [stop, error] = std::from_chars(arch.data() + 3, end, number);
  if (error != std::errc() || stop != end || number < 10)
    return Status::badInput(fmt::format("unknown architecture '{}'", arch));
  int archMajor = number / 10;
  int archMinor = number % 10;
  if (specific && (archMajor != major || archMinor != minor))
    return Status::unavailable(
        fmt::format("code for {} runs on compute capability {}.{} only, and "
                    "this GPU has {}.{}",
                    arch, archMajor, archMinor, major, minor));
  if (archMajor == major && archMinor <= minor)
    return LoadPath::Cubin;
  if (std::pair(archMajor, archMinor) < std::pair(major, minor))
    return LoadPath::Ptx;
  return Status::unavailable(
      fmt::format("code for {} needs compute capability {}.{}, and this GPU "
                  "has {}.{}",
                  arch, archMajor, archMinor, major, minor));
}

Result<Op> Op::load(const Artifact &artifact, const Device &device) {
  auto impl = std::make_shared<Impl>();
  Result<Manifest> manifest = parseManifest(artifact.manifest);
  if (!manifest.ok())
    return manifest.status();
  impl->manifest = std::move(*manifest);
  impl->module.device = device.state();
  const DeviceState &state = *device.state();
  Result<LoadPath> path =
      chooseLoadPath(impl->manifest.arch, state.major, state.minor);
  if (!path.ok())
    return path.status();
  ContextScope scope(*state.driver, state.context);
  if (Status s = scope.status(); !s.ok())
    return s;
  if (*path == LoadPath::Cubin && !artifact.cubin.empty()) {
    impl->origin = "cubin";
    if (Status s = loadImage(impl->module, artifact.cubin); !s.ok())
      return s;
  } else {
    // On its own target an artefact without cubin keeps the target's name: the
    // instructions of sm_90a do not exist on sm_90.
    std::string arch = *path == LoadPath::Cubin
                           ? impl->manifest.arch
                           : fmt::format("sm_{}{}", state.major, state.minor);
    Result<std::string> origin = loadPtx(impl->module, artifact.ptx, arch);
    if (!origin.ok())
      return origin.status();
    impl->origin = *origin;
  }
  if (Status s = impl->resolveFunctions(); !s.ok())
    return s;
  return Op(std::move(impl));
}

const Manifest &Op::manifest() const { return impl->manifest; }
const std::string &Op::origin() const { return impl->origin; }

Result<uint64_t> Op::workspaceSize(const LaunchArgs &args) const {
  return runtime::workspaceSize(impl->manifest, args);
}

Status Op::launch(const LaunchArgs &args, void *stream) const {
  Result<Plan> plan = planLaunch(impl->manifest, args);
  if (!plan.ok())
    return plan.status();
  const DeviceState &state = *impl->module.device;
  ContextScope scope(*state.driver, state.context);
  if (Status s = scope.status(); !s.ok())
    return s;
  const ManifestLaunch *first =
      impl->manifest.variants[plan->variant].launches.data();
  for (PlannedLaunch &planned : plan->launches) {
    const ManifestLaunch &launch = *planned.launch;
    std::vector<void *> params;
    for (uint64_t &slot : planned.params)
      params.push_back(&slot);
    std::vector<TensorMap> maps;
    maps.reserve(planned.maps.size());
    for (const PlannedMap &map : planned.maps) {
      Result<TensorMap> encoded = encodeTensorMap(*state.driver, map);
      if (!encoded.ok())
        return encoded.status();
      maps.push_back(*encoded);
      params[map.param] = &maps.back();
    }
    if (launch.persistent)
      planned.grid[0] = std::min(
          planned.grid[0], static_cast<uint32_t>(state.multiprocessors));
    CuHandle function =
        impl->functions[plan->variant][static_cast<size_t>(&launch - first)];
    CuResult result = state.driver->cuLaunchKernel(
        function, planned.grid[0], planned.grid[1], planned.grid[2],
        static_cast<unsigned>(launch.block), 1, 1,
        static_cast<unsigned>(launch.smemBytes), stream, params.data(),
        nullptr);
    if (Status s = state.driver->check(
            result, fmt::format("cannot launch kernel '{}'", launch.kernel));
        !s.ok())
      return s;
  }
  return Status();
}

} // namespace selvedge::inline runtime
