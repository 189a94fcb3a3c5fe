// What most GoogleTest files include, compiled once for all of them. A file
// still includes what it uses. SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TESTS_PRECOMPILED_H
#define SELVEDGE_TESTS_PRECOMPILED_H

#include "dialect/Precompiled.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#endif // SELVEDGE_TESTS_PRECOMPILED_H
