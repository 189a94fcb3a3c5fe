// Reading and writing safetensors files.
// SPDX-License-Identifier: MIT
#include "selvedge/Safetensors.h"

#include "runtime/src/Endian.h"
#include "runtime/src/JsonReader.h"
#include "selvedge/File.h"

#include <algorithm>
#include <fmt/format.h>

namespace selvedge::inline runtime {

namespace {

using Json = nlohmann::json;

constexpr size_t lengthBytes = 8;
constexpr uint64_t maxHeaderBytes = 100'000'000;
constexpr size_t maxRank = 64;
constexpr const char *metadataKey = "__metadata__";

/// An entry with its offsets, before they are known to be consistent.
struct RawEntry {
  SafetensorsEntry entry;
  uint64_t begin = 0;
  uint64_t end = 0;
};

Result<std::vector<int64_t>> parseShape(const JsonReader &reader) {
  if (Status status = reader.expectArray(); !status.ok())
    return status;
  std::vector<int64_t> shape;
  if (reader.json().size() > maxRank)
    return reader.error(
        fmt::format("rank {} is above {}", reader.json().size(), maxRank));
  for (const JsonReader &item : reader.elements()) {
    Result<int64_t> extent = item.integer();
    if (!extent.ok())
      return extent.status();
    if (*extent < 0)
      return item.mismatch("an extent of at least 0");
    shape.push_back(*extent);
  }
  return shape;
}

Result<RawEntry> parseEntry(const std::string &name, const JsonReader &reader,
                            uint64_t dataBytes) {
  if (Status status = reader.expectObject(); !status.ok())
    return status;
  RawEntry raw;
  raw.entry.name = name;
  Result<JsonReader> dtype = reader.member("dtype");
  Result<JsonReader> shape = reader.member("shape");
  Result<JsonReader> offsets = reader.member("data_offsets");
  for (const Result<JsonReader> *part : {&dtype, &shape, &offsets})
    if (!part->ok())
      return part->status();
  Result<std::string> typeName = dtype->string();
  if (!typeName.ok())
    return typeName.status();
  std::optional<DType> type = dtypeFromSafetensorsName(*typeName);
  if (!type)
    return dtype->mismatch(
        "one of BF16 F16 F32 F64 F8_E4M3 F8_E5M2 I32 I64 I8 U8 BOOL");
  raw.entry.dtype = *type;
  Result<std::vector<int64_t>> extents = parseShape(*shape);
  if (!extents.ok())
    return extents.status();
  raw.entry.shape = std::move(*extents);
  if (!offsets->json().is_array() || offsets->json().size() != 2)
    return offsets->mismatch("two offsets");
  std::vector<JsonReader> parts = offsets->elements();
  Result<int64_t> begin = parts[0].integer();
  Result<int64_t> end = parts[1].integer();
  if (!begin.ok() || !end.ok())
    return begin.ok() ? end.status() : begin.status();
  if (*begin < 0 || *end < *begin || static_cast<uint64_t>(*end) > dataBytes)
    return offsets->mismatch(
        fmt::format("offsets within the {} bytes of data", dataBytes));
  raw.begin = static_cast<uint64_t>(*begin);
  raw.end = static_cast<uint64_t>(*end);
  Result<int64_t> bytes = byteCount(raw.entry.dtype, raw.entry.shape);
  if (!bytes.ok())
    return reader.error(bytes.status().message());
  if (static_cast<uint64_t>(*bytes) != raw.end - raw.begin)
    return reader.error(fmt::format(
        "{} bytes of data, but {}{} has {}", raw.end - raw.begin,
        nameOf(raw.entry.dtype), shapeToString(raw.entry.shape), *bytes));
  return raw;
}

Status parseMetadata(const JsonReader &reader,
                     std::map<std::string, std::string> &metadata) {
  if (Status status = reader.expectObject(); !status.ok())
    return status;
  for (const auto &item : reader.json().items()) {
    Result<std::string> text =
        reader.child(item.value(), "." + item.key()).string();
    if (!text.ok())
      return text.status();
    metadata[item.key()] = *text;
  }
  return Status();
}

/// The format wants data without overlaps and holes.
Status checkOffsets(std::vector<RawEntry> &entries, uint64_t dataBytes) {
  std::sort(entries.begin(), entries.end(),
            [](const RawEntry &a, const RawEntry &b) {
              return std::tie(a.begin, a.end, a.entry.name) <
                     std::tie(b.begin, b.end, b.entry.name);
            });
  uint64_t end = 0;
  for (const RawEntry &raw : entries) {
    if (raw.begin != end)
      return Status::badInput(fmt::format(
          "tensor '{}': data starts at {}, {} byte {}", raw.entry.name,
          raw.begin,
          raw.begin < end ? "overlapping data up to" : "after a hole from",
          end));
    end = raw.end;
  }
  if (end != dataBytes)
    return Status::badInput(fmt::format(
        "{} bytes follow the data of the last tensor", dataBytes - end));
  return Status();
}

Result<Safetensors> parseBytes(std::span<const std::byte> bytes) {
  std::string_view text(reinterpret_cast<const char *>(bytes.data()),
                        bytes.size());
  if (text.size() < lengthBytes)
    return Status::badInput("too short for a safetensors file");
  uint64_t headerBytes = readLittle(text, 0, lengthBytes);
  if (headerBytes > maxHeaderBytes)
    return Status::badInput(fmt::format("a header of {} bytes is above {}",
                                        headerBytes, maxHeaderBytes));
  if (headerBytes > text.size() - lengthBytes)
    return Status::badInput("the header is truncated");
  std::string_view headerText = text.substr(lengthBytes, headerBytes);
  if (headerText.empty() || headerText.front() != '{')
    return Status::badInput("the header does not start with '{'");
  Result<Json> header = parseJson(headerText, "the header");
  if (!header.ok())
    return header.status();
  uint64_t dataBytes = text.size() - lengthBytes - headerBytes;
  Safetensors result;
  std::vector<RawEntry> entries;
  for (const auto &item : header->items()) {
    if (item.key() == metadataKey) {
      JsonReader reader(item.value(), metadataKey);
      Status status = parseMetadata(reader, result.metadata);
      if (!status.ok())
        return status;
      continue;
    }
    JsonReader reader(item.value(), fmt::format("tensor '{}'", item.key()));
    Result<RawEntry> raw = parseEntry(item.key(), reader, dataBytes);
    if (!raw.ok())
      return raw.status();
    entries.push_back(std::move(*raw));
  }
  if (Status status = checkOffsets(entries, dataBytes); !status.ok())
    return status;
  for (RawEntry &raw : entries) {
    raw.entry.data = bytes.subspan(lengthBytes + headerBytes + raw.begin,
                                   raw.end - raw.begin);
    result.tensors.push_back(std::move(raw.entry));
  }
  return result;
}

} // namespace

const SafetensorsEntry *Safetensors::find(std::string_view name) const {
  for (const SafetensorsEntry &entry : tensors)
    if (entry.name == name)
      return &entry;
  return nullptr;
}

Result<Safetensors> parseSafetensors(std::span<const std::byte> bytes,
                                     std::string_view fileName) {
  Result<Safetensors> result = parseBytes(bytes);
  if (!result.ok())
    return Status::badInput(
        fmt::format("'{}': {}", fileName, result.status().message()));
  return result;
}

Result<SafetensorsFile> SafetensorsFile::read(const std::string &path) {
  Result<std::string> text = readFile(path);
  if (!text.ok())
    return text.status();
  SafetensorsFile file;
  file.storage = std::make_unique<std::string>(std::move(*text));
  Result<Safetensors> parsed =
      parseSafetensors(std::as_bytes(std::span(*file.storage)), path);
  if (!parsed.ok())
    return parsed.status();
  file.parsed = std::move(*parsed);
  return file;
}

Status writeSafetensors(const std::string &path,
                        std::vector<SafetensorsEntry> tensors,
                        const std::map<std::string, std::string> &metadata) {
  std::sort(
      tensors.begin(), tensors.end(),
      [](const SafetensorsEntry &a, const SafetensorsEntry &b) {
        return std::make_tuple(-sizeOf(a.dtype), std::string_view(a.name)) <
               std::make_tuple(-sizeOf(b.dtype), std::string_view(b.name));
      });
  Json header = Json::object();
  if (!metadata.empty())
    header[metadataKey] = metadata;
  uint64_t offset = 0;
  for (const SafetensorsEntry &tensor : tensors) {
    Result<int64_t> bytes = byteCount(tensor.dtype, tensor.shape);
    if (!bytes.ok() || static_cast<uint64_t>(*bytes) != tensor.data.size() ||
        header.contains(tensor.name))
      return Status::badInput(
          fmt::format("cannot write tensor '{}' {}{} of {} bytes to '{}'",
                      tensor.name, nameOf(tensor.dtype),
                      shapeToString(tensor.shape), tensor.data.size(), path));
    header[tensor.name] = {
        {"dtype", safetensorsNameOf(tensor.dtype)},
        {"shape", tensor.shape},
        {"data_offsets", {offset, offset + tensor.data.size()}}};
    offset += tensor.data.size();
  }
  std::string text =
      header.dump(-1, ' ', false, Json::error_handler_t::replace);
  // Trailing blanks are allowed and align the data.
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::string length;
  appendLittle(length, text.size(), lengthBytes);
  std::vector<std::string_view> parts = {length, text};
  for (const SafetensorsEntry &tensor : tensors)
    parts.emplace_back(reinterpret_cast<const char *>(tensor.data.data()),
                       tensor.data.size());
  return writeFileAtomically(path, parts);
}

} // namespace selvedge::inline runtime
