// Shapes to dims.
// SPDX-License-Identifier: MIT
#include "selvedge/Plan.h"

#include <algorithm>
#include <fmt/format.h>

namespace selvedge::inline runtime {

namespace {

/// Where a dim's value came from, for the messages.
struct DimOrigin {
  /// Null: given by the caller.
  const NamedShape *shape = nullptr;
  size_t dimension = 0;
};

class DimBinder {
public:
  DimBinder(const Manifest &manifest, const std::vector<NamedShape> &shapes)
      : manifest(manifest), shapes(shapes), dims(manifest.dims.size()),
        origins(manifest.dims.size()) {}

  Result<DimValues> run(const std::map<std::string, int64_t> &fixed);

private:
  Status takeFixed(const std::map<std::string, int64_t> &fixed);
  Status checkRanks() const;
  /// Which extents say what dims are.
  enum class Extents {
    Names, ///< those that are a name
    Whole, ///< all but those of 1 that may stand for any
    All    ///< those as well: nothing else says more
  };
  /// Binds what it can by these extents.
  Status solve(Extents extents, bool &progress);
  bool isOneForAny(const NamedShape &shape, size_t dimension) const {
    return shape.shape[dimension] == 1 &&
           manifest.tensors[shape.tensor].mayBroadcast(dimension);
  }
  /// Gives dims of sums their values where nothing else does, and compares
  /// them with what they may be.
  Status reduce();
  Status compare() const;
  Status checkRange(size_t dim) const;
  std::string place(const NamedShape &shape, size_t dimension) const;
  std::string describe(const DimOrigin &origin) const;

