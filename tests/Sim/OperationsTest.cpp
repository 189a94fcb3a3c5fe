// What single operations do on device `sim`, and what it refuses.
// SPDX-License-Identifier: MIT
#include "compiler/Sim/Simulator.h"

#include <cmath>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

namespace selvedge::testing {
namespace {

using ::testing::HasSubstr;

/// A warp with 32 words of input and of output, and 256 bytes of shared memory.
struct Outcome {
  std::string fault;
  std::array<uint32_t, 32> words;
};

constexpr size_t bytes = 128;

/// `body` finds its thread in %tid, its words at %from and %to, and the bytes
/// of shared memory from %base on, at %shared.
Outcome run(const std::string &body,
            const std::function<void(sim::Region &)> &prepare = nullptr,
            const std::optional<std::string> &before = std::nullopt) {
  auto kernel = [](const std::string &name, const std::string &code) {
    return "llvm.func @" + name +
           R"((%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 32, 1, 1>} {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c2 = arith.constant 2 : i32
      %c4 = arith.constant 4 : i32
      %all = arith.constant -1 : i32
      %shared = llvm.mlir.addressof @selvedge_smem : !llvm.ptr<3>
      %base = llvm.ptrtoint %shared : !llvm.ptr<3> to i32
      %tid = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"() : () -> i32
      %offset = arith.muli %tid, %c4 : i32
      %wide = arith.extsi %offset : i32 to i64
      %from = llvm.getelementptr %in[%wide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
      %to = llvm.getelementptr %out[%wide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
      %mine = arith.addi %base, %offset : i32
)" + code + "\nllvm.return\n}\n";
  };
  std::string text = R"(
    llvm.mlir.global external @selvedge_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
)" + kernel("kernel", body) +
                     (before ? kernel("before", *before) : "");
  Outcome outcome = {};
  auto simulator = sim::Simulator::loadText(text, outcome.fault);
  if (!simulator)
    return outcome;
  sim::GlobalMemory memory;
  sim::Region in{"in", std::vector<uint8_t>(bytes),
                 std::vector<sim::State>(bytes, sim::State::Defined)};
  for (uint32_t i = 0; i < bytes / 4; ++i)
    std::memcpy(in.bytes.data() + 4 * size_t(i), &i, 4);
  if (prepare)
    prepare(in);
  sim::Region out{"out", std::vector<uint8_t>(bytes),
                  std::vector<sim::State>(bytes, sim::State::Undefined)};
  out.isWritable = true;
  sim::Launch launch;
  launch.kernel = "kernel";
  launch.threads = 32;
  launch.sharedBytes = 256;
  uint64_t inAddress = memory.add(std::move(in)),
           outAddress = memory.add(std::move(out));
  launch.arguments = {{inAddress}, {outAddress}};
  if (before) {
    sim::Launch first = launch;
    first.kernel = "before";
    outcome.fault = simulator->run(first, memory, sim::Schedule(0));
    EXPECT_EQ(outcome.fault, "");
    launch.isDependent = true;
  }
  outcome.fault = simulator->run(launch, memory, sim::Schedule(0));
  std::memcpy(outcome.words.data(), memory.at(outAddress).bytes.data(), bytes);
  return outcome;
}

const std::string load =
    R"(%v = llvm.inline_asm has_side_effects "ld.global.b32 $0, [$1];", "=r,l" %from : (!llvm.ptr<1>) -> i32
)";
const std::string loadShared =
    R"(%s = llvm.inline_asm has_side_effects "ld.shared.b32 $0, [$1];", "=r,r" %mine : (i32) -> i32
)";

/// Stores a word per thread.
std::string store(const std::string &value) {
  return R"(llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %)" +
         value + ", %to : (i32, !llvm.ptr<1>) -> ()\n";
}

/// The words that threads store in `%r` behind `body`.
std::array<uint32_t, 32> valuesOf(const std::string &body) {
  Outcome outcome = run(load + body + "\n" + store("r"));
  EXPECT_EQ(outcome.fault, "");
  return outcome.words;
}

