// Variants of an op, compiled one by one.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/VariantCompiler.h"

#include "compiler/Driver/PlanSearch.h"
#include "selvedge/Manifest.h"

#include <condition_variable>
#include <mutex>

namespace selvedge::driver {

/// The part of the cache that holds the manifest alone, and that of a variant.
static constexpr const char *hostPart = "host program";
static std::string partOf(size_t variant) {
  return "variant " + std::to_string(variant);
}

static Status statusOf(const CompileResult &result) {
  return Status(result.status == CompileStatus::BadInput ? ErrorCode::BadInput
                                                         : ErrorCode::Failed,
                result.diagnostics);
}

namespace {

/// Verifiers under way. A program may end without giving its ops back: what
/// they use must not be destroyed before they are done.
class Pending {
public:
  static Pending &get() {
    static Pending pending;
    return pending;
  }
  void begin() {
    std::lock_guard lock(mutex);
    ++count;
  }
  void end() {
    std::lock_guard lock(mutex);
    --count;
    ended.notify_all();
  }

private:
  ~Pending() {
    std::unique_lock lock(mutex);
    ended.wait(lock, [&] { return count == 0; });
  }

  std::mutex mutex;
  std::condition_variable ended;
  size_t count = 0;
};

} // namespace

/// Whether two manifests have variants of the same names, in this order.
static bool haveSameVariants(const std::string &a, const std::string &b) {
  Result<Manifest> x = parseManifest(a), y = parseManifest(b);
  return x.ok() && y.ok() &&
         llvm::equal(x->variants, y->variants,
                     [](const ManifestVariant &v, const ManifestVariant &w) {
                       return v.name == w.name;
                     });
}

VariantCompiler::VariantCompiler(const CompileRequest &request)
    : request(request) {
  std::string ptxas = ptx::findPtxas(request.ptxas);
  if (!ptxas.empty() && !request.arch.empty())
    cache.emplace(request, std::move(ptxas));
}

VariantCompiler::~VariantCompiler() { waitForProof(); }

LaunchCode VariantCompiler::begin(const CompileRequest &request) {
  LaunchCode begun;
  std::shared_ptr<VariantCompiler> compiler(new VariantCompiler(request));
  CompileResult &result = begun.result;
  std::optional<CompileResult> found;
  if (compiler->cache && (found = compiler->cache->read())) {
    compiler->whole = Artifact{found->manifest, found->ptx, found->cubin};
    compiler->hostProgram = found->manifest;
    result.diagnostics = std::move(found->diagnostics);
  } else if (compiler->cache && (found = compiler->cache->read(hostPart))) {
    compiler->hostProgram = std::move(found->manifest);
  } else if (!compiler->start(result)) {
    return begun;
  }
  begun.code = std::move(compiler);
  return begun;
}

bool VariantCompiler::start(CompileResult &result) {
  proving = std::make_unique<Session>(request);
  bool ready = proving->checkArch() && proving->parse() &&
               proving->choosePlans() && proving->locatePtxas();
  if (!ready) {
    result = std::move(proving->result);
    return false;
  }
  guess = std::make_unique<Guess>(request, *proving);
  prove();
  if (guess->run()) {
    hostProgram = guess->getManifest();
    return true;
  }
  // Who verifies knows why, or gets further.
  guess = nullptr;
  if (!waitForProof()) {
    result = std::move(proving->result);
    return false;
  }
  Result<VariantCode> code = compileWhole();
  if (!code.ok()) {
    result.status = CompileStatus::InternalError;
    result.diagnostics = code.status().message();
    return false;
  }
  hostProgram = code->artifact.manifest;
  whole = std::move(code->artifact);
  return true;
}

void VariantCompiler::prove() {
  proof.reset();
  Pending::get().begin();
  verifiers = std::thread([this] {
    if (proving->runPasses(Emit::SmFinal))
      proof = proving->getProof();
    Pending::get().end();
  });
}

const std::optional<Proof> &VariantCompiler::waitForProof() {
  if (verifiers.joinable())
    verifiers.join();
  return proof;
}

Result<VariantCode> VariantCompiler::compileWhole() {
  CompileResult result = compileCached(request);
  if (result.status != CompileStatus::Ok)
    return statusOf(result);
  return VariantCode{{std::move(result.manifest), std::move(result.ptx),
                      std::move(result.cubin)},
                     /*isWhole=*/true};
}

Result<VariantCode> VariantCompiler::compile(size_t variant) {
  if (whole)
    return VariantCode{*whole, /*isWhole=*/true};
  if (cache)
    if (std::optional<CompileResult> found = cache->read(partOf(variant));
        found && found->manifest == hostProgram)
      return VariantCode{{found->manifest, found->ptx, found->cubin}};
  std::string expected = hostProgram;
  CompileResult failure;
  if (!proving && !start(failure))
    return statusOf(failure);
  if (!guess || hostProgram != expected)
    return compileWhole();
  Unproved<Code> unproved = guess->compile(variant);
  // Nothing below is reached by code without a proof.
  if (!waitForProof())
    return statusOf(proving->result);
  std::optional<Code> code = std::move(unproved).claim(*proof);
  // What ptxas serialises it refuses.
  if (code && (proving->isFree() || hasFound) && needsSearch(code->log))
    return hasFound ? compileWhole() : compileBetter(variant, std::move(*code));
  if (!code || code->result.status != CompileStatus::Ok)
    return compileWhole();
  return deliver(variant, code->result);
}

Result<VariantCode> VariantCompiler::compileBetter(size_t variant, Code first) {
  struct Attempt {
    std::unique_ptr<Guess> guess;
    Unproved<Code> code;
  };
  std::map<std::string, Attempt> attempts;
  auto tryPlans = [&](const schedule::PlanChoice &choice) {
    auto other =
        std::make_unique<Guess>(request, *proving, choice, originOf(choice));
    if (!other->run())
      return ptx::PtxasLog();
    Unproved<Code> code = other->compile(variant);
    ptx::PtxasLog log = other->getLog();
    attempts.emplace(schedule::printChoice(choice),
                     Attempt{std::move(other), std::move(code)});
    return log;
  };
  std::string why;
  schedule::PlanChoice found =
      searchChoice(request, *proving, first.log, tryPlans, why);
  if (found == schedule::PlanChoice() &&
      first.result.status == CompileStatus::Ok)
    return deliver(variant, first.result);
  auto attempt = attempts.find(schedule::printChoice(found));
  if (attempt == attempts.end())
    return compileWhole();
  proving->restart(found, originOf(found));
  prove();
  if (!waitForProof())
    return statusOf(proving->result);
  std::optional<Code> code = std::move(attempt->second.code).claim(*proof);
  if (!code || code->result.status != CompileStatus::Ok ||
      !haveSameVariants(hostProgram, code->result.manifest))
    return compileWhole();
  guess = std::move(attempt->second.guess);
  hostProgram = guess->getManifest();
  hasFound = true;
  return deliver(variant, code->result);
}

VariantCode VariantCompiler::deliver(size_t variant, CompileResult &result) {
  if (cache && proving->result.diagnostics.empty()) {
    result.planFile = proving->result.planFile;
    CompileResult host;
    host.manifest = result.manifest;
    // An artefact has some.
    host.ptx = "\n";
    host.planFile = result.planFile;
    cache->write(result, partOf(variant));
    cache->write(host, hostPart);
  }
  return {{result.manifest, result.ptx, result.cubin}};
}

} // namespace selvedge::driver
