// Enumerations of the sm dialect.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DIALECT_SM_SMENUMS_TD
#define SELVEDGE_DIALECT_SM_SMENUMS_TD

include "mlir/IR/EnumAttr.td"

def Sm_CacheEnum : I32EnumAttr<"Cache", "what becomes of an access's bytes in the first cache", [
  I32EnumAttrCase<"EvictLast", 0, "evict_last">, I32EnumAttrCase<"EvictFirst", 1, "evict_first">,
  I32EnumAttrCase<"Streaming", 2, "streaming">]> {
  let cppNamespace = "::selvedge::sm";
  let genSpecializedAttr = 0;
}

def Sm_PieceEnum : I32EnumAttr<"Piece", "which of the rows that are pairs a box has", [
  I32EnumAttrCase<"Groups", 0, "groups">, I32EnumAttrCase<"Group", 1, "group">, I32EnumAttrCase<"Part", 2, "part">]> {
  let cppNamespace = "::selvedge::sm";
  let genSpecializedAttr = 0;
}

def Sm_OverlapEnum : I32EnumAttr<"Overlap", "how products of the steps of a tile follow each other", [
  I32EnumAttrCase<"Apart", 0, "apart">, I32EnumAttrCase<"Lagged", 1, "lagged">, I32EnumAttrCase<"InFlight", 2, "in_flight">]> {
  let cppNamespace = "::selvedge::sm";
  let genSpecializedAttr = 0;
}

def Sm_StepOrderEnum : I32EnumAttr<"StepOrder", "in which order a tile takes its steps", [
  I32EnumAttrCase<"Forward", 0, "forward">, I32EnumAttrCase<"Backward", 1, "backward">, I32EnumAttrCase<"Idle", 2, "idle">]> {
  let cppNamespace = "::selvedge::sm";
  let genSpecializedAttr = 0;
}

#endif
