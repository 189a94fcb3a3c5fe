// What most files of the runtime include, compiled once for all of them. A file
// still includes what it uses. SPDX-License-Identifier: MIT
#ifndef SELVEDGE_RUNTIME_SRC_PRECOMPILED_H
#define SELVEDGE_RUNTIME_SRC_PRECOMPILED_H

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#endif // SELVEDGE_RUNTIME_SRC_PRECOMPILED_H
