// Compiles, executes and compares; prints nothing.
// SPDX-License-Identifier: MIT
#include "tools/selvedge-fuzz/Steps.h"

#include "compiler/Driver/PlanCandidates.h"
#include "compiler/Driver/Session.h"
#include "compiler/Physical/Physical.h"
#include "compiler/Schedule/Plan/PlanChoice.h"
#include "dialect/Sm/Sm.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>

namespace selvedge::fuzz {

namespace {

CompileRequest requestFor(const Step &step, const std::string &source) {
  CompileRequest request;
  request.fileName = "program.tile";
  request.source = source;
  request.arch = step.arch;
  request.plan = step.plan;
  return request;
}

/// The line of a message that says what is wrong.
std::string firstError(const std::string &diagnostics) {
  size_t begin = diagnostics.find("error: ");
  if (begin == std::string::npos)
    begin = 0;
  return diagnostics.substr(begin, diagnostics.find('\n', begin) - begin);
}

Reply replyFor(const CompileResult &result) {
  Reply reply;
  // Another plan took its place: users get a kernel, the defect is one still.
  for (const std::string &remark : result.remarks)
    if (remark.find(" does not take plan ") != std::string::npos &&
        remark.find(": verify-") != std::string::npos) {
      reply.status = "internal";
      reply.message = "error: " + remark;
    }
  if (result.status == CompileStatus::Ok)
    return reply;
  bool isInternal = result.status == CompileStatus::InternalError;
  reply.status = isInternal ? "internal" : "declined";
  reply.message = firstError(result.diagnostics);
  size_t mark = result.diagnostics.find("internal compiler error: ");
  if (isInternal && mark != std::string::npos) {
    std::string why = result.diagnostics.substr(
        mark, result.diagnostics.find('\n', mark) - mark);
    if (reply.message.find(why) == std::string::npos)
      reply.message = why + ": " + reply.message;
  }
  return reply;
}

/// PTX with the names of the renamed program replaced, whole words and the
/// parts that underscores divide.
std::string
replaceNames(const std::string &text,
             const std::vector<std::pair<std::string, std::string>> &names) {
  std::map<std::string, std::string> of(names.begin(), names.end());
  std::string result, word;
  auto flush = [&] {
    auto it = of.find(word);
    result += it == of.end() ? word : it->second;
    word.clear();
  };
  for (char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      word += c;
      continue;
    }
    flush();
    result += c;
  }
  flush();
  return result;
}

std::string differenceOf(const std::string &a, const std::string &b) {
  size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i])
    ++i;
  auto lineOf = [&](const std::string &text) {
    size_t begin = text.rfind('\n', i);
    begin = begin == std::string::npos ? 0 : begin + 1;
    return text.substr(begin, text.find('\n', i) - begin);
  };
  return "'" + lineOf(a) + "' and '" + lineOf(b) + "'";
}

bool sameValue(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

} // namespace

/// A program while steps look at its forms; the session refers to its request.
struct Runner::Lowered {
  Lowered(CompileRequest request)
      : request(std::move(request)), session(this->request) {}

  /// What every pipeline begins with.
  bool parse() {
    return session.checkArch() && session.parse() && session.choosePlans();
  }
  /// Whether another plan in this session gives what it gives in a new one:
  /// nothing was planned again for a reason that lies in the first plan.
  bool isFreeOfPlan() const {
    const driver::ChosenPlans &plans = session.getPlans();
    return plans.withoutRoles.empty() && plans.withoutLazySoftmax.empty() &&
           plans.withoutTensorCores.empty() && plans.keepsColumns.empty();
  }
  /// Runs passes up to a form, which `key` names, unless it is that already.
  bool lower(const std::string &name, Emit stage) {
    if (key != name) {
      key = name;
      done = session.runPasses(stage);
    }
    return done;
  }

  std::string key;
  CompileRequest request;
  driver::Session session;
  bool done = false;
};

Runner::Runner(const Request &request) : request(request) {}
Runner::~Runner() = default;

CompileResult Runner::compileFor(const Step &step,
                                 const std::string &source) const {
  return compile(requestFor(step, source), /*withCubin=*/false);
}

const CompileResult &Runner::firstFor(const Step &step) {
  auto [it, isNew] = compiled.try_emplace(step.arch, CompileResult());
  if (!isNew)
    return it->second;
  lowered = std::make_unique<Lowered>(requestFor(step, request.source));
  clean.clear();
  driver::Session &session = lowered->session;
  // The last form is what PTX is made of, and stays for the steps to come.
  if (lowered->parse() && lowered->lower("sm:final", Emit::SmFinal))
    session.emitPtx();
  return it->second = session.result;
}

Reply Runner::compileStep(const Step &step) { return replyFor(firstFor(step)); }

