// Files that a file imports: found, read once, and merged.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Imports.h"

#include "compiler/Frontend/Parser.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace selvedge::frontend {
namespace {

/// Longer chains than anybody writes would overflow the stack.
constexpr size_t kMaxDepth = 64;

/// One path for all names of a file; the name itself where there is no file.
std::string realPath(StringRef path) {
  SmallString<256> real;
  return sys::fs::real_path(path, real) ? path.str() : real.str().str();
}

class Loader {
public:
  Loader(Diagnostics &diags, ArrayRef<std::string> folders,
         std::vector<SourceFile> *read)
      : diags(diags), folders(folders), read(read) {}

  FileAst run() {
    open.push_back({diags.file().str(), realPath(diags.file())});
    result = parseFile(diags);
    // The list grows while it is read.
    std::vector<ImportDecl> imports = std::move(result.imports);
    follow(imports);
    return std::move(result);
  }

private:
  /// A file by the name under which it was found, and the path that tells it
  /// from others.
  struct File {
    std::string name, path;
  };

  void follow(ArrayRef<ImportDecl> imports) {
    for (const ImportDecl &import : imports) {
      if (diags.full())
        return;
      if (std::optional<File> file = find(import))
        load(import, std::move(*file));
    }
  }

  /// Folders in which a file that is open looks for others.
  SmallVector<std::string> searchFolders() const {
    StringRef beside = sys::path::parent_path(open.back().name);
    SmallVector<std::string> all = {beside.empty() ? "." : beside.str()};
    all.append(folders.begin(), folders.end());
    for (std::string &folder : shippedFolders())
      all.push_back(std::move(folder));
    return all;
  }

  std::optional<File> find(const ImportDecl &import) {
    SmallVector<std::string> searched;
    if (sys::path::is_absolute(import.path))
      searched = {""};
    else
      searched = searchFolders();
    for (const std::string &folder : searched) {
      SmallString<256> path(folder == "." ? "" : folder);
      sys::path::append(path, import.path);
      if (sys::fs::exists(path))
        return File{path.str().str(), realPath(path)};
    }
    std::string near = nearest(import.path, searched);
    diags.error(import.loc, "cannot find '" + import.path + "'",
                near.empty() ? "searched in " + join(searched, ", ") : near);
    return std::nullopt;
  }

  /// A hint at a file with a similar name.
  static std::string nearest(StringRef wanted, ArrayRef<std::string> searched) {
    std::vector<std::string> names;
    for (const std::string &folder : searched) {
      std::error_code error;
      for (sys::fs::directory_iterator it(folder, error), end;
           !error && it != end; it.increment(error))
        if (StringRef name = sys::path::filename(it->path());
            name.ends_with(".tile"))
          names.push_back(name.str());
    }
    SmallVector<StringRef> candidates(names.begin(), names.end());
    return didYouMean(wanted, candidates);
  }

  void load(const ImportDecl &import, File file) {
    for (const File &other : open)
      if (other.path == file.path)
        return cycle(import, file);
    if (!met.insert(file.path).second)
      return;
    if (open.size() > kMaxDepth)
      return diags.error(import.loc, "expects at most " + Twine(kMaxDepth) +
                                         " files that import each other");
    // Devices and pipes may have no end.
    if (!sys::fs::is_regular_file(file.name))
      return diags.error(import.loc,
                         "cannot read '" + file.name + "': not a file");
    auto buffer = MemoryBuffer::getFile(file.name, /*IsText=*/false,
                                        /*RequiresNullTerminator=*/true);
    if (!buffer)
      return diags.error(import.loc, "cannot read '" + file.name +
                                         "': " + buffer.getError().message());
    StringRef text = diags.addFile(file.name, (*buffer)->getBuffer());
    if (read)
      read->push_back({file.name, text.str()});
    FileAst ast = parseText(diags, text);
    merge(ast);
    open.push_back(std::move(file));
    follow(ast.imports);
    open.pop_back();
  }

  void cycle(const ImportDecl &import, const File &file) {
    std::string chain;
    bool inside = false;
    for (const File &other : open) {
      inside |= other.path == file.path;
      if (inside)
        chain += "'" + other.name + "' imports ";
    }
    diags.error(import.loc, "the import goes in a circle: " + chain + "'" +
                                file.name + "'");
  }

  void merge(FileAst &ast) {
    for (OpDecl &op : ast.ops) {
      op.isImported = true;
      result.ops.push_back(std::move(op));
    }
    std::move(ast.fns.begin(), ast.fns.end(), std::back_inserter(result.fns));
  }

  Diagnostics &diags;
  ArrayRef<std::string> folders;
  std::vector<SourceFile> *read;
  FileAst result;
  /// The files whose imports are being followed, outermost first.
  std::vector<File> open;
  std::set<std::string> met;
};

} // namespace

FileAst parseWithImports(Diagnostics &diags, ArrayRef<std::string> folders,
                         std::vector<SourceFile> *read) {
  return Loader(diags, folders, read).run();
}

} // namespace selvedge::frontend
