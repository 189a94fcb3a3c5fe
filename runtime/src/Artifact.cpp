// Reading and writing the artefact container.
// SPDX-License-Identifier: MIT
#include "selvedge/Artifact.h"

#include "runtime/src/Checksum.h"
#include "runtime/src/Endian.h"
#include "selvedge/File.h"

#include <algorithm>
#include <fmt/format.h>
#include <tuple>
#include <vector>

namespace selvedge::inline runtime {

namespace {

constexpr std::string_view magic = "SELVEDGE";
constexpr uint64_t formatVersion = 2;
/// Magic, version and number of sections; a checksum of what follows it and of
/// that number.
constexpr size_t checksumAt = 16;
constexpr size_t headerBytes = 32;
constexpr size_t entryBytes = 24;
constexpr size_t nameBytes = 8;
/// Far more than any version of the format defines.
constexpr uint64_t maxSections = 64;

struct Section {
  std::string name;
  uint64_t offset = 0;
  uint64_t size = 0;
};

Status checkLayout(std::vector<Section> sections, uint64_t first,
                   uint64_t fileBytes) {
  std::sort(sections.begin(), sections.end(),
            [](const Section &a, const Section &b) {
              return std::tie(a.offset, a.size) < std::tie(b.offset, b.size);
            });
  uint64_t end = first;
  for (const Section &section : sections) {
    if (section.offset < end)
      return Status::badInput(
          fmt::format("section '{}' overlaps what precedes it", section.name));
    if (section.offset > fileBytes || section.size > fileBytes - section.offset)
      return Status::badInput(fmt::format(
          "section '{}' goes beyond the end of the file", section.name));
    end = section.offset + section.size;
  }
  return Status();
}

/// The checksum of a container whose place for it may hold anything.
Checksum checksumOf(uint64_t sections, std::string_view rest) {
  Checksum sum;
  std::string count;
  appendLittle(count, sections, 4);
  sum.add(count);
  sum.addWhole(rest);
  return sum;
}

} // namespace

Result<Artifact> decodeArtifact(std::string_view bytes) {
  if (bytes.size() < headerBytes || bytes.substr(0, magic.size()) != magic)
    return Status::badInput("not a selvedge artefact");
  uint64_t version = readLittle(bytes, 8, 4);
  if (version != formatVersion)
    return Status::badInput(
        fmt::format("artefact of format {}, expected {}: compile it again",
                    version, formatVersion));
  uint64_t count = readLittle(bytes, 12, 4);
  if (count > maxSections ||
      bytes.size() < headerBytes + static_cast<size_t>(count) * entryBytes)
    return Status::badInput("the section table is truncated");
  Checksum sum = checksumOf(count, bytes.substr(headerBytes));
  if (readLittle(bytes, checksumAt, 8) != sum.low() ||
      readLittle(bytes, checksumAt + 8, 8) != sum.high())
    return Status::badInput("the artefact is damaged: its checksum differs");
  std::vector<Section> sections;
  for (size_t i = 0; i < count; ++i) {
    size_t at = headerBytes + i * entryBytes;
    std::string name(bytes.substr(at, nameBytes));
    name.resize(std::min(name.find('\0'), nameBytes));
    for (const Section &other : sections)
      if (other.name == name)
        return Status::badInput(fmt::format("section '{}' exists twice", name));
    sections.push_back({name, readLittle(bytes, at + nameBytes, 8),
                        readLittle(bytes, at + nameBytes + 8, 8)});
  }
  Status layout =
      checkLayout(sections, headerBytes + count * entryBytes, bytes.size());
  if (!layout.ok())
    return layout;
  Artifact artifact;
  for (const Section &section : sections) {
    std::string_view content = bytes.substr(section.offset, section.size);
    if (section.name == "manifest")
      artifact.manifest = content;
    else if (section.name == "ptx")
      artifact.ptx = content;
    else if (section.name == "cubin")
      artifact.cubin = content;
  }
  if (artifact.manifest.empty())
    return Status::badInput("section 'manifest' is missing");
  if (artifact.ptx.empty())
    return Status::badInput("section 'ptx' is missing");
  return artifact;
}

std::string encodeArtifact(const Artifact &artifact) {
  std::vector<std::pair<std::string, const std::string *>> sections = {
      {"manifest", &artifact.manifest}, {"ptx", &artifact.ptx}};
  if (!artifact.cubin.empty())
    sections.emplace_back("cubin", &artifact.cubin);
  std::string bytes;
  uint64_t offset = headerBytes + sections.size() * entryBytes;
  for (auto &[name, content] : sections) {
    name.resize(nameBytes, '\0');
    bytes += name;
    appendLittle(bytes, offset, 8);
    appendLittle(bytes, content->size(), 8);
    offset += content->size();
  }
  for (auto &[name, content] : sections)
    bytes += *content;
  Checksum sum = checksumOf(sections.size(), bytes);
  std::string header(magic);
  appendLittle(header, formatVersion, 4);
  appendLittle(header, sections.size(), 4);
  appendLittle(header, sum.low(), 8);
  appendLittle(header, sum.high(), 8);
  return header + bytes;
}

Result<Artifact> readArtifact(const std::string &path) {
  Result<std::string> bytes = readFile(path);
  if (!bytes.ok())
    return bytes.status();
  Result<Artifact> artifact = decodeArtifact(*bytes);
  if (!artifact.ok())
    return Status::badInput(
        fmt::format("'{}': {}", path, artifact.status().message()));
  return artifact;
}

Status writeArtifact(const std::string &path, const Artifact &artifact) {
  std::string bytes = encodeArtifact(artifact);
  return writeFileAtomically(path, {bytes});
}

} // namespace selvedge::inline runtime