Reply Runner::lowerStep(const Step &step) {
  CompileRequest compiled = requestFor(step, request.source);
  driver::Session session(compiled);
  if (session.checkArch() && session.parse() && session.choosePlans() &&
      session.runPasses(Emit::Llvm))
    session.lowerToLLVM();
  return replyFor(session.result);
}

Reply Runner::repeatStep(const Step &step, bool renamed) {
  const CompileResult &first = firstFor(step);
  CompileResult second =
      compileFor(step, renamed ? request.renamed : request.source);
  Reply reply;
  std::string other =
      renamed ? replaceNames(second.ptx, request.names) : second.ptx;
  if (first.status != second.status) {
    reply.status = "wrong";
    reply.message = "another outcome: " + firstError(second.diagnostics);
  } else if (first.ptx != other ||
             (!renamed && first.manifest != second.manifest)) {
    reply.status = "wrong";
    reply.message = "other PTX: " + differenceOf(first.ptx, other);
  }
  return reply;
}

const Runner::RefResult &Runner::reference(size_t theCase) {
  auto [it, isNew] = references.try_emplace(theCase);
  RefResult &result = it->second;
  if (!isNew)
    return result;
  const RunCase &one = request.cases[theCase];
  ReferenceOptions options;
  options.threads = 1;
  options.reads = &result.reads;
  result.done =
      runReference(requestFor({}, request.source), one.dims, one.scalars,
                   one.inputs, result.outputs, result.diagnostics, options);
  for (HostTensor &output : result.outputs)
    output.bounds.resize(output.values.size());
  return result;
}

Reply Runner::referenceStep(const Step &step) {
  const RefResult &result = reference(step.theCase);
  Reply reply;
  if (!result.done) {
    reply.status = "declined";
    reply.message = firstError(result.diagnostics);
    return reply;
  }
  std::ofstream file(request.outPrefix + "." + std::to_string(step.theCase),
                     std::ios::binary);
  size_t count = 0, unbounded = 0;
  for (const HostTensor &output : result.outputs) {
    for (const std::vector<double> *part : {&output.values, &output.bounds})
      file.write(reinterpret_cast<const char *>(part->data()),
                 static_cast<std::streamsize>(part->size() * 8));
    for (double bound : output.bounds)
      unbounded += std::isinf(bound);
    count += output.bounds.size();
    reply.outputs.emplace_back(output.name, output.shape);
  }
  if (count > 0)
    reply.unbounded =
        static_cast<double>(unbounded) / static_cast<double>(count);
  compareOtherBlocks(step.theCase, reply);
  return reply;
}

void Runner::compareOtherBlocks(size_t theCase, Reply &reply) {
  // Less than most extents, and a divisor of none.
  constexpr int64_t otherBlock = 7;
  const RunCase &one = request.cases[theCase];
  ReferenceOptions options;
  options.threads = 1;
  options.blockSize = otherBlock;
  std::vector<HostTensor> outputs;
  std::string diagnostics;
  if (!runReference(requestFor({}, request.source), one.dims, one.scalars,
                    one.inputs, outputs, diagnostics, options)) {
    reply.status = "wrong";
    reply.message = "declined in blocks of 7: " + firstError(diagnostics);
    return;
  }
  compare(reference(theCase), outputs, "in blocks of 7", reply);
}

void Runner::compare(const RefResult &expected,
                     const std::vector<HostTensor> &outputs,
                     const std::string &what, Reply &reply) const {
  for (const HostTensor &wanted : expected.outputs) {
    auto it = std::find_if(
        outputs.begin(), outputs.end(),
        [&](const HostTensor &output) { return output.name == wanted.name; });
    if (it == outputs.end() || it->values.size() != wanted.values.size()) {
      reply.status = "wrong";
      reply.message = what + ": no output '" + wanted.name + "'";
      return;
    }
    for (size_t i = 0; i < wanted.values.size(); ++i) {
      double got = it->values[i], value = wanted.values[i],
             bound = wanted.bounds[i];
      if (std::isinf(bound))
        continue;
      bool fine = std::isfinite(value)
                      ? std::isfinite(got) && std::abs(got - value) <= bound
                      : !std::isfinite(got);
      if (std::isfinite(got) && std::isfinite(value) && bound > 0)
        reply.ratio = std::max(reply.ratio, std::abs(got - value) / bound);
      // A bound that is missed by little may be the model's fault.
      bool close = std::isfinite(value) && std::isfinite(got) &&
                   std::abs(got - value) <= 2 * bound;
      if (fine || reply.status == "wrong" || (close && reply.status != "ok"))
        continue;
      reply.status = close ? "tight" : "wrong";
      reply.message = what + ": '" + wanted.name + "' at flat index " +
                      std::to_string(i) + " is " + std::to_string(got) +
                      ", expected " + std::to_string(value) + " +- " +
                      std::to_string(bound);
    }
  }
}

