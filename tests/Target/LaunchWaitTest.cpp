// What PTX of a kernel that may start early is refused for.
// SPDX-License-Identifier: MIT
#include "compiler/Target/PTX/Translate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace selvedge;
using testing::HasSubstr;

/// What the check says of a kernel `k` with this body; empty when it accepts
/// it.
static std::string check(const std::string &body) {
  std::string ptx = ".visible .entry other(\n)\n{\n\tret;\n}\n"
                    ".visible .entry k(\n\t.param .u64 k_param_0\n)\n"
                    ".maxntid 32, 1, 1\n{\n\t.reg .b64 %rd<2>;\n// %bb.0:\n" +
                    body + "}\n";
  return llvm::toString(ptx::checkLaunchWait(ptx, "k"));
}

static const std::string waiting =
    "\t// begin inline asm\n\tgriddepcontrol.wait;\n\t// end inline asm\n";

TEST(LaunchWait, acceptsWhatNeedsNoMemory) {
  EXPECT_EQ(check(waiting + "\tld.global.b32 %r1, [%rd1];\n\tret;\n"), "");
  EXPECT_EQ(check("\tld.param.b64 %rd1, [k_param_0];\n"
                  "\tmov.u32 %r1, %tid.x;\n"
                  "\tshfl.sync.idx.b32 %r2, %r1, 0, 31, -1;\n" +
                  waiting),
            "");
}

TEST(LaunchWait, refusesAccessesAhead) {
  for (std::string access :
       {"ld.global.b32 %r1, [%rd1]", "ld.global.nc.b32 %r1, [%rd1]",
        "st.shared.b32 [%r1], %r2", "red.global.add.u32 [%rd1], 1",
        "@%p1 prefetch.global.L2 [%rd1]",
        "{ .reg .b32 x; ld.global.b32 x, [%rd1]",
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::"
        "complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], [%r4]"})
    EXPECT_THAT(check("\t" + access + ";\n" + waiting),
                HasSubstr("kernel 'k' may start while the one before it runs, "
                          "and does not wait ahead of: "))
        << access;
}

TEST(LaunchWait, refusesControlAhead) {
  for (std::string code :
       {"\t@%p1 bra $L__BB0_2;\n", "\tbra.uni $L__BB0_2;\n", "$L__BB0_1:\n",
        "\tret;\n", "\t@%p1 exit;\n", "\tcall f;\n"})
    EXPECT_THAT(check(code + waiting), HasSubstr("does not wait ahead of: "))
        << code;
}

TEST(LaunchWait, refusesNoWait) {
  EXPECT_THAT(check(""), HasSubstr("does not wait"));
  EXPECT_THAT(check("\tmov.u32 %r1, %tid.x;\n"), HasSubstr("does not wait"));
  EXPECT_THAT(check("\t// griddepcontrol.wait;\n"), HasSubstr("does not wait"));
  EXPECT_THAT(llvm::toString(ptx::checkLaunchWait("", "k")),
              HasSubstr("does not wait"));
}
