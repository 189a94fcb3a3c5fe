// Diagnostics of passes, shown at the place in the source text.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/SourceDiagnostics.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace selvedge::driver {

using namespace mlir;

SourceDiagnostics::SourceDiagnostics(MLIRContext &context,
                                     llvm::StringRef fileName,
                                     llvm::StringRef source, std::string &text)
    : fileName(fileName.str()), text(text),
      handler(&context, [this](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != DiagnosticSeverity::Remark)
          print(diagnostic);
        else
          keepRemark(diagnostic);
      }) {
  manager.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(source, fileName), llvm::SMLoc());
}

static llvm::SourceMgr::DiagKind kindOf(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return llvm::SourceMgr::DK_Error;
  case DiagnosticSeverity::Warning:
    return llvm::SourceMgr::DK_Warning;
  case DiagnosticSeverity::Note:
    return llvm::SourceMgr::DK_Note;
  case DiagnosticSeverity::Remark:
    return llvm::SourceMgr::DK_Remark;
  }
  llvm_unreachable("all severities are handled");
}

static llvm::StringRef nameOf(llvm::SourceMgr::DiagKind kind) {
  switch (kind) {
  case llvm::SourceMgr::DK_Error:
    return "error";
  case llvm::SourceMgr::DK_Warning:
    return "warning";
  case llvm::SourceMgr::DK_Remark:
    return "remark";
  case llvm::SourceMgr::DK_Note:
    return "note";
  }
  llvm_unreachable("all kinds are handled");
}

unsigned SourceDiagnostics::bufferOf(llvm::StringRef name) {
  if (name == fileName)
    return manager.getMainFileID();
  auto [known, isNew] = imported.try_emplace(name.str(), 0);
  if (isNew)
    if (auto buffer = llvm::MemoryBuffer::getFile(name))
      known->second =
          manager.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  return known->second;
}

void SourceDiagnostics::keepRemark(Diagnostic &diagnostic) {
  std::string words = diagnostic.str();
  if (!llvm::StringRef(words).starts_with("verify-"))
    return;
  if (auto loc = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
    words += llvm::formatv(" ({0}:{1}:{2})", loc.getFilename().getValue(),
                           loc.getLine(), loc.getColumn());
  remarks.push_back(std::move(words));
}

void SourceDiagnostics::print(Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() == DiagnosticSeverity::Error && numErrors++ == 0)
    firstError = diagnostic.str();
  llvm::SourceMgr::DiagKind kind = kindOf(diagnostic.getSeverity());
  llvm::SMLoc place;
  if (auto loc = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
    if (unsigned buffer = bufferOf(loc.getFilename().getValue()))
      place = manager.FindLocForLineAndColumn(buffer, loc.getLine(),
                                              loc.getColumn());
  llvm::raw_string_ostream os(text);
  if (place.isValid())
    manager.GetMessage(place, kind, diagnostic.str())
        .print(nullptr, os, /*ShowColors=*/false);
  else
    os << fileName << ": " << nameOf(kind) << ": " << diagnostic.str() << "\n";
  for (Diagnostic &note : diagnostic.getNotes())
    print(note);
}

} // namespace selvedge::driver
