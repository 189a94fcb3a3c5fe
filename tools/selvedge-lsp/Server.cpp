// The requests of an editor.
// SPDX-License-Identifier: MIT
#include "tools/selvedge-lsp/Server.h"

#include "compiler/Frontend/Format.h"
#include "compiler/Frontend/Frontend.h"
#include "tools/selvedge-lsp/Rename.h"
#include "tools/selvedge-lsp/Values.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

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

bool fromJSON(const json::Value &value, RenameParams &result, json::Path path) {
  json::ObjectMapper mapper(value, path);
  return fromJSON(value,
                  static_cast<llvm::lsp::TextDocumentPositionParams &>(result),
                  path) &&
         mapper && mapper.map("newName", result.newName);
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
  handler.method("textDocument/prepareRename", this, &Server::prepareRename);
  handler.method("textDocument/rename", this, &Server::renameName);
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
      {"capabilities",
       json::Object{
           // Whole texts: files are short.
           {"textDocumentSync",
            json::Object{{"openClose", true}, {"change", 1}}},
           {"hoverProvider", true},
           {"definitionProvider", true},
           {"documentFormattingProvider", true},
           {"completionProvider", json::Object{}},
           {"renameProvider", json::Object{{"prepareProvider", true}}},
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

void Server::readImports(const File &file) {
  imported.clear();
  for (frontend::SourceFile &source : frontend::importedFiles(inputOf(file)))
    imported.push_back(
        std::make_unique<File>(std::move(source.path), std::move(source.text)));
}

std::pair<const File *, const Definition *> Server::resolve(const File &file,
                                                            size_t token) {
  if (const Definition *own = file.find(token))
    return {&file, own};
  readImports(file);
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
  // A name of another file is no place of its text.
  size_t at = place == file ? *token : definition->token;
  if (std::string words = describeValue(*place, at, *definition);
      !words.empty())
    hover.contents.value += "\n\n" + words;
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
  auto add = [&](StringRef name, CompletionItemKind kind, const Twine &detail) {
    if (names.insert(name).second)
      list.items.emplace_back(name, kind).detail = detail.str();
  };
  auto kindOf = [](const Definition &definition) {
    return definition.kind == "op" || definition.kind == "fn"
               ? CompletionItemKind::Function
               : CompletionItemKind::Variable;
  };
  if (const File *file = find(params.textDocument.uri)) {
    for (const Definition &definition : file->getDefinitions())
      add(definition.name, kindOf(definition), definition.kind);
    // An op has the signature and the hooks of one that it extends.
    readImports(*file);
    for (const std::unique_ptr<File> &other : imported)
      for (const Definition &definition : other->getDefinitions())
        if (definition.scopeEnd == 0 || definition.kind == "hook" ||
            definition.kind == "argument" || definition.kind == "parameter")
          add(definition.name, kindOf(definition),
              definition.kind + ", of " +
                  sys::path::filename(other->getPath()));
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

std::vector<const File *> Server::othersThan(const File &file) {
  std::vector<const File *> others;
  std::set<std::string> known;
  for (const auto &[path, open] : files) {
    known.insert(path);
    if (open.get() != &file)
      others.push_back(open.get());
  }
  beside.clear();
  std::error_code error;
  sys::fs::directory_iterator it(sys::path::parent_path(file.getPath()), error);
  for (; !error && it != sys::fs::directory_iterator(); it.increment(error)) {
    if (!StringRef(it->path()).ends_with(".tile") || known.contains(it->path()))
      continue;
    if (auto text = MemoryBuffer::getFile(it->path())) {
      beside.push_back(
          std::make_unique<File>(it->path(), (*text)->getBuffer().str()));
      others.push_back(beside.back().get());
    }
  }
  return others;
}

static llvm::Error refusal(std::string why) {
  return make_error<llvm::lsp::LSPError>(std::move(why),
                                         llvm::lsp::ErrorCode::RequestFailed);
}

static constexpr const char *noName = "there is no name here";

void Server::prepareRename(const llvm::lsp::TextDocumentPositionParams &params,
                           Callback<json::Value> reply) {
  const File *file = find(params.textDocument.uri);
  std::optional<size_t> token =
      file ? file->tokenAt(params.position) : std::nullopt;
  if (!token)
    return reply(refusal(noName));
  Renaming found = placesOf(*file, *token, othersThan(*file));
  if (!found.refusal.empty())
    return reply(refusal(std::move(found.refusal)));
  reply(json::Object{{"range", toJSON(file->rangeOf(*token))},
                     {"placeholder", file->getTokens()[*token].text}});
}

void Server::renameName(const RenameParams &params,
                        Callback<llvm::lsp::WorkspaceEdit> reply) {
  const File *file = find(params.textDocument.uri);
  std::optional<size_t> token =
      file ? file->tokenAt(params.position) : std::nullopt;
  if (!token)
    return reply(refusal(noName));
  Renaming found = rename(*file, *token, params.newName, othersThan(*file));
  if (!found.refusal.empty())
    return reply(refusal(std::move(found.refusal)));
  llvm::lsp::WorkspaceEdit edit;
  for (size_t place : found.tokens)
    edit.changes[params.textDocument.uri.uri().str()].push_back(
        {file->rangeOf(place), params.newName});
  reply(std::move(edit));
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
