// Strictly typed access to a JSON document.
// SPDX-License-Identifier: MIT
#include "runtime/src/JsonReader.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <set>

namespace selvedge::inline runtime {

using Json = nlohmann::json;

/// Far deeper than any document of ours; dump() and destructors recurse.
static constexpr int maxDepth = 200;

Result<Json> parseJson(std::string_view text, std::string_view what) {
  // The parser keeps the last of several members with the same key, which
  // would let two readers of one file see different content.
  std::vector<std::set<std::string>> keys;
  std::string duplicate;
  bool tooDeep = false;
  auto watch = [&](int depth, Json::parse_event_t event, Json &parsed) {
    // What is refused here is read on, and not kept.
    if (depth > maxDepth) {
      tooDeep = true;
      return false;
    }
    if (event == Json::parse_event_t::object_start)
      keys.emplace_back();
    else if (event == Json::parse_event_t::object_end)
      keys.pop_back();
    else if (event == Json::parse_event_t::key &&
             !keys.back().insert(parsed.get_ref<const std::string &>()).second)
      duplicate = parsed.get_ref<const std::string &>();
    return true;
  };
  Json document = Json::parse(text.begin(), text.end(), watch, false);
  if (tooDeep)
    return Status::badInput(fmt::format(
        "{} is nested too deeply: more than {} levels", what, maxDepth));
  if (document.is_discarded())
    return Status::badInput(fmt::format("{} is not valid JSON", what));
  if (!duplicate.empty())
    return Status::badInput(
        fmt::format("{} has the key '{}' twice", what, duplicate));
  return document;
}

Status JsonReader::error(std::string_view message) const {
  return Status::badInput(fmt::format("{}: {}", path, message));
}

Status JsonReader::mismatch(std::string_view wanted) const {
  std::string text =
      value->dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > 40)
    text = text.substr(0, 37) + "...";
  return error(fmt::format("expects {}, but got {}", wanted, text));
}

Result<JsonReader> JsonReader::member(const char *key) const {
  if (!value->is_object())
    return mismatch("an object");
  auto it = value->find(key);
  if (it == value->end())
    return error(fmt::format("key '{}' is missing", key));
  return JsonReader(*it, path + "." + key);
}

std::optional<JsonReader> JsonReader::find(const char *key) const {
  if (!value->is_object())
    return std::nullopt;
  auto it = value->find(key);
  if (it == value->end())
    return std::nullopt;
  return JsonReader(*it, path + "." + key);
}

std::vector<JsonReader> JsonReader::elements() const {
  std::vector<JsonReader> result;
  for (size_t i = 0; i < value->size(); ++i)
    result.emplace_back((*value)[i], fmt::format("{}[{}]", path, i));
  return result;
}

Status JsonReader::expectObject() const {
  return value->is_object() ? Status() : mismatch("an object");
}

Status
JsonReader::expectKeys(std::initializer_list<std::string_view> known) const {
  if (Status s = expectObject(); !s.ok())
    return s;
  for (const auto &item : value->items())
    if (std::ranges::find(known, item.key()) == known.end())
      return error(fmt::format("unknown key '{}': expects {}", item.key(),
                               fmt::join(known, ", ")));
  return Status();
}

Status JsonReader::expectArray() const {
  return value->is_array() ? Status() : mismatch("an array");
}

Result<std::string> JsonReader::string() const {
  if (!value->is_string())
    return mismatch("a string");
  return value->get<std::string>();
}

Result<int64_t> JsonReader::integer() const {
  bool tooLarge =
      value->is_number_unsigned() &&
      value->get<uint64_t>() > uint64_t(std::numeric_limits<int64_t>::max());
  if (!value->is_number_integer() || tooLarge)
    return mismatch("an integer of 64 bits");
  return value->get<int64_t>();
}

Result<bool> JsonReader::boolean() const {
  if (!value->is_boolean())
    return mismatch("true or false");
  return value->get<bool>();
}

Result<double> JsonReader::number() const {
  if (value->is_number())
    return value->get<double>();
  if (*value == "inf")
    return std::numeric_limits<double>::infinity();
  if (*value == "-inf")
    return -std::numeric_limits<double>::infinity();
  if (*value == "nan")
    return std::numeric_limits<double>::quiet_NaN();
  return mismatch("a number, \"inf\", \"-inf\" or \"nan\"");
}

} // namespace selvedge::inline runtime
