// Puts edited text back into the passes of a compilation: for
// stage_mutants.py.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/Session.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <iostream>

using namespace mlir;
using namespace selvedge;

namespace {

/// Where a text stands: behind a pass. Verifiers of what comes before do not
/// see it.
struct Stage {
  StringLiteral name, pass;
  /// A pass that has run before; empty for any.
  StringLiteral after = "";
  /// One that has not.
  StringLiteral before = "";
};

constexpr Stage stages[] = {
    {"folded", "tile-fold-integers"},
    {"packed", "tile-pack-rows"},
    {"safe", "strip-discardable-attributes", "", "tile-to-sm"},
    {"parts", "tile-loop-parts"},
    {"softmax", "tile-expand-softmax"},
    {"interior", "tile-interior-parts"},
    {"blocks", "tile-bind-blocks"},
    {"bound", "cse", "tile-uniform-indices", "tile-to-sm"},
    {"seq", "strip-discardable-attributes", "tile-to-sm"},
    {"schedule", "sm-schedule-roles"},
    {"roles", "sm-warp-roles"},
    {"async", "cse", "sm-reduce-scratch"},
};

const Stage *findStage(StringRef name) {
  const Stage *found = llvm::find_if(
      stages, [&](const Stage &stage) { return stage.name == name; });
  return found == std::end(stages) ? nullptr : found;
}

/// Prints the program at a stage, or puts another in its place.
class Exchange : public PassInstrumentation {
public:
  /// `text` of the other; null: prints to `seen`, which says "invalid" of a
  /// text that is none.
  Exchange(const Stage &stage, const std::string *text, std::string &seen)
      : stage(stage), text(text), seen(seen) {}

  void runAfterPass(Pass *pass, Operation *op) override {
    StringRef name = pass->getArgument();
    ran.insert(name);
    bool isHere = name == stage.pass && !isDone &&
                  (stage.after.empty() || ran.contains(stage.after)) &&
                  (stage.before.empty() || !ran.contains(stage.before));
    auto module = dyn_cast<ModuleOp>(op);
    bool isLast = isLastKernel(op);
    if (!isHere || (!module && !isLast))
      return;
    isDone = true;
    if (isLast)
      module = op->getParentOfType<ModuleOp>();
    if (!text) {
      seen.clear();
      llvm::raw_string_ostream(seen) << module;
      return;
    }
    OwningOpRef<ModuleOp> other =
        parseSourceString<ModuleOp>(*text, module.getContext());
    if (!other || (isLast && !exchangeKernels(module, *other)))
      seen = "invalid";
    else if (!isLast)
      module.getBodyRegion().takeBody(other->getBodyRegion());
  }

private:
  static SmallVector<tile::KernelOp> kernelsOf(ModuleOp module) {
    SmallVector<tile::KernelOp> kernels;
    module.walk([&](tile::KernelOp kernel) { kernels.push_back(kernel); });
    return kernels;
  }

  static bool isLastKernel(Operation *op) {
    return isa<tile::KernelOp>(op) &&
           kernelsOf(op->getParentOfType<ModuleOp>()).back() == op;
  }

  /// While a pass goes through the kernels of a module they stay where they
  /// are.
  static bool exchangeKernels(ModuleOp module, ModuleOp other) {
    SmallVector<tile::KernelOp> here = kernelsOf(module),
                                there = kernelsOf(other);
    if (here.size() != there.size())
      return false;
    for (auto [kernel, text] : llvm::zip_equal(here, there)) {
      kernel.getProperties() = text.getProperties();
      kernel.getBody().takeBody(text.getBody());
    }
    return true;
  }

  const Stage &stage;
  const std::string *text;
  std::string &seen;
  llvm::StringSet<> ran;
  bool isDone = false;
};

/// What becomes of a text: one line, and the last form of what is accepted in
/// PATH.final.
std::string judge(const CompileRequest &request, const Stage &stage,
                  const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return "failed\tcannot be read";
  std::string text = (*file)->getBuffer().str(), seen;
  driver::Session session(request);
  bool isDone = session.checkArch() && session.parse() &&
                session.choosePlans() && session.runPasses(Emit::SmFinal, [&] {
                  return std::make_unique<Exchange>(stage, &text, seen);
                });
  if (!seen.empty())
    return seen + "\t";
  if (isDone) {
    std::error_code error;
    llvm::raw_fd_ostream(path + ".final", error) << session.printModule();
    return "accepted\t";
  }
  std::string why = session.result.diagnostics;
  std::ranges::replace(why, '\n', ' ');
  return "refused\t" + why;
}

} // namespace

// stage-mutants FILE OP ARCH STAGE [NAME=VALUE...]: prints the program at a
// stage. With the word `judge` behind STAGE it reads names of files, one per
// line, and prints what becomes of each.
int main(int argc, char **argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const Stage *stage = words.size() < 4 ? nullptr : findStage(words[3]);
  if (!stage) {
    llvm::errs() << "expects FILE OP ARCH STAGE [judge] [NAME=VALUE...], with "
                    "a stage of";
    for (const Stage &one : stages)
      llvm::errs() << " " << one.name;
    llvm::errs() << "\n";
    return 2;
  }
  auto source = llvm::MemoryBuffer::getFile(words[0]);
  if (!source) {
    llvm::errs() << "'" << words[0] << "' cannot be read\n";
    return 2;
  }
  CompileRequest request;
  request.fileName = words[0];
  request.source = (*source)->getBuffer().str();
  request.op = words[1];
  request.arch = words[2];
  request.isStrict = true;
  bool judges = words.size() > 4 && words[4] == "judge";
  for (size_t i = judges ? 5 : 4; i < words.size(); ++i) {
    auto [name, value] = StringRef(words[i]).split('=');
    request.bindings[name.str()] = value.str();
  }
  if (judges) {
    for (std::string path; std::getline(std::cin, path);)
      llvm::outs() << judge(request, *stage, path) << "\n",
          llvm::outs().flush();
    return 0;
  }
  driver::Session session(request);
  std::string seen;
  bool isDone = session.checkArch() && session.parse() &&
                session.choosePlans() && session.runPasses(Emit::SmFinal, [&] {
                  return std::make_unique<Exchange>(*stage, nullptr, seen);
                });
  if (!isDone) {
    llvm::errs() << session.result.diagnostics;
    return 1;
  }
  llvm::outs() << seen;
  return 0;
}
