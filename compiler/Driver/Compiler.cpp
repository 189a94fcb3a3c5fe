// The compiler's one entry point.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/Compiler.h"

#include "compiler/Driver/EarlyCode.h"
#include "compiler/Driver/PlanCandidates.h"
#include "compiler/Driver/PlanSearch.h"
#include "compiler/Driver/PlanStore.h"
#include "compiler/Driver/Session.h"
#include "compiler/Explain/Explain.h"
#include "compiler/Explain/Render.h"
#include "compiler/Explain/Trace.h"
#include "compiler/Frontend/Frontend.h"

namespace selvedge {

using driver::Session;

CompileResult compile(const CompileRequest &request, bool withCubin) {
  Session session(request);
  bool ready = session.checkArch() && session.parse() &&
               session.choosePlans() && (!withCubin || session.locatePtxas());
  if (!ready)
    return std::move(session.result);
  if (!withCubin) {
    if (session.runPasses(Emit::SmFinal))
      session.emitPtx();
    return std::move(session.result);
  }
  driver::compileAll(request, session);
  // Empty where ptxas has not run.
  if (session.isFree() && driver::needsSearch(session.getLog())) {
    std::string planFile = session.result.planFile;
    CompileResult result = driver::searchPlans(request, session);
    result.planFile = std::move(planFile);
    return result;
  }
  session.result.complaints = driver::complaintsOf(session.getLog());
  session.result.kernels = driver::usesOf(session.getLog());
  return std::move(session.result);
}

/// Text of a stage that is MLIR.
static void emitModule(Session &session, Emit stage, std::string &text) {
  if (session.runPasses(stage))
    text = session.printModule();
}

CompileResult emitText(const CompileRequest &request, Emit stage,
                       std::string &text) {
  text.clear();
  if (stage == Emit::Cubin || stage == Emit::Ptx || stage == Emit::Manifest) {
    CompileResult result = compile(request, stage == Emit::Cubin);
    if (result.status == CompileStatus::Ok)
      text = stage == Emit::Cubin ? result.cubin
             : stage == Emit::Ptx ? result.ptx
                                  : result.manifest;
    return result;
  }
  Session session(request);
  bool needsArch = stage != Emit::Tile || !request.arch.empty();
  if ((needsArch && !session.checkArch()) || !session.parse() ||
      !session.choosePlans())
    return std::move(session.result);
  if (stage != Emit::Llvm)
    emitModule(session, stage, text);
  else if (session.runPasses(stage) && session.lowerToLLVM())
    text = session.printLLVM();
  return std::move(session.result);
}

CompileResult describe(const CompileRequest &request) {
  Session session(request);
  if (session.parse())
    session.writeSignature();
  return std::move(session.result);
}

static std::string renderAs(ExplainFormat format,
                            const explain::Explanation &explanation) {
  switch (format) {
  case ExplainFormat::Text:
    return explain::renderText(explanation);
  case ExplainFormat::Json:
    return explain::renderJson(explanation);
  case ExplainFormat::Html:
    return explain::renderHtml(explanation);
  }
  llvm_unreachable("all formats are handled");
}

CompileResult explainOp(const CompileRequest &request, ExplainFormat format,
                        std::string &text) {
  text.clear();
  Session session(request);
  explain::Trace trace;
  if (session.checkArch() && session.parse() && session.choosePlans() &&
      session.runPasses(Emit::SmAsync,
                        [&] { return explain::observe(trace); })) {
    explain::Explanation explanation = explain::collect(
        trace, session.getModule(), {request.fileName, request.source});
    explanation.arch = request.arch;
    text = renderAs(format, explanation);
  }
  return std::move(session.result);
}

CompileResult listPlans(const CompileRequest &request,
                        std::vector<PlanCandidate> &candidates) {
  candidates.clear();
  Session session(request);
  if (session.checkArch() && session.parse() &&
      session.runPasses(Emit::SmAsync))
    candidates = driver::listCandidates(session.getUnbound(), request.arch);
  return std::move(session.result);
}

CompileResult keepPlan(const CompileRequest &request,
                       const PlanMeasurement &measurement, std::string &path) {
  Session session(request);
  if (!session.parse())
    return std::move(session.result);
  driver::PlanStore store(request, session.getModule());
  path = store.path();
  if (llvm::Error error = store.keepMeasurement(measurement)) {
    session.result.status = CompileStatus::BadInput;
    session.result.diagnostics +=
        "error: " + llvm::toString(std::move(error)) + "\n";
  }
  return std::move(session.result);
}

CompileResult listOps(const CompileRequest &request,
                      std::vector<OpSummary> &ops) {
  CompileResult result;
  std::vector<frontend::OpInfo> found;
  frontend::Input input{request.fileName, request.source, request.op,
                        &request.bindings, request.importFolders};
  if (!frontend::listOps(input, found, result.diagnostics))
    result.status = CompileStatus::BadInput;
  ops.clear();
  for (frontend::OpInfo &op : found)
    ops.push_back(
        {std::move(op.name), std::move(op.signature), std::move(op.comment)});
  return result;
}

std::vector<std::string> templateFolders() {
  return frontend::shippedFolders();
}

std::vector<std::pair<std::string, std::string>>
importedFiles(const CompileRequest &request) {
  std::vector<std::pair<std::string, std::string>> files;
  frontend::Input input{request.fileName, request.source, request.op,
                        &request.bindings, request.importFolders};
  for (frontend::SourceFile &file : frontend::importedFiles(input))
    files.emplace_back(std::move(file.path), std::move(file.text));
  return files;
}

std::string findPtxas() { return ptx::findPtxas(); }

const char *compilerVersion() { return SELVEDGE_VERSION; }

} // namespace selvedge
