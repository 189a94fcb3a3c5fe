// Device `sim`: what is emitted, executed thread by thread.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/Compiler.h"
#include "compiler/Sim/Simulator.h"
#include "compiler/Target/PTX/Manifest.h"
#include "compiler/Target/TargetInfo.h"
#include "dialect/Sm/Sm.h"
#include "runtime/src/TensorMap.h"
#include "selvedge/File.h"
#include "selvedge/Numeric.h"
#include "tools/selvedge/RunDevices.h"
#include "tools/selvedge/Support.h"

#include "mlir/IR/BuiltinOps.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace selvedge::cli {

namespace {

/// Blocks of a persistent launch: few, so that each has several tiles.
constexpr uint32_t persistentBlocks = 2;

//===-- Memory ------------------------------------------------------------===//

bool isWritten(const ManifestTensor &tensor) {
  return tensor.role == Role::Out || tensor.role == Role::InOut;
}

/// Poison as bytes of a type.
std::vector<std::byte> poisonBytes(Poison poison, DType dtype, size_t count) {
  std::vector<std::byte> bytes(count);
  fillPoison(poison, dtype, bytes);
  return bytes;
}

/// A tensor as it lies in memory, and where.
struct Placed {
  Layout layout;
  uint64_t address;
};

/// Puts a tensor into memory. Elements that nobody gives, or that the reference
/// never reads, are poison, and the first undefined.
Placed place(sim::GlobalMemory &memory, const ManifestTensor &tensor,
             std::vector<int64_t> shape, const HostArray *given,
             std::span<const uint8_t> chosen, LayoutKind kind, Poison poison) {
  Placed placed{makeLayout(kind, shape, tensor.broadcasts), 0};
  auto size = static_cast<size_t>(sizeOf(tensor.dtype));
  sim::Region region;
  region.name = tensor.name;
  region.isWritable = tensor.role != Role::In;
  region.bytes.resize(static_cast<size_t>(placed.layout.box) * size);
  region.state.assign(region.bytes.size(), sim::State::Outside);
  std::vector<std::byte> poisoned =
      poisonBytes(poison, tensor.dtype, region.bytes.size());
  std::memcpy(region.bytes.data(), poisoned.data(), poisoned.size());
  std::vector<int64_t> places = placed.layout.places();
  for (size_t i = 0; i < places.size(); ++i) {
    size_t at = static_cast<size_t>(places[i]) * size;
    bool isGiven = given != nullptr;
    if (isGiven && (chosen.empty() || chosen[i]))
      std::memcpy(region.bytes.data() + at, given->data.data() + i * size,
                  size);
    std::fill_n(region.state.begin() + static_cast<ptrdiff_t>(at), size,
                isGiven ? sim::State::Defined : sim::State::Undefined);
  }
  placed.address =
      memory.add(std::move(region)) +
      static_cast<uint64_t>(placed.layout.offset) * static_cast<uint64_t>(size);
  return placed;
}

/// The elements of a tensor after a launch; fails on one that nobody stored.
Result<std::vector<std::byte>> fetch(sim::GlobalMemory &memory,
                                     const std::string &name,
                                     const Placed &placed, DType dtype) {
  auto size = static_cast<size_t>(sizeOf(dtype));
  const sim::Region &region = memory.at(placed.address);
  std::vector<int64_t> places = placed.layout.places();
  std::vector<std::byte> data(places.size() * size);
  for (size_t i = 0; i < places.size(); ++i) {
    size_t at = static_cast<size_t>(places[i]) * size;
    std::memcpy(data.data() + i * size, region.bytes.data() + at, size);
    for (size_t j = 0; j < size; ++j)
      if (region.state[at + j] != sim::State::Defined)
        return Status::failed(fmt::format(
            "element {} of '{}' is never stored",
            indexToString(placed.layout.shape, static_cast<int64_t>(i)), name));
  }
  return data;
}

//===-- Launches ----------------------------------------------------------===//

/// Keeps what the runtime tells the driver of a tensor.
CuResult keepMap(void *out, int type, uint32_t rank, void *address,
                 const uint64_t *extents, const uint64_t *strides,
                 const uint32_t *box, const uint32_t *steps, int interleave,
                 int swizzle, int promotion, int fill) {
  constexpr CuResult invalidValue = 1;
  sim::TensorMap map = {};
  map.type = type;
  map.rank = rank;
  map.address = reinterpret_cast<uint64_t>(address);
  if (rank < 1 || rank > sim::TensorMap::maxRank)
    return invalidValue;
  std::copy_n(extents, rank, map.extents.begin());
  std::copy_n(strides, rank - 1, map.strides.begin());
  std::copy_n(box, rank, map.box.begin());
  std::copy_n(steps, rank, map.steps.begin());
  map.interleave = interleave;
  map.swizzle = swizzle;
  map.promotion = promotion;
  map.fill = fill;
  if (!map.check().empty())
    return invalidValue;
  map.encode(out);
  return cuSuccess;
}

CuResult nameError(CuResult, const char **name) {
  *name = "CUDA_ERROR_INVALID_VALUE";
  return cuSuccess;
}

const CudaDriver &mapDriver() {
  static const CudaDriver driver = [] {
    CudaDriver made;
    made.cuTensorMapEncodeTiled = keepMap;
    made.cuGetErrorName = nameError;
    made.cuGetErrorString = nameError;
    return made;
  }();
  return driver;
}

Result<sim::Launch> makeLaunch(const Manifest &manifest,
                               const PlannedLaunch &planned, uint64_t counter) {
  const ManifestLaunch &from = *planned.launch;
  sim::Launch launch;
  launch.kernel = from.kernel;
  launch.threads = static_cast<uint32_t>(from.block);
  launch.sharedBytes = static_cast<uint32_t>(from.smemBytes);
  std::optional<TargetInfo> target = targetInfo(manifest.arch);
  if (target && from.smemBytes > target->smemBytesPerBlock)
    return Status::failed(fmt::format(
        "kernel '{}' needs {} bytes of shared memory, and a block of {} has {}",
        from.kernel, from.smemBytes, manifest.arch, target->smemBytesPerBlock));
  launch.isPersistent = from.persistent;
  launch.isDependent = planned.isDependent;
  launch.blocks = planned.grid[0];
  if (from.persistent)
    launch.blocks = std::min(launch.blocks, persistentBlocks);
  if (planned.grid[1] != 1 || planned.grid[2] != 1)
    return Status::failed("device 'sim' numbers blocks in x alone");
  for (size_t i = 0; i < planned.params.size(); ++i) {
    sim::Argument &argument = launch.arguments.emplace_back();
    argument.value = planned.params[i];
    if (from.args[i].kind == ManifestArg::Kind::Counter)
      argument.value = counter;
  }
  for (const PlannedMap &map : planned.maps) {
    Result<TensorMap> encoded =
        encodeTensorMap(mapDriver(), map, map.tensor.data);
    if (!encoded.ok())
      return encoded.status();
    launch.arguments[map.param].map =
        sim::TensorMap::decode(encoded->bytes.data());
  }
  return launch;
}

/// What a kernel is compiled to, with its host program.
struct Compiled {
  std::unique_ptr<sim::Simulator> simulator;
  Manifest manifest;
  /// The one that is asked for; empty: any.
  std::string variant;
};

/// The text of form `lanes`, of the compiler or of a file.
Result<std::string> lanesOf(const CompileRequest &request,
                            const SimOptions &options) {
  if (!options.text.empty())
    return readNamedFile(options.text);
  std::string text;
  CompileResult compiled = emitText(request, Emit::SmLanes, text);
  if (Status s = statusOf(compiled); !s.ok())
    return s;
  return text;
}

Result<Compiled> compileLanes(const Problem &problem,
                              const SimOptions &options) {
  CompileRequest request = problem.request;
  if (request.arch.empty())
    request.arch = "sm_80";
  request.printLocations = true;
  Result<std::string> text = lanesOf(forOneDevice(request), options);
  if (!text.ok())
    return text.status();
  Compiled result;
  std::string why, manifest;
  result.simulator =
      sim::Simulator::loadText(*text, why, [&](mlir::ModuleOp module) {
        for (auto plan : module.getOps<sm::PlanOp>()) {
          auto written =
              ptx::writeManifest(plan, request.arch, compilerVersion());
          if (written)
            manifest = std::move(*written);
          else
            why += toString(written.takeError());
        }
      });
  if (!result.simulator || manifest.empty())
    return Status::failed("form sm:lanes cannot be executed: " + why);
  Result<Manifest> parsed = parseManifest(manifest);
  if (!parsed.ok())
    return parsed.status();
  result.manifest = std::move(*parsed);
  result.variant = options.variant;
  if (options.variant.empty())
    return result;
  // The last one is for whatever the named one does not take.
  std::vector<ManifestVariant> &variants = result.manifest.variants;
  auto named =
      std::ranges::find(variants, options.variant, &ManifestVariant::name);
  if (named == variants.end())
    return Status::badInput(fmt::format(
        "--variant '{}': the op has no such variant", options.variant));
  variants.erase(variants.begin(), named);
  if (variants.size() > 1)
    variants.erase(variants.begin() + 1, variants.end() - 1);
  return result;
}

} // namespace

