// Device `sim`: executes form `lanes` thread by thread.
// SPDX-License-Identifier: MIT
#include "compiler/Sim/Simulator.h"
#include "compiler/Sim/Block.h"
#include "compiler/Sim/Translator.h"

#include "dialect/Sm/Sm.h"
#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"

namespace selvedge::sim {

using namespace mlir;

Simulator::~Simulator() = default;

std::unique_ptr<Simulator> Simulator::load(ModuleOp module,
                                           std::string &problem) {
  auto simulator = std::make_unique<Simulator>();
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    auto program = std::make_unique<Program>();
    if (llvm::Error failure = Translator(*program).run(function)) {
      problem = toString(std::move(failure));
      return nullptr;
    }
    simulator->programs[program->name] = std::move(program);
  }
  return simulator;
}

std::unique_ptr<Simulator>
Simulator::loadText(const std::string &text, std::string &problem,
                    const std::function<void(ModuleOp)> &visit) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<tile::TileDialect, sm::SmDialect, arith::ArithDialect,
                      math::MathDialect, scf::SCFDialect, LLVM::LLVMDialect>();
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    problem += diagnostic.str() + "\n";
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (module && visit)
    visit(*module);
  return module ? load(*module, problem) : nullptr;
}

std::set<uint32_t> Simulator::reachedLines() const {
  std::set<uint32_t> lines;
  for (const auto &[name, program] : programs)
    for (size_t i = 0; i < program->code.size(); ++i)
      if (program->isReached[i])
        lines.insert(program->lines[program->code[i].origin]);
  lines.erase(0);
  return lines;
}

std::string Simulator::run(const Launch &launch, GlobalMemory &memory,
                           const Schedule &schedule) const {
  auto it = programs.find(launch.kernel);
  if (it == programs.end())
    return "kernel '" + launch.kernel + "' is not in the module";
  const Program &program = *it->second;
  if (launch.arguments.size() != program.isMap.size())
    return "kernel '" + launch.kernel + "' takes " +
           std::to_string(program.isMap.size()) + " arguments, but has " +
           std::to_string(launch.arguments.size());
  for (size_t i = 0; i < launch.arguments.size(); ++i)
    if (launch.arguments[i].map.has_value() != program.isMap[i])
      return "kernel '" + launch.kernel + "': argument " + std::to_string(i) +
             " is " + (program.isMap[i] ? "" : "not ") + "a tensor map";
  if (launch.threads == 0 || launch.threads % warpLanes != 0 ||
      launch.threads > program.maxThreads)
    return "kernel '" + launch.kernel + "' is compiled for " +
           std::to_string(program.maxThreads) + " threads, but has " +
           std::to_string(launch.threads);
  memory.startLaunch(launch.isDependent);
  uint32_t together = launch.isPersistent ? launch.blocks : 1;
  for (uint32_t first = 0; first < launch.blocks; first += together) {
    std::vector<std::unique_ptr<Block>> blocks;
    for (uint32_t i = first; i < std::min(first + together, launch.blocks);
         ++i) {
      uint32_t number = schedule.isDescending ? launch.blocks - 1 - i : i;
      blocks.push_back(
          std::make_unique<Block>(program, launch, number, memory, schedule));
    }
    while (!blocks.empty()) {
      for (auto &block : blocks) {
        if (block->turn())
          continue;
        numExecuted += block->executed();
        mostPhases = std::max(mostPhases, block->maxPhases());
        if (!block->getFault().empty())
          return block->getFault();
        block.reset();
      }
      std::erase(blocks, nullptr);
    }
  }
  memory.finishLaunch();
  return "";
}

} // namespace selvedge::sim
