# The third-party libraries other than LibTorch. Each is header-only for us, or put into our program
# whole, and each is found below CMAKE_PREFIX_PATH, in the system, or where -D<Name>_ROOT=DIR says.

# muster_headers(NAME TARGET HEADER DEBIAN_PACKAGE [DEFINITION...]): makes TARGET, whose include
# folder has HEADER, or says which package has it.
function(muster_headers name target header package)
  if(TARGET ${target})
    return()
  endif()
  find_path(MUSTER_${name}_INCLUDE ${header} HINTS ${${name}_ROOT} $ENV{${name}_ROOT}
            PATH_SUFFIXES include)
  mark_as_advanced(MUSTER_${name}_INCLUDE)
  if(NOT MUSTER_${name}_INCLUDE)
    message(FATAL_ERROR " ${name} not found (no ${header}): .ci/setup fetches it; or install"
                        " ${package}, or give -D${name}_ROOT=DIR")
  endif()
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} SYSTEM INTERFACE ${MUSTER_${name}_INCLUDE})
  target_compile_definitions(${target} INTERFACE ${ARGN})
endfunction()

muster_headers(tomlplusplus tomlplusplus::tomlplusplus toml++/toml.h libtomlplusplus-dev
               TOML_HEADER_ONLY=1)
muster_headers(fmt fmt::fmt-header-only fmt/core.h libfmt-dev FMT_HEADER_ONLY=1)
muster_headers(CLI11 CLI11::CLI11 CLI/CLI.hpp libcli11-dev)
muster_headers(nlohmann_json nlohmann_json::nlohmann_json nlohmann/json.hpp nlohmann-json3-dev)
muster_headers(hwloc hwloc::headers hwloc.h libhwloc-dev)
find_path(MUSTER_hwloc_CONFIG hwloc/autogen/config.h HINTS ${MUSTER_hwloc_INCLUDE}
          PATH_SUFFIXES include)  # Debian keeps it in the folder of the machine's kind
mark_as_advanced(MUSTER_hwloc_CONFIG)
target_include_directories(hwloc::headers SYSTEM INTERFACE ${MUSTER_hwloc_CONFIG})
# The launcher loads hwloc when it needs it: the library of the same place as the headers.
find_library(MUSTER_hwloc_LIBRARY libhwloc.so.15 HINTS ${hwloc_ROOT} $ENV{hwloc_ROOT}
             PATH_SUFFIXES lib)
mark_as_advanced(MUSTER_hwloc_LIBRARY)
# Static, so that the launcher needs no library where it runs.
muster_headers(yaml yaml::headers yaml.h libyaml-dev)
find_library(MUSTER_yaml_LIBRARY libyaml.a HINTS ${yaml_ROOT} $ENV{yaml_ROOT} PATH_SUFFIXES lib)
mark_as_advanced(MUSTER_yaml_LIBRARY)
if(NOT MUSTER_yaml_LIBRARY)
  message(FATAL_ERROR " libyaml.a not found: .ci/setup fetches it; or install libyaml-dev, or build"
                      " libyaml 0.2 with --disable-shared and give -Dyaml_ROOT=DIR")
endif()
if(NOT TARGET yaml::yaml)
  add_library(yaml::yaml STATIC IMPORTED GLOBAL)
  set_target_properties(yaml::yaml PROPERTIES IMPORTED_LOCATION ${MUSTER_yaml_LIBRARY})
  target_link_libraries(yaml::yaml INTERFACE yaml::headers)
endif()
muster_headers(xxhash xxhash::xxhash xxhash.h libxxhash-dev XXH_INLINE_ALL=1)
muster_headers(stb stb::stb stb/stb_image.h libstb-dev)
muster_headers(Boost Boost::headers boost/process/v2/process.hpp "libboost-dev (1.81 or newer)"
               BOOST_ERROR_CODE_HEADER_ONLY=1 BOOST_ASIO_NO_DEPRECATED=1)

if(MUSTER_TESTS)
  find_package(Catch2 3 QUIET)
  if(NOT Catch2_FOUND)
    message(FATAL_ERROR " Catch2 3 not found: .ci/setup fetches it; or install catch2 (3 or newer),"
                        " give -DCatch2_ROOT=DIR, or do without tests: -DMUSTER_TESTS=OFF")
  endif()
endif()
