// Filling shared memory and registers of a GPU with a pattern.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_SCRUB_H
#define SELVEDGE_TOOLS_SELVEDGE_SCRUB_H

#include "selvedge/Module.h"
#include "tools/selvedge/Poison.h"

#include <cstdint>
#include <string>

namespace selvedge::cli {

/// The PTX of a kernel that leaves a pattern behind; for sm_80 and newer.
std::string scrubPtx();

/// A 32-bit word of elements of `dtype` as fillPoison() makes them. With Random
/// it is what the kernel scrambles.
uint32_t poisonWord(Poison poison, DType dtype);

/// The kernel, loaded on a GPU.
class Scrubber {
public:
  /// Assembles and loads the kernel.
  static Result<Scrubber> load(const Device &device);

  /// Fills all shared memory and most registers of every multiprocessor, after
  /// what is on the default stream and before what follows there.
  Status run(Poison poison, DType dtype) const;

private:
  Kernel kernel;
  uint32_t blocks = 0;
  uint32_t bytes = 0;
};

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_SCRUB_H
