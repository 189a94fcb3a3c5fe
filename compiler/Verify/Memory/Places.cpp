// Where the lanes of an executed kernel's tiles lie.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Memory/Places.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace selvedge::verify {

using namespace mlir;

Places::Number Places::add(Entries entries) {
  llvm::sort(entries, [](const Entry &a, const Entry &b) {
    return a.first.getAsOpaquePointer() < b.first.getAsOpaquePointer();
  });
  std::vector<std::pair<const void *, int64_t>> key;
  for (auto [name, at] : entries)
    key.push_back({name.getAsOpaquePointer(), at});
  auto [known, isNew] = numbers.try_emplace(std::move(key), places.size());
  if (isNew)
    places.push_back(std::move(entries));
  return known->second;
}

Places::Number Places::of(StringAttr name, int64_t at) {
  auto [known, isNew] = single.try_emplace({name, at}, 0);
  if (isNew)
    known->second = add({{name, at}});
  return known->second;
}

std::optional<int64_t> Places::find(Number place, StringAttr name) const {
  for (auto [entry, at] : places[place])
    if (entry == name)
      return at;
  return std::nullopt;
}

std::optional<Places::Number> Places::join(Number a, Number b,
                                           StringAttr &conflict) {
  if (a == b || b == 0)
    return a;
  if (a == 0)
    return b;
  if (auto known = joined.find({a, b}); known != joined.end())
    return known->second;
  Entries entries = places[a];
  for (auto [name, at] : places[b]) {
    std::optional<int64_t> other = find(a, name);
    if (!other)
      entries.push_back({name, at});
    else if (*other != at) {
      conflict = name;
      return std::nullopt;
    }
  }
  return joined[{a, b}] = add(std::move(entries));
}

Places::Number Places::without(Number place, StringAttr name) {
  if (!find(place, name))
    return place;
  auto [known, isNew] = reduced.try_emplace({place, name}, 0);
  if (isNew) {
    Entries entries = places[place];
    llvm::erase_if(entries, [&](const Entry &e) { return e.first == name; });
    known->second = add(std::move(entries));
  }
  return known->second;
}

Places::Number Places::shifted(Number place, StringAttr name, int64_t from) {
  std::optional<int64_t> at = find(place, name);
  if (!at || from == 0)
    return place;
  Entries entries = places[place];
  for (auto &[entry, start] : entries)
    if (entry == name)
      start += from;
  return add(std::move(entries));
}

std::string Places::str(Number place) const {
  std::vector<std::string> parts;
  for (auto [name, at] : places[place])
    parts.push_back((name.getValue() + " = " + llvm::Twine(at)).str());
  llvm::sort(parts);
  return llvm::join(parts, ", ");
}

} // namespace selvedge::verify
