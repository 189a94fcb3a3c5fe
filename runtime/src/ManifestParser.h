// The state of parsing one manifest.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_RUNTIME_SRC_MANIFESTPARSER_H
#define SELVEDGE_RUNTIME_SRC_MANIFESTPARSER_H

#include "runtime/src/JsonReader.h"
#include "selvedge/Manifest.h"

#include <set>
#include <string>

namespace selvedge::inline runtime {

/// Builds one Manifest. Every method returns the first error it meets.
class ManifestParser {
public:
  explicit ManifestParser(ManifestKind kind) : kind(kind) {}

  /// Fills `manifest`.
  Status parse(const JsonReader &root);

  /// The result of parse().
  Manifest manifest;

private:
  Status parseHeader(const JsonReader &root);
  Status parseParams(const JsonReader &root);
  Status parseDims(const JsonReader &root);
  Status parseTensor(const JsonReader &item);
  Status parseBroadcast(const JsonReader &item, ManifestTensor &tensor);
  Status parseInit(const JsonReader &item, ManifestTensor &tensor);
  Status parseScalar(const JsonReader &item);
  Status parseRange(const JsonReader &item);
  Status parseLaunchSize(const JsonReader &item);
  Status parseReducedDim(const JsonReader &item);
  Status parseVariant(const JsonReader &item);
  Status parseCondition(const JsonReader &item, ManifestVariant &variant);
  Status parseAlignment(const JsonReader &item, ManifestCondition &condition);
  Status parseLaunchConditions(const JsonReader &item, ManifestLaunch &launch,
                               const ManifestVariant &variant);
  Status checkChoices(const JsonReader &root);
  Status parseLaunch(const JsonReader &item, ManifestVariant &variant);
  Status parseArg(const JsonReader &item, ManifestLaunch &launch);
  Status parseStride(const JsonReader &item, ManifestArg &arg);
  Status parseTensorMap(const JsonReader &item, ManifestArg &arg);
  Status parseExpr(const JsonReader &item, DimExpr &expr, int depth = 0);
  Result<size_t> tensorNamed(const JsonReader &item);
  Status claimName(const JsonReader &item, const std::string &name);

  /// Calls `parseItem` for each element of the array at `key`.
  template <typename Fn>
  Status forEach(const JsonReader &parent, const char *key, Fn parseItem) {
    Result<JsonReader> list = parent.member(key);
    if (!list.ok())
      return list.status();
    if (Status status = list->expectArray(); !status.ok())
      return status;
    for (const JsonReader &item : list->elements())
      if (Status status = parseItem(item); !status.ok())
        return status;
    return Status();
  }

  /// Reads the member `key` with one of JsonReader's accessors.
  template <typename T>
  Status read(const JsonReader &parent, const char *key,
              Result<T> (JsonReader::*access)() const, T &out) {
    Result<JsonReader> item = parent.member(key);
    if (!item.ok())
      return item.status();
    Result<T> value = ((*item).*access)();
    if (!value.ok())
      return value.status();
    out = std::move(*value);
    return Status();
  }

  Status readDType(const JsonReader &parent, DType &out);
  Status readLimited(const JsonReader &parent, const char *key, int64_t low,
                     int64_t high, int64_t &out);

  ManifestKind kind;
  /// Names of tensors, scalars and dims share one space.
  std::set<std::string> names;
};

} // namespace selvedge::inline runtime

#endif // SELVEDGE_RUNTIME_SRC_MANIFESTPARSER_H
