// The program `selvedge-lsp`: a language server for .tile files.
// SPDX-License-Identifier: MIT
#include "tools/selvedge-lsp/Server.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Program.h"

using namespace llvm;

int main(int argc, char **argv) {
  cl::opt<bool> isTest("lit-test",
                       cl::desc("messages are separated by lines '// -----', "
                                "and answers are indented"));
  cl::ParseCommandLineOptions(
      argc, argv, "A language server for .tile files, on standard input.\n");
  sys::ChangeStdinToBinary();
  llvm::lsp::Logger::setLogLevel(llvm::lsp::Logger::Level::Error);
  llvm::lsp::JSONTransport transport(
      stdin, outs(), isTest ? llvm::lsp::Delimited : llvm::lsp::Standard,
      isTest);
  return selvedge::lsp::Server(transport).run();
}
