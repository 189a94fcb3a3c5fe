# Helpers shared by every folder: one way to declare a library, one set of flags.

# ccache where there is one; paths below the source folder are hashed relative
# to it, so that another checkout finds the same entries.
find_program(SELVEDGE_CCACHE ccache)
if(SELVEDGE_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros ${SELVEDGE_CCACHE})
endif()

# Caches of compilations know the compiler by this.
add_link_options(-Wl,--build-id=sha1)

add_library(SelvedgeOptions INTERFACE)
# -fPIC in programs too: a precompiled header serves only equal flags.
target_compile_options(SelvedgeOptions INTERFACE -fPIC -Wall -Wextra
  $<$<BOOL:${SELVEDGE_WERROR}>:-Werror> -Wno-unused-parameter)
# Without times, equal headers give an equal file: ccache hashes it.
target_compile_options(SelvedgeOptions INTERFACE
  $<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>)
target_include_directories(SelvedgeOptions INTERFACE ${PROJECT_SOURCE_DIR}
                           ${PROJECT_BINARY_DIR})

# LLVM and MLIR as one interface target: the shared libraries, or (release) the
# archives chosen in StaticLLVM.cmake.
add_library(SelvedgeMLIR INTERFACE)
target_include_directories(SelvedgeMLIR SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS}
                           ${MLIR_INCLUDE_DIRS})
target_compile_definitions(SelvedgeMLIR INTERFACE ${LLVM_DEFINITIONS_LIST})
if(NOT SELVEDGE_STATIC_LLVM AND NOT SELVEDGE_RUNTIME_ONLY)
  target_link_libraries(SelvedgeMLIR INTERFACE MLIR LLVM)
endif()

# As headers: what is installed needs no fmt.
set(SELVEDGE_FMT fmt::fmt-header-only)

# selvedge_precompiled(NAME HEADER [LINK targets...] [OPTIONS flags...]): a
# header compiled once, for the targets that name it after PRECOMPILED. Most of
# the time of a file goes into the headers of MLIR. The result names files of
# this checkout, so ccache, which serves other checkouts too, may not keep it.
function(selvedge_precompiled name header)
  cmake_parse_arguments(ARG "" "" "LINK;OPTIONS" ${ARGN})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "")
  add_library(${name} OBJECT ${source})
  target_link_libraries(${name} PRIVATE SelvedgeOptions ${ARG_LINK})
  target_compile_options(${name} PRIVATE ${ARG_OPTIONS})
  target_precompile_headers(${name} PRIVATE ${header})
  set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER "")
endfunction()

# selvedge_library(NAME SOURCES... [LINK targets...] [NO_MLIR]
#                  [PRECOMPILED target]): with MLIR, SelvedgePrecompiled unless
# another is given. Our warnings are for our sources: no user of a library has
# them.
function(selvedge_library name)
  cmake_parse_arguments(ARG "NO_MLIR" "PRECOMPILED" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:SelvedgeOptions>
                        PUBLIC ${ARG_LINK})
  if(NOT ARG_NO_MLIR)
    target_link_libraries(${name} PUBLIC SelvedgeMLIR)
    if(NOT ARG_PRECOMPILED)
      set(ARG_PRECOMPILED SelvedgePrecompiled)
    endif()
  endif()
  if(ARG_PRECOMPILED)
    target_precompile_headers(${name} REUSE_FROM ${ARG_PRECOMPILED})
  endif()
endfunction()

# selvedge_standalone(NAME): a program or shared library that may run where the
# C library is older than here.
function(selvedge_standalone name)
  if(TARGET SelvedgeOldGlibc)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:SelvedgeOldGlibc>)
  endif()
endfunction()

# selvedge_program(NAME SOURCES... LINK targets... [PRECOMPILED target]): a
# program in build/bin.
function(selvedge_program name)
  cmake_parse_arguments(ARG "" "PRECOMPILED" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  selvedge_standalone(${name})
  target_link_libraries(${name} PRIVATE SelvedgeOptions ${ARG_LINK})
  if(ARG_PRECOMPILED)
    target_precompile_headers(${name} REUSE_FROM ${ARG_PRECOMPILED})
  endif()
endfunction()