TEST(SimOperations, DependentLaunchesWait) {
  const std::string wait =
      R"(llvm.inline_asm has_side_effects "griddepcontrol.wait;", "~{memory}" : () -> ()
)";
  auto faultOf = [](const std::string &body,
                    const std::string &before = store("tid")) {
    return run(body, nullptr, before).fault;
  };
  const std::string loadOut =
      R"(%o = llvm.inline_asm has_side_effects "ld.global.b32 $0, [$1];", "=r,l" %to : (!llvm.ptr<1>) -> i32
)";
  EXPECT_EQ(faultOf(wait + load + store("v")), "");
  // What the launch before only reads may be read, what it writes may not.
  EXPECT_EQ(faultOf(load + wait + store("v"), load + store("v")), "");
  EXPECT_THAT(faultOf(loadOut + wait + store("o")),
              HasSubstr("thread 0 reads 'out' before it has waited for "
                        "launches before"));
  EXPECT_THAT(faultOf(store("tid") + wait),
              HasSubstr("writes to 'out' before it has waited"));
  EXPECT_THAT(faultOf(store("tid") + wait, loadOut),
              HasSubstr("writes to 'out' before it has waited"));
  EXPECT_EQ(faultOf(store("tid") + wait, load), "");
  // Some thread waits, and each one before it does such a thing.
  const std::string some = R"(
    %isFirst = arith.cmpi eq, %tid, %c0 : i32
    scf.if %isFirst {
    )" + wait + "}\n";
  EXPECT_EQ(faultOf(some), "");
  EXPECT_THAT(faultOf(some + store("tid")),
              HasSubstr("thread 1 writes to 'out' before"));
  EXPECT_THAT(faultOf(load), HasSubstr("has not waited for the launch before"));
  // Other launches need no wait.
  EXPECT_EQ(run(load + store("v")).fault, "");
  // To admit the next one is no wait.
  const std::string admit =
      R"(llvm.inline_asm has_side_effects "griddepcontrol.launch_dependents;", "~{memory}" : () -> ()
)";
  EXPECT_EQ(faultOf(admit + wait + store("tid")), "");
  EXPECT_THAT(faultOf(admit + store("tid")), HasSubstr("before it has waited"));
}

TEST(SimOperations, Integers) {
  auto words = valuesOf(R"(
    %c7 = arith.constant 7 : i32
    %m3 = arith.constant -3 : i32
    %a = arith.subi %v, %c7 : i32
    %q = arith.ceildivsi %a, %m3 : i32
    %f = arith.floordivsi %a, %m3 : i32
    %s = arith.shrsi %a, %c1 : i32
    %x = arith.muli %q, %c4 : i32
    %y = arith.addi %x, %f : i32
    %r = arith.xori %y, %s : i32)");
  for (int i = 0; i < 32; ++i) {
    int a = i - 7;
    auto ceil = static_cast<int>(std::ceil(a / -3.0)),
         floor = static_cast<int>(std::floor(a / -3.0));
    EXPECT_EQ(static_cast<int>(words[i]), (ceil * 4 + floor) ^ (a >> 1)) << i;
  }
}

TEST(SimOperations, Magnitudes) {
  auto words = valuesOf(R"(
    %least = arith.constant -2147483648 : i32
    %c7 = arith.constant 7 : i32
    %a = arith.subi %v, %c7 : i32
    %is = arith.cmpi eq, %v, %c7 : i32
    %b = arith.select %is, %least, %a : i32
    %r = math.absi %b : i32)");
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(words[i], i == 7 ? 0x80000000U : unsigned(std::abs(i - 7))) << i;
}

TEST(SimOperations, Maxima) {
  // NaN passes through maximumf, and not through maxnumf.
  auto words = valuesOf(R"(
    %nan = arith.constant 0x7FC00000 : f32
    %f = arith.sitofp %v : i32 to f32
    %isOdd = arith.trunci %v : i32 to i1
    %b = arith.select %isOdd, %nan, %f : f32
    %m = arith.maximumf %f, %b : f32
    %n = arith.maxnumf %f, %b : f32
    %isNaN = arith.cmpf uno, %m, %m : f32
    %same = arith.cmpf oeq, %n, %f : f32
    %p = arith.extui %isNaN : i1 to i32
    %q = arith.extui %same : i1 to i32
    %t = arith.shli %q, %c1 : i32
    %r = arith.ori %p, %t : i32)");
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(words[i], 2 | (i & 1)) << i;
}

