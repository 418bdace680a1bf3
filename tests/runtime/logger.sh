#!/usr/bin/env bash
# logger.sh MUSTER RUNTIME_TEST: who of the ranks writes a message, and in which order.
set -euo pipefail
muster=$1 program=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

"$muster" launch -n 3 --devices cpu -- "$program" "messages of chosen ranks" >out 2>err
cat err
[[ $(grep -c 'train: of rank 0' err) == 1 ]]
grep -q '^\[0\] train: of rank 0' err
for rank in 0 1 2; do
  grep -q "^\[$rank\] train: of every rank" err
done
[[ $(grep -c 'train: once' err) == 1 ]]
[[ $(grep -o 'mine is [0-9]' err | tr '\n' ' ') == 'mine is 0 mine is 1 mine is 2 ' ]]
[[ $(grep -c 'not shown' err) == 0 ]]

"$muster" launch -n 2 --devices cpu --log-level error -- "$program" "messages of chosen ranks" >out 2>err
[[ $(grep -c 'train:' err) == 0 ]]
