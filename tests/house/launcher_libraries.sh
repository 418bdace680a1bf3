#!/usr/bin/env bash
# launcher_libraries.sh MUSTER: the launcher needs the C library and nothing else, so that it starts
# in milliseconds and on any machine.
set -euo pipefail
needed=$(readelf -d "$1" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p')
[[ $needed ]] || { echo "cannot read $1" && exit 1; }
foreign=$(grep -vE '^(libc|libm|libdl|libpthread|librt|ld-linux-[a-z0-9-]+)\.so\.[0-9]+$' <<<"$needed" || true)
[[ -z $foreign ]] || { echo "the launcher needs $foreign" && exit 1; }
! ldd "$1" | grep -E 'torch|c10|stdc\+\+|cuda|hwloc' || { echo "is loaded with the launcher" && exit 1; }
