# How our own targets are compiled. None of this reaches who links against us.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# bin, lib and libexec have the same shape here as where they are installed.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  message(FATAL_ERROR " muster needs g++ 12 or newer; ${CMAKE_CXX_COMPILER} is"
                      " ${CMAKE_CXX_COMPILER_VERSION}")
endif()

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
  endif()
  find_program(MUSTER_CCACHE ccache)
  if(MUSTER_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${MUSTER_CCACHE})
  endif()
  find_program(MUSTER_MOLD mold)
  find_program(MUSTER_LLD ld.lld)
  if(MUSTER_MOLD)
    add_link_options(-fuse-ld=mold)
  elseif(MUSTER_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
endif()

foreach(sanitizer IN LISTS MUSTER_SANITIZE)
  add_compile_options(-fsanitize=${sanitizer} -fno-omit-frame-pointer
                      -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=${sanitizer})
endforeach()

add_library(muster_warnings INTERFACE)
target_compile_options(
  muster_warnings
  INTERFACE -Wall -Wextra -Wpedantic $<$<NOT:$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wshadow> -Wconversion -Wsign-conversion -Wnon-virtual-dtor
            -Wold-style-cast -Woverloaded-virtual -Wswitch-enum
            $<$<BOOL:${MUSTER_WERROR}>:-Werror>)

# At least one of each at once, and as many as there are cores with 2 GiB of memory for each.
cmake_host_system_information(RESULT memory_mib QUERY TOTAL_PHYSICAL_MEMORY)
cmake_host_system_information(RESULT torch_jobs QUERY NUMBER_OF_LOGICAL_CORES)
math(EXPR torch_jobs_in_memory "${memory_mib} / 2048")
if(torch_jobs_in_memory LESS torch_jobs)
  set(torch_jobs ${torch_jobs_in_memory})
endif()
if(torch_jobs LESS 1)
  set(torch_jobs 1)
endif()
set_property(GLOBAL APPEND PROPERTY JOB_POOLS muster_torch_compile=${torch_jobs}
                                    muster_torch_link=1)

# Keeps this machine's paths out of what is installed: __FILE__, in headers too, is relative to the
# folder that it belongs to.
macro(muster_hide_paths)
  get_property(libtorch GLOBAL PROPERTY MUSTER_LIBTORCH_FOUND)
  foreach(folder IN LISTS libtorch CMAKE_PREFIX_PATH PROJECT_SOURCE_DIR)
    add_compile_options(-fmacro-prefix-map=${folder}/=)
  endforeach()
endmacro()

# muster_library(TARGET EXPORT_NAME SOURCE...): a static library of the folder that calls it, with
# include/ as its public headers, known as muster::EXPORT_NAME, here and where it is installed.
function(muster_library target export_name)
  add_library(${target} STATIC ${ARGN})
  add_library(muster::${export_name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${export_name})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(
    ${target} PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
                     $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:muster_warnings>)
  if(MUSTER_INSTALL AND NOT MUSTER_LAUNCHER_ONLY)
    install(TARGETS ${target} EXPORT musterTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  endif()
endfunction()
