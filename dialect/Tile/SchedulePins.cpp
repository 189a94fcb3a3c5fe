// What schedules of a program pin.
// SPDX-License-Identifier: MIT
#include "dialect/Tile/SchedulePins.h"
#include "dialect/Tile/Dictionaries.h"

#include "mlir/IR/Builders.h"

namespace selvedge::tile {

using namespace mlir;

void setSchedulePins(Operation *program, ArrayRef<SchedulePin> pins) {
  Builder b(program->getContext());
  SmallVector<Attribute> attrs;
  for (const SchedulePin &pin : pins)
    attrs.push_back(b.getDictionaryAttr(
        {b.getNamedAttr("kernel", pin.kernel),
         b.getNamedAttr("target", pin.target), b.getNamedAttr("name", pin.name),
         b.getNamedAttr("value", b.getI64IntegerAttr(pin.value))}));
  if (!attrs.empty())
    program->setAttr(scheduleAttribute, b.getArrayAttr(attrs));
}

SmallVector<SchedulePin> getSchedulePins(Operation *program) {
  SmallVector<SchedulePin> pins;
  for (DictionaryAttr pin : dictionariesOf(program, scheduleAttribute)) {
    auto kernel = pin.getAs<StringAttr>("kernel"),
         target = pin.getAs<StringAttr>("target"),
         name = pin.getAs<StringAttr>("name");
    auto value = pin.getAs<IntegerAttr>("value");
    if (kernel && target && name && value)
      pins.push_back({kernel, target, name, value.getInt()});
  }
  return pins;
}

std::map<std::string, int64_t> pinsOf(Operation *program, StringRef kernel,
                                      StringRef target) {
  std::map<std::string, int64_t> numbers;
  for (const SchedulePin &pin : getSchedulePins(program)) {
    bool isOfKernel = pin.kernel.empty() || pin.kernel.getValue() == kernel,
         isOfTarget = pin.target.empty() || pin.target.getValue() == target;
    if (isOfKernel && isOfTarget)
      numbers[pin.name.str()] = pin.value;
  }
  return numbers;
}

} // namespace selvedge::tile
