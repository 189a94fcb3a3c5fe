// The program part of a manifest: variants, launches and expressions.
// SPDX-License-Identifier: MIT
#include "runtime/src/ManifestParser.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <iterator>

namespace selvedge::inline runtime {

namespace {

/// Deeper expressions than any compiler emits would overflow the stack.
constexpr int maxExprDepth = 64;
constexpr int64_t maxThreads = 1024;
constexpr int64_t maxSmemBytes = 1 << 20;

const std::pair<const char *, DimExpr::Kind> exprKinds[] = {
    {"add", DimExpr::Kind::Add},         {"sub", DimExpr::Kind::Sub},
    {"mul", DimExpr::Kind::Mul},         {"floordiv", DimExpr::Kind::FloorDiv},
    {"ceildiv", DimExpr::Kind::CeilDiv}, {"mod", DimExpr::Kind::Mod},
    {"min", DimExpr::Kind::Min},         {"max", DimExpr::Kind::Max},
    {"gcd", DimExpr::Kind::Gcd},
};

} // namespace

Status ManifestParser::parseVariant(const JsonReader &item) {
  ManifestVariant variant;
  if (Status s = item.expectKeys({"name", "when", "launches"}); !s.ok())
    return s;
  if (Status s = read(item, "name", &JsonReader::string, variant.name); !s.ok())
    return s;
  Status when = forEach(item, "when", [&](const JsonReader &condition) {
    return parseCondition(condition, variant);
  });
  if (!when.ok())
    return when;
  Status launches = forEach(item, "launches", [&](const JsonReader &launch) {
    return parseLaunch(launch, variant);
  });
  if (!launches.ok())
    return launches;
  manifest.variants.push_back(std::move(variant));
  return Status();
}

Status ManifestParser::parseCondition(const JsonReader &item,
                                      ManifestVariant &variant) {
  if (std::optional<JsonReader> dims = item.find("dims")) {
    if (item.json().size() != 1)
      return item.error("expects the key 'dims' only");
    return parseExpr(*dims, variant.dimConditions.emplace_back());
  }
  return parseAlignment(item, variant.when.emplace_back());
}

Status ManifestParser::parseAlignment(const JsonReader &item,
                                      ManifestCondition &condition) {
  Result<JsonReader> name = item.member("tensor");
  if (!name.ok())
    return name.status();
  Result<size_t> index = tensorNamed(*name);
  if (!index.ok())
    return index.status();
  condition.tensor = *index;
  if (Status s = readLimited(item, "align", 1, 4096, condition.align); !s.ok())
    return s;
  if (!std::has_single_bit(static_cast<uint64_t>(condition.align)))
    return item.error(fmt::format("'align' expects a power of two, but got {}",
                                  condition.align));
  if (item.json().size() != 2)
    return item.error("expects the keys 'tensor' and 'align', or 'dims'");
  return Status();
}

/// Conditions of the variant, some of them: whoever takes it as a whole has
/// checked them.
Status ManifestParser::parseLaunchConditions(const JsonReader &item,
                                             ManifestLaunch &launch,
                                             const ManifestVariant &variant) {
  launch.when.emplace();
  return forEach(item, "when", [&](const JsonReader &one) {
    ManifestCondition &condition = launch.when->emplace_back();
    if (Status s = parseAlignment(one, condition); !s.ok())
      return s;
    return std::ranges::find(variant.when, condition) != variant.when.end()
               ? Status()
               : one.error("is no condition of the variant");
  });
}

Status ManifestParser::checkChoices(const JsonReader &root) {
  const ManifestVariant &last = manifest.variants.back();
  bool isEven = true;
  for (const ManifestVariant &variant : manifest.variants) {
    auto numWithConditions = std::ranges::count_if(
        variant.launches,
        [](const ManifestLaunch &launch) { return launch.when.has_value(); });
    manifest.choosesLaunches |= numWithConditions != 0;
    // Those for some dims may be taken as a whole.
    bool isWhole = !variant.dimConditions.empty() && numWithConditions == 0;
    isEven &= isWhole || (variant.launches.size() == last.launches.size() &&
                          numWithConditions == std::ssize(variant.launches));
  }
  return isEven || !manifest.choosesLaunches
             ? Status()
             : root.error("where a launch has 'when' all have, and 'variants' "
                          "have equally many launches");
}

Status ManifestParser::parseLaunch(const JsonReader &item,
                                   ManifestVariant &variant) {
  ManifestLaunch launch;
  if (Status s = item.expectKeys({"kernel", "grid", "persistent", "dependent",
                                  "block", "smem", "when", "args"});
      !s.ok())
    return s;
  if (Status s = read(item, "kernel", &JsonReader::string, launch.kernel);
      !s.ok())
    return s;
  Status grid = forEach(item, "grid", [&](const JsonReader &extent) {
    return parseExpr(extent, launch.grid.emplace_back());
  });
  if (!grid.ok())
    return grid;
  if (launch.grid.empty() || launch.grid.size() > 3)
    return item.error(
        fmt::format("'grid' expects one to three expressions, but got {}",
                    launch.grid.size()));
  if (item.find("persistent"))
    if (Status s =
            read(item, "persistent", &JsonReader::boolean, launch.persistent);
        !s.ok())
      return s;
  if (item.find("dependent"))
    if (Status s =
            read(item, "dependent", &JsonReader::boolean, launch.dependent);
        !s.ok())
      return s;
  if (launch.dependent && variant.launches.empty())
    return item.error("the first launch of a variant is not 'dependent'");
  if (Status s = readLimited(item, "block", 1, maxThreads, launch.block);
      !s.ok())
    return s;
  if (Status s = readLimited(item, "smem", 0, maxSmemBytes, launch.smemBytes);
      !s.ok())
    return s;
  if (item.find("when"))
    if (Status s = parseLaunchConditions(item, launch, variant); !s.ok())
      return s;
  Status args = forEach(item, "args", [&](const JsonReader &arg) {
    return parseArg(arg, launch);
  });
  if (!args.ok())
    return args;
  variant.launches.push_back(std::move(launch));
  return Status();
}

Status ManifestParser::parseStride(const JsonReader &item, ManifestArg &arg) {
  arg.kind = ManifestArg::Kind::Stride;
  if (Status s = item.expectArray(); !s.ok())
    return s;
  std::vector<JsonReader> parts = item.elements();
  if (parts.size() != 2)
    return item.mismatch("a tensor's name and a dimension");
  Result<size_t> tensor = tensorNamed(parts[0]);
  if (!tensor.ok())
    return tensor.status();
  arg.index = *tensor;
  Result<int64_t> dimension = parts[1].integer();
  if (!dimension.ok())
    return dimension.status();
  const ManifestTensor &found = manifest.tensors[arg.index];
  if (*dimension < 0 || *dimension >= static_cast<int64_t>(found.shape.size()))
    return item.error(
        fmt::format("tensor '{}' has no dimension {}", found.name, *dimension));
  arg.dimension = static_cast<size_t>(*dimension);
  return Status();
}

Status ManifestParser::parseTensorMap(const JsonReader &item,
                                      ManifestArg &arg) {
  // CUDA driver API, cuTensorMapEncodeTiled.
  static constexpr size_t maxRank = 5;
  arg.kind = ManifestArg::Kind::TensorMap;
  if (Status s = item.expectArray(); !s.ok())
    return s;
  std::vector<JsonReader> parts = item.elements();
  if (parts.size() < 2 || parts.size() > 3)
    return item.mismatch("a tensor's name, a box and perhaps 'plain'");
  arg.isSwizzled = parts.size() == 2;
  if (!arg.isSwizzled && parts[2].json() != "plain")
    return parts[2].mismatch("'plain'");
  Result<size_t> tensor = tensorNamed(parts[0]);
  if (!tensor.ok())
    return tensor.status();
  arg.index = *tensor;
  if (Status s = parts[1].expectArray(); !s.ok())
    return s;
  const ManifestTensor &found = manifest.tensors[arg.index];
  for (const JsonReader &part : parts[1].elements()) {
    DimExpr &extent = arg.box.emplace_back();
    if (Status s = parseExpr(part, extent); !s.ok())
      return s;
    if (extent.kind == DimExpr::Kind::Constant &&
        (extent.value < 1 || extent.value > maxBoxExtent))
      return part.error(fmt::format("a box has 1 to {} elements per dimension, "
                                    "but got {}",
                                    maxBoxExtent, extent.value));
  }
  if (arg.box.empty() || arg.box.size() > maxRank ||
      arg.box.size() != found.shape.size())
    return item.error(fmt::format("tensor '{}' has {} dimensions, its box {}",
                                  found.name, found.shape.size(),
                                  arg.box.size()));
  return Status();
}

Status ManifestParser::parseArg(const JsonReader &item,
                                ManifestLaunch &launch) {
  if (!item.json().is_object() || item.json().size() != 1)
    return item.mismatch("an object with one key");
  ManifestArg &arg = launch.args.emplace_back();
  if (std::optional<JsonReader> stride = item.find("stride"))
    return parseStride(*stride, arg);
  if (std::optional<JsonReader> map = item.find("tensorMap"))
    return parseTensorMap(*map, arg);
  if (std::optional<JsonReader> pointer = item.find("pointer")) {
    Result<size_t> tensor = tensorNamed(*pointer);
    if (tensor.ok())
      arg.index = *tensor;
    return tensor.status();
  }
  if (std::optional<JsonReader> counter = item.find("counter")) {
    arg.kind = ManifestArg::Kind::Counter;
    return counter->json() == true ? Status() : counter->mismatch("true");
  }
  bool isDim = item.find("dim").has_value();
  if (!isDim && !item.find("scalar"))
    return item.mismatch(
        "one of 'pointer', 'tensorMap', 'stride', 'dim', 'scalar', 'counter'");
  std::string name;
  if (Status s =
          read(item, isDim ? "dim" : "scalar", &JsonReader::string, name);
      !s.ok())
    return s;
  std::optional<size_t> index =
      isDim ? manifest.findDim(name) : manifest.findScalar(name);
  if (!index)
    return item.error(
        fmt::format("unknown {} '{}'", isDim ? "dim" : "scalar", name));
  arg.kind = isDim ? ManifestArg::Kind::Dim : ManifestArg::Kind::Scalar;
  arg.index = *index;
  return Status();
}

Status ManifestParser::parseExpr(const JsonReader &item, DimExpr &expr,
                                 int depth) {
  if (depth > maxExprDepth)
    return item.error("the expression is nested too deeply");
  const nlohmann::json &json = item.json();
  if (json.is_number_integer()) {
    Result<int64_t> value = item.integer();
    if (value.ok())
      expr = DimExpr::constant(*value);
    return value.status();
  }
  if (json.is_string()) {
    std::optional<size_t> index = manifest.findDim(json.get<std::string>());
    if (!index)
      return item.error(
          fmt::format("unknown dim '{}'", json.get<std::string>()));
    expr = DimExpr::dim(*index);
    return Status();
  }
  if (json.is_object() && json.size() == 1)
    for (const auto &[name, operation] : exprKinds) {
      std::optional<JsonReader> operands = item.find(name);
      if (!operands)
        continue;
      if (!operands->json().is_array() || operands->json().size() != 2)
        return operands->mismatch("an array of two expressions");
      std::vector<JsonReader> parts = operands->elements();
      expr = DimExpr::binary(operation, {}, {});
      if (Status s = parseExpr(parts[0], expr.operands[0], depth + 1); !s.ok())
        return s;
      return parseExpr(parts[1], expr.operands[1], depth + 1);
    }
  return item.mismatch("an integer, a dim's name or an operation");
}

} // namespace selvedge::inline runtime
