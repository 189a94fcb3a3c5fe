// Integers of a tensor in device memory, read by the host.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_RUNTIME_SRC_READINTEGERS_H
#define SELVEDGE_RUNTIME_SRC_READINTEGERS_H

#include "runtime/src/DeviceState.h"
#include "selvedge/Tensor.h"

namespace selvedge::inline runtime {

/// The elements of a tensor in the order of their indices, read on `stream` in
/// the device's context, which is current; waits for the stream. No byte
/// between elements is touched: it need not be mapped.
Result<std::vector<int64_t>>
readIntegers(const DeviceState &device, const TensorView &tensor, void *stream);

} // namespace selvedge::inline runtime

#endif // SELVEDGE_RUNTIME_SRC_READINTEGERS_H
