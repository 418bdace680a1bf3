#!/usr/bin/env bash
# A LibTorch that does not fit is one clear line when CMake configures: in our tree, and, through
# find_package, in a user's.
. "$(dirname "$0")/common.sh"
prefix="$WORK/prefix"
quiet cmake --install "$BUILD" --prefix "$prefix"

# libtorch NAME VERSION: the shape of a LibTorch of that version, with the real libc10.
libtorch() {
  local folder=$WORK/$1
  mkdir -p "$folder/lib" "$folder/include"/{ATen/core,torch/csrc/api/include/torch}
  touch "$folder/include/ATen/core/Tensor.h" "$folder/include/torch/csrc/api/include/torch/torch.h"
  touch "$folder/lib/libtorch_cpu.so"
  ln -s "$LIBTORCH/lib/libc10.so" "$folder/lib/libc10.so"
  IFS=. read -r major minor patch <<<"$2"
  printf '#define TORCH_VERSION_%s %s\n' MAJOR "$major" MINOR "$minor" PATCH "$patch" \
    >"$folder/include/torch/csrc/api/include/torch/version.h"
}

# refuses LIBTORCH WORD...: CMake fails, and one line of what it says has all the words.
refuses() {
  local folder=$1 mode output line word
  shift
  for mode in package tree; do
    rm -rf "$WORK/a project" "$WORK/build"
    arguments=("-DCMAKE_PREFIX_PATH=$prefix")
    [[ $mode == package ]] || arguments=("-DMUSTER_SOURCE=$SOURCE" -DCMAKE_PREFIX_PATH="$(sed -nE 's/^CMAKE_PREFIX_PATH:[A-Z]+=//p' "$BUILD/CMakeCache.txt")")
    ! output=$(PATH=$WORK/bin:$PATH configure "$WORK/build" "-DMUSTER_LIBTORCH=$folder" "${arguments[@]}" 2>&1) ||
      fail "$folder was taken ($mode)"
    line=$(grep -F 'LibTorch' <<<"$output" || true)
    [[ $(wc -l <<<"$line") == 1 ]] || fail "not one line ($mode): $output"
    for word in "$@" MUSTER_LIBTORCH 2.11 2.15; do
      [[ $line == *"$word"* ]] || fail "the line does not say '$word' ($mode): $output"
    done
  done
}

mkdir "$WORK/bin"  # a python3 that has no torch
printf '#!/bin/sh\nexit 0\n' >"$WORK/bin/python3"
chmod +x "$WORK/bin/python3"

libtorch old 1.13.1
libtorch new 2.16.0
libtorch abi 2.11.0
rm "$WORK/abi/lib/libc10.so" && echo _ZN3c105ErrorC1ENS_14SourceLocationESs >"$WORK/abi/lib/libc10.so"
refuses "" "not found"
refuses "$WORK/nowhere" "$WORK/nowhere" "no include/ATen/core/Tensor.h"
refuses "$WORK/old" "LibTorch 1.13.1" "$WORK/old"
refuses "$WORK/new" "LibTorch 2.16.0" "$WORK/new"
refuses "$WORK/abi" "old C++ ABI" "$WORK/abi"
