// Assembling PTX for the GPU at hand.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_PTXAS_H
#define SELVEDGE_PTXAS_H

#include "selvedge/Result.h"

#include <string>

namespace selvedge::inline runtime {

/// Path of ptxas: SELVEDGE_PTXAS, PATH, CUDA_HOME/bin, /usr/local/cuda/bin, the
/// wheels of PyPI. Unavailable when there is none; a SELVEDGE_PTXAS that cannot
/// be executed is an error, not a reason to look further.
Result<std::string> locatePtxas();

/// The release that `ptxas --version` prints: "13.0".
Result<std::string> ptxasVersion(const std::string &ptxas);

/// Assembles `ptx` for `arch` ("sm_90"), or takes the result from the cache.
/// The key covers PTX, arch and the ptxas at hand.
Result<std::string> assemblePtx(const std::string &ptx,
                                const std::string &arch);

} // namespace selvedge::inline runtime

#endif // SELVEDGE_PTXAS_H
