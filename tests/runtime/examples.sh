#!/usr/bin/env bash
# examples.sh MUSTER GAN TEXT: the other examples on two ranks learn something, and fail clearly.
set -euo pipefail
muster=$1 gan=$2 text=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

"$muster" launch -n 2 --devices cpu --no-prefix -- "$gan" 8 >out 2>err || { cat err && exit 1; }
cat out
[[ -s gan.safetensors ]] && grep -q 'weights: gan.safetensors' out
# Eight rows of ten drawings, with dark and light places.
[[ $(grep -cE '^.{170}' out) == 8 ]]
grep -q '[#%@]' out && grep -q '    ' out

"$muster" launch -n 2 --devices cpu --no-prefix -- "$text" 1 >out 2>err || { cat err && exit 1; }
cat out err
loss=$(sed -nE 's/.*held-out loss ([0-9.]+).*/\1/p' err | tail -1)
# Without any learning it is the logarithm of 73 characters, 4.29; with their frequencies alone 3.1.
awk -v loss="$loss" 'BEGIN { exit !(loss > 0 && loss < 2.9) }' || { echo "loss $loss" && exit 1; }
grep -q '^Tom said ' out && [[ -s text.safetensors ]]
[[ $(wc -l < runs/text/metrics.jsonl) -gt 100 ]] && [[ -s runs/text/report.html ]]

for program in "$gan" "$text"; do
  status=0
  "$program" many 2>err || status=$?
  [[ $status == 2 ]] && grep -q '^usage: ' err
done
