// Loading an artefact's code and launching its plan.
// SPDX-License-Identifier: MIT
#include "selvedge/Op.h"

#include "runtime/src/DeviceState.h"
#include "runtime/src/LaunchCounters.h"
#include "runtime/src/PreparedLaunch.h"
#include "runtime/src/ValidateLaunch.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <fmt/format.h>
#include <mutex>

namespace selvedge::inline runtime {

namespace {

/// A host program and the kernels there are for it.
struct Program {
  /// The manifest as it was given.
  std::string text;
  Manifest manifest;
  std::string origin = "made when a launch needs it";
  /// `manifest` has the variants that the device can launch; these are their
  /// positions among all.
  std::vector<size_t> places;
  /// As in `manifest`.
  KernelsByVariant kernels;

  /// Finds the kernels of a variant.
  Status resolve(const Module &module, size_t variant);
  bool takesCounters() const;
};

bool isCounter(const ManifestArg &arg) {
  return arg.kind == ManifestArg::Kind::Counter;
}

bool Program::takesCounters() const {
  for (const ManifestVariant &variant : manifest.variants)
    for (const ManifestLaunch &launch : variant.launches)
      if (std::any_of(launch.args.begin(), launch.args.end(), isCounter))
        return true;
  return false;
}

Status Program::resolve(const Module &module, size_t variant) {
  std::vector<Kernel> row;
  for (const ManifestLaunch &launch : manifest.variants[variant].launches) {
    Result<Kernel> kernel = module.kernel(launch.kernel, launch.smemBytes);
    if (!kernel.ok())
      return kernel.status();
    row.push_back(std::move(*kernel));
  }
  kernels[variant] = std::move(row);
  return Status();
}

Result<std::unique_ptr<Program>> readProgram(const std::string &text,
                                             const Device &device) {
  Result<Manifest> manifest = parseManifest(text);
  if (!manifest.ok())
    return manifest.status();
  auto [major, minor] = device.capability();
  if (Result<LoadPath> path = chooseLoadPath(manifest->arch, major, minor);
      !path.ok())
    return path.status();
  Result<std::vector<size_t>> places =
      fitToDevice(*manifest, device.sharedMemoryPerBlock(), device.name());
  if (!places.ok())
    return places.status();
  auto program = std::make_unique<Program>();
  program->text = text;
  program->manifest = std::move(*manifest);
  program->places = std::move(*places);
  program->kernels.resize(program->manifest.variants.size());
  return program;
}

/// The architecture for which PTX of `arch` is assembled on a device.
std::string archOn(const Device &device, const std::string &arch,
                   LoadPath path) {
  auto [major, minor] = device.capability();
  // On its own target an artefact without cubin keeps the target's name: the
  // instructions of sm_90a do not exist on sm_90.
  return path == LoadPath::Cubin ? arch : fmt::format("sm_{}{}", major, minor);
}

} // namespace

LazyCode::~LazyCode() = default;

/// Functions are resolved when code is loaded, and what launches have in common
/// is remembered.
struct Op::Impl {
  explicit Impl(const Device &device)
      : device(device), promises(PromiseKernels::of(device)) {}

  Device device;
  /// Null where all code is there.
  std::shared_ptr<LazyCode> lazy;
  /// Guards what `lazy` adds.
  std::mutex mutex;
  /// The last one counts; launches that were prepared refer to earlier ones.
  std::vector<std::unique_ptr<Program>> programs;
  /// The last one, once it can be launched.
  std::atomic<const Program *> current = nullptr;
  LaunchCache launches;
  /// Null where no launch takes one.
  std::unique_ptr<LaunchCounters> counters;
  std::shared_ptr<PromiseKernels> promises;

