# Helpers shared by every folder: one way to declare a library, one set of flags.

# ccache where there is one; paths below the source folder are hashed relative
# to it, so that another checkout finds the same entries.
find_program(SELVEDGE_CCACHE ccache)
if(SELVEDGE_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=time_macros ${SELVEDGE_CCACHE})
endif()

add_library(SelvedgeOptions INTERFACE)
target_compile_options(SelvedgeOptions INTERFACE -Wall -Wextra -Werror
                       -Wno-unused-parameter)
target_include_directories(SelvedgeOptions INTERFACE ${PROJECT_SOURCE_DIR}
                           ${PROJECT_BINARY_DIR})

# LLVM and MLIR as one interface target: the shared libraries, or (release) the
# archives chosen in StaticLLVM.cmake.
add_library(SelvedgeMLIR INTERFACE)
target_include_directories(SelvedgeMLIR SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS}
                           ${MLIR_INCLUDE_DIRS})
target_compile_definitions(SelvedgeMLIR INTERFACE ${LLVM_DEFINITIONS_LIST})
if(NOT SELVEDGE_STATIC_LLVM)
  target_link_libraries(SelvedgeMLIR INTERFACE MLIR LLVM)
endif()

# selvedge_library(NAME SOURCES... [LINK targets...] [NO_MLIR])
function(selvedge_library name)
  cmake_parse_arguments(ARG "NO_MLIR" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC SelvedgeOptions ${ARG_LINK})
  if(NOT ARG_NO_MLIR)
    target_link_libraries(${name} PUBLIC SelvedgeMLIR)
  endif()
endfunction()

# selvedge_program(NAME SOURCES... LINK targets...): a program in build/bin.
function(selvedge_program name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE SelvedgeOptions ${ARG_LINK})
endfunction()
