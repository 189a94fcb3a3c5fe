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

/// Keeps what later steps need: PTX, results of `ref`, lowered programs.
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
  /// A program lowered to a form; the session refers to its request.
  struct Lowered;

  CompileResult compileFor(const Step &step, const std::string &source) const;
  const CompileResult &firstFor(const Step &step);
  Reply compileStep(const Step &step);
  Reply lowerStep(const Step &step);
  Reply repeatStep(const Step &step, bool renamed);
  const RefResult &reference(size_t theCase);
  Reply referenceStep(const Step &step);
  Reply formStep(const Step &step);
  Reply planStep(const Step &step);
  /// Runs one variant; false: it does not apply to these tensors.
  bool runVariant(const Step &step, const std::string &variant, Reply &reply);
  void compare(const RefResult &expected,
               const std::vector<HostTensor> &outputs, const std::string &what,
               Reply &reply) const;

  const Request &request;
  std::map<std::string, CompileResult> compiled;
  std::map<size_t, RefResult> references;
  std::unique_ptr<Lowered> lowered;
  /// Outputs of a form by case and variant under the first kind of poison.
  std::map<std::string, std::vector<HostTensor>> clean;
};

} // namespace selvedge::fuzz

#endif // SELVEDGE_TOOLS_SELVEDGE_FUZZ_STEPS_H
