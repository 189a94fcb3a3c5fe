// The cells of pictures as one map of lanes.
// SPDX-License-Identifier: MIT
#include "compiler/Explain/Cells.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

namespace selvedge::explain {

bool isPresent(const std::string &state) {
  return state == "present" || state == "init";
}

const std::string &stateAt(const std::vector<Cell> &cells, int64_t x,
                           int64_t y) {
  return llvm::find_if(cells,
                       [&](const Cell &cell) {
                         return cell.x <= x && x < cell.x + cell.width &&
                                cell.y <= y && y < cell.y + cell.height;
                       })
      ->state;
}

std::vector<Cell>
combine(const std::vector<Cell> &a, const std::vector<Cell> &b,
        llvm::function_ref<bool(const std::string &, const std::string &)>
            replaces) {
  std::set<int64_t> xs, ys;
  for (const std::vector<Cell> *cells : {&a, &b})
    for (const Cell &cell : *cells) {
      xs.insert({cell.x, cell.x + cell.width});
      ys.insert({cell.y, cell.y + cell.height});
    }
  std::vector<Cell> result;
  for (auto y = ys.begin(); std::next(y) != ys.end(); ++y) {
    size_t rowBegin = result.size();
    for (auto x = xs.begin(); std::next(x) != xs.end(); ++x) {
      const std::string &before = stateAt(a, *x, *y),
                        &after = stateAt(b, *x, *y);
      const std::string &state = replaces(before, after) ? after : before;
      int64_t width = *std::next(x) - *x;
      if (result.size() > rowBegin && result.back().state == state)
        result.back().width += width;
      else
        result.push_back({*x, *y, width, *std::next(y) - *y, state});
    }
  }
  return result;
}

} // namespace selvedge::explain
