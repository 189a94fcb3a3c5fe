// Interfaces of operations on tensors, of the tile and the sm dialect.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DIALECT_TILE_TILEINTERFACES_TD
#define SELVEDGE_DIALECT_TILE_TILEINTERFACES_TD

include "mlir/IR/OpBase.td"

def Tile_SinkInterface : OpInterface<"SinkOpInterface"> {
  let cppNamespace = "::selvedge::tile";
  let description = [{
    An operation that gives absence a meaning: it carries the predicates of the lanes that it is about. Where one of them is false an access touches no memory, and a reduction or a product has no
    contribution.

    Example: `tile.load`, `tile.reduce` and `tile.dot` are sinks; so are `sm.copy`, whose predicates code tests, and `sm.reduce`, whose predicates are for the proofs.
  }];
  let methods = [
    InterfaceMethod<"The predicates.", "::mlir::OperandRange", "getPresence">,
    InterfaceMethod<"The same, to be changed.", "::mlir::MutableOperandRange", "getPresenceMutable">,
    InterfaceMethod<"Whether they remove nothing: there is no code that tests them, they say to the proofs what the program has.", "bool", "isForProofs", (ins), "", "return false;">
  ];
}

def Tile_TensorAccessInterface : OpInterface<"TensorAccessOpInterface"> {
  let cppNamespace = "::selvedge::tile";
  let description = [{
    An operation that reads elements of a tensor, or writes some. An access of lanes has an index for each, or one for all, per dimension; any other one has the index of its first element,
    and what it accesses beside that a tensor map or a buffer says.

    Example: `tile.store` and `sm.copy` are accesses of lanes, `sm.tma_load` is one of a box.
  }];
  let methods = [
    InterfaceMethod<"The tensor, or the tensor map that describes it.", "::mlir::Value", "getAccessed", (ins), "", "return $_op.getTensor();">,
    InterfaceMethod<"An index per dimension of the tensor.", "::mlir::OperandRange", "getIndices">,
    InterfaceMethod<"Predicates that are tested: where one of them is false no memory is touched.", "::llvm::SmallVector<::mlir::Value>", "getTested", (ins), "",
                    "return ::llvm::SmallVector<::mlir::Value>($_op.getPresence());">,
    InterfaceMethod<"Whether it writes elements.", "bool", "isStore", (ins), "", "return false;">,
    InterfaceMethod<"Whether it is an access of lanes.", "bool", "isOfLanes", (ins), "", "return true;">
  ];
}

#endif
