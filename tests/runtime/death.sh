#!/usr/bin/env bash
# death.sh MUSTER RANK_DEATH: the launcher learns why a rank died, and the rank dies as it would have without it.
set -euo pipefail
muster=$1 program=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
ulimit -c 0

# expect HOW STATUS PATTERN: what the launcher's own report says.
expect() {
  local status=0
  "$muster" launch -n 2 --devices cpu --report report.json -- "$program" "$1" >out 2>err || status=$?
  if [[ $status != "$2" ]] || ! grep -E '^muster: |^  ' err | grep -qE "$3"; then
    echo "$1: expected exit code $2 and '$3', got $status and:"
    cat err
    exit 1
  fi
}

expect throw 134 'std::runtime_error: batch 17: label 11 is not in \[0, 10\)'
expect throw-number 134 'int'
expect abort 134 'SIGABRT'
expect fault 139 'SIGSEGV'
expect overflow 139 'SIGSEGV'
expect raise 136 'SIGFPE'
expect handled 9 'exit'

# The rank itself said so, too.
for how in fault worker-fault; do
  expect $how 139 'SIGSEGV'
  grep -q '"reason": *"signal"' report.json || { cat report.json && exit 1; }
done

expect peer 134 'rank 1 failed first'
expect peer 134 'rank 1 has no more data'

# Without a launcher nothing is changed.
status=0
"$program" fault 2>/dev/null || status=$?
[[ $status == 139 ]]
