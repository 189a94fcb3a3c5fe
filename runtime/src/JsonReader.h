// Strictly typed access to a JSON document, errors that name the key.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_RUNTIME_SRC_JSONREADER_H
#define SELVEDGE_RUNTIME_SRC_JSONREADER_H

#include "selvedge/Result.h"

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace selvedge::inline runtime {

/// Parses; refuses duplicate keys in any object, and nesting that no document
/// of ours has. `what` names the document in errors.
Result<nlohmann::json> parseJson(std::string_view text, std::string_view what);

/// A JSON value and the path that led to it.
class JsonReader {
public:
  /// The root of a document.
  JsonReader(const nlohmann::json &value, std::string path)
      : value(&value), path(std::move(path)) {}

  /// A member that has to be there; the path of the message when it is not.
  Result<JsonReader> member(const char *key) const;
  /// A member that may be missing.
  std::optional<JsonReader> find(const char *key) const;
  /// All elements; only after expectArray().
  std::vector<JsonReader> elements() const;
  /// An element or member, named `name` in errors.
  JsonReader child(const nlohmann::json &inner, const std::string &name) const {
    return {inner, path + name};
  }

  /// An error unless the value is an object.
  Status expectObject() const;
  /// An error unless the value is an object of no keys but these.
  Status expectKeys(std::initializer_list<std::string_view> known) const;
  /// An error unless the value is an array.
  Status expectArray() const;
  /// A string.
  Result<std::string> string() const;
  /// A signed 64-bit integer.
  Result<int64_t> integer() const;
  /// A boolean.
  Result<bool> boolean() const;
  /// A number, or one of the strings "inf", "-inf" and "nan".
  Result<double> number() const;

  /// "manifest.tensors[1].shape: <message>".
  Status error(std::string_view message) const;
  /// "expects <wanted>, but got <the value>".
  Status mismatch(std::string_view wanted) const;
  /// The underlying value.
  const nlohmann::json &json() const { return *value; }

private:
  const nlohmann::json *value;
  std::string path;
};

} // namespace selvedge::inline runtime

#endif // SELVEDGE_RUNTIME_SRC_JSONREADER_H
