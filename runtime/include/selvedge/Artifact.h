// The artefact file: manifest, PTX and cubin in one container.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_ARTIFACT_H
#define SELVEDGE_ARTIFACT_H

#include "selvedge/Result.h"

#include <string>
#include <string_view>

namespace selvedge::inline runtime {

/// The sections of docs/manifest.md.
struct Artifact {
  /// JSON, see parseManifest().
  std::string manifest;
  std::string ptx;
  /// Empty when the artefact carries PTX only.
  std::string cubin;
};

/// Decodes a container. Sections that overlap the header, each other or the
/// end are refused; sections of unknown names are skipped.
Result<Artifact> decodeArtifact(std::string_view bytes);

/// Encodes a container.
std::string encodeArtifact(const Artifact &artifact);

/// decodeArtifact() of a file; errors name the path.
Result<Artifact> readArtifact(const std::string &path);

/// Writes a container atomically.
Status writeArtifact(const std::string &path, const Artifact &artifact);

} // namespace selvedge::inline runtime

#endif // SELVEDGE_ARTIFACT_H
