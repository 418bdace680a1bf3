#!/usr/bin/env bash
# digits.sh MUSTER DIGITS: the example on two ranks learns, says what it should, and fails clearly.
set -euo pipefail
muster=$1 digits=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

"$muster" launch -n 2 --devices cpu -- "$digits" >out 2>err
cat out err
grep -q '^\[0\] muster: ddp over 2 ranks on 1 host (shm), cpu, fp32' err
grep -q 'weights: digits.safetensors' out && [[ -s digits.safetensors ]]
right=$(sed -nE 's/.*test accuracy [0-9.]+ \(([0-9]+) of 357\).*/\1/p' out)
((right * 100 >= 357 * 97)) || { echo "only $right of 357 were read right" && exit 1; }

status=0
"$digits" --data no-such.csv 2>err || status=$?
[[ $status == 1 ]] && grep -q 'no-such.csv' err
head -c 100 "$(dirname "$digits")/../share/muster/digits.csv" >short.csv
status=0
"$digits" --data short.csv 2>err || status=$?
[[ $status == 1 ]] && grep -q 'short.csv:1: expected 64 pixels and a digit' err

if python3 -c 'import safetensors.numpy' 2>/dev/null; then
  python3 -c 'from safetensors.numpy import load_file
assert load_file("digits.safetensors")["conv1.weight"].shape == (16, 1, 3, 3)'
fi
