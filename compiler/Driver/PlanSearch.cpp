// Tries plans until ptxas takes one without spills.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/PlanSearch.h"

#include "compiler/Driver/EarlyCode.h"
#include "compiler/Driver/PlanStore.h"
#include "compiler/Schedule/Plan/Plan.h"
#include "dialect/Tile/Tile.h"

#include <set>

namespace selvedge::driver {

using namespace mlir;
using schedule::PlanChoice;

/// Fewer bytes cost nothing that can be measured.
static constexpr int64_t spillLimit = 32;
/// With fewer warps each tile that is copied serves fewer rows, which costs
/// more than a smaller spill (3 to 10 % where 8 to 60 bytes were spilled; with
/// roles more: gradients of keys, heads of 128, 65 % at 264 bytes, 38 % at
/// 780).
static constexpr int64_t keptWarpsSpillLimit = 256;
static constexpr int64_t keptWarpgroupsSpillLimit = 2048;
/// Warps with roles take more steps where a step has fewer columns (gradients
/// of keys, heads of 256: 64 columns are 30 % faster at 64 bytes, 16 % at 376;
/// packed causal attention, heads of 128: 128 columns 5 to 17 % at 80).
static constexpr int64_t stepSpillLimit = 400;
/// Warps that copy and multiply spill around loops what few steps need; plans
/// of half the rows or columns read half as much again from shared memory
/// (gradients of keys, heads of 64: 27 % faster at 120 bytes; heads of 128:
/// 10 % slower at 312).
static constexpr int64_t warpSpillLimit = 160;
/// The same where operands go through shared memory: smaller tiles add more
/// often to memory, too (gradients in five products, causal, heads of 128: 228
/// TFLOP/s at 516 bytes). Nor is a plan left for such a one that spills less
/// (heads of 64: 15 % faster at 440 bytes).
static constexpr int64_t sharedSpillLimit = 600;
/// Plans per kernel that are assembled: each takes seconds.
static constexpr size_t maxAttempts = 3;

bool Verdict::isGood() const {
  return !isSerialised && spillBytes < spillLimit;
}

std::vector<KernelPlans> listKernelPlans(ModuleOp unbound, StringRef arch) {
  std::vector<KernelPlans> result;
  unbound.walk([&](tile::KernelOp kernel) {
    // What other devices take is not searched.
    if (kernel.getProgram().isForSmallDevices())
      return;
    // The passes before have done the same without an error.
    TargetInfo target = *targetInfo(arch);
    schedule::KernelLayouts layouts(kernel, target);
    FailureOr<schedule::RankedPlans> ranked =
        schedule::rankPlans(kernel, layouts, target);
    if (failed(ranked))
      return;
    KernelPlans &plans = result.emplace_back();
    plans.name = schedule::planName(kernel);
    plans.isUniversal =
        kernel.getProgram().getKind() == tile::VersionKind::Universal;
    for (const schedule::KernelPlan &plan : ranked->plans)
      plans.plans.push_back({schedule::planKey(kernel, plan),
                             schedule::planWords(kernel, plan), plan.warps,
                             plan.smemBytes, plan.room(), plan.sharesOperands});
  });
  return result;
}

/// Whether a remark is about the kernel: it names it in quotes, or none.
static bool concerns(StringRef remark, StringRef kernel) {
  return !remark.contains('\'') || remark.contains(("'" + kernel + "'").str());
}

static bool isSerialised(const ptx::PtxasLog &log,
                         const ptx::KernelResources &kernel) {
  return llvm::any_of(log.remarks, [&](const std::string &remark) {
    return concerns(remark, kernel.name);
  });
}

/// A kernel spills what it stores. Loads count every place that reads one of
/// those values, and a value that roles seldom need has many.
static Verdict judge(const ptx::PtxasLog &log,
                     const ptx::KernelResources &kernel) {
  bool isFree = kernel.isUniversal ||
                (!kernel.hasRoles && kernel.spillStoreBytes < warpSpillLimit);
  return {isFree ? 0 : kernel.spillStoreBytes, isSerialised(log, kernel),
          kernel.hasRoles};
}

bool needsSearch(const ptx::PtxasLog &log) {
  return llvm::any_of(log.kernels, [&](const ptx::KernelResources &kernel) {
    return !judge(log, kernel).isGood();
  });
}

std::map<std::string, Verdict> judge(const ptx::PtxasLog &log) {
  std::map<std::string, Verdict> verdicts;
  for (const ptx::KernelResources &kernel : log.kernels) {
    Verdict &worst = verdicts[kernel.plan];
    worst = std::max(worst, judge(log, kernel));
  }
  return verdicts;
}

std::vector<KernelUse> usesOf(const ptx::PtxasLog &log) {
  std::vector<KernelUse> uses;
  for (const ptx::KernelResources &kernel : log.kernels)
    uses.push_back({kernel.name, kernel.registers, kernel.stackBytes,
                    kernel.spillStoreBytes, kernel.smemBytes});
  return uses;
}

std::vector<std::string> complaintsOf(const ptx::PtxasLog &log) {
  std::vector<std::string> complaints;
  for (const ptx::KernelResources &kernel : log.kernels) {
    if (isSerialised(log, kernel))
      complaints.push_back(kernel.name + " is serialised by ptxas");
    else if (kernel.spillStoreBytes >= spillLimit)
      complaints.push_back(kernel.name + " spills " +
                           std::to_string(kernel.spillStoreBytes) + " bytes");
  }
  return complaints;
}

static constexpr const char *serialised =
    "ptxas serialises the products of warpgroups";

const char *originOf(const PlanChoice &found) {
  return found.withoutRoles.empty() ? "found to assemble well" : serialised;
}

namespace {

class Search {
public:
  Search(const CompileRequest &request, Session &session, TryPlans tryPlans)
      : request(request), tryPlans(tryPlans),
        kernels(listKernelPlans(session.getUnbound(), request.arch)) {}

