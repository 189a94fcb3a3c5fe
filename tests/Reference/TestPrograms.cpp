// Small tile programs for the tests of device `ref`.
// SPDX-License-Identifier: MIT
#include "TestPrograms.h"

#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <bit>
#include <random>

using namespace mlir;

namespace selvedge::testing {

namespace {

std::string aliases() {
  std::string text;
  const std::pair<const char *, const char *> elements[] = {
      {"f", "f32"}, {"h", "f16"}, {"b", "bf16"}, {"n", "i32"}, {"p", "i1"}};
  for (std::string axes : {"i", "j", "d", "ij", "id", "jd"}) {
    text += "#" + axes + " = #tile.axes<";
    std::string extents;
    for (char axis : axes) {
      text += (extents.empty() ? "\"" : ", \"") + std::string(1, axis) + "\"";
      extents += "?x";
    }
    text += ">\n";
    for (auto [letter, element] : elements)
      text += "!" + std::string(letter) + axes + " = tensor<" + extents +
              element + ", #" + axes + ">\n";
  }
  return text;
}

/// `()[s0, ...] -> (...)` of dims or numbers.
std::string mapOf(const std::vector<std::string> &results,
                  const std::vector<std::string> &dims) {
  std::string symbols, values;
  for (size_t i = 0; i < dims.size(); ++i)
    symbols += (i ? ", s" : "s") + std::to_string(i);
  for (const std::string &result : results) {
    auto dim = llvm::find(dims, result);
    values += values.empty() ? "" : ", ";
    values +=
        dim == dims.end() ? result : "s" + std::to_string(dim - dims.begin());
  }
  return "()[" + symbols + "] -> (" + values + ")";
}

std::string kernelText(const Kernel &kernel, const Program &program,
                       size_t number) {
  std::vector<std::string> ranges, axes, arguments;
  for (const Range &range : kernel.ranges)
    ranges.push_back(
        "#tile.iter<name = \"" + range.name +
        "\", extent = " + mapOf({range.dim}, program.dims) +
        (range.block.empty() ? "" : ", block = \"" + range.block + "\"") + ">");
  for (const std::string &axis : kernel.axes) {
    std::string size = axis.substr(2);
    bool isExtent = llvm::isDigit(size[0]);
    axes.push_back(
        "#tile.axis<name = \"" + axis.substr(0, 1) + "\", " +
        (isExtent ? "extent = " + size : "block = \"" + size + "\"") + ">");
  }
  for (const std::string &dim : program.dims)
    arguments.push_back("%" + dim + ": i32");
  for (const Arg &arg : program.tensors)
    arguments.push_back("%" + arg.name + ": !tile.tensor<" +
                        std::to_string(arg.shape.size()) + ", " + arg.type +
                        ">");
  for (const std::string &scalar : program.scalars)
    arguments.push_back("%" + scalar + ": f32");
  for (const Range &range : kernel.ranges)
    arguments.push_back("%" + range.name + "0: i32");
  return "tile.kernel @k" + std::to_string(number) + " ranges [" +
         llvm::join(ranges, ", ") + "] axes [" + llvm::join(axes, ", ") +
         "] {\n^bb0(" + llvm::join(arguments, ", ") + "):\n" + kernel.body +
         "\ntile.return\n}\n";
}

} // namespace

std::string Program::text() const {
  std::vector<std::string> names, args, numbers;
  for (const std::string &dim : dims)
    names.push_back("\"" + dim + "\"");
  for (const Arg &arg : tensors)
    args.push_back("#tile.tensor_arg<name = \"" + arg.name +
                   "\", role = " + arg.role + ", elementType = " + arg.type +
                   ", shape = " + mapOf(arg.shape, dims) +
                   (arg.rest.empty() ? "" : ", " + arg.rest) + ">");
  for (const std::string &scalar : scalars)
    numbers.push_back("#tile.scalar_arg<name = \"" + scalar +
                      "\", type = f32>");
  std::string text =
      aliases() + "tile.program @test dims [" + llvm::join(names, ", ") +
      "] tensors [" + llvm::join(args, ", ") + "] scalars [" +
      llvm::join(numbers, ", ") + "] requires [" + promises + "] params {} {\n";
  for (auto [i, kernel] : llvm::enumerate(kernels))
    text += kernelText(kernel, *this, i);
  return text + "}\n";
}

const HostTensor &Outcome::operator[](const std::string &name) const {
  static const HostTensor none;
  auto it = llvm::find_if(
      outputs, [&](const HostTensor &output) { return output.name == name; });
  return it == outputs.end() ? none : *it;
}

Outcome run(const std::string &text, const std::map<std::string, int64_t> &dims,
            const std::vector<HostTensor> &inputs,
            const ReferenceOptions &options,
            const std::map<std::string, double> &scalars) {
  Outcome outcome;
  MLIRContext context;
  context.loadDialect<tile::TileDialect, arith::ArithDialect, math::MathDialect,
                      scf::SCFDialect>();
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    std::string place;
    llvm::raw_string_ostream(place) << diagnostic.getLocation();
    outcome.diagnostics += place + ": " + diagnostic.str() + "\n";
    return success();
  });
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(text, &context, "test.mlir");
  if (!module)
    return outcome;
  interpretProgram(*module->getOps<tile::ProgramOp>().begin(), dims, scalars,
                   inputs, outcome.outputs, outcome.diagnostics, options);
  return outcome;
}