TEST(SimOperations, Narrowing) {
  // Ties go to even; what saturates has no Inf.
  auto words = valuesOf(R"(
    %tie = arith.constant 257.0 : f32
    %inf = arith.constant 0x7F800000 : f32
    %p = llvm.call_intrinsic "llvm.nvvm.ff2bf16x2.rn"(%inf, %tie) : (f32, f32) -> vector<2xbf16>
    %q = llvm.call_intrinsic "llvm.nvvm.ff2bf16x2.rn.satfinite"(%inf, %tie) : (f32, f32) -> vector<2xbf16>
    %isOdd = arith.trunci %v : i32 to i1
    %x = llvm.bitcast %p : vector<2xbf16> to i32
    %y = llvm.bitcast %q : vector<2xbf16> to i32
    %r = arith.select %isOdd, %y, %x : i32)");
  EXPECT_EQ(words[0], 0x7F804380U);
  EXPECT_EQ(words[1], 0x7F7F4380U);
  words = valuesOf(R"(
    %least = arith.constant 5.9604645e-08 : f32
    %most = arith.constant 65520.0 : f32
    %p = llvm.call_intrinsic "llvm.nvvm.ff2f16x2.rn"(%most, %least) : (f32, f32) -> vector<2xf16>
    %r = llvm.bitcast %p : vector<2xf16> to i32)");
  EXPECT_EQ(words[0], 0x7C000001U);
}

TEST(SimOperations, Shuffles) {
  auto words = valuesOf(R"(
    %c31 = arith.constant 31 : i32
    %c5 = arith.constant 5 : i32
    %a = llvm.call_intrinsic "llvm.nvvm.shfl.sync.bfly.i32"(%all, %v, %c5, %c31) : (i32, i32, i32, i32) -> i32
    %b = llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32"(%all, %v, %c2, %c31) : (i32, i32, i32, i32) -> i32
    %t = arith.muli %b, %c31 : i32
    %r = arith.addi %a, %t : i32)");
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(words[i], (i ^ 5) + 62) << i;
}

// The bits of a segment are those of the lane that reads.
TEST(SimOperations, ShufflesInSegments) {
  auto words = valuesOf(R"(
    %c12 = arith.constant 12 : i32
    %lowest2 = arith.constant 799 : i32
    %r = llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32"(%all, %v, %c12, %lowest2) : (i32, i32, i32, i32) -> i32)");
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(words[i], (i & 3) | 12) << i;
}

TEST(SimOperations, LoopsOfLanesThatPart) {
  auto words = valuesOf(R"(
    %r = scf.for %i = %c0 to %v step %c1 iter_args(%sum = %c0) -> (i32) : i32 {
      %isOdd = arith.trunci %i : i32 to i1
      %next = scf.if %isOdd -> i32 {
        %more = arith.addi %sum, %i : i32
        scf.yield %more : i32
      } else {
        scf.yield %sum : i32
      }
      scf.yield %next : i32
    })");
  uint32_t sum = 0;
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(words[i], sum) << i;
    sum += i & 1 ? i : 0;
  }
}

TEST(SimOperations, BitsThatAreKnownAnyway) {
  // A select that drops undefined bits, a zero that hides them, the other half
  // of a word.
  EXPECT_EQ(run(load + loadShared + R"(
    %isAny = arith.cmpi sge, %v, %c0 : i32
    %r = arith.select %isAny, %v, %s : i32
)" + store("r"))
                .fault,
            "");
  EXPECT_EQ(run(loadShared + R"(
    %r = arith.andi %s, %c0 : i32
)" + store("r"))
                .fault,
            "");
  EXPECT_EQ(run(load + loadShared + R"(
    %c16 = arith.constant 16 : i32
    %low = arith.shrui %s, %c16 : i32
    %half = arith.trunci %low : i32 to i16
    %w = llvm.bitcast %v : i32 to vector<2xi16>
    %x = llvm.insertelement %half, %w[%c1 : i32] : vector<2xi16>
    %y = llvm.extractelement %x[%c0 : i32] : vector<2xi16>
    %r = arith.extui %y : i16 to i32
)" + store("r"))
                .fault,
            "");
}

