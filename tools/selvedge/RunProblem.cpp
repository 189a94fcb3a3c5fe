// From options and files to a checked problem.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/RunProblem.h"

#include "selvedge/Safetensors.h"
#include "tools/selvedge/Layout.h"
#include "tools/selvedge/Suggest.h"
#include "tools/selvedge/Support.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <set>

namespace selvedge::cli {

namespace {

using Bindings = std::map<std::string, std::string>;

Result<Manifest> parseSignature(const CompileResult &result) {
  Result<Manifest> manifest =
      parseManifest(result.manifest, ManifestKind::Signature);
  if (!manifest.ok())
    return Status::failed("the compiler's manifest is malformed: " +
                          manifest.status().message());
  return manifest;
}

/// Which of the bindings are scalars. Parameters without a default can keep
/// the op from being described without bindings, so each binding is also
/// tried as the one that is left out.
std::set<std::string> findScalars(CompileRequest request,
                                  const Bindings &bindings) {
  std::set<std::string> scalars;
  auto collect = [&](const Bindings &params) {
    request.bindings = params;
    CompileResult result = describe(request);
    if (result.status != CompileStatus::Ok)
      return false;
    Result<Manifest> manifest = parseSignature(result);
    if (manifest.ok())
      for (const ManifestScalar &scalar : manifest->scalars)
        scalars.insert(scalar.name);
    return true;
  };
  if (bindings.empty() || collect({}))
    return scalars;
  for (const auto &[name, value] : bindings) {
    Bindings others = bindings;
    others.erase(name);
    collect(others);
  }
  return scalars;
}

Result<double> parseScalar(const ManifestScalar &scalar,
                           const std::string &text) {
  auto error = [&] {
    return Status::badInput(fmt::format("--set {} expects {}, but got '{}'",
                                        scalar.name, nameOf(scalar.dtype),
                                        text));
  };
  const char *end = text.data() + text.size();
  if (scalar.dtype == DType::I32) {
    int32_t value = 0;
    auto [stop, failure] = std::from_chars(text.data(), end, value);
    if (failure != std::errc() || stop != end)
      return error();
    return static_cast<double>(value);
  }
  double value = 0;
  auto [stop, failure] = std::from_chars(text.data(), end, value);
  bool fits = !std::isfinite(value) ||
              std::fabs(value) <= std::numeric_limits<float>::max();
  if (failure != std::errc() || stop != end || !fits)
    return error();
  // What the kernel will see.
  return static_cast<double>(static_cast<float>(value));
}

Status bindScalars(Problem &problem, const Bindings &bindings, bool mayLack) {
  for (const ManifestScalar &scalar : problem.signature.scalars) {
    auto it = bindings.find(scalar.name);
    if (it != bindings.end()) {
      Result<double> value = parseScalar(scalar, it->second);
      if (!value.ok())
        return value.status();
      problem.scalars[scalar.name] = *value;
    } else if (scalar.defaultValue) {
      bool isFloat = scalar.dtype == DType::F32;
      problem.scalars[scalar.name] =
          isFloat
              ? static_cast<double>(static_cast<float>(*scalar.defaultValue))
              : *scalar.defaultValue;
    } else if (!mayLack && !scalar.defaultOfDims) {
      return Status::badInput(fmt::format(
          "scalar '{}' of type {} has no default: give --set {}=...",
          scalar.name, nameOf(scalar.dtype), scalar.name));
    }
  }
  return Status();
}

bool mayBeGiven(const ManifestTensor &tensor) {
  return tensor.role == Role::In || tensor.role == Role::InOut ||
         (tensor.role == Role::Out && tensor.keepsUnstored);
}

/// The tensors of a file against the signature.
Status checkEntries(const Problem &problem, const Safetensors &content,
                    const std::string &path) {
  for (const SafetensorsEntry &entry : content.tensors) {
    std::optional<size_t> index = problem.signature.findTensor(entry.name);
    if (!index || !mayBeGiven(problem.signature.tensors[*index]))
      return Status::badInput(
          fmt::format("'{}': tensor '{}' is surplus: op '{}' {}", path,
                      entry.name, problem.signature.op,
                      index ? "does not read it" : "has no such tensor"));
    const ManifestTensor &tensor = problem.signature.tensors[*index];
    if (entry.dtype != tensor.dtype)
      return Status::badInput(fmt::format(
          "'{}': tensor '{}' has dtype {}, expected {}", path, entry.name,
          nameOf(entry.dtype), typeToString(problem.signature, tensor)));
  }
  for (const ManifestTensor &tensor : problem.signature.tensors) {
    bool needed = tensor.role == Role::In || tensor.role == Role::InOut;
    if (needed && !tensor.optional && !content.find(tensor.name))
      return Status::badInput(
          fmt::format("'{}': tensor '{}' is missing, expected {}", path,
                      tensor.name, typeToString(problem.signature, tensor)));
  }
  return Status();
}

/// Gives an array its whole shape where one element stands for all.
Status broadcastArray(const Problem &problem, const ManifestTensor &tensor,
                      HostArray &array) {
  if (tensor.broadcasts.empty())
    return Status();
  Result<std::vector<int64_t>> whole =
      shapeOf(problem.signature, tensor, problem.dims);
  if (!whole.ok())
    return whole.status();
  Layout layout{*whole, contiguousStrides(array.shape), array.shape};
  broadcast(tensor, *whole, array.shape, layout.strides);
  std::vector<std::byte> data;
  auto size = static_cast<size_t>(sizeOf(array.dtype));
  for (int64_t place : layout.places()) {
    std::span element =
        std::span(array.data).subspan(static_cast<size_t>(place) * size, size);
    data.insert(data.end(), element.begin(), element.end());
  }
  array.data = std::move(data);
  return Status();
}

Status loadInputs(Problem &problem, const std::string &path,
                  const std::map<std::string, int64_t> &fixed) {
  Result<SafetensorsFile> file = SafetensorsFile::read(path);
  if (!file.ok())
    return file.status();
  const Safetensors &content = file->content();
  if (Status s = checkEntries(problem, content, path); !s.ok())
    return s;
  std::vector<NamedShape> shapes;
  for (size_t i = 0; i < problem.signature.tensors.size(); ++i)
    if (const auto *entry = content.find(problem.signature.tensors[i].name))
      shapes.push_back({i, entry->shape});
  Result<DimValues> dims = bindDims(problem.signature, shapes, fixed);
  if (!dims.ok())
    return Status::badInput(
        fmt::format("'{}': {}", path, dims.status().message()));
  problem.dims = std::move(*dims);
  for (const SafetensorsEntry &entry : content.tensors) {
    const ManifestTensor &tensor =
        problem.signature.tensors[*problem.signature.findTensor(entry.name)];
    HostArray array{
        entry.dtype, entry.shape, {entry.data.begin(), entry.data.end()}};
    if (Status s = broadcastArray(problem, tensor, array); !s.ok())
      return s;
    problem.inputs[entry.name] = std::move(array);
  }
  return Status();
}

/// Devices choose again what the caller leaves to launches.
Status checkAllDims(Problem &problem) {
  problem.given = problem.dims;
  if (Status s = chooseLaunchSizes(problem.signature, problem.dims); !s.ok())
    return s;
  for (size_t i = 0; i < problem.dims.size(); ++i)
    if (!problem.dims[i])
      return Status::badInput(
          fmt::format("dimension '{0}' is not known: give --shape {0}=...",
                      problem.signature.dims[i]));
  return Status();
}

/// Here a slip of the pen is told from a dim that is missing.
Status checkDimNames(const Manifest &signature,
                     const std::map<std::string, int64_t> &fixed) {
  for (const auto &[name, value] : fixed)
    if (!signature.findDim(name))
      return Status::badInput(
          fmt::format("--shape: op '{}' has no dimension '{}' (it has {}){}",
                      signature.op, name,
                      signature.dims.empty()
                          ? "none"
                          : fmt::format("{}", fmt::join(signature.dims, ", ")),
                      didYouMean(name, signature.dims)));
  return Status();
}

} // namespace

std::map<std::string, int64_t> Problem::namedDims() const {
  std::map<std::string, int64_t> named;
  for (size_t i = 0; i < dims.size(); ++i)
    named[signature.dims[i]] = *dims[i];
  return named;
}

std::map<std::string, int64_t> Problem::givenDims() const {
  std::map<std::string, int64_t> named;
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i])
      named[signature.dims[i]] = *given[i];
  return named;
}