  Status add(const std::string &manifest);
  Result<Module> loadModule(const Artifact &artifact) const;
  /// Loads the code of one variant, or of all.
  Status loadCode(const Artifact &artifact, std::optional<size_t> variant);
  Status compile(size_t variant);
  Result<std::shared_ptr<const PreparedLaunch>> prepare(const LaunchView &view);
};

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

Status Op::Impl::add(const std::string &text) {
  Result<std::unique_ptr<Program>> program = readProgram(text, device);
  if (!program.ok())
    return program.status();
  if (!counters && (*program)->takesCounters()) {
    Result<std::unique_ptr<LaunchCounters>> pool =
        LaunchCounters::create(device);
    if (!pool.ok())
      return pool.status();
    counters = std::move(*pool);
  }
  programs.push_back(std::move(*program));
  return Status();
}

Result<Module> Op::Impl::loadModule(const Artifact &artifact) const {
  const std::string &arch = programs.back()->manifest.arch;
  auto [major, minor] = device.capability();
  Result<LoadPath> path = chooseLoadPath(arch, major, minor);
  if (!path.ok())
    return path.status();
  return *path == LoadPath::Cubin && !artifact.cubin.empty()
             ? Module::load(device, artifact.cubin)
             : Module::loadPtx(device, artifact.ptx,
                               archOn(device, arch, *path));
}

Status Op::Impl::loadCode(const Artifact &artifact,
                          std::optional<size_t> variant) {
  Result<Module> module = loadModule(artifact);
  if (!module.ok())
    return module.status();
  Program &program = *programs.back();
  size_t first = variant.value_or(0),
         end = variant ? *variant + 1 : program.kernels.size();
  for (size_t i = first; i < end; ++i)
    if (Status s = program.resolve(*module, i); !s.ok())
      return s;
  if (!variant)
    program.origin = module->origin();
  return Status();
}

Status Op::Impl::compile(size_t variant) {
  size_t place = programs.back()->places[variant];
  Result<VariantCode> code = lazy->compile(place);
  if (!code.ok())
    return code.status();
  const Artifact &artifact = code->artifact;
  bool isOther = code->isWhole || artifact.manifest != programs.back()->text;
  if (isOther)
    if (Status s = add(artifact.manifest); !s.ok())
      return s;
  const std::vector<size_t> &places = programs.back()->places;
  auto found = std::ranges::find(places, place);
  Status s =
      code->isWhole ? loadCode(artifact, std::nullopt)
      : found != places.end()
          ? loadCode(artifact, static_cast<size_t>(found - places.begin()))
          : Status::failed("the compiler gave a program without the variant");
  if (s.ok())
    current = programs.back().get();
  else if (isOther)
    programs.pop_back();
  return s;
}

Result<std::shared_ptr<const PreparedLaunch>>
Op::Impl::prepare(const LaunchView &view) {
  std::lock_guard lock(mutex);
  while (true) {
    const Program &program = *programs.back();
    Result<Plan> plan =
        planLaunch(program.manifest, view, device.state()->multiprocessors);
    if (!plan.ok())
      return plan.status();
    auto missing =
        std::ranges::find_if(plan->launches, [&](const PlannedLaunch &planned) {
          return !program.kernels[planned.variant];
        });
    if (missing != plan->launches.end()) {
      // Another program may select another variant.
      if (Status s = compile(missing->variant); !s.ok())
        return s;
      continue;
    }
    std::shared_ptr<const PreparedLaunch> prepared =
        std::make_shared<PreparedLaunch>(program.manifest, view,
                                         std::move(*plan), program.kernels,
                                         device.state()->multiprocessors);
    launches.insert(prepared);
    return prepared;
  }
}

Result<Op> Op::load(const Artifact &artifact, const Device &device) {
  auto impl = std::make_shared<Impl>(device);
  if (Status s = impl->add(artifact.manifest); !s.ok())
    return s;
  if (Status s = impl->loadCode(artifact, std::nullopt); !s.ok())
    return s;
  impl->current = impl->programs.back().get();
  return Op(std::move(impl));
}

Result<Op> Op::load(std::shared_ptr<LazyCode> code, const Device &device) {
  auto impl = std::make_shared<Impl>(device);
  if (Status s = impl->add(code->manifest()); !s.ok())
    return s;
  impl->current = impl->programs.back().get();
  impl->lazy = std::move(code);
  return Op(std::move(impl));
}

const Manifest &Op::manifest() const { return impl->current.load()->manifest; }
const std::string &Op::origin() const { return impl->current.load()->origin; }

Result<uint64_t> Op::workspaceSize(const LaunchArgs &args) const {
  return runtime::workspaceSize(manifest(), args,
                                impl->device.multiprocessors());
}

Result<uint64_t> Op::workspaceSize(const LaunchView &view) const {
  return runtime::workspaceSize(manifest(), view,
                                impl->device.multiprocessors());
}

Status Op::prepare(const LaunchView &view) const {
  return impl->launches.find(view) ? Status() : impl->prepare(view).status();
}

Status Op::prepare(const LaunchArgs &args) const {
  return prepare(ArgsView(args).get());
}

Status Op::launch(const LaunchView &view, void *stream,
                  const LaunchOptions &options) const {
  if (options.validate)
    if (Status s = validate(view, stream); !s.ok())
      return s;
  std::shared_ptr<const PreparedLaunch> prepared = impl->launches.find(view);
  if (!prepared) {
    Result<std::shared_ptr<const PreparedLaunch>> made = impl->prepare(view);
    if (!made.ok())
      return made.status();
    prepared = std::move(*made);
  }
  const DeviceState &device = *impl->device.state();
  // Descriptors are encoded in the device's context.
  ContextScope scope(*device.driver, device.context);
  if (Status s = scope.status(); !s.ok())
    return s;
  return prepared->launch(*device.driver, impl->counters.get(), view, stream);
}

Status Op::launch(const LaunchArgs &args, void *stream,
                  const LaunchOptions &options) const {
  return launch(ArgsView(args).get(), stream, options);
}

Status Op::validate(const LaunchView &view, void *stream) const {
  return validateLaunch(manifest(), *impl->promises, view, stream);
}

} // namespace selvedge::inline runtime
