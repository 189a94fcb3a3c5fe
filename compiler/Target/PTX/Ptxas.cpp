// Runs ptxas and reads what it prints.
// SPDX-License-Identifier: MIT
#include "compiler/Target/PTX/Ptxas.h"

#include "runtime/src/Process.h"

#include "llvm/ADT/StringExtras.h"

#include <chrono>

namespace selvedge::ptx {

using namespace llvm;

/// Longer runs mean that ptxas hangs.
static constexpr std::chrono::minutes timeLimit(10);

/// The number that stands before `unit` in `line`; 0 when there is none.
static int64_t numberBefore(StringRef line, StringRef unit) {
  size_t at = line.find(unit);
  if (at == StringRef::npos)
    return 0;
  StringRef head = line.take_front(at).rtrim();
  int64_t value = 0;
  size_t begin = head.find_last_not_of("0123456789") + 1;
  return head.substr(begin).getAsInteger(10, value) ? 0 : value;
}

PtxasLog parsePtxasLog(StringRef text) {
  PtxasLog log;
  // Lines about one kernel follow the line that names it; functions called
  // by a kernel have lines of their own, which say nothing about a kernel.
  KernelResources *current = nullptr;
  for (StringRef line : split(text, '\n')) {
    if (line.contains("(C75")) {
      log.remarks.push_back(line.trim().str());
      continue;
    }
    if (line.contains("Compiling entry function '")) {
      current = &log.kernels.emplace_back();
      current->name = line.split('\'').second.split('\'').first.str();
      continue;
    }
    if (size_t at = line.find("Function properties for ");
        at != StringRef::npos) {
      StringRef name =
          line.drop_front(at).split("for ").second.trim().trim('\'');
      current = nullptr;
      for (KernelResources &kernel : log.kernels)
        if (kernel.name == name)
          current = &kernel;
      continue;
    }
    if (!current)
      continue;
    if (line.contains("bytes stack frame")) {
      current->stackBytes = numberBefore(line, "bytes stack frame");
      current->spillStoreBytes = numberBefore(line, "bytes spill stores");
      current->spillLoadBytes = numberBefore(line, "bytes spill loads");
    } else if (line.contains("registers")) {
      current->registers = numberBefore(line, "registers");
      current->smemBytes = numberBefore(line, "bytes smem");
    }
  }
  return log;
}

static PtxasResult failure(PtxasStatus status, const Twine &message) {
  PtxasResult result;
  result.status = status;
  result.message = message.str();
  return result;
}

/// Whether a program that failed says so as ptxas does.
static bool speaksAsPtxas(StringRef printed) {
  return printed.contains("ptxas") || printed.contains("error");
}

/// Kernels side by side on the cores there are: the same code, and half the
/// time where there are several.
static constexpr const char *splitFlag = "--split-compile=0";

static PtxasResult assemble(StringRef ptx, StringRef arch, StringRef ptxas,
                            bool splits) {
  auto cannotRun = [](const Status &status) {
    return failure(PtxasStatus::CannotRun, status.message());
  };
  Result<MemoryFile> input = MemoryFile::create(ptx);
  Result<MemoryFile> output = MemoryFile::create();
  if (!input.ok() || !output.ok())
    return cannotRun(input.ok() ? output.status() : input.status());
  std::vector<std::string> command{
      ptxas.str(), ("-arch=" + arch).str(), "-O3", "-v", input->path(),
      "-o",        output->path()};
  if (splits)
    command.push_back(splitFlag);
  Result<ProcessResult> run = runProcess(command, timeLimit);
  if (!run.ok())
    return cannotRun(run.status());
  // An old one does not know how.
  if (!run->ok() && splits && StringRef(run->output).contains("split-compile"))
    return assemble(ptx, arch, ptxas, /*splits=*/false);
  if (!run->ok()) {
    std::string message =
        ("'" + ptxas + "' " + run->describe() + " for " + arch).str();
    if (run->wasKilled())
      return failure(PtxasStatus::CannotRun, message);
    if (run->signal == 0 && !speaksAsPtxas(run->output))
      return failure(PtxasStatus::CannotRun,
                     message + " and says nothing of a reason: is it ptxas?");
    return failure(PtxasStatus::Refused, message + ":\n" + run->output);
  }
  Result<std::string> cubin = output->read();
  if (!cubin.ok())
    return cannotRun(cubin.status());
  PtxasResult result;
  result.log = parsePtxasLog(run->output);
  result.cubin = std::move(*cubin);
  if (!result.log.remarks.empty()) {
    PtxasResult refused = failure(PtxasStatus::Refused,
                                  "ptxas serialised or changed the kernel:\n" +
                                      llvm::join(result.log.remarks, "\n"));
    refused.log = std::move(result.log);
    return refused;
  }
  if (result.cubin.empty())
    return failure(PtxasStatus::CannotRun,
                   "'" + ptxas + "' wrote no cubin: is it ptxas?");
  return result;
}

PtxasResult assemble(StringRef ptx, StringRef arch, StringRef ptxas) {
  return assemble(ptx, arch, ptxas, /*splits=*/true);
}

} // namespace selvedge::ptx
