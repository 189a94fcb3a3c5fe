// The signature part of a manifest: JSON to Manifest, with every key checked.
// SPDX-License-Identifier: MIT
#include "runtime/src/ManifestParser.h"

#include <fmt/format.h>

namespace selvedge::inline runtime {

Status ManifestParser::readDType(const JsonReader &parent, DType &out) {
  std::string name;
  if (Status s = read(parent, "dtype", &JsonReader::string, name); !s.ok())
    return s;
  std::optional<DType> type = dtypeFromName(name);
  if (!type)
    return parent.error(fmt::format("unknown dtype '{}'", name));
  out = *type;
  return Status();
}

Status ManifestParser::readLimited(const JsonReader &parent, const char *key,
                                   int64_t low, int64_t high, int64_t &out) {
  if (Status s = read(parent, key, &JsonReader::integer, out); !s.ok())
    return s;
  if (out >= low && out <= high)
    return Status();
  return parent.error(fmt::format("'{}' expects a value in {}..{}, but got {}",
                                  key, low, high, out));
}

Status ManifestParser::claimName(const JsonReader &item,
                                 const std::string &name) {
  if (name.empty())
    return item.error("the name is empty");
  if (!names.insert(name).second)
    return item.error(fmt::format("the name '{}' is used twice", name));
  return Status();
}

Status ManifestParser::parse(const JsonReader &root) {
  Status status = parseHeader(root);
  if (status.ok())
    status = parseParams(root);
  if (status.ok())
    status = parseDims(root);
  auto list = [&](const char *key,
                  Status (ManifestParser::*parseItem)(const JsonReader &)) {
    if (status.ok())
      status = forEach(root, key, [&](const JsonReader &item) {
        return (this->*parseItem)(item);
      });
  };
  list("tensors", &ManifestParser::parseTensor);
  list("scalars", &ManifestParser::parseScalar);
  list("requires", &ManifestParser::parseRange);
  if (root.find("reduced"))
    list("reduced", &ManifestParser::parseReducedDim);
  if (root.find("launch"))
    list("launch", &ManifestParser::parseLaunchSize);
  if (kind == ManifestKind::Signature)
    return status;
  list("variants", &ManifestParser::parseVariant);
  if (!status.ok())
    return status;
  if (manifest.variants.empty() || !manifest.variants.back().when.empty() ||
      !manifest.variants.back().dimConditions.empty())
    return root.error("the last of 'variants' has to be without conditions");
  return checkChoices(root);
}

Status ManifestParser::parseHeader(const JsonReader &root) {
  // The version first: another one has other keys.
  int64_t version = 0;
  if (Status s = read(root, "selvedge", &JsonReader::integer, version); !s.ok())
    return s;
  if (version != 1)
    return root.error(
        fmt::format("'selvedge' expects version 1, but got {}", version));
  if (Status s = root.expectKeys({"selvedge", "compiler", "op", "arch", "mask",
                                  "params", "dims", "tensors", "scalars",
                                  "requires", "reduced", "launch", "variants"});
      !s.ok())
    return s;
  if (Status s = read(root, "compiler", &JsonReader::string, manifest.compiler);
      !s.ok())
    return s;
  if (Status s = read(root, "op", &JsonReader::string, manifest.op); !s.ok())
    return s;
  if (root.find("mask")) {
    std::string mask;
    if (Status s = read(root, "mask", &JsonReader::string, mask); !s.ok())
      return s;
    if (mask != "tile" && mask != "exact")
      return root.error(
          fmt::format("'mask' expects tile or exact, but got '{}'", mask));
    manifest.exactMasks = mask == "exact";
  }
  if (kind == ManifestKind::Signature && !root.find("arch"))
    return Status();
  return read(root, "arch", &JsonReader::string, manifest.arch);
}

Status ManifestParser::parseParams(const JsonReader &root) {
  Result<JsonReader> params = root.member("params");
  if (!params.ok())
    return params.status();
  if (Status s = params->expectObject(); !s.ok())
    return s;
  for (const auto &item : params->json().items()) {
    const nlohmann::json &value = item.value();
    if (value.is_structured() || value.is_null())
      return params->child(value, "." + item.key())
          .mismatch("a string, a number, true or false");
    std::string text =
        value.is_string() ? value.get<std::string>() : value.dump();
    manifest.params.emplace_back(item.key(), text);
  }
  return Status();
}

Status ManifestParser::parseDims(const JsonReader &root) {
  return forEach(root, "dims", [&](const JsonReader &item) {
    Result<std::string> name = item.string();
    if (!name.ok())
      return name.status();
    manifest.dims.push_back(*name);
    return claimName(item, *name);
  });
}

Status ManifestParser::parseTensor(const JsonReader &item) {
  ManifestTensor tensor;
  std::string role;
  if (Status s = item.expectKeys({"name", "role", "dtype", "shape", "optional",
                                  "anyOrder", "unique", "broadcast", "init"});
      !s.ok())
    return s;
  if (Status s = read(item, "name", &JsonReader::string, tensor.name); !s.ok())
    return s;
  if (Status s = claimName(item, tensor.name); !s.ok())
    return s;
  if (Status s = read(item, "role", &JsonReader::string, role); !s.ok())
    return s;
  if (role == "in")
    tensor.role = Role::In;
  else if (role == "out")
    tensor.role = Role::Out;
  else if (role == "inout")
    tensor.role = Role::InOut;
  else if (role == "temp")
    tensor.role = Role::Temp;
  else
    return item.error(fmt::format("unknown role '{}'", role));
  if (Status s = readDType(item, tensor.dtype); !s.ok())
    return s;
  Status shape = forEach(item, "shape", [&](const JsonReader &extent) {
    return parseExpr(extent, tensor.shape.emplace_back());
  });
  if (!shape.ok())
    return shape;
  if (item.find("optional"))
    if (Status s =
            read(item, "optional", &JsonReader::boolean, tensor.optional);
        !s.ok())
      return s;
  if (item.find("anyOrder"))
    if (Status s =
            read(item, "anyOrder", &JsonReader::boolean, tensor.anyOrder);
        !s.ok())
      return s;
  if (item.find("unique"))
    if (Status s = read(item, "unique", &JsonReader::boolean, tensor.unique);
        !s.ok())
      return s;
  if (tensor.unique && isFloat(tensor.dtype))
    return item.error("expects integers in a tensor that is unique");
  if (Status s = parseBroadcast(item, tensor); !s.ok())
    return s;
  if (tensor.optional && tensor.role == Role::Temp)
    return item.error("a temp cannot be optional");
  if (Status s = parseInit(item, tensor); !s.ok())
    return s;
  manifest.tensors.push_back(std::move(tensor));
  return Status();
}

Status ManifestParser::parseBroadcast(const JsonReader &item,
                                      ManifestTensor &tensor) {
  if (!item.find("broadcast"))
    return Status();
  if (tensor.role != Role::In)
    return item.error("expects an input in 'broadcast'");
  tensor.broadcasts.assign(tensor.shape.size(), false);
  return forEach(item, "broadcast", [&](const JsonReader &number) {
    Result<int64_t> dimension = number.integer();
    if (!dimension.ok())
      return dimension.status();
    auto rank = static_cast<int64_t>(tensor.shape.size());
    if (*dimension < 0 || *dimension >= rank)
      return number.error(fmt::format("expects a dimension in 0..{}, but got "
                                      "{}",
                                      rank - 1, *dimension));
    tensor.broadcasts[static_cast<size_t>(*dimension)] = true;
    return Status();
  });
}

Status ManifestParser::parseInit(const JsonReader &item,
                                 ManifestTensor &tensor) {
  std::optional<JsonReader> init = item.find("init");
  if (!init || init->json().is_null())
    return Status();
  if (init->json() == "keep") {
    tensor.keepsUnstored = true;
    return Status();
  }
  return init->number().status();
}

Status ManifestParser::parseScalar(const JsonReader &item) {
  ManifestScalar scalar;
  if (Status s = item.expectKeys({"name", "dtype", "default"}); !s.ok())
    return s;
  if (Status s = read(item, "name", &JsonReader::string, scalar.name); !s.ok())
    return s;
  if (Status s = claimName(item, scalar.name); !s.ok())
    return s;
  if (Status s = readDType(item, scalar.dtype); !s.ok())
    return s;
  if (scalar.dtype != DType::F32 && scalar.dtype != DType::I32)
    return item.error(
        fmt::format("a scalar is f32 or i32, not {}", nameOf(scalar.dtype)));
  std::optional<JsonReader> value = item.find("default");
  if (value && value->json().is_object()) {
    if (Status s = parseExpr(*value, scalar.defaultOfDims.emplace()); !s.ok())
      return s;
  } else if (value && !value->json().is_null()) {
    Result<double> number = value->number();
    if (!number.ok())
      return number.status();
    scalar.defaultValue = *number;
  }
  manifest.scalars.push_back(std::move(scalar));
  return Status();
}

Result<size_t> ManifestParser::tensorNamed(const JsonReader &item) {
  Result<std::string> name = item.string();
  if (!name.ok())
    return name.status();
  std::optional<size_t> index = manifest.findTensor(*name);
  if (!index)
    return item.error(fmt::format("unknown tensor '{}'", *name));
  return *index;
}

Status ManifestParser::parseRange(const JsonReader &item) {
  ManifestRange range;
  if (Status s = item.expectKeys({"tensor", "lo", "hi", "ordered"}); !s.ok())
    return s;
  if (item.find("ordered"))
    if (Status s = read(item, "ordered", &JsonReader::boolean, range.ordered);
        !s.ok())
      return s;
  Result<JsonReader> name = item.member("tensor");
  Result<JsonReader> lo = item.member("lo");
  Result<JsonReader> hi = item.member("hi");
  for (const Result<JsonReader> *part : {&name, &lo, &hi})
    if (!part->ok())
      return part->status();
  Result<size_t> index = tensorNamed(*name);
  if (!index.ok())
    return index.status();
  range.tensor = *index;
  DType type = manifest.tensors[range.tensor].dtype;
  if (isFloat(type))
    return item.error(fmt::format("expects an integer tensor, but '{}' is {}",
                                  manifest.tensors[range.tensor].name,
                                  nameOf(type)));
  if (Status s = parseExpr(*lo, range.lo); !s.ok())
    return s;
  if (Status s = parseExpr(*hi, range.hi); !s.ok())
    return s;
  manifest.ranges.push_back(std::move(range));
  return Status();
}

Status ManifestParser::parseLaunchSize(const JsonReader &item) {
  ManifestLaunchSize size;
  if (Status s = item.expectKeys({"dim", "lo", "hi", "parts"}); !s.ok())
    return s;
  std::string name;
  if (Status s = read(item, "dim", &JsonReader::string, name); !s.ok())
    return s;
  std::optional<size_t> dim = manifest.findDim(name);
  if (!dim)
    return item.error(fmt::format("unknown dim '{}'", name));
  size.dim = *dim;
  if (Status s = readLimited(item, "lo", 1, maxDim, size.lo); !s.ok())
    return s;
  if (Status s = readLimited(item, "hi", size.lo, maxDim, size.hi); !s.ok())
    return s;
  Status parts = forEach(item, "parts", [&](const JsonReader &expr) {
    return parseExpr(expr, size.parts.emplace_back());
  });
  if (!parts.ok())
    return parts;
  manifest.launchSizes.push_back(std::move(size));
  return Status();
}

Status ManifestParser::parseReducedDim(const JsonReader &item) {
  if (Status s = item.expectKeys({"dim", "tensor", "dimension"}); !s.ok())
    return s;
  std::string dimName, tensorName;
  if (Status s = read(item, "dim", &JsonReader::string, dimName); !s.ok())
    return s;
  if (Status s = read(item, "tensor", &JsonReader::string, tensorName); !s.ok())
    return s;
  std::optional<size_t> dim = manifest.findDim(dimName),
                        tensor = manifest.findTensor(tensorName);
  if (!dim)
    return item.error(fmt::format("unknown dim '{}'", dimName));
  if (!tensor || manifest.tensors[*tensor].role != Role::In)
    return item.error(fmt::format("'{}' is no input", tensorName));
  int64_t dimension = 0,
          last =
              static_cast<int64_t>(manifest.tensors[*tensor].shape.size()) - 1;
  if (Status s = readLimited(item, "dimension", 0, last, dimension); !s.ok())
    return s;
  manifest.reducedDims.push_back(
      {*dim, *tensor, static_cast<size_t>(dimension)});
  return Status();
}

Result<Manifest> parseManifest(std::string_view json, ManifestKind kind) {
  Result<nlohmann::json> document = parseJson(json, "manifest");
  if (!document.ok())
    return document.status();
  ManifestParser parser(kind);
  if (Status s = parser.parse(JsonReader(*document, "manifest")); !s.ok())
    return s;
  return std::move(parser.manifest);
}

} // namespace selvedge::inline runtime
