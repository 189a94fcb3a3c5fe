// One picture of a tensor for all accesses that see the same of it.
// SPDX-License-Identifier: MIT
#include "compiler/Explain/TensorPictures.h"

#include "compiler/Explain/Cells.h"

#include "llvm/ADT/STLExtras.h"

namespace selvedge::explain {

/// Whether the lanes of both are the same elements, in tiles of one size.
static bool areAlike(const Picture &a, const Picture &b) {
  return a.rowAxis == b.rowAxis && a.colAxis == b.colAxis && a.rows == b.rows &&
         a.cols == b.cols && a.tileRows == b.tileRows &&
         a.tileCols == b.tileCols && a.fill == b.fill && a.sample == b.sample;
}

/// What is used outweighs what is read, and that what is not.
static int weightOf(const std::string &state) {
  return isPresent(state)      ? 3
         : state == "unknown"  ? 2
         : state == "untested" ? 1
                               : 0;
}

static bool isHeavier(const std::string &before, const std::string &after) {
  return weightOf(after) > weightOf(before);
}

static void add(TensorPictures &pictures, const Record &record,
                const Picture &picture) {
  auto panel = llvm::find_if(pictures.panels, [&](const TensorPanel &p) {
    return areAlike(p.picture, picture);
  });
  if (panel == pictures.panels.end()) {
    pictures.panels.push_back({picture, {}, {}});
    panel = std::prev(pictures.panels.end());
  } else if (panel->picture.cells != picture.cells) {
    panel->picture.cells =
        combine(panel->picture.cells, picture.cells, isHeavier);
  }
  panel->records.push_back(&record);
  panel->absent.push_back(picture.absent);
}

std::vector<TensorPictures> mergePictures(const Explanation &explanation) {
  std::vector<TensorPictures> result;
  for (const Tensor &tensor : explanation.tensors) {
    TensorPictures pictures{&tensor, {}};
    for (const Picture &picture : explanation.pictures)
      for (const Record &record : explanation.records)
        if (record.id == picture.id && record.subject == tensor.name)
          add(pictures, record, picture);
    if (!pictures.panels.empty())
      result.push_back(std::move(pictures));
  }
  return result;
}

} // namespace selvedge::explain
