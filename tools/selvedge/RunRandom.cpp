// Random inputs, and the ranges that inputs have to keep.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/Selections.h"
#include "selvedge/Numeric.h"
#include "selvedge/Promises.h"
#include "tools/selvedge/RandomSequence.h"
#include "tools/selvedge/RunProblem.h"
#include "tools/selvedge/Support.h"
#include "tools/selvedge/UniqueValues.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <unistd.h>

namespace selvedge::cli {

namespace {

struct Range {
  int64_t lo = std::numeric_limits<int64_t>::min();
  int64_t hi = std::numeric_limits<int64_t>::max();
};

/// The values of a declared range for the problem's dims.
Result<Range> evaluate(const Problem &problem, const ManifestRange &range) {
  const Manifest &signature = problem.signature;
  Result<int64_t> lo = range.lo.evaluate(problem.dims, signature.dims);
  Result<int64_t> hi = range.hi.evaluate(problem.dims, signature.dims);
  if (lo.ok() && hi.ok())
    return Range{*lo, *hi};
  return Status::badInput(fmt::format("requires of tensor '{}': {}",
                                      signature.tensors[range.tensor].name,
                                      (lo.ok() ? hi : lo).status().message()));
}

/// All ranges of one tensor and of its type together; nullopt: none declared.
Result<std::optional<Range>> rangeOf(const Problem &problem, size_t tensor) {
  std::optional<Range> all;
  for (const ManifestRange &range : problem.signature.ranges) {
    if (range.tensor != tensor)
      continue;
    Result<Range> one = evaluate(problem, range);
    if (!one.ok())
      return one.status();
    Range old = all.value_or(Range());
    all = Range{std::max(one->lo, old.lo), std::min(one->hi, old.hi)};
  }
  const ManifestTensor &declared = problem.signature.tensors[tensor];
  if (all && declared.dtype != DType::I64) {
    auto limit = static_cast<int64_t>(maxFinite(declared.dtype));
    bool isSigned = declared.dtype == DType::I32 || declared.dtype == DType::I8;
    all->lo = std::max(all->lo, isSigned ? -limit - 1 : 0);
    all->hi = std::min(all->hi, limit);
  }
  if (all && all->lo > all->hi)
    return Status::badInput(
        fmt::format("requires of tensor '{}': no value is in {}..{}",
                    declared.name, all->lo, all->hi));
  return all;
}

bool isOrdered(const Problem &problem, size_t tensor) {
  const std::vector<ManifestRange> &ranges = problem.signature.ranges;
  return std::any_of(ranges.begin(), ranges.end(), [&](const auto &range) {
    return range.tensor == tensor && range.ordered;
  });
}

void storeInteger(HostArray &array, int64_t index, int64_t value) {
  if (array.dtype != DType::I64)
    return storeElement(array.dtype, array.data.data(), index,
                        static_cast<double>(value));
  std::memcpy(array.data.data() + index * 8, &value, sizeof(value));
}

void sortIntegers(HostArray &array, int64_t count) {
  std::vector<int64_t> values = toIntegers(array.dtype, array.data);
  std::sort(values.begin(), values.end());
  for (int64_t i = 0; i < count; ++i)
    storeInteger(array, i, values[i]);
}

/// Elements that `ref` executes in minutes; it takes some 100 ns for each.
constexpr double maxReferenceElements = 0x1p30;
/// Value and error bound of an element, and whether it is read.
constexpr double referenceBytes = 17;

/// Refuses what this machine cannot hold, or not execute before everybody has
/// lost patience, before anything is allocated.
Status checkMemory(const Problem &problem, bool onReference) {
  double needed = 0, elements = 0;
  for (const ManifestTensor &tensor : problem.signature.tensors) {
    Result<int64_t> bytes = byteCount(problem.signature, tensor, problem.dims);
    if (!bytes.ok())
      return bytes.status();
    needed += static_cast<double>(*bytes);
    elements += static_cast<double>(*bytes / sizeOf(tensor.dtype));
  }
  if (onReference)
    needed += elements * referenceBytes;
  double available = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
                     static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (needed >= available)
    return Status::badInput(
        fmt::format("--shape: the tensors need {:.1f} GiB, this machine has "
                    "{:.1f} GiB",
                    needed / 0x1p30, available / 0x1p30));
  if (onReference && elements > maxReferenceElements)
    return Status::badInput(
        fmt::format("--shape: the tensors have {:.3g} elements, device 'ref' "
                    "executes up to {:.3g}",
                    elements, maxReferenceElements));
  return Status();
}

/// Draws integers that differ, among those of their range, or those that select
/// something of `things`, or their numbers.
Status drawUniqueTensor(HostArray &array, const std::string &name,
                        int64_t count, const std::optional<Range> &range,
                        int64_t things, RandomSequence &random) {
  UniqueRange from{0, things - 1, /*mayMiss=*/true};
  if (range)
    from = {range->lo, range->hi, /*mayMiss=*/false};
  auto values = drawUnique(count, from, random);
  if (!values)
    return Status::badInput(fmt::format(
        "requires of tensor '{}': its {} elements cannot all differ in {}..{}",
        name, count, from.lo, from.hi));
  for (int64_t i = 0; i < count; ++i)
    storeInteger(array, i, (*values)[static_cast<size_t>(i)]);
  return Status();
}

/// Draws the elements of a tensor. `selections` says what those of integer
/// tensors without a range are of use for.
Status drawTensor(Problem &problem, size_t index, uint64_t seed,
                  const std::map<std::string, int64_t> &selections) {
  const ManifestTensor &tensor = problem.signature.tensors[index];
  Result<HostArray> array = makeArray(problem, tensor);
  if (!array.ok())
    return array.status();
  RandomSequence random(seed, tensor.name);
  auto count = static_cast<int64_t>(array->data.size()) / sizeOf(tensor.dtype);
  // A tensor without elements keeps any promise.
  Result<std::optional<Range>> range = std::optional<Range>();
  if (count > 0)
    range = rangeOf(problem, index);
  if (!range.ok())
    return range.status();
  auto selection = selections.find(tensor.name);
  if (tensor.unique) {
    int64_t things = selection == selections.end() ? count : selection->second;
    if (Status s = drawUniqueTensor(*array, tensor.name, count, *range, things,
                                    random);
        !s.ok())
      return s;
    problem.inputs[tensor.name] = std::move(*array);
    return Status();
  }
  if (!*range && selection != selections.end() && selection->second > 0)
    range->emplace(Range{0, selection->second - 1});
  for (int64_t i = 0; i < count; ++i) {
    if (isFloat(tensor.dtype))
      storeElement(tensor.dtype, array->data.data(), i, random.normal());
    else if (*range)
      storeInteger(*array, i, random.uniform((*range)->lo, (*range)->hi));
    else if (tensor.dtype == DType::Bool)
      storeInteger(*array, i, random.uniform(0, 1));
    else if (tensor.dtype == DType::I8)
      storeInteger(*array, i, random.uniform(INT8_MIN, INT8_MAX));
    else if (tensor.dtype == DType::U8)
      storeInteger(*array, i, random.uniform(0, UINT8_MAX));
  }
  if (isOrdered(problem, index))
    sortIntegers(*array, count);
  problem.inputs[tensor.name] = std::move(*array);
  return Status();
}

/// Parses "0,65,3".
Result<std::vector<double>> parseValues(const std::string &name,
                                        const std::string &text) {
  std::vector<double> values;
  const char *at = text.data();
  const char *end = at + text.size();
  while (true) {
    double &value = values.emplace_back();
    auto [stop, error] = std::from_chars(at, end, value);
    if (error != std::errc() || (stop != end && *stop != ','))
      return Status::badInput(fmt::format(
          "--fill {} expects numbers separated by commas, but got '{}'", name,
          text));
    if (stop == end)
      return values;
    at = stop + 1;
  }
}

Status fillInputs(Problem &problem, const std::vector<std::string> &fills) {
  auto texts = parseBindings(fills, "--fill");
  if (!texts.ok())
    return texts.status();
  for (const auto &[name, text] : *texts) {
    auto input = problem.inputs.find(name);
    if (input == problem.inputs.end())
      return Status::badInput(fmt::format("--fill: op '{}' has no input '{}'",
                                          problem.signature.op, name));
    Result<std::vector<double>> values = parseValues(name, text);
    if (!values.ok())
      return values.status();
    HostArray &array = input->second;
    auto count = array.data.size() / static_cast<size_t>(sizeOf(array.dtype));
    for (size_t i = 0; i < count; ++i)
      storeElement(array.dtype, array.data.data(), static_cast<int64_t>(i),
                   (*values)[i % values->size()]);
  }
  return Status();
}

/// A value for the elements of an array whose index along `dim` is in from..to.
struct Plant {
  double value = 0;
  size_t dim = 0;
  int64_t from = 0, to = std::numeric_limits<int64_t>::max();
};

/// Parses "nan@1:960..1024".
std::optional<Plant> parsePlant(const std::string &text) {
  Plant plant;
  const char *at = text.data();
  const char *end = at + text.size();
  auto read = [&](auto &number) {
    auto [stop, error] = std::from_chars(at, end, number);
    at = stop;
    return error == std::errc();
  };
  auto skip = [&](std::string_view word) {
    bool found = std::string_view(at, end - at).starts_with(word);
    at += found ? word.size() : 0;
    return found;
  };
  bool valid = read(plant.value) && skip("@") && read(plant.dim) && skip(":") &&
               read(plant.from) && (!skip("..") || read(plant.to));
  return valid && at == end ? std::optional(plant) : std::nullopt;
}

Status plantInputs(Problem &problem, const std::vector<std::string> &plants) {
  for (const std::string &option : plants) {
    size_t equals = option.find('=');
    std::string name = option.substr(0, equals);
    auto input = problem.inputs.find(name);
    if (input == problem.inputs.end())
      return Status::badInput(fmt::format("--plant: op '{}' has no input '{}'",
                                          problem.signature.op, name));
    HostArray &array = input->second;
    std::optional<Plant> plant;
    if (equals != std::string::npos)
      plant = parsePlant(option.substr(equals + 1));
    if (!plant || plant->dim >= array.shape.size())
      return Status::badInput(fmt::format(
          "--plant expects NAME=VALUE@DIM:FROM[..TO] with a dimension of '{}' "
          "in 0..{}, but got '{}'",
          name, static_cast<int64_t>(array.shape.size()) - 1, option));
    int64_t stride = 1;
    for (size_t d = plant->dim + 1; d < array.shape.size(); ++d)
      stride *= array.shape[d];
    auto count = static_cast<int64_t>(array.data.size()) / sizeOf(array.dtype);
    for (int64_t i = 0; i < count; ++i) {
      int64_t index = i / stride % array.shape[plant->dim];
      if (index >= plant->from && index < plant->to)
        storeElement(array.dtype, array.data.data(), i, plant->value);
    }
  }
  return Status();
}

} // namespace

Result<std::map<std::string, int64_t>>
findSelectors(const Problem &problem,
              const std::map<std::string, int64_t> &dims) {
  std::map<std::string, int64_t> selections;
  const Manifest &signature = problem.signature;
  bool isAny = false;
  for (size_t i = 0; i < signature.tensors.size(); ++i) {
    const ManifestTensor &tensor = signature.tensors[i];
    isAny |= tensor.role != Role::Temp && !isFloat(tensor.dtype) &&
             tensor.dtype != DType::Bool &&
             std::ranges::none_of(signature.ranges, [&](const auto &range) {
               return range.tensor == i;
             });
  }
  if (!isAny)
    return selections;
  CompileResult found = findSelections(problem.request, dims, selections);
  if (Status s = statusOf(found); !s.ok())
    return s;
  for (const ManifestRange &range : signature.ranges)
    selections.erase(signature.tensors[range.tensor].name);
  return selections;
}

Status drawInputs(Problem &problem, const ProblemOptions &options) {
  const std::vector<std::string> &omitted = options.omitted;
  for (const std::string &name : omitted) {
    std::optional<size_t> index = problem.signature.findTensor(name);
    if (!index || !problem.signature.tensors[*index].optional)
      return Status::badInput(
          fmt::format("--omit: op '{}' has no optional tensor '{}'",
                      problem.signature.op, name));
  }
  if (Status s = checkMemory(problem, options.onReference); !s.ok())
    return s;
  auto selections = findSelectors(problem, problem.namedDims());
  if (!selections.ok())
    return selections.status();
  for (size_t i = 0; i < problem.signature.tensors.size(); ++i) {
    const ManifestTensor &tensor = problem.signature.tensors[i];
    bool isRead = tensor.role == Role::In || tensor.role == Role::InOut ||
                  (tensor.role == Role::Out && tensor.keepsUnstored);
    if (!isRead)
      continue;
    if (std::find(omitted.begin(), omitted.end(), tensor.name) != omitted.end())
      continue;
    if (Status s = drawTensor(problem, i, options.seed, *selections); !s.ok())
      return s;
  }
  if (Status s = fillInputs(problem, options.fills); !s.ok())
    return s;
  return plantInputs(problem, options.plants);
}

Status checkRanges(const Problem &problem) {
  const Manifest &signature = problem.signature;
  for (size_t i = 0; i < signature.tensors.size(); ++i) {
    auto it = problem.inputs.find(signature.tensors[i].name);
    if (it == problem.inputs.end() || !hasPromises(signature, i))
      continue;
    const HostArray &array = it->second;
    if (Status s = checkPromises(signature, problem.dims, i, array.shape,
                                 toIntegers(array.dtype, array.data));
        !s.ok())
      return s;
  }
  return Status();
}

} // namespace selvedge::cli
