// The requests of an editor.
// SPDX-License-Identifier: MIT
#include "tools/selvedge-lsp/Server.h"

#include "compiler/Frontend/Format.h"
#include "compiler/Frontend/Frontend.h"

#include <set>

using namespace llvm;
using llvm::lsp::Callback;
using llvm::lsp::URIForFile;

namespace selvedge::lsp {

bool fromJSON(const json::Value &value, FormattingParams &result,
              json::Path path) {
  json::ObjectMapper mapper(value, path);
  return mapper && mapper.map("textDocument", result.textDocument);
}

Server::Server(llvm::lsp::JSONTransport &transport)
    : transport(transport), handler(transport),
      publish(handler.outgoingNotification<llvm::lsp::PublishDiagnosticsParams>(
          "textDocument/publishDiagnostics")) {
  handler.method("initialize", this, &Server::initialize);
  handler.notification("initialized", this, &Server::initialized);
  handler.method("shutdown", this, &Server::shutdown);
  handler.notification("textDocument/didOpen", this, &Server::open);
  handler.notification("textDocument/didChange", this, &Server::change);
  handler.notification("textDocument/didClose", this, &Server::close);
  handler.method("textDocument/hover", this, &Server::hover);
  handler.method("textDocument/definition", this, &Server::define);
  handler.method("textDocument/completion", this, &Server::complete);
  handler.method("textDocument/formatting", this, &Server::format);
}

int Server::run() {
  if (llvm::Error error = transport.run(handler)) {
    llvm::lsp::Logger::error("{0}", toString(std::move(error)));
    return 1;
  }
  return hasShutDown ? 0 : 1;
}

void Server::initialize(const llvm::lsp::InitializeParams &,
                        Callback<json::Value> reply) {
  reply(json::Object{
      {"serverInfo", json::Object{{"name", "selvedge-lsp"}}},
      {"capabilities", json::Object{
                           // Whole texts: files are short.
                           {"textDocumentSync",
                            json::Object{{"openClose", true}, {"change", 1}}},
                           {"hoverProvider", true},
                           {"definitionProvider", true},
                           {"documentFormattingProvider", true},
                           {"completionProvider", json::Object{}},
                       }}});
}

void Server::initialized(const llvm::lsp::InitializedParams &) {}

void Server::shutdown(const llvm::lsp::NoParams &,
                      Callback<std::nullptr_t> reply) {
  hasShutDown = true;
  reply(nullptr);
}

void Server::update(const URIForFile &uri, std::string text, int64_t version) {
  auto file = std::make_unique<File>(uri.file().str(), std::move(text));
  llvm::lsp::PublishDiagnosticsParams params(uri, version);
  params.diagnostics = diagnose(*file);
  files[uri.file().str()] = std::move(file);
  publish(params);
}

void Server::open(const llvm::lsp::DidOpenTextDocumentParams &params) {
  update(params.textDocument.uri, params.textDocument.text,
         params.textDocument.version);
}

void Server::change(const llvm::lsp::DidChangeTextDocumentParams &params) {
  if (!params.contentChanges.empty())
    update(params.textDocument.uri, params.contentChanges.back().text,
           params.textDocument.version);
}

void Server::close(const llvm::lsp::DidCloseTextDocumentParams &params) {
  files.erase(params.textDocument.uri.file().str());
  publish(llvm::lsp::PublishDiagnosticsParams(params.textDocument.uri, 0));
}

const File *Server::find(const URIForFile &uri) const {
  auto it = files.find(uri.file().str());
  return it == files.end() ? nullptr : it->second.get();
}

static frontend::Input inputOf(const File &file) {
  frontend::Input input;
  input.fileName = file.getPath();
  input.source = file.getText();
  return input;
}

std::pair<const File *, const Definition *> Server::resolve(const File &file,
                                                            size_t token) {
  if (const Definition *own = file.find(token))
    return {&file, own};
  imported.clear();
  for (frontend::SourceFile &source : frontend::importedFiles(inputOf(file)))
    imported.push_back(
        std::make_unique<File>(std::move(source.path), std::move(source.text)));
  StringRef name = file.getTokens()[token].text;
  for (const std::unique_ptr<File> &other : imported)
    if (const Definition *item = other->findItem(name))
      return {other.get(), item};
  // What an op has from the one that it extends: a tensor, a dim, a hook.
  for (const std::unique_ptr<File> &other : imported)
    for (const Definition &definition : other->getDefinitions())
      if (definition.name == name)
        return {other.get(), &definition};
  return {nullptr, nullptr};
}

void Server::hover(const llvm::lsp::TextDocumentPositionParams &params,
                   Callback<std::optional<llvm::lsp::Hover>> reply) {
  const File *file = find(params.textDocument.uri);
  std::optional<size_t> token =
      file ? file->tokenAt(params.position) : std::nullopt;
  if (!token)
    return reply(std::nullopt);
  auto [place, definition] = resolve(*file, *token);
  if (!definition)
    return reply(std::nullopt);
  llvm::lsp::Hover hover(file->rangeOf(*token));
  hover.contents.value = place->describe(*definition);
  if (std::string type = typeOf(*place, *definition); !type.empty())
    hover.contents.value += "\n\n`" + type + "`";
  reply(std::optional<llvm::lsp::Hover>(std::move(hover)));
}

void Server::define(const llvm::lsp::TextDocumentPositionParams &params,
                    Callback<std::vector<llvm::lsp::Location>> reply) {
  std::vector<llvm::lsp::Location> places;
  const File *file = find(params.textDocument.uri);
  std::optional<size_t> token =
      file ? file->tokenAt(params.position) : std::nullopt;
  if (!token)
    return reply(std::move(places));
  auto add = [&](StringRef path, llvm::lsp::Range range) {
    if (llvm::Expected<URIForFile> uri = URIForFile::fromFile(path))
      places.emplace_back(*uri, range);
    else
      llvm::consumeError(uri.takeError());
  };
  if (file->getTokens()[*token].kind == frontend::Token::Kind::String) {
    StringRef name = file->getTokens()[*token].text.drop_front().drop_back();
    for (const frontend::SourceFile &source :
         frontend::importedFiles(inputOf(*file)))
      if (StringRef(source.path).ends_with(name))
        add(source.path, llvm::lsp::Range());
    return reply(std::move(places));
  }
  auto [place, definition] = resolve(*file, *token);
  if (definition)
    add(place->getPath(), place->rangeOf(definition->token));
  reply(std::move(places));
}

void Server::complete(const llvm::lsp::CompletionParams &params,
                      Callback<llvm::lsp::CompletionList> reply) {
  using llvm::lsp::CompletionItemKind;
  llvm::lsp::CompletionList list;
  std::set<StringRef> names;
  auto add = [&](StringRef name, CompletionItemKind kind, StringRef detail) {
    if (names.insert(name).second)
      list.items.emplace_back(name, kind).detail = detail.str();
  };
  if (const File *file = find(params.textDocument.uri)) {
    for (const Definition &definition : file->getDefinitions())
      add(definition.name,
          definition.kind == "op" || definition.kind == "fn"
              ? CompletionItemKind::Function
              : CompletionItemKind::Variable,
          definition.kind);
  }
  for (StringRef word :
       {"op",    "kernel", "let",   "var",      "for",      "in",
        "by",    "where",  "else",  "extends",  "valid",    "temp",
        "view",  "import", "zeros", "requires", "out_init", "sum",
        "max",   "dot",    "exp",   "tanh",     "select",   "online_softmax",
        "launch"})
    add(word, CompletionItemKind::Keyword, "");
  reply(std::move(list));
}

void Server::format(const FormattingParams &params,
                    Callback<std::vector<llvm::lsp::TextEdit>> reply) {
  std::vector<llvm::lsp::TextEdit> edits;
  std::string text, diagnostics;
  const File *file = find(params.textDocument.uri);
  if (file &&
      frontend::formatSource(file->getPath(), file->getText(), text,
                             diagnostics) &&
      text != file->getText()) {
    auto lines = static_cast<int>(file->getText().count('\n'));
    edits.push_back({llvm::lsp::Range({0, 0}, {lines + 1, 0}), text});
  }
  reply(std::move(edits));
}

} // namespace selvedge::lsp
