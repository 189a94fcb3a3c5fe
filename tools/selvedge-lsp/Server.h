// The requests of an editor.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_LSP_SERVER_H
#define SELVEDGE_TOOLS_SELVEDGE_LSP_SERVER_H

#include "tools/selvedge-lsp/Document.h"

#include "llvm/Support/LSP/Transport.h"

#include <map>

namespace selvedge::lsp {

/// Parameters of textDocument/formatting; the editor's options play no part.
struct FormattingParams {
  llvm::lsp::TextDocumentIdentifier textDocument;
};
bool fromJSON(const llvm::json::Value &value, FormattingParams &result,
              llvm::json::Path path);

/// Parameters of textDocument/rename.
struct RenameParams : llvm::lsp::TextDocumentPositionParams {
  std::string newName;
};
bool fromJSON(const llvm::json::Value &value, RenameParams &result,
              llvm::json::Path path);

/// Answers the requests of one editor.
class Server {
public:
  explicit Server(llvm::lsp::JSONTransport &transport);

  /// Until the editor is done; the exit status.
  int run();

private:
  void initialize(const llvm::lsp::InitializeParams &params,
                  llvm::lsp::Callback<llvm::json::Value> reply);
  void initialized(const llvm::lsp::InitializedParams &params);
  void shutdown(const llvm::lsp::NoParams &params,
                llvm::lsp::Callback<std::nullptr_t> reply);
  void open(const llvm::lsp::DidOpenTextDocumentParams &params);
  void change(const llvm::lsp::DidChangeTextDocumentParams &params);
  void close(const llvm::lsp::DidCloseTextDocumentParams &params);
  void hover(const llvm::lsp::TextDocumentPositionParams &params,
             llvm::lsp::Callback<std::optional<llvm::lsp::Hover>> reply);
  void define(const llvm::lsp::TextDocumentPositionParams &params,
              llvm::lsp::Callback<std::vector<llvm::lsp::Location>> reply);
  void complete(const llvm::lsp::CompletionParams &params,
                llvm::lsp::Callback<llvm::lsp::CompletionList> reply);
  void format(const FormattingParams &params,
              llvm::lsp::Callback<std::vector<llvm::lsp::TextEdit>> reply);

  void prepareRename(const llvm::lsp::TextDocumentPositionParams &params,
                     llvm::lsp::Callback<llvm::json::Value> reply);
  void renameName(const RenameParams &params,
                  llvm::lsp::Callback<llvm::lsp::WorkspaceEdit> reply);

  void update(const llvm::lsp::URIForFile &uri, std::string text,
              int64_t version);
  const File *find(const llvm::lsp::URIForFile &uri) const;
  /// Fills `imported` with the files that `file` imports.
  void readImports(const File &file);
  /// Files that may import `file`: those that are open, and those beside it.
  std::vector<const File *> othersThan(const File &file);
  /// Where a name is declared: in its file, or in one that this imports.
  std::pair<const File *, const Definition *> resolve(const File &file,
                                                      size_t token);

  llvm::lsp::JSONTransport &transport;
  llvm::lsp::MessageHandler handler;
  llvm::lsp::OutgoingNotification<llvm::lsp::PublishDiagnosticsParams> publish;
  std::map<std::string, std::unique_ptr<File>> files;
  /// Of the last request that looked into them.
  std::vector<std::unique_ptr<File>> imported, beside;
  bool hasShutDown = false;
};

} // namespace selvedge::lsp

#endif // SELVEDGE_TOOLS_SELVEDGE_LSP_SERVER_H
