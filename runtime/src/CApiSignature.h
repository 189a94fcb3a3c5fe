// The signature of an op as the C interface hands it out.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_RUNTIME_SRC_CAPISIGNATURE_H
#define SELVEDGE_RUNTIME_SRC_CAPISIGNATURE_H

#include "selvedge/Plan.h"
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

namespace selvedge::capi {

/// The dims that the shapes of these tensors determine, and those given. Names
/// that the op does not have are left alone; nulls are errors.
Result<DimValues> bindArguments(const Manifest &manifest,
                                const selvedge_arguments &arguments);

} // namespace selvedge::capi

#endif // SELVEDGE_RUNTIME_SRC_CAPISIGNATURE_H