  PlanChoice run(ptx::PtxasLog log) {
    for (size_t attempt = 1;; ++attempt) {
      for (const auto &[name, verdict] : judge(log))
        seen[name].emplace(position[name], verdict);
      if (attempt == maxAttempts || !advance())
        break;
      log = tryPlans(choiceAt());
    }
    for (auto &[name, verdicts] : seen)
      position[name] =
          llvm::min_element(verdicts, [](const auto &a, const auto &b) {
            return a.second < b.second;
          })->first;
    PlanChoice last = choiceAt();
    // Warps multiply one by one.
    for (const KernelPlans &kernel : kernels)
      if (isSplit() && !kernel.isUniversal && verdictOf(kernel).isSerialised) {
        last.withoutRoles.insert(kernel.name);
        last.tiles.erase(kernel.name);
      }
    if (last != PlanChoice())
      tell("takes " + schedule::printChoice(last));
    return last;
  }

private:
  bool isSplit() const {
    return llvm::any_of(
        kernels, [](const KernelPlans &kernel) { return kernel.isUniversal; });
  }

  /// The verdict on the plan at hand; a kernel that was never assembled is
  /// fine.
  Verdict verdictOf(const KernelPlans &kernel) {
    auto &verdicts = seen[kernel.name];
    auto found = verdicts.find(position[kernel.name]);
    return found == verdicts.end() ? Verdict() : found->second;
  }

  /// The next plan that is worth a try after the one at hand, which stays
  /// where there is none.
  size_t nextPlan(const KernelPlans &kernel) {
    size_t at = position[kernel.name];
    const KernelPlans::Entry &tried = kernel.plans[at];
    Verdict verdict = verdictOf(kernel);
    int64_t most = verdict.hasRoles       ? stepSpillLimit
                   : tried.sharesOperands ? sharedSpillLimit
                                          : spillLimit;
    if (!verdict.isSerialised && verdict.spillBytes < most)
      return at;
    bool takesAnyWarps =
        !isSplit() || kernel.isUniversal || verdict.isSerialised ||
        verdict.spillBytes >=
            (verdict.hasRoles ? keptWarpgroupsSpillLimit : keptWarpsSpillLimit);
    for (size_t next = at + 1; next < kernel.plans.size(); ++next) {
      const KernelPlans::Entry &plan = kernel.plans[next];
      if (plan.sharesOperands && !verdict.isSerialised &&
          verdict.spillBytes < sharedSpillLimit)
        return at;
      // What has less room spills more.
      if (verdict.isSerialised || plan.room >= tried.room)
        return takesAnyWarps || plan.warps >= tried.warps ? next : at;
    }
    return at;
  }

