// Interfaces of the sm dialect's operations.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DIALECT_SM_SMINTERFACES_TD
#define SELVEDGE_DIALECT_SM_SMINTERFACES_TD

include "mlir/IR/OpBase.td"

def Sm_ExchangeInterface : OpInterface<"ExchangeOpInterface"> {
  let cppNamespace = "::selvedge::sm";
  let description = [{
    An operation by which threads of several warps give each other what they hold: each writes to a buffer, all meet at a barrier of the block, each reads. The buffer is `scratch`, which
    `sm-reduce-scratch` provides; another barrier must come before its next use.
  }];
  let methods = [
    InterfaceMethod<"Whether threads of several warps take part; otherwise there is no buffer and no barrier.", "bool", "exchanges">,
    InterfaceMethod<"The buffer, if it has been provided.", "::mlir::Value", "getExchangeScratch">,
    InterfaceMethod<"Sets the buffer.", "void", "setExchangeScratch", (ins "::mlir::Value":$scratch)>,
    InterfaceMethod<"The type of its buffer in a kernel of so many threads.", "::selvedge::sm::BufferType", "scratchType", (ins "int64_t":$threads)>
  ];
}

def Sm_BufferFillInterface : OpInterface<"BufferFillOpInterface"> {
  let cppNamespace = "::selvedge::sm";
  let description = [{
    An operation that writes elements of one buffer, at once or until something waits for it. What they come from is a tensor (`sm.copy`, `sm.tma_load`), registers (`sm.stage`) or nothing (`sm.clear`).
  }];
  let methods = [
    InterfaceMethod<"The buffer.", "::mlir::TypedValue<::selvedge::sm::BufferType>", "getBuffer">,
    InterfaceMethod<"The register tile that is written; null where there is none.", "::mlir::Value", "getStaged", (ins), "", "return {};">
  ];
}

#endif
