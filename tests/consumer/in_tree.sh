#!/usr/bin/env bash
# muster as a subfolder of another project, which builds what it links and none of our programs.
. "$(dirname "$0")/common.sh"
setting() { sed -nE "s/^$1:[A-Z]+=//p" "$BUILD/CMakeCache.txt"; }

flags=$(setting CMAKE_CXX_FLAGS)
quiet configure "$WORK/build" "-DMUSTER_SOURCE=$SOURCE" "-DMUSTER_LIBTORCH=$LIBTORCH" \
  "-DCMAKE_PREFIX_PATH=$(setting CMAKE_PREFIX_PATH)" -DMUSTER_WERROR="$(setting MUSTER_WERROR)" \
  -DCMAKE_UNITY_BUILD="$(setting CMAKE_UNITY_BUILD)" \
  -DCMAKE_UNITY_BUILD_BATCH_SIZE="$(setting CMAKE_UNITY_BUILD_BATCH_SIZE)" \
  -DCMAKE_BUILD_TYPE="$(setting CMAKE_BUILD_TYPE)" "-DCMAKE_CXX_FLAGS=$flags" \
  "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG" "-DEXPECTED_CMAKE_CXX_FLAGS=$flags"
quiet cmake --build "$WORK/build" --target consumer
runs_alone_and_launched "$BUILD/bin/muster" "$WORK/build/consumer"
! compgen -G "$WORK/build/muster/bin/*" >/dev/null || fail "programs of ours were built"
