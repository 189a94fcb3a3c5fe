// The host program of an op, as docs/manifest.md defines it.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_MANIFEST_H
#define SELVEDGE_MANIFEST_H

#include "selvedge/DimExpr.h"
#include "selvedge/Tensor.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace selvedge::inline runtime {

/// How an op uses a tensor.
enum class Role { In, Out, InOut, Temp };

/// A tensor of the signature, or a temp.
struct ManifestTensor {
  std::string name;
  Role role = Role::In;
  DType dtype = DType::F32;
  std::vector<DimExpr> shape;
  /// May be absent.
  bool optional = false;
  /// True for an output whose unstored elements keep their values.
  bool keepsUnstored = false;
  /// Sums of f32 in any order: calls may differ by rounding. Only signatures
  /// say so, not artefacts.
  bool anyOrder = false;
  /// A promise: no two integers of it are equal, but for those below 0.
  bool unique = false;
  /// By dimension whether it may have the extent 1 instead of its own, and one
  /// element then stands for all; empty: none.
  std::vector<bool> broadcasts = {};

  /// Whether that dimension may have the extent 1 instead of its own.
  bool mayBroadcast(size_t dimension) const {
    return dimension < broadcasts.size() && broadcasts[dimension];
  }
};

/// A scalar argument; `type` is f32 or i32.
struct ManifestScalar {
  std::string name;
  DType dtype = DType::F32;
  /// Absent, as is the next: the caller has to give a value.
  std::optional<double> defaultValue;
  /// A default that depends on dims.
  std::optional<DimExpr> defaultOfDims;
};

/// A promise: every element of an integer tensor lies in lo..hi, inclusive.
struct ManifestRange {
  /// Position in Manifest::tensors.
  size_t tensor = 0;
  DimExpr lo;
  DimExpr hi;
  /// No element is less than the one before it, either.
  bool ordered = false;
};

/// A dim in lo..hi, inclusive, that each launch chooses where the caller does
/// not give it.
struct ManifestLaunchSize {
  /// Position in Manifest::dims.
  size_t dim = 0;
  int64_t lo = 1;
  int64_t hi = 1;
  /// Most elements of the ranges that are split into so many parts.
  std::vector<DimExpr> parts;
};

/// A dim that is the extent of an input's dimension, or 1 where the caller asks
/// for the sum along it.
struct ManifestReducedDim {
  /// Position in Manifest::dims.
  size_t dim = 0;
  /// Position in Manifest::tensors, and of the dimension in its shape.
  size_t tensor = 0;
  size_t dimension = 0;
};

/// One kernel argument.
struct ManifestArg {
  enum class Kind { Pointer, TensorMap, Stride, Dim, Scalar, Counter };
  Kind kind = Kind::Pointer;
  /// Position in Manifest::tensors, ::dims or ::scalars; none for counters.
  size_t index = 0;
  /// The dimension, for strides.
  size_t dimension = 0;
  /// Extents of the box that one bulk copy moves, for tensor maps.
  std::vector<DimExpr> box;
  /// Whether rows of the box are swizzled by 128 bytes.
  bool isSwizzled = true;
};

/// A condition on the alignment of a tensor's rows.
struct ManifestCondition {
  /// Position in Manifest::tensors.
  size_t tensor = 0;
  /// Bytes.
  int64_t align = 1;

  bool operator==(const ManifestCondition &) const = default;
};

/// One kernel launch.
struct ManifestLaunch {
  std::string kernel;
  /// One to three expressions; missing ones are 1.
  std::vector<DimExpr> grid;
  /// At most one block per multiprocessor: the blocks share the work.
  bool persistent = false;
  /// May begin while the launch before it runs: its kernel waits for that.
  bool dependent = false;
  /// Threads in x.
  int64_t block = 1;
  /// Dynamic shared memory in bytes.
  int64_t smemBytes = 0;
  std::vector<ManifestArg> args;
  /// What this kernel needs of the variant's `when`; absent in manifests whose
  /// variants are taken as a whole.
  std::optional<std::vector<ManifestCondition>> when;
};

/// One way to execute the op, usable where all conditions hold.
struct ManifestVariant {
  std::string name;
  std::vector<ManifestCondition> when;
  /// Each must be at least 0.
  std::vector<DimExpr> dimConditions;
  std::vector<ManifestLaunch> launches;

  /// Whether no launch of it takes the place of another variant's.
  bool isTakenWhole() const {
    return !launches.empty() && !launches.front().when;
  }
};

/// A parsed and validated manifest.
struct Manifest {
  std::string compiler;
  std::string op;
  /// "sm_80", "sm_90a"; empty where only the front end ran.
  std::string arch;
  /// Whether NaN and Inf that a mask removes have no influence at all.
  bool exactMasks = false;
  /// Compile-time parameters and their values as text.
  std::vector<std::pair<std::string, std::string>> params;
  /// Names of the dims.
  std::vector<std::string> dims;
  std::vector<ManifestTensor> tensors;
  std::vector<ManifestScalar> scalars;
  std::vector<ManifestRange> ranges;
  std::vector<ManifestLaunchSize> launchSizes;
  std::vector<ManifestReducedDim> reducedDims;
  /// Empty in the signature that the front end alone produces.
  std::vector<ManifestVariant> variants;
  /// Whether launches may be of several variants: all have `when`, but those of
  /// variants for some dims that are taken as a whole, and the n-th ones of the
  /// variants do the same.
  bool choosesLaunches = false;

  /// Position of a dim.
  std::optional<size_t> findDim(std::string_view name) const;
  /// Position of a tensor.
  std::optional<size_t> findTensor(std::string_view name) const;
  /// Position of a scalar.
  std::optional<size_t> findScalar(std::string_view name) const;
  /// True when `name` is a compile-time parameter.
  bool hasParam(std::string_view name) const;
};

/// Most elements of a box along a dimension (CUDA driver API,
/// cuTensorMapEncodeTiled).
inline constexpr int64_t maxBoxExtent = 256;

/// Largest value of a dim: indices of full tiles still fit 32 bits.
inline constexpr int64_t maxDim = (int64_t(1) << 31) - 16385;

/// What parseManifest() accepts.
enum class ManifestKind {
  /// A program that can be launched: `arch` and `variants` are required.
  Program,
  /// A signature: `arch` and `variants` may be missing.
  Signature
};

/// Parses and validates; errors name the offending key.
Result<Manifest> parseManifest(std::string_view json,
                               ManifestKind kind = ManifestKind::Program);

/// "bf16[B, M, G*R, 128]".
std::string typeToString(const Manifest &manifest,
                         const ManifestTensor &tensor);

} // namespace selvedge::inline runtime

#endif // SELVEDGE_MANIFEST_H
