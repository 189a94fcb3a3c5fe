// Errors with file, line, column, caret and hint.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_FRONTEND_DIAGNOSTICS_H
#define SELVEDGE_COMPILER_FRONTEND_DIAGNOSTICS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/SourceMgr.h"

#include <set>
#include <string>

namespace selvedge::frontend {

/// Owns the source text and collects the diagnostics about it.
class Diagnostics {
public:
  Diagnostics(llvm::StringRef fileName, llvm::StringRef source);

  /// The text; locations point into it.
  llvm::StringRef text() const { return source; }
  llvm::StringRef file() const { return fileName; }
  /// Adds the text of another file, in which locations may point, too; the
  /// result is a copy that lives as long as this object.
  llvm::StringRef addFile(llvm::StringRef name, llvm::StringRef content);
  /// The name of the file in which a place is.
  llvm::StringRef file(llvm::SMLoc loc) const;

  /// Reports an error, once per place and message. An invalid `loc` stands for
  /// the whole file. A hint is printed as a note below the error.
  void error(llvm::SMLoc loc, const llvm::Twine &message,
             const llvm::Twine &hint = {});
  /// Reports that `what` exists in the language but not yet in this compiler.
  void unsupported(llvm::SMLoc loc, const llvm::Twine &what,
                   const llvm::Twine &hint = {});
  /// Reports what is allowed and hardly meant.
  void warning(llvm::SMLoc loc, const llvm::Twine &message,
               const llvm::Twine &hint = {});
  /// Points at a second place, below the last error or warning.
  void note(llvm::SMLoc loc, const llvm::Twine &message);

  /// While it lives errors are printed as warnings, and at its end there are
  /// none.
  class AsWarnings {
  public:
    explicit AsWarnings(Diagnostics &diags) : diags(diags) {
      diags.asWarnings = true;
    }
    ~AsWarnings() {
      diags.asWarnings = false;
      diags.numErrors = 0;
    }
    AsWarnings(const AsWarnings &) = delete;
    AsWarnings &operator=(const AsWarnings &) = delete;

  private:
    Diagnostics &diags;
  };

  bool hasErrors() const { return numErrors != 0; }
  unsigned errorCount() const { return numErrors; }
  /// True once so many errors were reported that going on is pointless.
  bool full() const { return numErrors >= kMaxErrors; }
  /// The rendered text of everything reported so far.
  const std::string &rendered() const { return output; }

  /// The place of a line and column, from 1; invalid if there is none.
  llvm::SMLoc place(unsigned line, unsigned column);
  /// Line and column of a place, from 1.
  std::pair<unsigned, unsigned> lineAndColumn(llvm::SMLoc loc) const;

private:
  static constexpr unsigned kMaxErrors = 20;

  static constexpr unsigned kMaxWarnings = 20;

  void report(llvm::SMLoc loc, llvm::SourceMgr::DiagKind kind,
              llvm::StringRef message, const llvm::Twine &hint);
  void print(llvm::SMLoc loc, llvm::SourceMgr::DiagKind kind,
             llvm::StringRef message);

  llvm::SourceMgr manager;
  std::string fileName;
  llvm::StringRef source;
  std::string output;
  std::set<std::pair<const char *, std::string>> seen;
  unsigned numErrors = 0;
  unsigned numWarnings = 0;
  bool asWarnings = false;
  bool lastShown = false;
};

/// "did you mean 'x'" for the candidate nearest to `name`; empty when none is
/// near.
std::string didYouMean(llvm::StringRef name,
                       llvm::ArrayRef<llvm::StringRef> candidates);

} // namespace selvedge::frontend

#endif // SELVEDGE_COMPILER_FRONTEND_DIAGNOSTICS_H
