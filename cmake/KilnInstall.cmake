# What `cmake --install` lays down: headers, both libraries, the program, a CMake package and a pkg-config file.
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
include(CMakePackageConfigHelpers)

set(kiln_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kiln)
install(DIRECTORY include/kiln DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
foreach(kind static shared)
  install(TARGETS kiln_${kind} EXPORT kiln-${kind})
  install(EXPORT kiln-${kind} NAMESPACE kiln:: FILE kiln-${kind}.cmake DESTINATION ${kiln_package_dir})
endforeach()
if(TARGET kiln_cli)
  install(TARGETS kiln_cli)
endif()

include(KilnStandardLibrary)
kiln_standard_library(KILN_STANDARD_LIBRARY)
configure_package_config_file(cmake/kiln-config.cmake.in kiln-config.cmake INSTALL_DESTINATION ${kiln_package_dir})
write_basic_package_version_file(kiln-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/kiln-config.cmake ${PROJECT_BINARY_DIR}/kiln-config-version.cmake
              cmake/KilnLinkDependencies.cmake cmake/KilnStandardLibrary.cmake DESTINATION ${kiln_package_dir})

# From where the file lies, since the folders may be given whole as well as below the prefix.
file(RELATIVE_PATH kiln_pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
file(RELATIVE_PATH kiln_pc_to_include ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_FULL_INCLUDEDIR})
configure_file(cmake/kiln.pc.in kiln.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/kiln.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