/// The counters are word 4 (of 4) and words 6 and 7 (of 7 * 2^32 + 6).
TEST(SimOperations, Atomics) {
  auto valuesOf = [](const std::string &operation, const std::string &type) {
    std::string body = type == "i32" ? R"(
      %at = llvm.getelementptr %in[16] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
      %by = arith.addi %tid, %c2 : i32
      %old = llvm.inline_asm has_side_effects "OPERATION $0, [$1], $2;", "=r,l,r,~{memory}" %at, %by : (!llvm.ptr<1>, i32) -> i32
)"
                                     : R"(
      %at = llvm.getelementptr %in[24] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
      %high = arith.constant 0x700000000 : i64
      %six = arith.constant 6 : i64
      %first = arith.constant 0x700000006 : i64
      %tid64 = arith.extui %tid : i32 to i64
      %up = arith.addi %tid64, %high : i64
      %by = arith.subi %up, %six : i64
      %o = llvm.inline_asm has_side_effects "OPERATION $0, [$1], $2;", "=l,l,l,~{memory}" %at, %by : (!llvm.ptr<1>, i64) -> i64
      %difference = arith.subi %first, %o : i64
      %old = arith.trunci %difference : i64 to i32
)";
    size_t place = body.find("OPERATION");
    body.replace(place, 9, "atom.relaxed.gpu.global." + operation);
    if (operation.starts_with("cas"))
      body.replace(body.find("], $2"), 5, "], $2, $2");
    Outcome outcome = run(body + store("old"), [](sim::Region &in) {
      in.isWritable = in.isAtomic = true;
    });
    EXPECT_EQ(outcome.fault, "");
    return outcome.words;
  };
  auto sums = valuesOf("add.u32", "i32"), swaps = valuesOf("cas.b32", "i32"),
       least = valuesOf("min.u32", "i32"),
       wideLeast = valuesOf("min.u64", "i64"),
       wideSums = valuesOf("add.u64", "i64");
  uint32_t sum = 4;
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(sums[i], sum) << i;
    sum += i + 2;
    EXPECT_EQ(least[i], i == 0 ? 4U : 2U) << i;
    EXPECT_EQ(swaps[i], 4U) << i;
    // 7 * 2^32 - 6, of which 12 less than the first value, is never replaced.
    EXPECT_EQ(wideLeast[i], i == 0 ? 0U : 12U) << i;
  }
  EXPECT_EQ(wideSums[1], static_cast<uint32_t>(-0x6FFFFFFFA));
}

TEST(SimOperations, CompareAndSwap) {
  Outcome outcome =
      run(R"(
    %nine = arith.constant 9 : i64
    %at = llvm.getelementptr %in[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %first = arith.constant 0x300000002 : i64
    %o = llvm.inline_asm has_side_effects "atom.relaxed.gpu.global.cas.b64 $0, [$1], $2, $3;", "=l,l,l,l,~{memory}" %at, %first, %nine : (!llvm.ptr<1>, i64, i64) -> i64
    %old = arith.trunci %o : i64 to i32
)" + store("old"),
          [](sim::Region &in) { in.isWritable = in.isAtomic = true; });
  EXPECT_EQ(outcome.fault, "");
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(outcome.words[i], i == 0 ? 2U : 9U) << i;
}

TEST(SimOperations, AtomicsNeedCounters) {
  auto faultOf = [](const std::function<void(sim::Region &)> &prepare) {
    return run(R"(
      %old = llvm.inline_asm has_side_effects "atom.relaxed.gpu.global.add.u32 $0, [$1], $2;", "=r,l,r,~{memory}" %in, %c1 : (!llvm.ptr<1>, i32) -> i32
)" + store("old"),
               prepare)
        .fault;
  };
  EXPECT_THAT(faultOf(nullptr), HasSubstr("writes to input 'in'"));
  EXPECT_THAT(faultOf([](sim::Region &in) {
                in.isWritable = true;
                in.writer.assign(in.bytes.size(), 0);
              }),
              HasSubstr("'in', which is no counter"));
  EXPECT_THAT(faultOf([](sim::Region &in) {
                in.isWritable = in.isAtomic = true;
                in.state[0] = sim::State::Undefined;
              }),
              HasSubstr("byte 0 of 'in', which is undefined"));
}