HostTensor tensor(std::string name, std::vector<int64_t> shape,
                  std::vector<double> values) {
  HostTensor result;
  result.name = std::move(name);
  result.shape = std::move(shape);
  result.values = std::move(values);
  return result;
}

float toBFloat(float value) {
  if (std::isnan(value))
    return value;
  uint32_t bits = std::bit_cast<uint32_t>(value);
  bits += 0x7fff + ((bits >> 16) & 1);
  return std::bit_cast<float>(bits & 0xffff0000u);
}

std::vector<double> randomNumbers(size_t count, unsigned seed, bool bfloat) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<double> numbers(count);
  for (double &number : numbers) {
    float value = normal(engine);
    number = bfloat ? toBFloat(value) : value;
  }
  return numbers;
}

std::string flashForward(const std::string &type, bool causal) {
  char t = type == "bf16" ? 'b' : type == "f16" ? 'h' : 'f';
  std::string id = std::string("!") + t + "id",
              jd = std::string("!") + t + "jd",
              ij = std::string("!") + t + "ij",
              handle = " : !tile.tensor<2, " + type + ">";
  std::string keep = causal ? "%kept" : "%jp";
  std::string keepType = causal ? "!pij" : "!pj";
  Kernel kernel{{{"i", "M", "BM"}}, {"i:BM", "j:BN", "d:8"}, ""};
  kernel.body = R"(
    %zero = arith.constant 0 : i32
    %zf = arith.constant 0.0 : f32
    %mf = arith.constant 0xFF800000 : f32
    %i = tile.range %i0 : !ni
    %Mt = tile.splat %M : i32 -> !ni
    %ip = arith.cmpi slt, %i, %Mt : !ni
    %d = tile.range %zero : !nd
    %ib = tile.broadcast %i : !ni -> !nij
    %shiftt = tile.splat %shift : i32 -> !nij
    %diagonal = arith.addi %ib, %shiftt : !nij
    %Q = tile.load %q[%i, %d : !ni, !nd] where (%ip : !pi))" +
                handle + " -> " + id + R"(
    %m0 = tile.splat %mf : f32 -> !fi
    %l0 = tile.splat %zf : f32 -> !fi
    %a0 = tile.splat %zf : f32 -> !fid
    %scales = tile.splat %scale : f32 -> !fij
    %bn = tile.block_size "BN"
    %m, %l, %a = scf.for %j0 = %zero to %len step %bn
        iter_args(%mi = %m0, %li = %l0, %ai = %a0) -> (!fi, !fi, !fid) : i32 {
      %j = tile.range %j0 : !nj
      %lent = tile.splat %len : i32 -> !nj
      %jp = arith.cmpi slt, %j, %lent : !nj
      %jb = tile.broadcast %j : !nj -> !nij
      %causal = arith.cmpi slt, %jb, %diagonal : !nij
      %jpb = tile.broadcast %jp : !pj -> !pij
      %kept = arith.andi %jpb, %causal : !pij
      %K = tile.load %k[%j, %d : !nj, !nd] where (%jp : !pj))" +
                handle + " -> " + jd + R"(
      %V = tile.load %v[%j, %d : !nj, !nd] where (%jp : !pj))" +
                handle + " -> " + jd + R"(
      %qk = tile.dot %Q, %K over ["d"] : )" +
                id + ", " + jd + R"( -> !fij
      %s = arith.mulf %qk, %scales : !fij
      %w, %mn, %ln, %an = tile.softmax_update %s, %mi, %li rescales (%ai : !fid)
          over "j" where ()" +
                keep + " : " + keepType + R"()
          : !fij, !fi, !fi -> !fij, !fi, !fi, !fid
      )" + (t == 'f' ? "" : "%p = tile.convert %w sat : !fij -> " + ij) +
                R"(
      %acc = tile.dot )" +
                (t == 'f' ? "%w" : "%p") +
                R"(, %V init %an : !fid over ["j"] where (%jp, )" + keep +
                " : !pj, " + keepType + ") : " + ij + ", " + jd + R"( -> !fid
      scf.yield %mn, %ln, %acc : !fi, !fi, !fid
    }
    %O = tile.softmax_normalize %a, %l : !fid, !fi -> !fid
    )" + (t == 'f' ? "" : "%Ot = tile.convert %O sat : !fid -> " + id) +
                R"(
    tile.store )" +
                (t == 'f' ? "%O" : "%Ot") +
                ", %o[%i, %d : !ni, !nd] where (%ip : !pi) : " + id +
                ", !tile.tensor<2, " + type + R"(>
    %lset = tile.softmax_lse %m, %l : !fi, !fi -> !fi
    tile.store %lset, %lse[%i : !ni] where (%ip : !pi) : !fi, !tile.tensor<1, f32>)";
  Program program{{"M", "N", "len", "shift"},
                  {{"q", "in", type, {"M", "8"}},
                   {"k", "in", type, {"N", "8"}},
                   {"v", "in", type, {"N", "8"}},
                   {"o", "out", type, {"M", "8"}, "init = 0.0 : f32"},
                   {"lse", "out", "f32", {"M"}, "init = 0xFF800000 : f32"}},
                  {kernel},
                  {"scale"}};
  return program.text();
}

} // namespace selvedge::testing
