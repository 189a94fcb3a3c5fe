// The signature of an op as the C interface hands it out.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_RUNTIME_SRC_CAPISIGNATURE_H
#define SELVEDGE_RUNTIME_SRC_CAPISIGNATURE_H

#include "selvedge/Manifest.h"
#include "selvedge/selvedge.h"

/// A manifest, and texts that are not in it.
struct selvedge_signature {
  explicit selvedge_signature(selvedge::Manifest parsed)
      : manifest(std::move(parsed)) {
    for (const selvedge::ManifestTensor &tensor : manifest.tensors)
      types.push_back(typeToString(manifest, tensor));
  }

  selvedge::Manifest manifest;
  /// By tensor.
  std::vector<std::string> types;
};

#endif // SELVEDGE_RUNTIME_SRC_CAPISIGNATURE_H
