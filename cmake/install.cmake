include(CMakePackageConfigHelpers)

install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(NOT MUSTER_LAUNCHER_ONLY)
  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/muster)
  configure_package_config_file(cmake/musterConfig.cmake.in musterConfig.cmake
                                INSTALL_DESTINATION ${package})
  write_basic_package_version_file(musterConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/musterConfig.cmake
                ${PROJECT_BINARY_DIR}/musterConfigVersion.cmake backends/libtorch.cmake
          DESTINATION ${package})
  install(EXPORT musterTargets NAMESPACE muster:: DESTINATION ${package})
endif()
