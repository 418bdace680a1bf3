#!/usr/bin/env bash
# announce.sh MUSTER RUNTIME_TEST: a setting that both code and a person gave is told once, by rank 0, with both
# values; a person's alone is obeyed in silence.
set -euo pipefail
muster=$1 program=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# The case's code asks for 3 twice, and leaves it open once.
"$muster" launch -n 2 --devices cpu --gradient-accumulation-steps 4 -- "$program" "code or a person" >out 2>err
cat err
[[ $(grep -c 'gradient_accumulation_steps' err) == 1 ]]
grep 'gradient_accumulation_steps' err | grep 3 | grep -q 4
grep 'gradient_accumulation_steps' err | grep -q '^\[0\]'
