// Runs ptxas and reads what it prints.
// SPDX-License-Identifier: MIT
#include "compiler/Target/PTX/Ptxas.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

namespace selvedge::ptx {

using namespace llvm;

/// Longer runs mean that ptxas hangs.
static constexpr unsigned kTimeoutSeconds = 600;

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

namespace {

/// A file that disappears with its owner.
class TemporaryFile {
public:
  /// False when the file could not be created.
  bool create(StringRef suffix) {
    if (sys::fs::createTemporaryFile("selvedge", suffix, path))
      return false;
    remover.setFile(path);
    return true;
  }
  StringRef name() const { return path; }

  bool write(StringRef text) {
    std::error_code error;
    raw_fd_ostream os(path, error);
    if (error)
      return false;
    os << text;
    os.close();
    bool ok = !os.has_error();
    os.clear_error();
    return ok;
  }

  std::string read() const {
    auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                        /*RequiresNullTerminator=*/false);
    return buffer ? (*buffer)->getBuffer().str() : std::string();
  }

private:
  SmallString<128> path;
  FileRemover remover;
};

} // namespace

static PtxasResult failure(PtxasStatus status, const Twine &message) {
  PtxasResult result;
  result.status = status;
  result.message = message.str();
  return result;
}

/// Kernels side by side on the cores there are: the same code, and half the
/// time where there are several.
static constexpr StringLiteral splitFlag = "--split-compile=0";

static PtxasResult assemble(StringRef ptx, StringRef arch, StringRef ptxas,
                            bool splits) {
  TemporaryFile input, output, log;
  if (!input.create("ptx") || !output.create("cubin") || !log.create("log") ||
      !input.write(ptx))
    return failure(PtxasStatus::CannotRun,
                   "cannot write temporary files for ptxas");
  std::string archFlag = ("-arch=" + arch).str();
  SmallVector<StringRef> args{ptxas,        archFlag, "-O3",        "-v",
                              input.name(), "-o",     output.name()};
  if (splits)
    args.push_back(splitFlag);
  std::optional<StringRef> redirects[] = {StringRef(""), log.name(),
                                          log.name()};
  std::string error;
  bool notStarted = false;
  int exitStatus =
      sys::ExecuteAndWait(ptxas, args, std::nullopt, redirects, kTimeoutSeconds,
                          /*MemoryLimit=*/0, &error, &notStarted);
  std::string printed = log.read();
  if (notStarted || exitStatus == -1)
    return failure(PtxasStatus::CannotRun,
                   "cannot run '" + ptxas + "': " + error);
  // An old one does not know how.
  if (exitStatus != 0 && splits && StringRef(printed).contains("split-compile"))
    return assemble(ptx, arch, ptxas, /*splits=*/false);
  if (exitStatus != 0)
    return failure(PtxasStatus::Refused, "'" + ptxas + "' failed for " + arch +
                                             ": " + error + "\n" + printed);
  PtxasResult result;
  result.log = parsePtxasLog(printed);
  result.cubin = output.read();
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
