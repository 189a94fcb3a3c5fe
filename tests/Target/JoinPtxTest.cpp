// PTX of kernels that were emitted side by side.
// SPDX-License-Identifier: MIT
#include "compiler/Target/PTX/Translate.h"

#include <gtest/gtest.h>

using selvedge::ptx::joinPtx;

TEST(JoinPtx, LabelsAreNumberedThrough) {
  std::string
      a = "head\n\t// .globl\ta\n.extern .shared smem[];\n\n"
          ".visible .entry a(\n$L__BB0_1:\nWAIT_0: bra WAIT_0;\n"
          "WAIT_1: bra WAIT_1;\n}\n",
      b = "head\n\t// .globl\tb\n.extern .shared smem[];\n\n"
          ".visible .entry b(\nbra $L__BB0_12;\nWAIT_0: bra WAIT_0;\n}\n";
  EXPECT_EQ(joinPtx({a, b}),
            a + "\t// .globl\tb\n.visible .entry b(\nbra $L__BB1_12;\n"
                "WAIT_2: bra WAIT_2;\n}\n");
}

TEST(JoinPtx, WhatALaterKernelDeclaresStaysBeforeIt) {
  std::string a = "head\n\t// .globl\ta\n.visible .entry a(\n}\n",
              b = "head\n\t// .globl\tb\n.extern .shared smem[];\n\n"
                  ".visible .entry b(\n}\n";
  EXPECT_EQ(joinPtx({a, b, b}),
            a + "\t// .globl\tb\n.extern .shared smem[];\n\n.visible .entry "
                "b(\n}\n\t// .globl\tb\n.visible .entry b(\n}\n");
}

TEST(JoinPtx, OneIsItself) {
  std::string a = "head\n\t// .globl\ta\n.visible .entry a(\n$L__BB0_3:\n}\n";
  EXPECT_EQ(joinPtx({a}), a);
}
