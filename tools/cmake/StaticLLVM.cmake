# LLVM and MLIR as archives, NVPTX back end only: the release bundle runs where no LLVM is installed.
# Debian's MLIR archives name the LLVM shared library in their link interface; swap it for the components used.

add_link_options(-Wl,--as-needed -Wl,--gc-sections -static-libstdc++ -static-libgcc)

# Linked into every program and library (selvedge_standalone()).
add_library(SelvedgeOldGlibc OBJECT ${CMAKE_CURRENT_LIST_DIR}/OldGlibc.c)
target_compile_options(SelvedgeOldGlibc PRIVATE -fPIC)

# The archives name the shared zstd target; its static library keeps the bundle free of it.
find_library(ZSTD_ARCHIVE NAMES libzstd.a REQUIRED)
if(NOT TARGET zstd::libzstd_shared)
  add_library(zstd::libzstd_shared UNKNOWN IMPORTED)
endif()
set_target_properties(zstd::libzstd_shared PROPERTIES
  IMPORTED_LOCATION "${ZSTD_ARCHIVE}" IMPORTED_LOCATION_NONE "${ZSTD_ARCHIVE}"
  IMPORTED_LOCATION_RELEASE "${ZSTD_ARCHIVE}" IMPORTED_LOCATION_RELWITHDEBINFO "${ZSTD_ARCHIVE}")

# The same for zlib.
find_library(ZLIB_ARCHIVE NAMES libz.a)
if(ZLIB_ARCHIVE AND TARGET ZLIB::ZLIB)
  set_target_properties(ZLIB::ZLIB PROPERTIES
    IMPORTED_LOCATION "${ZLIB_ARCHIVE}" IMPORTED_LOCATION_NONE "${ZLIB_ARCHIVE}"
    IMPORTED_LOCATION_RELEASE "${ZLIB_ARCHIVE}")
endif()

llvm_map_components_to_libnames(SELVEDGE_LLVM_LIBS AsmParser BitReader BitWriter Core FrontendOpenMP
  NVPTXCodeGen NVPTXDesc NVPTXInfo Passes Remarks Support)
add_library(SelvedgeLLVM INTERFACE)
target_link_libraries(SelvedgeLLVM INTERFACE ${SELVEDGE_LLVM_LIBS})

get_property(all_mlir_libs GLOBAL PROPERTY MLIR_ALL_LIBS)
foreach(lib ${all_mlir_libs})
  get_target_property(deps ${lib} INTERFACE_LINK_LIBRARIES)
  if(deps)
    # Removing the entry instead of replacing it would break the link order.
    list(TRANSFORM deps REPLACE "^LLVM$" SelvedgeLLVM)
    set_target_properties(${lib} PROPERTIES INTERFACE_LINK_LIBRARIES "${deps}")
  endif()
endforeach()

target_link_libraries(SelvedgeMLIR INTERFACE
  MLIRArithDialect MLIRArithToLLVM MLIRArithTransforms MLIRBuiltinToLLVMIRTranslation
  MLIRControlFlowDialect MLIRControlFlowToLLVM MLIRIR MLIRLLVMDialect MLIRLLVMToLLVMIRTranslation
  MLIRMathDialect MLIRMathToLLVM MLIRNVVMDialect MLIRNVVMToLLVM MLIRNVVMToLLVMIRTranslation
  MLIRParser MLIRPass MLIRPresburger MLIRReconcileUnrealizedCasts MLIRSCFDialect MLIRSCFToControlFlow
  MLIRTargetLLVMIRExport MLIRTransforms SelvedgeLLVM)
