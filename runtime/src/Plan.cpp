// Argument checks, variant selection and parameter packing.
// SPDX-License-Identifier: MIT
#include "selvedge/Plan.h"

#include "runtime/src/FindLast.h"
#include "runtime/src/PackScalar.h"
#include "runtime/src/TensorMap.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <limits>
#include <memory_resource>

namespace selvedge::inline runtime {

namespace {

/// Stack memory of a plan in the making; more comes from the heap.
constexpr size_t scratchBytes = 4096;

/// Arguments resolved to the manifest's positions, all with strides; absent
/// tensors are null with zero strides.
struct Operands {
  std::array<std::byte, scratchBytes> scratch;
  std::pmr::monotonic_buffer_resource memory{scratch.data(), scratch.size()};
  std::pmr::vector<TensorRef> tensors{&memory};
  std::pmr::vector<char> present{&memory};
  std::pmr::vector<double> scalars{&memory};

  /// Zeros that live as long as the operands.
  std::span<int64_t> integers(size_t count) {
    void *place = memory.allocate(count * sizeof(int64_t), alignof(int64_t));
    std::span values(static_cast<int64_t *>(place), count);
    std::ranges::fill(values, 0);
    return values;
  }
};

Status checkNames(const Manifest &manifest, const LaunchView &args) {
  for (const TensorRef &tensor : args.tensors) {
    std::optional<size_t> index = manifest.findTensor(tensor.name);
    if (!index)
      return Status::badInput(
          fmt::format("op '{}' has no tensor '{}'", manifest.op, tensor.name));
    if (manifest.tensors[*index].role == Role::Temp)
      return Status::badInput(fmt::format(
          "tensor '{}' is a temp: it lives in the workspace", tensor.name));
  }
  for (const ScalarRef &scalar : args.scalars)
    if (!manifest.findScalar(scalar.name))
      return Status::badInput(
          fmt::format("op '{}' has no scalar '{}'", manifest.op, scalar.name));
  return Status();
}

/// In one kernel no element is stored twice: an output must not have two
/// indices for one address.
bool hasOverlap(const TensorRef &view) {
  std::vector<std::pair<int64_t, int64_t>> order; // stride, extent
  order.reserve(view.shape.size());
  for (size_t i = 0; i < view.shape.size(); ++i) {
    if (view.shape[i] == 0)
      return false;
    // A negative one goes through the same addresses, backwards.
    if (view.shape[i] > 1 && view.strides[i] == INT64_MIN)
      return true;
    if (view.shape[i] > 1)
      order.emplace_back(std::abs(view.strides[i]), view.shape[i]);
  }
  std::sort(order.begin(), order.end());
  int64_t span = 1;
  for (auto [stride, extent] : order) {
    int64_t reach = 0;
    if (stride < span || __builtin_mul_overflow(stride, extent - 1, &reach) ||
        __builtin_add_overflow(reach, span, &span))
      return true;
  }
  return false;
}

Status checkView(const Manifest &manifest, const ManifestTensor &tensor,
                 const TensorRef &view) {
  auto error = [&](const std::string &message) {
    return Status::badInput(
        fmt::format("tensor '{}' {}", tensor.name, message));
  };
  if (view.dtype != tensor.dtype)
    return error(fmt::format("has dtype {}, expected {} of {}",
                             nameOf(view.dtype), nameOf(tensor.dtype),
                             typeToString(manifest, tensor)));
  if (view.shape.size() != view.strides.size())
    return error(fmt::format("has {} extents but {} strides", view.shape.size(),
                             view.strides.size()));
  Result<int64_t> bytes = byteCount(view.dtype, view.shape);
  if (!bytes.ok())
    return error("is too large: " + bytes.status().message());
  if (!view.data && *bytes > 0)
    return error("has a null pointer");
  if (reinterpret_cast<uintptr_t>(view.data) %
      static_cast<uint64_t>(sizeOf(view.dtype)))
    return error("is not aligned to its element size");
  if (tensor.role != Role::In && hasOverlap(view))
    return error("is written to and its strides overlap");
  return Status();
}

Result<std::vector<NamedShape>> collectShapes(const Manifest &manifest,
                                              const LaunchView &args) {
  std::vector<NamedShape> shapes;
  shapes.reserve(manifest.tensors.size());
  for (size_t i = 0; i < manifest.tensors.size(); ++i) {
    const ManifestTensor &tensor = manifest.tensors[i];
    if (tensor.role == Role::Temp)
      continue;
    if (auto argument = findLast(args.tensors, tensor.name))
      shapes.push_back({i, args.tensors[*argument].shape});
    else if (!tensor.optional)
      return Status::badInput(fmt::format("tensor '{}' is missing: {}",
                                          tensor.name,
                                          typeToString(manifest, tensor)));
  }
  return shapes;
}

Result<DimValues> bindArgs(const Manifest &manifest, const LaunchView &args,
                           int multiprocessors) {
  if (Status status = checkNames(manifest, args); !status.ok())
    return status;
  Result<std::vector<NamedShape>> shapes = collectShapes(manifest, args);
  if (!shapes.ok())
    return shapes.status();
  std::map<std::string, int64_t> fixed;
  for (const DimRef &dim : args.dims)
    fixed[std::string(dim.name)] = dim.value;
  Result<DimValues> dims = bindDims(manifest, *shapes, fixed);
  if (!dims.ok())
    return dims;
  if (Status status = chooseLaunchSizes(manifest, *dims, multiprocessors);
      !status.ok())
    return status;
  if (Status status = requireAllDims(manifest, *dims); !status.ok())
    return status;
  return dims;
}

/// Gives a tensor its whole shape where one element stands for all.
Status broadcast(const Manifest &manifest, const ManifestTensor &tensor,
                 const DimValues &dims, TensorRef &operand,
                 Operands &operands) {
  if (tensor.broadcasts.empty())
    return Status();
  Result<std::vector<int64_t>> whole = shapeOf(manifest, tensor, dims);
  if (!whole.ok())
    return whole.status();
  std::span<int64_t> extents = operands.integers(whole->size());
  std::span<int64_t> strides = operands.integers(whole->size());
  std::ranges::copy(operand.shape, extents.begin());
  std::ranges::copy(operand.strides, strides.begin());
  broadcast(tensor, *whole, extents, strides);
  operand.shape = extents;
  operand.strides = strides;
  return Status();
}

Status resolveTensors(const Manifest &manifest, const LaunchView &args,
                      Plan &plan, Operands &operands) {
  const DimValues &dims = plan.dims;
  Result<std::vector<uint64_t>> layout = workspaceLayout(manifest, dims);
  if (!layout.ok())
    return layout.status();
  plan.workspaceBytes = layout->back();
  if (args.workspaceBytes < layout->back())
    return Status::badInput(
        fmt::format("the workspace has {} bytes, {} are needed",
                    args.workspaceBytes, layout->back()));
  operands.tensors.reserve(manifest.tensors.size());
  auto base = reinterpret_cast<uintptr_t>(args.workspace);
  if (layout->back() > 0 && (base == 0 || base % workspaceAlign))
    return Status::badInput(
        "the workspace is null or not aligned to 256 bytes");
  for (size_t i = 0; i < manifest.tensors.size(); ++i) {
    const ManifestTensor &tensor = manifest.tensors[i];
    operands.present.push_back(1);
    TensorRef &operand = operands.tensors.emplace_back();
    if (tensor.role == Role::Temp) {
      Result<std::vector<int64_t>> shape = shapeOf(manifest, tensor, dims);
      if (!shape.ok())
        return shape.status();
      std::span<int64_t> extents = operands.integers(shape->size());
      std::span<int64_t> strides = operands.integers(shape->size());
      std::ranges::copy(*shape, extents.begin());
      std::ranges::copy(tempStrides(tensor.dtype, *shape), strides.begin());
      operand = {tensor.name, reinterpret_cast<void *>(base + (*layout)[i]),
                 tensor.dtype, extents, strides};
      continue;
    }
    if (auto argument = findLast(args.tensors, tensor.name)) {
      operand = args.tensors[*argument];
    } else {
      std::span<int64_t> zeros = operands.integers(tensor.shape.size());
      operand = {tensor.name, nullptr, tensor.dtype, zeros, zeros};
      operands.present.back() = 0;
      continue;
    }
    if (operand.contiguous) {
      std::span<int64_t> strides = operands.integers(operand.shape.size());
      writeContiguousStrides(operand.shape, strides);
      operand.strides = strides;
      operand.contiguous = false;
    }
    if (Status status = checkView(manifest, tensor, operand); !status.ok())
      return status;
    if (Status status = broadcast(manifest, tensor, dims, operand, operands);
        !status.ok())
      return status;
  }
  return Status();
}

/// What the caller gives for a scalar, or its default.
Result<double> valueOf(const ManifestScalar &scalar, const Manifest &manifest,
                       const LaunchView &args, const DimValues &dims) {
  if (std::optional<size_t> argument = findLast(args.scalars, scalar.name))
    return args.scalars[*argument].value;
  if (scalar.defaultValue)
    return *scalar.defaultValue;
  if (!scalar.defaultOfDims)
    return Status::badInput(
        fmt::format("scalar '{}' has no default and is missing: {}",
                    scalar.name, nameOf(scalar.dtype)));
  Result<int64_t> value = scalar.defaultOfDims->evaluate(dims, manifest.dims);
  if (!value.ok())
    return Status::badInput(fmt::format("the default of scalar '{}': {}",
                                        scalar.name, value.status().message()));
  return static_cast<double>(*value);
}

Status resolveScalars(const Manifest &manifest, const LaunchView &args,
                      const DimValues &dims, Operands &operands) {
  for (const ManifestScalar &scalar : manifest.scalars) {
    Result<double> given = valueOf(scalar, manifest, args, dims);
    if (!given.ok())
      return given.status();
    double value = *given;
    if (!isScalarOf(scalar.dtype, value))
      return Status::badInput(
          scalar.dtype == DType::I32
              ? fmt::format("scalar '{}' is {}, expected an i32", scalar.name,
                            value)
              : fmt::format("scalar '{}' is {}, beyond the largest f32",
                            scalar.name, value));
    operands.scalars.push_back(value);
  }
  return Status();
}

bool holds(const ManifestCondition &condition, const Operands &operands) {
  if (!operands.present[condition.tensor])
    return true;
  const TensorRef &view = operands.tensors[condition.tensor];
  auto align = static_cast<uint64_t>(condition.align);
  if (reinterpret_cast<uintptr_t>(view.data) % align)
    return false;
  auto size = static_cast<uint64_t>(sizeOf(view.dtype));
  for (size_t i = 0; i < view.shape.size(); ++i) {
    if (view.shape[i] <= 1)
      continue;
    bool last = i + 1 == view.shape.size();
    // Unsigned wrap-around keeps the value modulo powers of two.
    uint64_t bytes = static_cast<uint64_t>(view.strides[i]) * size;
    if (last ? view.strides[i] != 1 : bytes % align != 0)
      return false;
  }
  return true;
}

/// Whether an expression has a value in lo..hi; one that has none has not.
bool isWithin(const DimExpr &expr, int64_t lo, int64_t hi,
              const Manifest &manifest, const DimValues &dims) {
  Result<int64_t> value = expr.evaluate(dims, manifest.dims);
  return value.ok() && *value >= lo && *value <= hi;
}

/// Whether every tensor that a launch copies in bulk has a descriptor.
bool hasTensorMaps(const ManifestLaunch &launch, const Operands &operands,
                   const Manifest &manifest, const DimValues &dims) {
  return std::ranges::all_of(launch.args, [&](const ManifestArg &arg) {
    return arg.kind != ManifestArg::Kind::TensorMap ||
           (hasTensorMap(operands.tensors[arg.index]) &&
            std::ranges::all_of(arg.box, [&](const DimExpr &extent) {
              return isWithin(extent, 1, maxBoxExtent, manifest, dims);
            }));
  });
}

bool areAligned(const std::vector<ManifestCondition> &when,
                const Operands &operands) {
  return std::ranges::all_of(when, [&](const ManifestCondition &condition) {
    return holds(condition, operands);
  });
}

bool takesDims(const ManifestVariant &variant, const Manifest &manifest,
               const DimValues &dims) {
  return std::ranges::all_of(
      variant.dimConditions, [&](const DimExpr &condition) {
        return isWithin(condition, 0, std::numeric_limits<int64_t>::max(),
                        manifest, dims);
      });
}

/// Whether what one launch of a variant needs is there.
bool takesLaunch(const ManifestLaunch &launch, const Operands &operands,
                 const Manifest &manifest, const DimValues &dims) {
  return areAligned(*launch.when, operands) &&
         hasTensorMaps(launch, operands, manifest, dims);
}

/// The first variant of which all conditions hold. Where that is the last one
/// `others`, by launch, says which are of the variant that is returned instead:
/// the first of which a launch can be taken that has conditions.
size_t selectVariant(const Manifest &manifest, const Operands &operands,
                     const DimValues &dims, std::vector<bool> &others) {
  size_t last = manifest.variants.size() - 1;
  for (size_t i = 0; i < last; ++i) {
    const ManifestVariant &variant = manifest.variants[i];
    if (areAligned(variant.when, operands) &&
        takesDims(variant, manifest, dims) &&
        std::ranges::all_of(variant.launches, [&](const ManifestLaunch &l) {
          return hasTensorMaps(l, operands, manifest, dims);
        }))
      return i;
  }
  for (size_t i = 0; manifest.choosesLaunches && i < last; ++i) {
    const ManifestVariant &variant = manifest.variants[i];
    if (variant.isTakenWhole() || !takesDims(variant, manifest, dims))
      continue;
    std::vector<bool> taken;
    bool isUsed = false;
    for (const ManifestLaunch &launch : variant.launches) {
      taken.push_back(takesLaunch(launch, operands, manifest, dims));
      isUsed |= taken.back() && !launch.when->empty();
    }
    if (isUsed) {
      others = std::move(taken);
      return i;
    }
  }
  return last;
}

uint64_t packArg(const ManifestArg &arg, const Operands &operands,
                 const Manifest &manifest, const DimValues &dims) {
  switch (arg.kind) {
  case ManifestArg::Kind::TensorMap:
  case ManifestArg::Kind::Pointer:
    return reinterpret_cast<uintptr_t>(operands.tensors[arg.index].data);
  case ManifestArg::Kind::Stride:
    return static_cast<uint64_t>(
        operands.tensors[arg.index].strides[arg.dimension]);
  case ManifestArg::Kind::Dim:
    return static_cast<uint32_t>(*dims[arg.index]);
  case ManifestArg::Kind::Counter:
    return 0;
  case ManifestArg::Kind::Scalar:
    break;
  }
  return packScalar(manifest.scalars[arg.index].dtype,
                    operands.scalars[arg.index]);
}

/// Refuses ranges of more elements than 32 bits count: the numbers of their
/// blocks' elements would wrap.
Status checkCounted(const Manifest &manifest, const ManifestLaunch &launch,
                    const DimExpr &blocks, const DimValues &dims) {
  constexpr int64_t mostCounted = int64_t(1) << 32;
  if (blocks.kind == DimExpr::Kind::CeilDiv) {
    const DimExpr &elements = blocks.operands.front();
    Result<int64_t> count = elements.evaluate(dims, manifest.dims);
    Result<int64_t> block =
        blocks.operands.back().evaluate(dims, manifest.dims);
    // Whoever has evaluated the blocks knows that both have a value.
    if (count.ok() && block.ok() && *count > mostCounted - *block)
      return Status::badInput(fmt::format(
          "kernel '{}' goes through {} = {} elements, more than 32 bits count: "
          "the shapes are too large",
          launch.kernel, elements.toString(manifest.dims), *count));
  }
  for (const DimExpr &operand : blocks.operands)
    if (Status s = checkCounted(manifest, launch, operand, dims); !s.ok())
      return s;
  return Status();
}

/// The grid; a zero means that there is nothing to launch.
Result<std::array<uint32_t, 3>> evaluateGrid(const Manifest &manifest,
                                             const ManifestLaunch &launch,
                                             const DimValues &dims) {
  std::array<uint32_t, 3> grid = {1, 1, 1};
  for (size_t i = 0; i < launch.grid.size(); ++i) {
    Result<int64_t> extent = launch.grid[i].evaluate(dims, manifest.dims);
    if (!extent.ok())
      return Status::badInput(fmt::format(
          "grid of kernel '{}': {}", launch.kernel, extent.status().message()));
    if (Status s = checkCounted(manifest, launch, launch.grid[i], dims);
        !s.ok())
      return s;
    // A persistent thread block counts in 32 bits to the tile after its last
    // one, as many further as there are thread blocks.
    constexpr int64_t mostBlocks = 65535;
    int64_t limit =
        i != 0 ? mostBlocks
               : (int64_t(1) << 31) - 1 - (launch.persistent ? mostBlocks : 0);
    if (*extent < 0 || *extent > limit)
      return Status::badInput(fmt::format(
          "grid {} of kernel '{}' is {}, outside 0..{}: the shapes are too "
          "large",
          "xyz"[i], launch.kernel, *extent, limit));
    grid[i] = static_cast<uint32_t>(*extent);
  }
  return grid;
}

/// Chooses smaller sizes where the workspace is too small: it may have been
/// measured before a kernel was compiled again, for other blocks.
Status fitWorkspace(const Manifest &manifest, const LaunchView &args,
                    DimValues &dims) {
  for (const ManifestLaunchSize &size : manifest.launchSizes) {
    if (findLast(args.dims, manifest.dims[size.dim]))
      continue;
    for (std::optional<int64_t> &value = dims[size.dim]; *value > size.lo;
         value = std::max(size.lo, *value / 2)) {
      Result<uint64_t> bytes = workspaceSize(manifest, dims);
      if (!bytes.ok() || *bytes <= args.workspaceBytes)
        return bytes.status();
    }
  }
  return Status();
}

} // namespace

Result<uint64_t> workspaceSize(const Manifest &manifest, const LaunchArgs &args,
                               int multiprocessors) {
  return workspaceSize(manifest, ArgsView(args).get(), multiprocessors);
}

Result<uint64_t> workspaceSize(const Manifest &manifest, const LaunchView &args,
                               int multiprocessors) {
  Result<DimValues> dims = bindArgs(manifest, args, multiprocessors);
  if (!dims.ok())
    return dims.status();
  return workspaceSize(manifest, *dims);
}

std::string variantName(const Manifest &manifest, const Plan &plan) {
  std::string name = manifest.variants[plan.variant].name;
  return plan.isMixed ? name + " and " + manifest.variants.back().name : name;
}

Result<Plan> planLaunch(const Manifest &manifest, const LaunchArgs &args,
                        int multiprocessors) {
  return planLaunch(manifest, ArgsView(args).get(), multiprocessors);
}

Result<Plan> planLaunch(const Manifest &manifest, const LaunchView &args,
                        int multiprocessors) {
  Plan plan;
  Result<DimValues> dims = bindArgs(manifest, args, multiprocessors);
  if (!dims.ok())
    return dims.status();
  if (Status s = fitWorkspace(manifest, args, *dims); !s.ok())
    return s;
  plan.dims = std::move(*dims);
  if (manifest.variants.empty())
    return Status::badInput(
        fmt::format("op '{}' is a signature without a program", manifest.op));
  Operands operands;
  if (Status s = resolveTensors(manifest, args, plan, operands); !s.ok())
    return s;
  if (Status s = resolveScalars(manifest, args, plan.dims, operands); !s.ok())
    return s;
  std::vector<bool> isOfVariant;
  plan.variant = selectVariant(manifest, operands, plan.dims, isOfVariant);
  plan.isMixed = std::ranges::find(isOfVariant, false) != isOfVariant.end();
  size_t numLaunches = manifest.variants[plan.variant].launches.size();
  for (size_t n = 0; n < numLaunches; ++n) {
    size_t variant = plan.isMixed && !isOfVariant[n]
                         ? manifest.variants.size() - 1
                         : plan.variant;
    const ManifestLaunch &launch = manifest.variants[variant].launches[n];
    Result<std::array<uint32_t, 3>> grid =
        evaluateGrid(manifest, launch, plan.dims);
    if (!grid.ok())
      return grid.status();
    if ((*grid)[0] == 0 || (*grid)[1] == 0 || (*grid)[2] == 0)
      continue;
    PlannedLaunch &planned = plan.launches.emplace_back();
    planned.launch = &launch;
    planned.variant = variant;
    planned.grid = *grid;
    // What ran before the op may be anybody's, and need not have waited itself.
    planned.isDependent = launch.dependent && plan.launches.size() > 1;
    planned.params.reserve(launch.args.size());
    planned.maps.reserve(static_cast<size_t>(std::ranges::count(
        launch.args, ManifestArg::Kind::TensorMap, &ManifestArg::kind)));
    for (const ManifestArg &arg : launch.args) {
      if (arg.kind == ManifestArg::Kind::TensorMap) {
        PlannedMap &map = planned.maps.emplace_back(
            PlannedMap{planned.params.size(),
                       toTensorView(operands.tensors[arg.index]),
                       {},
                       arg.isSwizzled});
        map.box.reserve(arg.box.size());
        for (const DimExpr &expr : arg.box) {
          Result<int64_t> extent = expr.evaluate(plan.dims, manifest.dims);
          if (!extent.ok())
            return extent.status();
          map.box.push_back(*extent);
        }
      }
      planned.params.push_back(packArg(arg, operands, manifest, plan.dims));
    }
  }
  return plan;
}

} // namespace selvedge::inline runtime
