// Bytes of outputs and temps that kernels initialise, against those that device
// `ref` says have to be: an element that is loaded, or added to, before any
// kernel stores it, and one of an output that no kernel stores.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/Compiler.h"
#include "compiler/Frontend/Frontend.h"
#include "compiler/Physical/Physical.h"
#include "compiler/Reference/Memory.h"
#include "compiler/Reference/Reference.h"

#include "mlir/IR/MLIRContext.h"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <random>

using namespace mlir;

namespace selvedge::testing {
namespace {

/// An op at one shape, which may have more dims than the op. Integers that are
/// not given are 0.
struct Case {
  std::string file, op;
  std::map<std::string, std::string> bindings;
  std::map<std::string, int64_t> dims;
  std::map<std::string, std::vector<double>> integers = {};
};

std::ostream &operator<<(std::ostream &os, const Case &c) {
  os << c.op;
  for (const auto &[name, value] : c.bindings)
    os << ' ' << name << '=' << value;
  for (const auto &[name, value] : c.dims)
    os << ' ' << name << '=' << value;
  return os;
}

class Initialised
    : public ::testing::TestWithParam<std::tuple<Case, std::string>> {
protected:
  void SetUp() override {
    const auto &[given, arch] = GetParam();
    request.fileName = std::string(SELVEDGE_TEMPLATES) + "/" + given.file;
    std::ifstream stream(request.fileName);
    ASSERT_TRUE(stream.good());
    request.source.assign(std::istreambuf_iterator<char>(stream), {});
    request.op = given.op;
    request.bindings = given.bindings;
    request.arch = arch;
  }

  /// Numbers for every input that is not optional; the weights of a
  /// log-sum-exp of 6 are sensible.
  std::vector<HostTensor> inputs(tile::ProgramOp program) {
    const Case &given = std::get<0>(GetParam());
    SmallVector<int64_t> extents;
    for (auto name : program.getDims().getAsRange<StringAttr>())
      extents.push_back(dims(program).at(name.str()));
    std::mt19937 random(1);
    std::vector<HostTensor> made;
    for (auto arg : program.getTensors().getAsRange<tile::TensorArgAttr>()) {
      std::string name = arg.getName().str();
      auto integers = given.integers.find(name);
      bool isInput =
          arg.getRole() == tile::Role::In || arg.getRole() == tile::Role::InOut;
      if (!isInput || (arg.getIsOptional() && integers == given.integers.end()))
        continue;
      HostTensor tensor;
      tensor.name = name;
      int64_t count = 1;
      for (AffineExpr extent : arg.getShape().getResults()) {
        tensor.shape.push_back(
            llvm::cantFail(reference::evaluateAffine(extent, extents)));
        count *= tensor.shape.back();
      }
      for (int64_t i = 0; i < count; ++i)
        tensor.values.push_back(
            integers != given.integers.end()
                ? integers->second[i % integers->second.size()]
            : !isa<FloatType>(arg.getElementType()) ? 0
            : name == "lse"                         ? 6
                            : static_cast<double>(random() % 9) / 4 - 1);
      made.push_back(std::move(tensor));
    }
    return made;
  }

  /// Those dims of the case that the op has, and 1 for sums along dimensions of
  /// inputs.
  std::map<std::string, int64_t> dims(tile::ProgramOp program) {
    std::map<std::string, int64_t> found;
    for (auto name : program.getDims().getAsRange<StringAttr>()) {
      auto given = std::get<0>(GetParam()).dims.find(name.str());
      found[name.str()] =
          given == std::get<0>(GetParam()).dims.end() ? 1 : given->second;
    }
    return found;
  }

  CompileRequest request;
};

TEST_P(Initialised, IsWhatIsNeeded) {
  const auto &[given, arch] = GetParam();
  MLIRContext context;
  std::string diagnostics, text;
  frontend::Input input;
  input.fileName = request.fileName;
  input.source = request.source;
  input.op = request.op;
  input.bindings = &request.bindings;
  OwningOpRef<ModuleOp> module =
      frontend::buildModule(context, input, diagnostics);
  ASSERT_TRUE(module) << diagnostics;
  tile::ProgramOp program = *module->getOps<tile::ProgramOp>().begin();
  std::vector<HostTensor> tensors = inputs(program), outputs;

  physical::Footprint needed, initialised;
  ReferenceOptions ask;
  ask.initial = &needed;
  ASSERT_TRUE(interpretProgram(program, dims(program), {}, tensors, outputs,
                               diagnostics, ask))
      << diagnostics;

  ASSERT_EQ(emitText(request, Emit::SmAsync, text).status, CompileStatus::Ok);
  physical::Options options;
  options.initialised = &initialised;
  ASSERT_TRUE(physical::runText(text, dims(program), {}, tensors, outputs,
                                diagnostics, options))
      << diagnostics;

  for (auto arg : program.getTensors().getAsRange<tile::TensorArgAttr>()) {
    std::string name = arg.getName().str();
    auto found = needed.find(name);
    if (found == needed.end())
      continue;
    std::vector<uint8_t> made = initialised[name];
    made.resize(found->second.size());
    int64_t missing = 0, more = 0, all = 0;
    for (auto [isNeeded, isMade] : llvm::zip_equal(found->second, made)) {
      missing += isNeeded && !isMade;
      more += isMade && !isNeeded;
      all += isMade;
    }
    int64_t size = tile::bytesOf(arg.getElementType());
    std::cout << given << ' ' << arch << ": " << name << ": " << all * size
              << " of " << made.size() * size << " bytes initialised, "
              << (all - more + missing) * size << " needed\n";
    EXPECT_EQ(missing, 0) << name;
    EXPECT_EQ(more, 0) << name;
  }
}

using Ints = std::vector<double>;

std::vector<Case> cases() {
  std::map<std::string, std::string> d{{"D", "64"}};
  auto with = [&](std::map<std::string, std::string> bindings) {
    bindings.insert(d.begin(), d.end());
    return bindings;
  };
  std::map<std::string, int64_t> dense{
      {"B", 2}, {"M", 70}, {"N", 100}, {"G", 1}, {"R", 2}},
      packed{{"B", 3}, {"Q", 150}, {"K", 200}, {"G", 1}, {"R", 2}, {"L", 50}},
      full{{"B", 3}, {"Q", 90}, {"K", 128}, {"G", 1}, {"R", 2}, {"L", 40}},
      lists{{"B", 1}, {"M", 70}, {"N", 100}, {"G", 1},
            {"R", 2}, {"MQ", 2}, {"MK", 2}},
      allLists = lists;
  allLists["MQ"] = 3;
  std::map<std::string, Ints> segments{{"cu_q", {3, 40, 40, 77}},
                                       {"cu_k", {5, 65, 80, 170}}},
      whole{{"cu_q", {0, 40, 40, 90}}, {"cu_k", {0, 60, 80, 128}}},
      entries{{"cnt", {1, 2, 0}}, {"idx", {2, 0, 1}}};
  std::string inAnyOrder = "false";
  std::map<std::string, std::string> blocks{{"BQ", "32"}, {"BK", "32"}};
  auto adding = [&](std::map<std::string, std::string> bindings) {
    bindings["deterministic"] = "false";
    return with(bindings);
  };
  std::map<std::string, Ints> pages{{"table", {3, 0, 5, 1, 4, 2}},
                                    {"kv_len", {150, 33}},
                                    {"cu_q", {2, 20, 61}}};
  std::map<std::string, int64_t> paged{{"B", 2},  {"M", 5},  {"G", 1},
                                       {"R", 4},  {"NP", 6}, {"MP", 3},
                                       {"Q", 70}, {"S", 3}},
      decode{{"B", 2}, {"M", 5}, {"N", 100}, {"G", 1}, {"R", 4}, {"S", 3}};
  std::map<std::string, Ints> lengths{{"kv_len", {100, 41}}};
  auto causal = adding({{"causal", "true"}});
  return {
      {"matmul.tile", "matmul", {}, {{"M", 70}, {"N", 40}, {"K", 90}}},
      {"softmax.tile", "softmax", {}, {{"M", 70}, {"N", 40}}},
      {"flash_fwd.tile", "flash_fwd", d, dense, lengths},
      {"flash_masked.tile", "flash_masked", d, dense, lengths},
      {"flash_decode.tile", "flash_decode", d, decode, lengths},
      {"paged_decode.tile", "paged_decode", d, paged, pages},
      {"flash_paged.tile", "flash_paged", d, paged, pages},
      {"flash_varlen_paged.tile", "flash_varlen_paged", d, paged, pages},
      {"flash_varlen.tile", "flash_varlen", d, packed, segments},
      {"flash_varlen.tile", "flash_varlen", d, full, whole},
      {"flash_varlen.tile", "flash_varlen_padded", d, packed, segments},
      {"flash_varlen.tile", "flash_varlen_padded", d, full, whole},
      {"flash_blocksparse.tile", "flash_blocksparse", with(blocks), lists,
       entries},
      {"flash_blocksparse.tile", "flash_blocksparse", with(blocks), allLists,
       entries},
      {"flash_bwd.tile", "flash_bwd", d, dense, lengths},
      {"flash_bwd.tile", "flash_bwd", causal, dense, lengths},
      {"flash_bwd.tile", "flash_bwd", {{"D", "256"}}, dense},
      {"flash_masked.tile", "grad(flash_masked_bias)", d, dense},
      {"flash_variants.tile", "grad(sinks)", d, dense},
      {"flash_variants.tile", "grad(biased)", d, dense},
      {"flash_variants.tile", "grad(qk_norm)", adding({}), dense},
      {"flash_bwd_varlen.tile", "flash_bwd_varlen", d, packed, segments},
      {"flash_bwd_varlen.tile", "flash_bwd_varlen", adding({}), packed,
       segments},
      {"flash_bwd_varlen.tile", "flash_bwd_varlen", adding({}), full, whole},
      {"flash_bwd_varlen.tile", "flash_bwd_varlen_padded", d, packed, segments},
      {"flash_bwd_blocksparse.tile", "flash_bwd_blocksparse", with(blocks),
       lists, entries},
      {"flash_bwd_blocksparse.tile", "flash_bwd_blocksparse", with(blocks),
       allLists, entries},
      {"flash_bwd_blocksparse.tile", "flash_bwd_blocksparse", adding(blocks),
       lists, entries},
      {"flash_bwd_blocksparse.tile", "flash_bwd_blocksparse",
       with({{"BQ", "32"}, {"BK", "48"}, {"apart", "true"}}), lists, entries},
  };
}

INSTANTIATE_TEST_SUITE_P(Templates, Initialised,
                         ::testing::Combine(::testing::ValuesIn(cases()),
                                            ::testing::Values("sm_80",
                                                              "sm_90a")));

} // namespace
} // namespace selvedge::testing
