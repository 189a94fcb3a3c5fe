// What a pass does wrong is found where the pass ends.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/Session.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace mlir;
using namespace selvedge;
using testing::Contains;
using testing::HasSubstr;

namespace {

/// Changes what a pass made of a kernel or a module.
struct Cheat : PassInstrumentation {
  using Change = std::function<void(Operation *)>;
  Cheat(StringRef pass, Change change)
      : pass(pass), change(std::move(change)) {}

  void runAfterPass(Pass *ran, Operation *op) override {
    if (ran->getArgument() == pass)
      change(op);
  }

  StringRef pass;
  Change change;
};

/// The compilation of flash_fwd, or another template beside it, with a pass
/// that cheats.
struct CheatingPasses : testing::Test {
  void compile(StringRef pass, const Cheat::Change &change,
               StringRef op = "flash_fwd", StringRef arch = "sm_80",
               Emit stage = Emit::SmSeq) {
    request.op = op.str();
    request.arch = arch.str();
    llvm::SmallString<128> file(SELVEDGE_FLASH_FWD);
    llvm::sys::path::remove_filename(file);
    llvm::sys::path::append(file, op + ".tile");
    request.fileName = file.str().str();
    request.bindings = {{"D", "64"}, {"causal", "true"}};
    if (op == "flash_bwd")
      request.bindings["deterministic"] = "false";
    auto buffer = llvm::MemoryBuffer::getFile(request.fileName);
    ASSERT_TRUE(bool(buffer));
    request.source = (*buffer)->getBuffer().str();
    session.emplace(request);
    isDone = session->checkArch() && session->parse() &&
             session->choosePlans() && session->runPasses(stage, [&] {
               return std::make_unique<Cheat>(pass, change);
             });
  }

  /// Drops the first store of each kernel; in a module, of versions for some
  /// dims.
  static void dropStores(Operation *op) {
    op->walk([&](tile::KernelOp kernel) {
      if (isa<ModuleOp>(op) && !kernel.getProgram().isForSomeDims())
        return;
      auto stores = kernel.getOps<tile::StoreOp>();
      if (!stores.empty())
        (*stores.begin()).erase();
    });
  }

  /// Gives each loop another begin: that of the next step.
  static void beginLater(Operation *op) {
    op->walk([&](scf::ForOp loop) {
      OpBuilder b(loop);
      loop.setLowerBound(arith::AddIOp::create(
          b, loop.getLoc(), loop.getLowerBound(), loop.getStep()));
    });
  }

  bool hasVersion(tile::VersionKind kind) {
    return llvm::any_of(
        session->getUnbound().getOps<tile::ProgramOp>(),
        [&](tile::ProgramOp program) { return program.getKind() == kind; });
  }

  CompileRequest request;
  std::optional<driver::Session> session;
  bool isDone = false;
};

TEST_F(CheatingPasses, FoldsKeepStores) {
  compile("tile-fold-integers", dropStores);
  EXPECT_FALSE(isDone);
  EXPECT_THAT(session->result.diagnostics,
              HasSubstr("pass 'verify-tile-folds' refused"));
}

// Packed rows are a version: the others stay.
TEST_F(CheatingPasses, PackedRowsAreDropped) {
  compile("tile-pack-rows", dropStores);
  EXPECT_TRUE(isDone) << session->result.diagnostics;
  EXPECT_THAT(session->result.remarks,
              Contains(HasSubstr("rows are not packed, and parts are always "
                                 "joined: verify-tile-packs")));
  EXPECT_FALSE(hasVersion(tile::VersionKind::Packed));
}

// So are single parts.
TEST_F(CheatingPasses, SinglePartsAreDropped) {
  compile("tile-single-parts", dropStores, "flash_decode");
  EXPECT_TRUE(isDone) << session->result.diagnostics;
  EXPECT_THAT(session->result.remarks,
              Contains(HasSubstr("parts are always joined: "
                                 "verify-tile-packs")));
  EXPECT_FALSE(hasVersion(tile::VersionKind::Single));
}

/// Where what comes later refuses one of its kernels, that version alone is
/// dropped.
TEST_F(CheatingPasses, RefusedSinglePartsAreDropped) {
  compile(
      "tile-bind-blocks",
      [](Operation *op) {
        op->walk([](tile::ProgramOp program) {
          if (program.getKind() == tile::VersionKind::Single)
            beginLater(program);
        });
      },
      "flash_decode");
  EXPECT_TRUE(isDone) << session->result.diagnostics;
  EXPECT_THAT(session->result.remarks,
              Contains(HasSubstr("a single part is joined, too: "
                                 "verify-tile-blocks")));
}

/// Loops that have become one stay apart where what comes later refuses that.
TEST_F(CheatingPasses, RefusedJoinsAreDropped) {
  compile(
      "sm-warp-roles",
      [](Operation *op) { op->walk([](sm::WholeOp whole) { whole.erase(); }); },
      "flash_bwd", "sm_90a", Emit::SmAsync);
  EXPECT_TRUE(isDone) << session->result.diagnostics;
  EXPECT_THAT(session->result.remarks,
              Contains(HasSubstr("kernel 'keys' keeps masked loops apart: "
                                 "verify-sm-padding")));
  EXPECT_THAT(session->result.remarks,
              testing::Not(Contains(HasSubstr("runs without warp roles"))));
}

TEST_F(CheatingPasses, SizesKeepLoops) {
  compile("tile-bind-blocks", beginLater);
  EXPECT_FALSE(isDone);
  EXPECT_THAT(session->result.diagnostics,
              HasSubstr("pass 'verify-tile-blocks' refused"));
}

TEST_F(CheatingPasses, SoftmaxKeepsLoops) {
  compile("tile-expand-softmax", beginLater);
  EXPECT_FALSE(isDone);
  EXPECT_THAT(session->result.diagnostics,
              HasSubstr("pass 'verify-tile-loops' refused"));
}

TEST_F(CheatingPasses, LoweringKeepsLoops) {
  compile("tile-to-sm", beginLater);
  EXPECT_FALSE(isDone);
  EXPECT_THAT(session->result.diagnostics,
              HasSubstr("pass 'verify-tile-loops' refused"));
}

} // namespace
