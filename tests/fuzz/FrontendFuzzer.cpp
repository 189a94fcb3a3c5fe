// libFuzzer target: arbitrary bytes never crash the front end.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Frontend.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"

#include <cstdint>
#include <cstdlib>

using namespace selvedge::frontend;

static const llvm::Regex placed("^[^ ]*\\.tile:[0-9]+:[0-9]+: error: ");

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef source(reinterpret_cast<const char *>(data), size);
  std::string diagnostics;
  std::vector<OpInfo> ops;
  listOps({"fuzz.tile", source, "", nullptr}, ops, diagnostics);

  mlir::MLIRContext ctx(mlir::MLIRContext::Threading::DISABLED);
  for (const OpInfo &op : ops) {
    std::string text;
    bool built = static_cast<bool>(
        buildModule(ctx, {"fuzz.tile", source, op.name, nullptr}, text));
    // Either a module, beside which there may be warnings, or a reason, and no
    // module that the verifier refuses. Lines of the source stand there, too;
    // errors may be in a file that it imports.
    bool isRefused = false, isDefect = false;
    for (llvm::StringRef line : llvm::split(text, '\n')) {
      bool isPlaced = placed.match(line);
      isRefused |= isPlaced || line.starts_with("error: ");
      isDefect |= isPlaced &&
                  line.contains(": error: internal error: the emitted module");
    }
    if (built == isRefused || isDefect)
      std::abort();
  }
  return 0;
}
