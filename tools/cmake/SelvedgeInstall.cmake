# What `cmake --install` puts where, find_package(Selvedge), pkg-config, packages.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Selvedge)
set(libraries SelvedgeRuntime SelvedgeC)
set(pc_files selvedge selvedge-runtime)
set(programs)
if(NOT SELVEDGE_RUNTIME_ONLY)
  list(APPEND libraries SelvedgeJitLibrary)
  list(APPEND pc_files selvedge-jit)
  set(programs selvedge selvedge-lsp selvedge-opt)
endif()

install(TARGETS ${libraries} EXPORT Selvedge)
install(EXPORT Selvedge NAMESPACE Selvedge:: DESTINATION ${package_dir}
        FILE SelvedgeExports.cmake)
install(DIRECTORY runtime/include/selvedge DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(NOT SELVEDGE_RUNTIME_ONLY)
  install(TARGETS ${programs})
  install(FILES ${PROJECT_BINARY_DIR}/share/man/man1/selvedge.1
          DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/include/selvedge
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(DIRECTORY templates DESTINATION ${CMAKE_INSTALL_DATADIR}/selvedge)
  install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DATADIR}/selvedge)
  install(DIRECTORY runtime/python DESTINATION ${CMAKE_INSTALL_DATADIR}/selvedge
          FILES_MATCHING PATTERN *.py)
  install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}
          FILES_MATCHING PATTERN *.md)
endif()

configure_package_config_file(tools/cmake/SelvedgeConfig.cmake.in
  ${PROJECT_BINARY_DIR}/SelvedgeConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/SelvedgeConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/SelvedgeConfig.cmake
        ${PROJECT_BINARY_DIR}/SelvedgeConfigVersion.cmake
        DESTINATION ${package_dir})

# A prefix that is chosen at installation moves with the file.
file(RELATIVE_PATH to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
foreach(name IN LISTS pc_files)
  configure_file(tools/cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_NAME selvedge)
set(CPACK_PACKAGE_VENDOR Selvedge)
set(CPACK_PACKAGE_CONTACT "the authors of Selvedge <selvedge@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Attention kernels from a tile language")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.34)")
if(NOT SELVEDGE_STATIC_LLVM)
  string(APPEND CPACK_DEBIAN_PACKAGE_DEPENDS ", libstdc++6")
  if(NOT SELVEDGE_RUNTIME_ONLY)
    string(APPEND CPACK_DEBIAN_PACKAGE_DEPENDS ", libllvm22, libmlir-22")
  endif()
endif()
include(CPack)