  const Manifest &manifest;
  const std::vector<NamedShape> &shapes;
  DimValues dims;
  std::vector<DimOrigin> origins;
};

} // namespace

std::string DimBinder::place(const NamedShape &shape, size_t dimension) const {
  return fmt::format("tensor '{}' dimension {}",
                     manifest.tensors[shape.tensor].name, dimension);
}

std::string DimBinder::describe(const DimOrigin &origin) const {
  return origin.shape ? "from " + place(*origin.shape, origin.dimension)
                      : "given";
}

Status DimBinder::checkRange(size_t dim) const {
  int64_t value = *dims[dim];
  if (value >= 0 && value <= maxDim)
    return Status();
  return Status::badInput(
      fmt::format("dimension '{}' is {} ({}), outside 0..{}",
                  manifest.dims[dim], value, describe(origins[dim]), maxDim));
}

Status DimBinder::takeFixed(const std::map<std::string, int64_t> &fixed) {
  for (const auto &[name, value] : fixed) {
    std::optional<size_t> dim = manifest.findDim(name);
    if (!dim) {
      std::string known;
      for (const std::string &other : manifest.dims)
        known += (known.empty() ? "" : ", ") + other;
      return Status::badInput(
          fmt::format("op '{}' has no dimension '{}' (it has {})", manifest.op,
                      name, known.empty() ? "none" : known));
    }
    dims[*dim] = value;
    if (Status status = checkRange(*dim); !status.ok())
      return status;
  }
  return Status();
}

Status DimBinder::checkRanks() const {
  for (const NamedShape &shape : shapes) {
    const ManifestTensor &tensor = manifest.tensors[shape.tensor];
    if (shape.shape.size() != tensor.shape.size())
      return Status::badInput(fmt::format(
          "tensor '{}' has shape {} of rank {}, expected rank {}: {}",
          tensor.name, shapeToString(shape.shape), shape.shape.size(),
          tensor.shape.size(), typeToString(manifest, tensor)));
  }
  return Status();
}

Status DimBinder::solve(Extents extents, bool &progress) {
  for (const NamedShape &shape : shapes) {
    const ManifestTensor &tensor = manifest.tensors[shape.tensor];
    for (size_t i = 0; i < shape.shape.size(); ++i) {
      bool isName = tensor.shape[i].kind == DimExpr::Kind::Dim;
      if ((extents == Extents::Names && !isName) ||
          (extents != Extents::All && isOneForAny(shape, i)))
        continue;
      Result<std::optional<size_t>> bound =
          solveFor(tensor.shape[i], shape.shape[i], dims, manifest.dims);
      if (!bound.ok())
        return Status::badInput(fmt::format(
            "{} ({}): {}", place(shape, i),
            tensor.shape[i].toString(manifest.dims), bound.status().message()));
      if (!*bound)
        continue;
      progress = true;
      origins[**bound] = {&shape, i};
      if (Status status = checkRange(**bound); !status.ok())
        return status;
    }
  }
  return Status();
}

Status DimBinder::reduce() {
  for (const ManifestReducedDim &reduced : manifest.reducedDims) {
    const ManifestTensor &tensor = manifest.tensors[reduced.tensor];
    const DimExpr &extent = tensor.shape[reduced.dimension];
    std::optional<int64_t> &dim = dims[reduced.dim];
    if (!extent.isKnown(dims))
      continue;
    Result<int64_t> whole = extent.evaluate(dims, manifest.dims);
    if (!whole.ok())
      return whole.status();
    if (!dim)
      dim = std::ranges::any_of(shapes,
                                [&](const NamedShape &shape) {
                                  return shape.tensor == reduced.tensor &&
                                         isOneForAny(shape, reduced.dimension);
                                })
                ? 1
                : *whole;
    if (*dim != 1 && *dim != *whole)
      return Status::badInput(fmt::format(
          "dimension '{}' is {} ({}), expected {} as dimension {} of '{}', or "
          "1 for the sum along it",
          manifest.dims[reduced.dim], *dim, describe(origins[reduced.dim]),
          *whole, reduced.dimension, tensor.name));
  }
  return Status();
}

Status DimBinder::compare() const {
  for (const NamedShape &shape : shapes) {
    const ManifestTensor &tensor = manifest.tensors[shape.tensor];
    for (size_t i = 0; i < shape.shape.size(); ++i) {
      const DimExpr &extent = tensor.shape[i];
      if (!extent.isKnown(dims) || isOneForAny(shape, i))
        continue;
      Result<int64_t> expected = extent.evaluate(dims, manifest.dims);
      if (!expected.ok())
        return Status::badInput(fmt::format("{}: {}", place(shape, i),
                                            expected.status().message()));
      // Kernels compute indices of a whole dimension in 32 bits.
      if (*expected > maxDim)
        return Status::badInput(
            fmt::format("{} has extent {} ({}), outside 0..{}", place(shape, i),
                        *expected, extent.toString(manifest.dims), maxDim));
      if (*expected == shape.shape[i])
        continue;
      std::string origin;
      if (extent.kind == DimExpr::Kind::Dim)
        origin = ", " + describe(origins[static_cast<size_t>(extent.value)]);
      return Status::badInput(fmt::format(
          "{} has extent {}, expected {} ({}{})", place(shape, i),
          shape.shape[i], *expected, extent.toString(manifest.dims), origin));
    }
  }
  return Status();
}

Result<DimValues> DimBinder::run(const std::map<std::string, int64_t> &fixed) {
  if (Status status = takeFixed(fixed); !status.ok())
    return status;
  if (Status status = checkRanks(); !status.ok())
    return status;
  for (Extents extents : {Extents::Names, Extents::Whole, Extents::All})
    // Each round binds a dim or is the last one.
    for (bool progress = true; progress;) {
      progress = false;
      if (Status status = solve(extents, progress); !status.ok())
        return status;
      if (extents == Extents::Names)
        break;
    }
  if (Status status = reduce(); !status.ok())
    return status;
  if (Status status = compare(); !status.ok())
    return status;
  return std::move(dims);
}

Result<DimValues> bindDims(const Manifest &manifest,
                           const std::vector<NamedShape> &shapes,
                           const std::map<std::string, int64_t> &fixed) {
  return DimBinder(manifest, shapes).run(fixed);
}

Status requireAllDims(const Manifest &manifest, const DimValues &dims) {
  for (size_t i = 0; i < dims.size(); ++i)
    if (!dims[i])
      return Status::badInput(
          fmt::format("dimension '{}' is not determined by any shape; it has "
                      "to be given",
                      manifest.dims[i]));
  return Status();
}

Result<std::vector<int64_t>> shapeOf(const Manifest &manifest,
                                     const ManifestTensor &tensor,
                                     const DimValues &dims) {
  std::vector<int64_t> shape;
  for (const DimExpr &extent : tensor.shape) {
    Result<int64_t> value = extent.evaluate(dims, manifest.dims);
    if (!value.ok() || *value < 0)
      return Status::badInput(
          fmt::format("tensor '{}' dimension {}: {}", tensor.name, shape.size(),
                      value.ok() ? fmt::format("negative extent {}", *value)
                                 : value.status().message()));
    shape.push_back(*value);
  }
  return shape;
}

void broadcast(const ManifestTensor &tensor, std::span<const int64_t> whole,
               std::span<int64_t> shape, std::span<int64_t> strides) {
  for (size_t i = 0; i < whole.size(); ++i) {
    if (!tensor.mayBroadcast(i) || shape[i] != 1)
      continue;
    shape[i] = whole[i];
    strides[i] = 0;
  }
}

Result<int64_t> byteCount(const Manifest &manifest,
                          const ManifestTensor &tensor, const DimValues &dims) {
  Result<std::vector<int64_t>> shape = shapeOf(manifest, tensor, dims);
  if (!shape.ok())
    return shape.status();
  Result<int64_t> bytes = byteCount(tensor.dtype, *shape);
  if (!bytes.ok())
    return Status::badInput(
        fmt::format("tensor '{}': {}", tensor.name, bytes.status().message()));
  return bytes;
}

} // namespace selvedge::inline runtime