Status statusOf(const CompileResult &result) {
  int exit = report(result);
  if (exit == exitDone)
    return Status();
  return exit == exitFailed ? Status::failed("") : Status::badInput("");
}

Result<HostArray> makeArray(const Problem &problem,
                            const ManifestTensor &tensor) {
  Result<std::vector<int64_t>> shape =
      shapeOf(problem.signature, tensor, problem.dims);
  if (!shape.ok())
    return shape.status();
  Result<int64_t> bytes = byteCount(tensor.dtype, *shape);
  if (!bytes.ok())
    return Status::badInput(
        fmt::format("tensor '{}': {}", tensor.name, bytes.status().message()));
  HostArray array{tensor.dtype, std::move(*shape), {}};
  array.data.resize(static_cast<size_t>(*bytes));
  return array;
}

Result<Problem> makeSignature(CompileRequest request,
                              const std::vector<std::string> &sets,
                              bool mayLackScalars) {
  Result<Bindings> bindings = parseBindings(sets, "--set");
  if (!bindings.ok())
    return bindings.status();
  Problem problem;
  problem.request = std::move(request);
  std::set<std::string> scalars = findScalars(problem.request, *bindings);
  for (const auto &[name, value] : *bindings)
    if (!scalars.contains(name))
      problem.request.bindings[name] = value;
  CompileResult described = describe(problem.request);
  if (Status s = statusOf(described); !s.ok())
    return s;
  Result<Manifest> signature = parseSignature(described);
  if (!signature.ok())
    return signature.status();
  problem.signature = std::move(*signature);
  if (Status s = bindScalars(problem, *bindings, mayLackScalars); !s.ok())
    return s;
  return problem;
}

Result<Problem> makeProblem(CompileRequest request,
                            const ProblemOptions &options) {
  auto fixed = parseShapes(options.shapes);
  if (!fixed.ok())
    return fixed.status();
  Result<Problem> signature = makeSignature(std::move(request), options.sets);
  if (!signature.ok())
    return signature.status();
  Problem problem = std::move(*signature);
  if (Status s = checkDimNames(problem.signature, *fixed); !s.ok())
    return s;
  if (!options.inputFile.empty()) {
    if (Status s = loadInputs(problem, options.inputFile, *fixed); !s.ok())
      return s;
    if (Status s = checkAllDims(problem); !s.ok())
      return s;
  } else {
    Result<DimValues> dims = bindDims(problem.signature, {}, *fixed);
    if (!dims.ok())
      return Status::badInput("--shape: " + dims.status().message());
    problem.dims = std::move(*dims);
    if (Status s = checkAllDims(problem); !s.ok())
      return s;
    if (Status s = drawInputs(problem, options); !s.ok())
      return s;
  }
  if (options.breaksRequires)
    return problem;
  if (Status s = checkRanges(problem); !s.ok())
    return s;
  return problem;
}

} // namespace selvedge::cli
