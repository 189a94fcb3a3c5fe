// What every function of the C interface does: no exception leaves it, and
// errors are remembered.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_RUNTIME_SRC_CAPIGUARD_H
#define SELVEDGE_RUNTIME_SRC_CAPIGUARD_H

#include "selvedge/Result.h"
#include "selvedge/selvedge.h"

#include <exception>
#include <new>

namespace selvedge::capi {

/// Remembers an error of this thread; the value is what the caller returns.
selvedge_status fail(selvedge_status status, const char *message) noexcept;

/// The same of a Status.
inline selvedge_status fail(const Status &status) noexcept {
  return fail(static_cast<selvedge_status>(status.code()),
              status.message().c_str());
}

/// An argument that has to be there.
inline selvedge_status failNull(const char *name) noexcept {
  return fail(SELVEDGE_BAD_INPUT, name);
}

/// Calls `body`; what it throws becomes an error and `failed`.
template <typename T, typename Body>
T guarded(T failed, Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    fail(SELVEDGE_FAILED, "out of memory");
  } catch (const std::exception &error) {
    fail(SELVEDGE_FAILED, error.what());
  } catch (...) {
    fail(SELVEDGE_FAILED, "an unknown exception");
  }
  return failed;
}

} // namespace selvedge::capi

#endif // SELVEDGE_RUNTIME_SRC_CAPIGUARD_H
