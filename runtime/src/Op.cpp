// Loading an artefact's code and launching its plan.
// SPDX-License-Identifier: MIT
#include "selvedge/Op.h"

#include "runtime/src/DeviceState.h"
#include "runtime/src/LaunchCounters.h"
#include "runtime/src/PreparedLaunch.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace selvedge::inline runtime {

/// Functions are resolved at load time, and what launches have in common is
/// remembered.
struct Op::Impl {
  Manifest manifest;
  std::string origin;
  std::shared_ptr<DeviceState> device;
  /// Per variant and launch, as in the manifest.
  std::vector<std::vector<Kernel>> kernels;
  mutable LaunchCache launches;
  /// Null where no launch takes one.
  std::unique_ptr<LaunchCounters> counters;

  Status resolveKernels(const Module &module);
  bool takesCounters() const;
};

static bool isCounter(const ManifestArg &arg) {
  return arg.kind == ManifestArg::Kind::Counter;
}

bool Op::Impl::takesCounters() const {
  for (const ManifestVariant &variant : manifest.variants)
    for (const ManifestLaunch &launch : variant.launches)
      if (std::any_of(launch.args.begin(), launch.args.end(), isCounter))
        return true;
  return false;
}

Status Op::Impl::resolveKernels(const Module &module) {
  for (const ManifestVariant &variant : manifest.variants) {
    std::vector<Kernel> &row = kernels.emplace_back();
    for (const ManifestLaunch &launch : variant.launches) {
      Result<Kernel> kernel = module.kernel(launch.kernel, launch.smemBytes);
      if (!kernel.ok())
        return kernel.status();
      row.push_back(std::move(*kernel));
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
  auto [major, minor] = device.capability();
  Result<LoadPath> path = chooseLoadPath(impl->manifest.arch, major, minor);
  if (!path.ok())
    return path.status();
  // On its own target an artefact without cubin keeps the target's name: the
  // instructions of sm_90a do not exist on sm_90.
  std::string arch = *path == LoadPath::Cubin
                         ? impl->manifest.arch
                         : fmt::format("sm_{}{}", major, minor);
  Result<Module> module = *path == LoadPath::Cubin && !artifact.cubin.empty()
                              ? Module::load(device, artifact.cubin)
                              : Module::loadPtx(device, artifact.ptx, arch);
  if (!module.ok())
    return module.status();
  impl->device = device.state();
  impl->origin = module->origin();
  if (impl->takesCounters()) {
    Result<std::unique_ptr<LaunchCounters>> counters =
        LaunchCounters::create(device);
    if (!counters.ok())
      return counters.status();
    impl->counters = std::move(*counters);
  }
  if (Status s = impl->resolveKernels(*module); !s.ok())
    return s;
  return Op(std::move(impl));
}

const Manifest &Op::manifest() const { return impl->manifest; }
const std::string &Op::origin() const { return impl->origin; }

Result<uint64_t> Op::workspaceSize(const LaunchArgs &args) const {
  return runtime::workspaceSize(impl->manifest, args);
}

Result<uint64_t> Op::workspaceSize(const LaunchView &view) const {
  return runtime::workspaceSize(impl->manifest, view);
}

Status Op::launch(const LaunchView &view, void *stream) const {
  const DeviceState &device = *impl->device;
  std::shared_ptr<const PreparedLaunch> prepared = impl->launches.find(view);
  if (!prepared) {
    Result<Plan> plan = planLaunch(impl->manifest, view);
    if (!plan.ok())
      return plan.status();
    const std::vector<Kernel> &kernels = impl->kernels[plan->variant];
    prepared =
        std::make_shared<PreparedLaunch>(impl->manifest, view, std::move(*plan),
                                         kernels, device.multiprocessors);
    impl->launches.insert(prepared);
  }
  // Descriptors are encoded in the device's context.
  ContextScope scope(*device.driver, device.context);
  if (Status s = scope.status(); !s.ok())
    return s;
  return prepared->launch(*device.driver, impl->counters.get(), view, stream);
}

Status Op::launch(const LaunchArgs &args, void *stream) const {
  return launch(ArgsView(args).get(), stream);
}

} // namespace selvedge::inline runtime
