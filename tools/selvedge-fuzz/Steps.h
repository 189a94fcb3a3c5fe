// Carries out the steps of a request.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_FUZZ_STEPS_H
#define SELVEDGE_TOOLS_SELVEDGE_FUZZ_STEPS_H

#include "tools/selvedge-fuzz/Request.h"

#include <memory>
#include <optional>

namespace selvedge::driver {
class Session;
} // namespace selvedge::driver

namespace selvedge::fuzz {

/// Keeps what later steps need: PTX, results of `ref`, and the program as it
/// was compiled, of which every form is.
class Runner {
public:
  explicit Runner(const Request &request);
  ~Runner();

  /// What a step needs and an earlier one did not leave is made first.
  Reply run(const Step &step);

private:
  struct RefResult {
    bool done = false;
    std::string diagnostics;
    std::vector<HostTensor> outputs;
    std::map<std::string, std::vector<uint8_t>> reads;
  };
  struct Lowered;

  CompileResult compileFor(const Step &step, const std::string &source) const;
  /// Compiles for the target once, and leaves what was lowered to later steps.
  const CompileResult &firstFor(const Step &step);
  Reply compileStep(const Step &step);
  Reply lowerStep(const Step &step);
  Reply repeatStep(const Step &step, bool renamed);
  const RefResult &reference(size_t theCase);
  Reply referenceStep(const Step &step);
  /// The result of `ref` must not depend on the block size beyond its bounds.
  void compareOtherBlocks(size_t theCase, Reply &reply);
  /// Whether `lowered` is the program for the target and plan of a step.
  bool isLoweredFor(const Step &step) const;
  Reply formStep(const Step &step);
  /// Executes a form of what is lowered, which `name` tells from others.
  Reply runForm(const Step &step, const std::string &name);
  /// The plans that a program has for the target.
  const std::vector<PlanCandidate> &plansFor(const Step &step);
  Reply planStep(const Step &step);
  /// Runs one variant; false: it does not apply to these tensors.
  bool runVariant(const Step &step, const std::string &variant, Reply &reply);
  void compare(const RefResult &expected,
               const std::vector<HostTensor> &outputs, const std::string &what,
               Reply &reply) const;

  const Request &request;
  std::map<std::string, CompileResult> compiled;
  std::map<std::string, std::vector<PlanCandidate>> plans;
  std::map<size_t, RefResult> references;
  std::unique_ptr<Lowered> lowered;
  /// Outputs of a form by case and variant under the first kind of poison.
  std::map<std::string, std::vector<HostTensor>> clean;
};

} // namespace selvedge::fuzz

#endif // SELVEDGE_TOOLS_SELVEDGE_FUZZ_STEPS_H
