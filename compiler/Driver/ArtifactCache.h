// What compilations gave, on disk.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_DRIVER_ARTIFACTCACHE_H
#define SELVEDGE_COMPILER_DRIVER_ARTIFACTCACHE_H

#include "compiler/Driver/Compiler.h"

#include <optional>
#include <string>

namespace selvedge::driver {

/// The entries of one request in the runtime's cache (selvedge/DiskCache.h):
/// the artefact, and by name parts of it. Each is written as a whole or not at
/// all, after everything that could refuse it. The key covers source, imported
/// files, op, bindings, arch, the builds of compiler and ptxas; an entry also
/// knows the plans that were stored for the program.
class ArtifactCache {
public:
  ArtifactCache(const CompileRequest &request, std::string ptxas);

  /// The entry, if the plans are still the same. Without a part with what the
  /// compiler had to say.
  std::optional<CompileResult> read(std::string_view part = "") const;
  /// Adds what is Ok, unless a file has changed since this object was made; a
  /// part only if there is nothing to say.
  void write(const CompileResult &result, std::string_view part = "") const;

private:
  std::optional<CompileResult> readEntry(const std::string &name) const;
  /// The name for a compilation that said something, which names files.
  std::string notedName(std::string_view suffix) const;
  std::string nameOf(std::string_view part) const;

  CompileRequest request;
  std::string ptxas, key;
};

} // namespace selvedge::driver

#endif // SELVEDGE_COMPILER_DRIVER_ARTIFACTCACHE_H
