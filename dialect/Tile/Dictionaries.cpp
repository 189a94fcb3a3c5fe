// Lists of dictionaries that programs and plans carry as attributes.
// SPDX-License-Identifier: MIT
#include "dialect/Tile/Dictionaries.h"

namespace selvedge::tile {

using namespace mlir;

SmallVector<DictionaryAttr> dictionariesOf(Operation *op, StringRef name) {
  SmallVector<DictionaryAttr> found;
  if (auto attrs = op->getAttrOfType<ArrayAttr>(name))
    for (Attribute attr : attrs)
      if (auto dictionary = dyn_cast<DictionaryAttr>(attr))
        found.push_back(dictionary);
  return found;
}

} // namespace selvedge::tile
