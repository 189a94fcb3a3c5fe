// What output elements hold that no kernel stores.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ARITHMETIC_INITVALUES_H
#define SELVEDGE_COMPILER_VERIFY_ARITHMETIC_INITVALUES_H

#include "mlir/IR/Value.h"

namespace selvedge::verify {

/// Whether all lanes of `value` are the constant `init`, rounded to its type.
bool isInit(mlir::Value value, tile::TensorArgAttr tensor);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ARITHMETIC_INITVALUES_H
