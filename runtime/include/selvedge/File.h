// Files as a whole: read, and replace atomically.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_FILE_H
#define SELVEDGE_FILE_H

#include "selvedge/Result.h"

#include <string>
#include <string_view>
#include <vector>

namespace selvedge::inline runtime {

/// The bytes of a file; errors name the path.
Result<std::string> readFile(const std::string &path);

/// Replaces `path` by the concatenation of `parts`: written to a temporary
/// file in the same folder and renamed, so that a reader sees the old or the
/// new content and an error leaves nothing behind. A path that is not a regular
/// file (a device, a pipe) is written directly.
Status writeFileAtomically(const std::string &path,
                           const std::vector<std::string_view> &parts);

} // namespace selvedge::inline runtime

#endif // SELVEDGE_FILE_H