struct SimOp::Impl : Compiled {};

SimOp::SimOp(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
SimOp::SimOp(SimOp &&) = default;
SimOp::~SimOp() = default;

Result<SimOp> SimOp::load(const Problem &problem, const SimOptions &options) {
  Result<Compiled> compiled = compileLanes(problem, options);
  if (!compiled.ok())
    return compiled.status();
  return SimOp(std::make_unique<Impl>(std::move(*compiled)));
}

Status SimOp::writeCoverage(const std::string &path) const {
  std::string text;
  for (uint32_t line : impl->simulator->reachedLines())
    text += fmt::format("{}\n", line);
  return writeFileAtomically(path, {text});
}

const Manifest &SimOp::manifest() const { return impl->manifest; }

int64_t SimOp::maxPhases() const { return impl->simulator->maxPhases(); }

Result<GpuOutcome> SimOp::run(const Problem &problem,
                              const Execution &execution, uint64_t schedule) {
  const Manifest &manifest = impl->manifest;
  sim::GlobalMemory memory;
  std::map<std::string, Placed> placed;
  LaunchArgs args;
  Result<DimValues> dims = bindDims(manifest, {}, problem.namedDims());
  if (!dims.ok())
    return dims.status();
  for (const ManifestTensor &tensor : problem.signature.tensors) {
    auto given = problem.inputs.find(tensor.name);
    bool isGiven = given != problem.inputs.end();
    if (tensor.role == Role::Temp || (!isGiven && !isWritten(tensor)))
      continue;
    Result<std::vector<int64_t>> shape =
        shapeOf(problem.signature, tensor, problem.dims);
    if (!shape.ok())
      return shape.status();
    std::span<const uint8_t> chosen;
    if (execution.reference && execution.poison != Poison::None &&
        !isWritten(tensor))
      chosen = execution.reference->reads.at(tensor.name);
    auto layout = execution.layouts.find(tensor.name);
    Placed one = place(
        memory, tensor, *shape, isGiven ? &given->second : nullptr, chosen,
        layout == execution.layouts.end() ? LayoutKind::Contiguous
                                          : layout->second,
        execution.poison);
    args.tensors[tensor.name] = {reinterpret_cast<void *>(one.address),
                                 tensor.dtype, one.layout.given,
                                 one.layout.strides};
    placed.emplace(tensor.name, std::move(one));
  }
  Result<uint64_t> bytes = workspaceSize(manifest, *dims);
  if (!bytes.ok())
    return bytes.status();
  auto addRegion = [&](std::string name, uint64_t size, bool isCounter) {
    sim::Region region;
    region.name = std::move(name);
    region.bytes.resize(size);
    region.state.assign(size, isCounter ? sim::State::Defined
                                        : sim::State::Undefined);
    region.isWritable = true;
    region.isAtomic = isCounter;
    return memory.add(std::move(region));
  };
  uint64_t workspace = addRegion("workspace", *bytes, false);
  uint64_t counter = addRegion("the counter of tiles", 4, true);
  args.scalars = problem.scalars;
  args.dims = problem.namedDims();
  args.workspace = *bytes ? reinterpret_cast<void *>(workspace) : nullptr;
  args.workspaceBytes = *bytes;
  Result<Plan> plan = planLaunch(manifest, args);
  if (!plan.ok())
    return plan.status();
  GpuOutcome outcome;
  outcome.variant = variantName(manifest, *plan);
  if (!impl->variant.empty() && outcome.variant != impl->variant)
    return Status::badInput(
        fmt::format("--variant '{}' is not for tensors of these dims and "
                    "layouts",
                    impl->variant));
  for (const PlannedLaunch &planned : plan->launches) {
    Result<sim::Launch> launch = makeLaunch(manifest, planned, counter);
    if (!launch.ok())
      return launch.status();
    outcome.hasManyTiles |=
        launch->isPersistent && planned.grid[0] > launch->blocks;
    std::string fault =
        impl->simulator->run(*launch, memory, sim::Schedule(schedule));
    if (!fault.empty())
      return Status::failed(fault);
  }
  if (std::ranges::any_of(memory.at(counter).bytes,
                          [](uint8_t byte) { return byte != 0; }))
    return Status::failed("the counter of tiles is not 0 behind the launch");
  for (const ManifestTensor &tensor : problem.signature.tensors) {
    if (!isWritten(tensor) || !placed.count(tensor.name))
      continue;
    Result<std::vector<std::byte>> data =
        fetch(memory, tensor.name, placed.at(tensor.name), tensor.dtype);
    if (!data.ok())
      return data.status();
    outcome.outputs[tensor.name] = {
        tensor.dtype, placed.at(tensor.name).layout.shape, std::move(*data)};
  }
  return outcome;
}

} // namespace selvedge::cli
