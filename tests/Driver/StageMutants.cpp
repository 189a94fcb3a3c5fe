// Puts edited text back into the passes of a compilation: for
// stage_mutants.py.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/Session.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <iostream>
#include <optional>

using namespace mlir;
using namespace selvedge;

namespace {

/// Where a text stands: behind the safety passes, behind those that bind sizes,
/// and in the forms of sm. Verifiers of what comes before do not see it.
enum class Stage { Safe, Bound, Seq, Roles, Async };

std::optional<Stage> parseStage(StringRef name) {
  return llvm::StringSwitch<std::optional<Stage>>(name)
      .Case("safe", Stage::Safe)
      .Case("bound", Stage::Bound)
      .Case("seq", Stage::Seq)
      .Case("roles", Stage::Roles)
      .Case("async", Stage::Async)
      .Default(std::nullopt);
}

/// Prints the program at a stage, or puts another in its place.
class Exchange : public PassInstrumentation {
public:
  /// `text` of the other; null: prints to `seen`, which says "invalid" of a
  /// text that is none.
  Exchange(Stage stage, const std::string *text, std::string &seen)
      : stage(stage), text(text), seen(seen) {}

  void runAfterPass(Pass *pass, Operation *op) override {
    StringRef name = pass->getArgument();
    isUniform |= name == "tile-uniform-indices";
    isLowered |= name == "tile-to-sm";
    hasScratch |= name == "sm-reduce-scratch";
    auto module = dyn_cast<ModuleOp>(op);
    if (!module || isDone || !isHere(name))
      return;
    isDone = true;
    if (!text) {
      llvm::raw_string_ostream(seen) << module;
      return;
    }
    OwningOpRef<ModuleOp> other =
        parseSourceString<ModuleOp>(*text, module.getContext());
    if (!other)
      seen = "invalid";
    else
      module.getBodyRegion().takeBody(other->getBodyRegion());
  }

private:
  bool isHere(StringRef pass) const {
    switch (stage) {
    case Stage::Safe:
      return pass == "strip-discardable-attributes" && !isLowered;
    case Stage::Bound:
      return pass == "cse" && isUniform && !isLowered;
    case Stage::Seq:
      return pass == "strip-discardable-attributes" && isLowered;
    case Stage::Roles:
      return pass == "sm-warp-roles";
    case Stage::Async:
      return pass == "cse" && hasScratch;
    }
    return false;
  }

  Stage stage;
  const std::string *text;
  std::string &seen;
  bool isUniform = false, isLowered = false, hasScratch = false;
  bool isDone = false;
};

/// What becomes of a text: one line, and the last form of what is accepted in
/// PATH.final.
std::string judge(const CompileRequest &request, Stage stage,
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
  std::optional<Stage> stage =
      words.size() < 4 ? std::nullopt : parseStage(words[3]);
  if (!stage) {
    llvm::errs() << "expects FILE OP ARCH safe|bound|seq|roles|async [judge] "
                    "[NAME=VALUE...]\n";
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