bool Runner::runVariant(const Step &step, const std::string &variant,
                        Reply &reply) {
  const RefResult &expected = reference(step.theCase);
  const RunCase &one = request.cases[step.theCase];
  physical::Options options;
  for (physical::Poison kind : physical::poisonKinds)
    if (physical::nameOf(kind) == step.poison)
      options.poison = kind;
  options.variant = variant;
  options.inside = &expected.reads;
  std::vector<HostTensor> outputs;
  std::string diagnostics;
  std::string what = variant.empty() ? "program" : "variant " + variant;
  bool done = physical::run(lowered->session.getModule(), one.dims, one.scalars,
                            one.inputs, outputs, diagnostics, options);
  if (!done) {
    bool doesNotApply =
        diagnostics.find("but that is for other dims") != std::string::npos ||
        diagnostics.find("but contiguous tensors") != std::string::npos;
    if (doesNotApply)
      return false;
    reply.status = "wrong";
    reply.message = what + ": " + firstError(diagnostics);
    return true;
  }
  compare(expected, outputs, what, reply);
  std::string key = std::to_string(step.theCase) + " " + variant;
  auto [it, isFirst] = clean.try_emplace(key, outputs);
  if (isFirst || reply.status != "ok")
    return true;
  for (size_t t = 0; t < outputs.size(); ++t)
    for (size_t i = 0; i < outputs[t].values.size(); ++i)
      if (!sameValue(outputs[t].values[i], it->second[t].values[i])) {
        reply.status = "wrong";
        reply.message = what + ": '" + outputs[t].name + "' at flat index " +
                        std::to_string(i) + " depends on poison: " +
                        std::to_string(outputs[t].values[i]) + " or " +
                        std::to_string(it->second[t].values[i]);
        return true;
      }
  return true;
}

static Emit stageOf(const std::string &form) {
  return form == "tile:bound" ? Emit::TileBound
         : form == "sm:seq"   ? Emit::SmSeq
                              : Emit::SmFinal;
}

bool Runner::isLoweredFor(const Step &step) const {
  return lowered && lowered->request.arch == step.arch &&
         lowered->request.plan == step.plan;
}

Reply Runner::formStep(const Step &step) {
  // What has been compiled for the target is lowered from there on.
  if (!isLoweredFor(step) || !lowered->done) {
    lowered = std::make_unique<Lowered>(requestFor(step, request.source));
    if (!lowered->parse())
      return replyFor(lowered->session.result);
  }
  return runForm(step, step.form);
}

Reply Runner::runForm(const Step &step, const std::string &name) {
  if (lowered->key != name)
    clean.clear();
  Reply reply;
  if (!lowered->lower(name, stageOf(step.form)))
    return replyFor(lowered->session.result);
  if (!reference(step.theCase).done) {
    reply.status = "declined";
    reply.message = "'ref' failed";
    return reply;
  }
  if (step.form == "tile:bound") {
    runVariant(step, "", reply);
    return reply;
  }
  std::vector<std::string> variants;
  lowered->session.getModule().walk(
      [&](sm::VariantOp variant) { variants.push_back(variant.getName()); });
  for (const std::string &variant : variants)
    if (reply.status == "ok")
      runVariant(step, variant, reply);
  return reply;
}

const std::vector<PlanCandidate> &Runner::plansFor(const Step &step) {
  auto [it, isNew] = plans.try_emplace(step.arch);
  if (!isNew)
    return it->second;
  if (!isLoweredFor(step)) {
    compiled.erase(step.arch);
    firstFor(step);
  }
  if (lowered->done)
    it->second =
        driver::listCandidates(lowered->session.getUnbound(), step.arch);
  return it->second;
}

Reply Runner::planStep(const Step &step) {
  const std::vector<PlanCandidate> &candidates = plansFor(step);
  if (candidates.size() < 2)
    return Reply();
  Step chosen = step;
  chosen.plan = candidates[1 + step.choice % (candidates.size() - 1)].plan;
  Reply reply;
  if (isLoweredFor(step) && lowered->isFreeOfPlan()) {
    lowered->session.restart(*schedule::parseChoice(chosen.plan),
                             "chosen by the request");
    reply = runForm(chosen, step.form + " " + chosen.plan);
  } else {
    reply = formStep(chosen);
  }
  if (reply.status != "ok")
    reply.message += " [plan " + chosen.plan + "]";
  return reply;
}

Reply Runner::run(const Step &step) {
  if (step.action == "compile")
    return compileStep(step);
  if (step.action == "lower")
    return lowerStep(step);
  if (step.action == "again" || step.action == "renamed")
    return repeatStep(step, step.action == "renamed");
  if (step.action == "ref")
    return referenceStep(step);
  return step.action == "plans" ? planStep(step) : formStep(step);
}

} // namespace selvedge::fuzz
