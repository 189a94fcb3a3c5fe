// Physical execution: binds arguments, poisons memory, exports outputs.
// SPDX-License-Identifier: MIT
#include "compiler/Physical/Physical.h"
#include "compiler/Physical/Launch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace selvedge::physical {

using reference::Arguments;
using reference::Tensor;

namespace {

bool isOutput(const Tensor &tensor) {
  return tensor.arg.getRole() == tile::Role::Out ||
         tensor.arg.getRole() == tile::Role::InOut;
}

/// Poison everywhere that the caller's data does not stand: all of outputs and
/// temps, and of inputs what lies outside.
void poisonMemory(Arguments &arguments, PoisonSource &poison,
                  const Footprint *inside) {
  for (Tensor &tensor : arguments.tensors) {
    if (!tensor.present)
      continue;
    Type type = tensor.arg.getElementType();
    bool isData = tensor.arg.getRole() == tile::Role::In ||
                  tensor.arg.getRole() == tile::Role::InOut ||
                  isa_and_nonnull<StringAttr>(tensor.arg.getInit());
    const std::vector<uint8_t> *kept = nullptr;
    if (isData) {
      if (tensor.isWritable() || !inside)
        continue;
      auto it = inside->find(tensor.arg.getName().str());
      if (it == inside->end())
        continue;
      kept = &it->second;
    }
    for (int64_t i = 0; i < tensor.size(); ++i) {
      if (kept && (*kept)[i])
        continue;
      if (tensor.elements.isFloat)
        tensor.elements.values[i] = poison.floating(type);
      else
        tensor.elements.ints[i] = poison.integer(type);
    }
  }
}

HostTensor exportTensor(const Tensor &tensor) {
  HostTensor output;
  output.name = tensor.arg.getName().str();
  output.dtype = reference::dtypeOf(tensor.arg.getElementType()).str();
  output.shape = tensor.shape;
  if (tensor.elements.isFloat)
    output.values = tensor.elements.values;
  for (int64_t integer : tensor.elements.ints)
    output.values.push_back(
        reference::numberOf(integer, tensor.arg.getElementType()));
  return output;
}

/// The one program of the module that is no version of another.
tile::ProgramOp programOf(ModuleOp module) {
  auto programs = llvm::make_filter_range(
      module.getOps<tile::ProgramOp>(),
      [](tile::ProgramOp program) { return program.isBase(); });
  return llvm::hasSingleElement(programs) ? *programs.begin()
                                          : tile::ProgramOp();
}

/// The one host plan of the module.
sm::PlanOp planOf(ModuleOp module) {
  auto plans = module.getOps<sm::PlanOp>();
  return llvm::hasSingleElement(plans) ? *plans.begin() : sm::PlanOp();
}

} // namespace

bool run(ModuleOp module, const std::map<std::string, int64_t> &dims,
         const std::map<std::string, double> &scalars,
         const std::vector<HostTensor> &inputs,
         std::vector<HostTensor> &outputs, std::string &diagnostics,
         const Options &options) {
  outputs.clear();
  auto fail = [&](llvm::Error error) {
    diagnostics += toString(std::move(error));
    return false;
  };
  tile::ProgramOp program = programOf(module);
  sm::PlanOp plan = planOf(module);
  if (!program == !plan) {
    diagnostics += "error: physical execution expects a module with either "
                   "one tile.program or one sm.plan\n";
    return false;
  }
  reference::Signature signature = program ? reference::Signature::of(program)
                                           : reference::Signature::of(plan);
  // Hardware trusts no promise: memory safety must not depend on one.
  signature.checksPromises = false;
  llvm::Expected<Arguments> arguments =
      reference::bindArguments(signature, dims, scalars, inputs);
  if (!arguments)
    return fail(arguments.takeError());
  PoisonSource poison(options.poison, options.seed);
  poisonMemory(*arguments, poison, options.inside);
  if (llvm::Error failure = program
                                ? launchProgram(versionFor(program, *arguments),
                                                *arguments, poison)
                                : launchPlan(plan, options.variant, *arguments,
                                             poison, options.initialised))
    return fail(std::move(failure));
  for (const Tensor &tensor : arguments->tensors)
    if (tensor.present && isOutput(tensor))
      outputs.push_back(exportTensor(tensor));
  return true;
}

bool runText(const std::string &text,
             const std::map<std::string, int64_t> &dims,
             const std::map<std::string, double> &scalars,
             const std::vector<HostTensor> &inputs,
             std::vector<HostTensor> &outputs, std::string &diagnostics,
             const Options &options) {
  MLIRContext context;
  context.loadDialect<tile::TileDialect, sm::SmDialect, arith::ArithDialect,
                      math::MathDialect, scf::SCFDialect>();
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    diagnostics += "error: " + diagnostic.str() + "\n";
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  return module &&
         run(*module, dims, scalars, inputs, outputs, diagnostics, options);
}

} // namespace selvedge::physical
