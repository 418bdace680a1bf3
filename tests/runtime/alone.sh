#!/usr/bin/env bash
# alone.sh MUSTER DIGITS: a program alone and as the only rank of a launch says and computes the same.
set -euo pipefail
muster=$1 digits=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/alone" "$work/launched"

export OMP_NUM_THREADS=1
arguments=(--epochs 1 --steps-log losses.log)
(cd "$work/alone" && "$digits" "${arguments[@]}" >out 2>err)
(cd "$work/launched" && "$muster" launch -n 1 --devices cpu -- "$digits" "${arguments[@]}" >out 2>err)
# What is told of speed, and how often, differs from run to run.
sed -i -E '/ left /d; s/[0-9.]+( [kM])? images\/s//' "$work"/*/err "$work"/*/out
diff -r "$work/alone" "$work/launched"

status=0
"$digits" --no-such-option 2>"$work/err" || status=$?
[[ $status == 2 ]] && grep -q "unknown option '--no-such-option'" "$work/err"
status=0
"$muster" launch -n 1 -- "$digits" --no-such-option 2>"$work/err" || status=$?
[[ $status == 2 ]] && grep -q "unknown option '--no-such-option'" "$work/err"