TEST(SimOperations, WideLoads) {
  const std::string body = R"(
    %c8 = arith.constant 8 : i64
    %c32 = arith.constant 32 : i64
    %last = arith.constant 15 : i32
    %row = arith.andi %tid, %last : i32
    %row64 = arith.extui %row : i32 to i64
    %place = arith.muli %row64, %c8 : i64
    %at = llvm.getelementptr %in[%place] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    %w = llvm.inline_asm has_side_effects "ld.global.b64 $0, [$1];", "=l,l" %at : (!llvm.ptr<1>) -> i64
    %high = arith.shrui %w, %c32 : i64
    %v = arith.trunci %high : i64 to i32
)" + store("v");
  Outcome outcome = run(body);
  EXPECT_EQ(outcome.fault, "");
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(outcome.words[i], 2 * (i % 16) + 1) << i;
  // A byte that is not defined leaves none that is.
  EXPECT_THAT(
      run(body, [](sim::Region &in) { in.state[0] = sim::State::Undefined; })
          .fault,
      HasSubstr("stores undefined bits"));
}

struct Fault {
  const char *name;
  std::string body;
  const char *message;
};

class SimFaults : public ::testing::TestWithParam<Fault> {};

TEST_P(SimFaults, IsRefused) {
  std::string fault = run(GetParam().body, [](sim::Region &in) {
                        in.state[127] = sim::State::Outside;
                      }).fault;
  EXPECT_THAT(fault, HasSubstr(GetParam().message));
}

const std::string undefinedTest = loadShared + R"(
  %u = arith.cmpi eq, %s, %c0 : i32
)";

