// Device `ref`: the interface.
// SPDX-License-Identifier: MIT
#include "compiler/Reference/Reference.h"
#include "compiler/Frontend/Frontend.h"
#include "compiler/Reference/Interpreter.h"

#include "mlir/IR/MLIRContext.h"

#include <limits>

using namespace mlir;

namespace selvedge {

namespace {

HostTensor exportTensor(const reference::Tensor &tensor) {
  HostTensor output;
  output.name = tensor.arg.getName().getValue().str();
  output.dtype = reference::dtypeOf(tensor.arg.getElementType()).str();
  output.shape = tensor.shape;
  const reference::TileValue &elements = tensor.elements;
  if (elements.isFloat) {
    output.values = elements.values;
    output.bounds = elements.bounds;
    return output;
  }
  for (int64_t integer : elements.ints)
    output.values.push_back(
        reference::numberOf(integer, tensor.arg.getElementType()));
  for (uint8_t unsure : elements.unsure)
    output.bounds.push_back(unsure ? std::numeric_limits<double>::infinity()
                                   : 0);
  return output;
}

/// Whether kernels of the op give it what it holds at first.
bool isInitialised(const reference::Tensor &tensor) {
  tile::Role role = tensor.arg.getRole();
  return tensor.present &&
         (role == tile::Role::Out || role == tile::Role::Temp) &&
         !isa_and_nonnull<StringAttr>(tensor.arg.getInit());
}

} // namespace

bool interpretProgram(tile::ProgramOp program,
                      const std::map<std::string, int64_t> &dims,
                      const std::map<std::string, double> &scalars,
                      const std::vector<HostTensor> &inputs,
                      std::vector<HostTensor> &outputs,
                      std::string &diagnostics,
                      const ReferenceOptions &options) {
  auto fail = [&](llvm::Error error) {
    diagnostics += toString(std::move(error));
    return false;
  };
  outputs.clear();
  auto signature = reference::Signature::of(program);
  signature.checksPromises = options.checkPromises;
  llvm::Expected<reference::Arguments> arguments =
      reference::bindArguments(signature, dims, scalars, inputs);
  if (!arguments)
    return fail(arguments.takeError());
  if (options.reads)
    for (reference::Tensor &tensor : arguments->tensors)
      if (tensor.present && !tensor.isWritable())
        tensor.read.assign(tensor.size(), 0);
  if (options.initial)
    for (reference::Tensor &tensor : arguments->tensors)
      if (isInitialised(tensor)) {
        tensor.written.assign(tensor.size(), 0);
        tensor.initial.assign(tensor.size(), 0);
      }
  for (auto kernel : program.getBody().getOps<tile::KernelOp>())
    if (llvm::Error error = reference::runKernel(kernel, *arguments, options))
      return fail(std::move(error));
  if (options.reads)
    for (reference::Tensor &tensor : arguments->tensors)
      if (tensor.present && !tensor.isWritable())
        (*options.reads)[tensor.arg.getName().getValue().str()] =
            std::move(tensor.read);
  if (options.initial)
    for (reference::Tensor &tensor : arguments->tensors)
      if (isInitialised(tensor)) {
        if (tensor.arg.getRole() == tile::Role::Out)
          for (auto [initial, written] :
               llvm::zip_equal(tensor.initial, tensor.written))
            initial |= !written;
        (*options.initial)[tensor.arg.getName().getValue().str()] =
            std::move(tensor.initial);
      }
  for (const reference::Tensor &tensor : arguments->tensors)
    if (tensor.present && (tensor.arg.getRole() == tile::Role::Out ||
                           tensor.arg.getRole() == tile::Role::InOut))
      outputs.push_back(exportTensor(tensor));
  return true;
}

bool runReference(const CompileRequest &request,
                  const std::map<std::string, int64_t> &dims,
                  const std::map<std::string, double> &scalars,
                  const std::vector<HostTensor> &inputs,
                  std::vector<HostTensor> &outputs, std::string &diagnostics,
                  const ReferenceOptions &options) {
  MLIRContext context;
  frontend::Input input;
  input.importFolders = request.importFolders;
  input.fileName = request.fileName;
  input.source = request.source;
  input.op = request.op;
  input.bindings = &request.bindings;
  OwningOpRef<ModuleOp> module =
      frontend::buildModule(context, input, diagnostics);
  if (!module)
    return false;
  auto programs = module->getOps<tile::ProgramOp>();
  if (programs.empty()) {
    diagnostics += request.fileName + ": error: no op to run\n";
    return false;
  }
  return interpretProgram(*programs.begin(), dims, scalars, inputs, outputs,
                          diagnostics, options);
}

} // namespace selvedge
