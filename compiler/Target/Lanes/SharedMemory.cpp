// The dynamic shared memory of kernels.
// SPDX-License-Identifier: MIT
#include "compiler/Target/Lanes/SharedMemory.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace selvedge::lanes {

using namespace mlir;

SharedLayout::SharedLayout(sm::KernelOp kernel) {
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](sm::AllocOp alloc) {
          sm::BufferType type = alloc.getType();
          // The swizzle of bulk copies counts rows from the address 0 modulo
          // 1024; copies without it begin at a multiple of 128.
          place(alloc, llvm::alignTo(type.getBytes(), 128),
                type.getPanel()   ? 1024
                : type.isVector() ? 128
                                  : 1);
          if (!largest || type.getBytes() > largest.getType().getBytes())
            largest = alloc;
        })
        .Case([&](sm::MBarrierOp alloc) {
          place(alloc, alloc.getType().getStages() * mbarrierBytes,
                mbarrierBytes);
        })
        .Case([&](sm::MailboxOp alloc) {
          place(alloc, alloc.getType().getStages() * mailBytes, mailBytes);
        });
  });
}

void SharedLayout::place(Value allocated, int64_t size, int64_t align) {
  bytes = llvm::alignTo(bytes, align);
  offsets[allocated] = bytes;
  bytes += size;
}

void declareSharedMemory(ModuleOp module) {
  static constexpr StringLiteral name = "selvedge_smem";
  if (module.lookupSymbol(name))
    return;
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  Type bytes = LLVM::LLVMArrayType::get(b.getI8Type(), 0);
  LLVM::GlobalOp::create(b, module.getLoc(), bytes, /*isConstant=*/false,
                         LLVM::Linkage::External, name, Attribute(),
                         /*alignment=*/1024, /*addrSpace=*/3);
}

void setSharedBytes(ModuleOp module, StringRef kernel, int64_t bytes) {
  module.walk([&](sm::LaunchOp launch) {
    if (launch.getKernel() == kernel)
      launch.setSmem(bytes);
  });
}

} // namespace selvedge::lanes
