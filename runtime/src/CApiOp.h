// The op of selvedge.h, for all that loads one.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_RUNTIME_SRC_CAPIOP_H
#define SELVEDGE_RUNTIME_SRC_CAPIOP_H

#include "runtime/src/CApiSignature.h"
#include "selvedge/Op.h"

/// The op, and the GPU whose tensors it takes.
struct selvedge_op {
  selvedge::Op op;
  int ordinal = 0;
  selvedge_signature signature;
};

namespace selvedge::capi {

/// What was loaded on `device`, for the caller; null where that failed, which
/// selvedge_last_error() tells.
selvedge_op *makeOp(Result<Op> op, const Result<Device> &device);

} // namespace selvedge::capi

#endif // SELVEDGE_RUNTIME_SRC_CAPIOP_H
