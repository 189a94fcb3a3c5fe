// What was meant by a word that is nearly another one.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/Suggest.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <numeric>

namespace selvedge::cli {

namespace {

/// The distance is quadratic, and nobody slips in a word of this length alone.
constexpr size_t longestWord = 64;

std::string lowered(std::string_view word) {
  std::string text(word);
  for (char &c : text)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// Letters that are added, left out or replaced.
size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t(0));
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

size_t commonPrefix(std::string_view a, std::string_view b) {
  return static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

} // namespace

std::string nearest(std::string_view word,
                    const std::vector<std::string> &known) {
  if (word.size() > longestWord)
    return "";
  std::string given = lowered(word), best;
  size_t least = std::max<size_t>(1, given.size() / 3) + 1;
  // All names of one letter are near to each other.
  least = std::min(least, std::max<size_t>(1, given.size()));
  size_t mostShared = 0;
  for (const std::string &name : known) {
    std::string other = lowered(name);
    // Letters that changed places are one slip.
    bool isSwapped =
        given != other && std::is_permutation(given.begin(), given.end(),
                                              other.begin(), other.end());
    size_t distance = isSwapped                     ? 1
                      : other.size() <= longestWord ? editDistance(given, other)
                                                    : least;
    // Of equals the one that begins alike: sm_90a for sm_90, not sm_80.
    size_t shared = commonPrefix(given, other);
    if (distance < least ||
        (distance == least && !best.empty() && shared > mostShared)) {
      least = distance;
      mostShared = shared;
      best = name;
    }
  }
  return best;
}

std::string didYouMean(std::string_view word,
                       const std::vector<std::string> &known) {
  std::string best = nearest(word, known);
  return best.empty() ? "" : "; did you mean '" + best + "'?";
}

std::string didYouMeanFile(const std::string &path) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path wanted(path), folder = wanted.parent_path();
  if (path.empty() || fs::exists(wanted, error))
    return "";
  if (fs::exists(path + ".tile", error))
    return "; did you mean '" + path + ".tile'?";
  std::vector<std::string> names;
  fs::directory_iterator it(folder.empty() ? "." : folder, error);
  for (; !error && it != fs::directory_iterator(); it.increment(error))
    if (wanted.extension().empty() ||
        it->path().extension() == wanted.extension() ||
        it->path().extension() == ".tile")
      names.push_back(it->path().filename().string());
  // The same answer on every machine.
  std::sort(names.begin(), names.end());
  std::string best = nearest(wanted.filename().string(), names);
  return best.empty() ? ""
                      : "; did you mean '" + (folder / best).string() + "'?";
}

} // namespace selvedge::cli
