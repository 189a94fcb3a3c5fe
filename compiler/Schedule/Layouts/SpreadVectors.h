// Vectors of which each lane of a warp holds a few elements.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_LAYOUTS_SPREADVECTORS_H
#define SELVEDGE_COMPILER_SCHEDULE_LAYOUTS_SPREADVECTORS_H

#include "dialect/Sm/Sm.h"

namespace selvedge::schedule {

/// The type of a vector whose elements are on all lanes of each warp, by twos;
/// null for others, which gain nothing.
mlir::Type spreadType(mlir::Type vector);

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_LAYOUTS_SPREADVECTORS_H
