// Small kernels for device `sim`, each with what it needs to be right.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TESTS_SIM_LITMUS_H
#define SELVEDGE_TESTS_SIM_LITMUS_H

#include "compiler/Sim/Simulator.h"

namespace selvedge::testing {

/// A kernel in a file. Line 2 says how it is launched; a line that ends with
/// `// guard` is needed, and `// wrong: TEXT` is a text that must not stand in
/// place of its line.
struct Litmus {
  std::string name;
  std::string text;
  uint32_t threads = 0, shared = 0;
  size_t inBytes = 0, outBytes = 0;
  /// What the input holds, where the file says it.
  std::string type;
  /// What can be done to it: a line, and what replaces it.
  struct Mutant {
    size_t line;
    std::string text;
  };
  std::vector<Mutant> mutants;

  static Litmus read(const std::string &path);
  /// The text with one line replaced.
  std::string apply(const Mutant &mutant) const;
};

/// What a kernel has stored, or what went wrong.
struct LitmusRun {
  std::string fault;
  std::vector<uint8_t> bytes;
  std::vector<sim::State> state;
};

/// Executes a kernel with an input and, if it takes one, a map of its input or
/// output.
LitmusRun runKernel(const Litmus &litmus, const std::string &text,
                    uint64_t schedule, std::vector<uint8_t> in,
                    bool isOutDefined, sim::TensorMap map, bool mapsOutput);

/// Executes a kernel that copies its input, of f32 or, into f32, of bf16, to
/// its output. Empty: it did, else what went wrong.
std::string execute(const Litmus &litmus, const std::string &text,
                    uint64_t schedule);

} // namespace selvedge::testing

#endif // SELVEDGE_TESTS_SIM_LITMUS_H
