// What tests/programs asks of one program, and what is answered.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_FUZZ_REQUEST_H
#define SELVEDGE_TOOLS_SELVEDGE_FUZZ_REQUEST_H

#include "compiler/Reference/Reference.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace selvedge::fuzz {

/// One thing to do; which members count depends on `action`.
struct Step {
  /// "compile": to PTX. "lower": to LLVM IR, which is checked. "again": a
  /// second time, for the same bytes. "renamed": with other names, for the same
  /// PTX. "ref": on the reference device. "form": a lowered form in physical
  /// mode, compared with "ref". "plans": the same for some other plan than the
  /// model's first.
  std::string action;
  std::string arch, plan;
  /// "tile:bound", "sm:seq", or "sm:final", of which PTX is made.
  std::string form, poison;
  size_t theCase = 0;
  /// Which of the other plans.
  size_t choice = 0;
  /// The step without whose success this one is skipped.
  std::optional<size_t> after;
  /// The step that this one repeats with other contents of memory: left out
  /// where that one has taken long.
  std::optional<size_t> repeats;
};

/// Extents, scalars and inputs of a run.
struct RunCase {
  std::map<std::string, int64_t> dims;
  std::map<std::string, double> scalars;
  std::vector<HostTensor> inputs;
};

/// A program and what to do with it. One line of JSON; the values of inputs
/// are doubles in a file beside it.
struct Request {
  std::string source;
  /// The program with other names, and which name stands for which.
  std::string renamed;
  std::vector<std::pair<std::string, std::string>> names;
  std::vector<RunCase> cases;
  std::vector<Step> steps;
  /// Where results of "ref" go: PREFIX.CASE, doubles, for each output in the
  /// order of the reply all values and then all bounds.
  std::string outPrefix;
  /// Limits of one step.
  unsigned cpuSeconds = 40;
  uint64_t memoryBytes = uint64_t(6) << 30;
};

/// Throws std::exception for a line that is no request.
Request parseRequest(const std::string &line);

/// What became of one step.
struct Reply {
  /// "ok"; "declined": a diagnostic says why not; "internal": the compiler
  /// calls it its own defect; "wrong": a result is; "tight": an error is up to
  /// twice its bound. Added by who watches the
  /// step: "crash", "timeout", "skipped", and "once" for a repeat that is left
  /// out.
  std::string status = "ok";
  std::string message;
  double milliseconds = 0;
  /// Of all threads.
  double processorMilliseconds = 0;
  /// Of "ref": name and shape of outputs.
  std::vector<std::pair<std::string, std::vector<int64_t>>> outputs;
  /// Largest error over its bound, of "form".
  double ratio = 0;
  /// Share of elements whose bound is infinite, of "ref".
  double unbounded = 0;
};

/// One line of JSON for the reply to step `index`.
std::string printReply(size_t index, const Reply &reply);

} // namespace selvedge::fuzz

#endif // SELVEDGE_TOOLS_SELVEDGE_FUZZ_REQUEST_H
