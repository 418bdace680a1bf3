# Makes the target muster::libtorch of one folder, MUSTER_LIBTORCH: an unpacked libtorch zip, or the
# torch folder of a Python installation. LibTorch's own TorchConfig is not used: it asks for nvcc,
# and it changes flags of the whole project. This file is installed too, beside musterConfig.cmake.

set(MUSTER_LIBTORCH_OLDEST 2.11)
set(MUSTER_LIBTORCH_NEWEST 2.15)

# The folder meant: the variable, the environment, or the torch that python3 on PATH would import.
function(muster_locate_libtorch out)
  set(folder "${MUSTER_LIBTORCH}")
  if(NOT folder)
    set(folder "$ENV{MUSTER_LIBTORCH}")
  endif()
  if(NOT folder)
    execute_process(
      COMMAND python3 -c "import importlib.util as u; s = u.find_spec('torch'); \
print(s.submodule_search_locations[0] if s else '', end='')"
      OUTPUT_VARIABLE folder ERROR_QUIET)
  endif()
  set(${out} "${folder}" PARENT_SCOPE)
endfunction()

# Major.minor.patch of the LibTorch in `folder`, from the header that its version macros are in.
function(muster_read_libtorch_version folder out)
  set(version "")
  foreach(header torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
    if(NOT version AND EXISTS "${folder}/include/${header}")
      file(STRINGS "${folder}/include/${header}" lines
           REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+")
      list(TRANSFORM lines REPLACE ".* " "")
      list(JOIN lines "." version)
    endif()
  endforeach()
  set(${out} "${version}" PARENT_SCOPE)
endfunction()

# Why the LibTorch in `folder` cannot be used, in one line; empty if it can.
function(muster_check_libtorch folder out)
  set(range "${MUSTER_LIBTORCH_OLDEST} to ${MUSTER_LIBTORCH_NEWEST}")
  set(help "name one of ${range} with -DMUSTER_LIBTORCH=DIR (an unpacked libtorch zip, or a pip \
install's torch folder); .ci/setup fetches one")
  if(NOT folder)
    set(${out} "LibTorch not found: MUSTER_LIBTORCH is not set and python3 has no torch; ${help}, \
or build the launcher alone with -DMUSTER_LAUNCHER_ONLY=ON" PARENT_SCOPE)
    return()
  endif()
  foreach(file include/ATen/core/Tensor.h include/torch/csrc/api/include/torch/torch.h
               lib/libtorch_cpu.so lib/libc10.so)
    if(NOT EXISTS "${folder}/${file}")
      set(${out} "no LibTorch in MUSTER_LIBTORCH=${folder}: it has no ${file}; ${help}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  muster_read_libtorch_version("${folder}" version)
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" minor "${version}")
  if(NOT minor OR minor VERSION_LESS MUSTER_LIBTORCH_OLDEST
     OR minor VERSION_GREATER MUSTER_LIBTORCH_NEWEST)
    set(${out} "LibTorch ${version} in MUSTER_LIBTORCH=${folder} does not fit; ${help}" PARENT_SCOPE)
    return()
  endif()
  # c10::Error(SourceLocation, std::string): the mangled name of its string tells the ABI.
  file(STRINGS "${folder}/lib/libc10.so" symbols LIMIT_COUNT 1
       REGEX "N3c105ErrorC[12]ENS_14SourceLocationENSt7__cxx1112basic_string")
  if(NOT symbols)
    set(${out} "LibTorch in MUSTER_LIBTORCH=${folder} has the old C++ ABI of std::string, which \
muster cannot link; take a cxx11-ABI build: ${help}" PARENT_SCOPE)
    return()
  endif()
  set(${out} "" PARENT_SCOPE)
endfunction()

# The file of lib<name>, a part of CUDA's runtime: a CUDA build of LibTorch does not start without it,
# even on the CPU. LibTorch has it inside or beside it, else it is the system's or the toolkit's.
function(muster_find_cuda_runtime folder name out)
  file(GLOB found "${folder}/lib/lib${name}*.so.1*" "${folder}/../nvidia/*/lib/lib${name}.so.1*")
  list(POP_FRONT found file)
  if(NOT file)
    find_library(MUSTER_${name} NAMES lib${name}.so.13 lib${name}.so.12
                 PATHS /usr/local/cuda/lib64 ENV LD_LIBRARY_PATH)
    mark_as_advanced(MUSTER_${name})
    set(file "${MUSTER_${name}}")
  endif()
  set(${out} "${file}" PARENT_SCOPE)
endfunction()

# Makes muster::libtorch. `problem` is empty, or says in one line why it could not.
function(muster_find_libtorch problem)
  set(${problem} "" PARENT_SCOPE)
  if(TARGET muster::libtorch)
    return()
  endif()
  muster_locate_libtorch(folder)
  muster_check_libtorch("${folder}" why)
  if(why)
    set(${problem} "${why}" PARENT_SCOPE)
    return()
  endif()
  get_filename_component(folder "${folder}" REALPATH)
  set(dependencies "")
  foreach(name cudart cupti)
    muster_find_cuda_runtime("${folder}" ${name} file)
    if(NOT file AND EXISTS "${folder}/lib/libtorch_cuda.so")
      set(${problem} "LibTorch in MUSTER_LIBTORCH=${folder} is a CUDA build and needs lib${name}.so, \
which is neither beside it nor in the system: install the CUDA toolkit, or the wheels \
nvidia-cuda-runtime and nvidia-cuda-cupti beside it, or take a CPU build" PARENT_SCOPE)
      return()
    elseif(file)
      add_library(muster::${name} SHARED IMPORTED GLOBAL)
      set_target_properties(muster::${name} PROPERTIES IMPORTED_LOCATION "${file}")
      list(APPEND dependencies muster::${name})
    endif()
  endforeach()
  foreach(name c10 torch_cpu)
    add_library(muster::${name} SHARED IMPORTED GLOBAL)
    set_target_properties(
      muster::${name}
      PROPERTIES IMPORTED_LOCATION "${folder}/lib/lib${name}.so"
                 IMPORTED_LINK_DEPENDENT_LIBRARIES "${dependencies}")
  endforeach()
  add_library(muster::libtorch INTERFACE IMPORTED GLOBAL)
  target_include_directories(
    muster::libtorch SYSTEM INTERFACE "${folder}/include"
                                      "${folder}/include/torch/csrc/api/include")
  target_compile_definitions(muster::libtorch INTERFACE USE_DISTRIBUTED USE_C10D_GLOO)
  target_link_libraries(muster::libtorch INTERFACE muster::torch_cpu muster::c10)
  find_package(Threads REQUIRED)
  target_link_libraries(muster::libtorch INTERFACE Threads::Threads)
  muster_read_libtorch_version("${folder}" version)
  set_property(GLOBAL PROPERTY MUSTER_LIBTORCH_FOUND "${folder}")
  if(NOT muster_FIND_QUIETLY)
    message(STATUS "LibTorch ${version}: ${folder}")
  endif()
endfunction()
