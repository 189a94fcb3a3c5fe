// Explanations as text, JSON and HTML.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_EXPLAIN_RENDER_H
#define SELVEDGE_COMPILER_EXPLAIN_RENDER_H

#include "compiler/Explain/Explanation.h"

namespace selvedge::explain {

/// For a terminal.
std::string renderText(const Explanation &explanation);

/// For programs; the ids under `operations` are those of the final `sm` form.
std::string renderJson(const Explanation &explanation);

/// One page without external resources, also well-formed XML.
std::string renderHtml(const Explanation &explanation);

/// The tiles of one picture as an SVG element.
std::string renderSvg(const Picture &picture);

/// The difference between instances is of interest only if there is one:
/// instances that agree in everything but the kernel, counted.
struct InstanceGroup {
  Instance first;
  std::vector<std::string> kernels;
  /// Operations per kernel.
  int64_t count = 0;
};
std::vector<InstanceGroup> groupInstances(const Record &record);

/// `2 instructions per thread, per loop iteration`.
std::string costText(const Instance &instance);

} // namespace selvedge::explain

#endif // SELVEDGE_COMPILER_EXPLAIN_RENDER_H