  /// The next plan of each kernel that needs one; false where none does.
  bool advance() {
    bool moved = false;
    for (const KernelPlans &kernel : kernels) {
      size_t next = nextPlan(kernel);
      if (next == position[kernel.name])
        continue;
      tell("kernel '" + kernel.name + "' " + wordsOf(verdictOf(kernel)) +
           " with " + kernel.plans[position[kernel.name]].words + "; trying " +
           kernel.plans[next].words);
      moved = true;
      position[kernel.name] = next;
    }
    return moved;
  }

  void tell(const std::string &words) {
    if (request.progress)
      request.progress("plans: " + words);
  }

  static std::string wordsOf(const Verdict &verdict) {
    return verdict.isSerialised
               ? "is serialised"
               : "spills " + std::to_string(verdict.spillBytes) + " bytes";
  }

  PlanChoice choiceAt() {
    PlanChoice choice;
    for (const KernelPlans &kernel : kernels)
      if (size_t at = position[kernel.name])
        choice.tiles[kernel.name] = kernel.plans[at].key;
    return choice;
  }

public:
  /// Why the plans are not the first ones.
  std::string reason(const PlanChoice &choice) {
    std::string text = choice.withoutRoles.empty() ? "" : serialised;
    for (const KernelPlans &kernel : kernels) {
      const auto &verdicts = seen[kernel.name];
      if (verdicts.size() < 2)
        continue;
      text += text.empty() ? "" : "; ";
      text += "of " + std::to_string(verdicts.size()) + " plans of " +
              kernel.name + " that were assembled the one that spills least";
      for (const auto &[at, verdict] : verdicts)
        text += ", " + kernel.plans[at].words + " " + wordsOf(verdict);
    }
    return text;
  }

private:
  const CompileRequest &request;
  TryPlans tryPlans;
  std::vector<KernelPlans> kernels;
  std::map<std::string, size_t> position;
  /// By kernel and position.
  std::map<std::string, std::map<size_t, Verdict>> seen;
};

} // namespace

PlanChoice searchChoice(const CompileRequest &request, Session &session,
                        const ptx::PtxasLog &first, TryPlans tryPlans,
                        std::string &why) {
  Search search(request, session, tryPlans);
  PlanChoice found = search.run(first);
  why = search.reason(found);
  return found;
}

CompileResult searchPlans(const CompileRequest &request, Session &session) {
  // What every choice so far has become.
  std::map<std::string, CompileResult> assembled;
  // Whether it needs versions for devices with less shared memory.
  std::map<std::string, bool> takesMore;
  PlanChoice compiled;
  auto keep = [&] {
    CompileResult &kept = assembled[schedule::printChoice(compiled)];
    kept = session.result;
    kept.complaints = complaintsOf(session.getLog());
    kept.kernels = usesOf(session.getLog());
    takesMore[schedule::printChoice(compiled)] =
        kept.status == CompileStatus::Ok && session.takesMoreThanLeast();
  };
  auto compile = [&](const PlanChoice &choice) {
    compiled = choice;
    session.restart(choice, originOf(choice));
    compileAll(request, session);
    keep();
    return session.getLog();
  };
  keep();
  std::string why;
  session.setSearching(true);
  PlanChoice found =
      searchChoice(request, session, session.getLog(), compile, why);
  session.setSearching(false);
  bool isFirst = found == PlanChoice();
  if (!assembled.contains(schedule::printChoice(found)) ||
      (!isFirst && takesMore[schedule::printChoice(found)]))
    compile(found);
  CompileResult &best = assembled[schedule::printChoice(found)];
  // A folder that cannot be written costs time, nothing else.
  if (!request.planFolder.empty() && best.status == CompileStatus::Ok)
    llvm::consumeError(PlanStore(request, session.getUnbound())
                           .keepVerdict({schedule::printChoice(found), why}));
  return std::move(best);
}

} // namespace selvedge::driver
