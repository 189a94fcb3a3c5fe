// What an op requires, checked of the tensors of a launch.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_RUNTIME_SRC_VALIDATELAUNCH_H
#define SELVEDGE_RUNTIME_SRC_VALIDATELAUNCH_H

#include "runtime/src/PromiseKernels.h"
#include "selvedge/LaunchView.h"

namespace selvedge::inline runtime {

/// Checks all arguments as planLaunch() does, then what the op requires of the
/// integers in device memory, as they are when the work ahead on `stream` is
/// done. Waits for the stream; an error where it is captured. The GPU checks,
/// or the host if that cannot.
Status validateLaunch(const Manifest &manifest, PromiseKernels &kernels,
                      const LaunchView &view, void *stream);

} // namespace selvedge::inline runtime

#endif // SELVEDGE_RUNTIME_SRC_VALIDATELAUNCH_H
