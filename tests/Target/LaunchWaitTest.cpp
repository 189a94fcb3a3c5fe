// What PTX of a kernel that may start early is refused for.
// SPDX-License-Identifier: MIT
#include "compiler/Target/PTX/Translate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace selvedge;
using testing::HasSubstr;

/// What the check says of a kernel `k` with this body; empty when it accepts
/// it.
static std::string kernel(const std::string &body) {
  return ".visible .entry other(\n)\n{\n\tret;\n}\n"
         ".visible .entry k(\n\t.param .u64 k_param_0\n)\n"
         ".maxntid 32, 1, 1\n{\n\t.reg .b64 %rd<2>;\n// %bb.0:\n" +
         body + "}\n";
}

static std::string check(const std::string &body) {
  return llvm::toString(ptx::checkLaunchWait(kernel(body), "k"));
}

/// The same of a kernel that waits later, for what parameter 0 points to.
static std::string checkLate(const std::string &body) {
  return llvm::toString(ptx::checkLateWait(kernel(body), "k", {0}));
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

TEST(LaunchWait, waitsLater) {
  const std::string address = "\tld.param.b64 %rd1, [k_param_0];\n"
                              "\tcvta.to.global.u64 \t%rd2, %rd1;\n"
                              "\tmad.wide.u32 %rd3, %r1, 4, %rd2;\n",
                    other = "\tld.param.b64 %rd7, [k_param_1];\n"
                            "\tld.global.b32 %r2, [%rd7];\n"
                            "\tst.global.b32 [%rd7], %r2;\n",
                    loop = "$L__BB0_2:\n\t@%p1 bra $L__BB0_2;\n";
  EXPECT_EQ(checkLate(address + loop + other + waiting +
                      "\tst.global.b32 [%rd3], %r2;\n\tret;\n"),
            "");
  EXPECT_EQ(checkLate(other + waiting + "\tret;\n"), "");
  for (std::string access :
       {"st.global.b32 [%rd3], %r2", "@%p1 ld.global.b32 %r2, [%rd3+8]",
        "red.global.add.u32 [%rd2], 1",
        "{ .reg .b32 x; ld.global.b32 x, [%rd1]",
        "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [k_param_0, "
        "{%r2}], [%r4]"})
    EXPECT_THAT(checkLate(address + other + "\t" + access + ";\n" + waiting),
                HasSubstr("does not wait ahead of: "))
        << access;
  EXPECT_THAT(checkLate(other), HasSubstr("does not wait"));
}
