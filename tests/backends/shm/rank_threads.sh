#!/usr/bin/env bash
# usage: rank_threads.sh PROGRAM: rounds of shared memory under the thread sanitizer.
set -euo pipefail
program=$1
run() {
  local ranks
  for ranks in 1 2 3 4 7; do "$@" "$program" "$ranks" 4000 || return; done
}
# The sanitizer of some compilers cannot start where addresses are very random.
run 2>"$program.log" || { grep -q 'unexpected memory mapping' "$program.log" && run setarch -R; } || {
  cat "$program.log"
  exit 1
}
