// Tries plans until ptxas takes one without spills.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_DRIVER_PLANSEARCH_H
#define SELVEDGE_COMPILER_DRIVER_PLANSEARCH_H

#include "compiler/Driver/Session.h"

#include <map>

namespace selvedge::driver {

/// The plans of one kernel, best first by the model.
struct KernelPlans {
  /// Its name in a PlanChoice.
  std::string name;
  struct Entry {
    std::string key, words;
    int64_t warps, smemBytes;
    /// Registers per thread that the estimate leaves free.
    int64_t room;
    /// As of the plan.
    bool sharesOperands;
  };
  std::vector<Entry> plans;
  /// Whether it is of a version for any strides.
  bool isUniversal = false;
};

/// The plans of all kernels of a program for which plans are to be bound.
std::vector<KernelPlans> listKernelPlans(mlir::ModuleOp unbound,
                                         llvm::StringRef arch);

/// What ptxas made of a kernel.
struct Verdict {
  /// Bytes that the worst of its variants spills; the one for any strides,
  /// which no tensor needs that is laid out well, does not count, nor do few of
  /// one without roles.
  int64_t spillBytes = 0;
  /// A remark C75xx.
  bool isSerialised = false;
  /// Whether its warps have roles.
  bool hasRoles = false;

  /// Whether the plan may be used without looking for a better one.
  bool isGood() const;
  bool operator<(const Verdict &other) const {
    return std::tie(isSerialised, spillBytes) <
           std::tie(other.isSerialised, other.spillBytes);
  }
};

/// Verdicts by name in a PlanChoice of the kernels that `log` knows. A remark
/// that names no kernel is about all.
std::map<std::string, Verdict> judge(const ptx::PtxasLog &log);

/// Whether other plans could be better than those of `log`.
bool needsSearch(const ptx::PtxasLog &log);

/// What is wrong with the kernels of `log`, a line each.
std::vector<std::string> complaintsOf(const ptx::PtxasLog &log);

/// What the kernels of `log` take.
std::vector<KernelUse> usesOf(const ptx::PtxasLog &log);

/// Compiles with other plans, and says what ptxas made of the kernels.
using TryPlans =
    llvm::function_ref<ptx::PtxasLog(const schedule::PlanChoice &choice)>;

/// Tries the next plans of kernels that spill or are serialised, a few times;
/// plans that leave fewer registers free than one that spills are passed over.
/// `first` is about the first plans of a program. Gives the plans that spill
/// least; kernels of which ptxas serialises every one that was tried run
/// without warp roles. Says what it does to `request.progress`; `why` tells the
/// reason.
schedule::PlanChoice searchChoice(const CompileRequest &request,
                                  Session &session, const ptx::PtxasLog &first,
                                  TryPlans tryPlans, std::string &why);

/// Why plans are taken that a search found.
const char *originOf(const schedule::PlanChoice &found);

/// The same for the whole program of `session`, which has made the attempt with
/// the first plans; what is the same for all plans is not done again.
CompileResult searchPlans(const CompileRequest &request, Session &session);

} // namespace selvedge::driver

#endif // SELVEDGE_COMPILER_DRIVER_PLANSEARCH_H
