// The safetensors file format.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_SAFETENSORS_H
#define SELVEDGE_SAFETENSORS_H

#include "selvedge/Tensor.h"

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace selvedge::inline runtime {

/// A tensor of a file; its bytes are contiguous and may be unaligned.
struct SafetensorsEntry {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::span<const std::byte> data;
};

/// The parsed header of a file whose bytes are somebody else's.
struct Safetensors {
  /// In the order of their data.
  std::vector<SafetensorsEntry> tensors;
  /// The file's "__metadata__".
  std::map<std::string, std::string> metadata;

  /// The tensor of that name, or null.
  const SafetensorsEntry *find(std::string_view name) const;
};

/// Parses a file in memory, which must outlive the result. `fileName` is for
/// errors, which also name the tensor. Refused are headers above 100 MB,
/// unknown element types, duplicate names, offsets out of bounds, data that
/// overlaps or leaves holes, and sizes that do not match type and shape.
Result<Safetensors> parseSafetensors(std::span<const std::byte> bytes,
                                     std::string_view fileName = "<memory>");

/// A file read into memory.
class SafetensorsFile {
public:
  /// Reads and parses.
  static Result<SafetensorsFile> read(const std::string &path);
  /// The content; valid as long as this object, also after it is moved.
  const Safetensors &content() const { return parsed; }

private:
  /// Behind a pointer, so that moving the object leaves the bytes in place.
  std::unique_ptr<std::string> storage;
  Safetensors parsed;
};

/// Writes a file atomically. Data is sorted by decreasing element size, so
/// that every tensor is aligned to its elements.
Status
writeSafetensors(const std::string &path, std::vector<SafetensorsEntry> tensors,
                 const std::map<std::string, std::string> &metadata = {});

} // namespace selvedge::inline runtime

#endif // SELVEDGE_SAFETENSORS_H