INSTANTIATE_TEST_SUITE_P(
    Kernels, SimFaults,
    ::testing::Values(
        Fault{"BetweenRows", load,
              "thread 31 reads out of bounds: byte 127 of 'in' lies between "
              "the rows"},
        Fault{"PastTheEnd", R"(
          %past = llvm.getelementptr %from[128] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
          %v = llvm.inline_asm has_side_effects "ld.global.b32 $0, [$1];", "=r,l" %past : (!llvm.ptr<1>) -> i32)",
              "thread 0 reads out of bounds: bytes 128..131 are outside of "
              "'in', which has 128"},
        Fault{"Null", R"(
          %null = llvm.mlir.zero : !llvm.ptr<1>
          %v = llvm.inline_asm has_side_effects "ld.global.b32 $0, [$1];", "=r,l" %null : (!llvm.ptr<1>) -> i32)",
              "the address is null"},
        Fault{"MisalignedVector", R"(
          %s2 = llvm.inline_asm has_side_effects "ld.global.v2.b32 {$0, $1}, [$2];", "=r,=r,l" %from : (!llvm.ptr<1>) -> !llvm.struct<(i32, i32)>)",
              "thread 1 reads out of bounds: byte 4 of 'in' is not aligned to "
              "8 bytes"},
        Fault{"ToInput", R"(
          llvm.inline_asm has_side_effects "st.global.b32 [$1], $0;", "r,l,~{memory}" %tid, %from : (i32, !llvm.ptr<1>) -> ())",
              "writes to input 'in'"},
        Fault{"Twice", store("tid") + store("tid"),
              "which this launch has written before"},
        Fault{"SharedPastTheEnd", R"(
          %c256 = arith.constant 256 : i32
          %past = arith.addi %mine, %c256 : i32
          llvm.inline_asm has_side_effects "st.shared.b32 [$0], $1;", "r,r,~{memory}" %past, %tid : (i32, i32) -> ())",
              "is out of bounds: byte 256 of shared memory, of which the block "
              "has 256"},
        Fault{"SharedMisaligned", R"(
          %past = arith.addi %mine, %c2 : i32
          llvm.inline_asm has_side_effects "st.shared.b32 [$0], $1;", "r,r,~{memory}" %past, %tid : (i32, i32) -> ())",
              "is not aligned to 4 bytes: byte 2 of shared memory"},
        Fault{"UndefinedBranch", undefinedTest + R"(
          scf.if %u {
          })",
              "has undefined bits where a branch depends on them"},
        Fault{
            "UndefinedGuard", undefinedTest + R"(
          llvm.inline_asm has_side_effects "@$2 st.global.b32 [$1], $0;", "r,l,b,~{memory}" %tid, %to, %u : (i32, !llvm.ptr<1>, i1) -> ())",
            "has undefined bits where whether it is executed depends on them"},
        Fault{"UndefinedAddress", loadShared + R"(
          %z = llvm.inline_asm has_side_effects "ld.shared.b32 $0, [$1];", "=r,r" %s : (i32) -> i32)",
              "has undefined bits where an address depends on them"},
        Fault{"UndefinedResult", loadShared + store("s"),
              "stores undefined bits to byte 0 of 'out'"},
        Fault{"UndefinedSum",
              loadShared + "%r = arith.addi %s, %tid : i32\n" + store("r"),
              "stores undefined bits"},
        Fault{"UndefinedVote", undefinedTest + R"(
          %any = llvm.call_intrinsic "llvm.nvvm.vote.any.sync"(%all, %u) : (i32, i1) -> i1
          scf.if %any {
          })",
              "has undefined bits where a branch depends on them"},
        Fault{"Poison", "%p = llvm.mlir.poison : i32\n" + store("p"),
              "stores undefined bits"},
        Fault{"Division", "%q = arith.divui %c4, %tid : i32",
              "divides by zero"},
        Fault{"Trap",
              R"(llvm.inline_asm has_side_effects "trap;", "" : () -> ())",
              "executes a trap"},
        Fault{"MissingLanes", R"(
          %isFirst = arith.cmpi eq, %tid, %c0 : i32
          scf.if %isFirst {
            llvm.call_intrinsic "llvm.nvvm.bar.warp.sync"(%all) : (i32) -> ()
          }
          llvm.call_intrinsic "llvm.nvvm.bar.warp.sync"(%all) : (i32) -> ())",
              "deadlock: thread 0 waits for the other lanes of warp 0"},
        Fault{"NoBarrier", R"(
          llvm.inline_asm has_side_effects "mbarrier.arrive.shared::cta.b64 _, [$0];", "r,~{memory}" %base : (i32) -> ())",
              "names byte 0 of shared memory, where no mbarrier is"},
        Fault{"WordOfBarrier", R"(
          %isFirst = arith.cmpi eq, %tid, %c0 : i32
          scf.if %isFirst {
            llvm.inline_asm has_side_effects "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,~{memory}" %base, %c1 : (i32, i32) -> ()
            %w = llvm.inline_asm has_side_effects "ld.shared.b32 $0, [$1];", "=r,r" %base : (i32) -> i32
          })",
              "accesses the mbarrier at byte 0 of shared memory"},
        Fault{"CopyInFlight", R"(
          %c16 = arith.constant 16 : i32
          %isFirst = arith.cmpi eq, %tid, %c0 : i32
          scf.if %isFirst {
            llvm.inline_asm has_side_effects "cp.async.cg.shared.global [$0], [$1], 16, $2;", "r,l,r,~{memory}" %base, %in, %c16 : (i32, !llvm.ptr<1>, i32) -> ()
          }
          llvm.call_intrinsic "llvm.nvvm.cp.async.commit.group"() : () -> ())",
              "ends while a copy of thread 0 writes to its shared memory"},
        Fault{"Unknown",
              R"(llvm.inline_asm has_side_effects "membar.gl;", "" : () -> ())",
              "device 'sim' does not know 'membar.gl'"},
        Fault{"UnknownOperation",
              "%p = llvm.inttoptr %wide : i64 to !llvm.ptr<1>",
              "device 'sim' does not know"}),
    [](const auto &info) { return info.param.name; });

} // namespace
} // namespace selvedge::testing
