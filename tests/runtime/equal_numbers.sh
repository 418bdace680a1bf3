#!/usr/bin/env bash
# equal_numbers.sh MUSTER DIGITS RANKS [PRECISION]: one process with RANKS micro-steps a step and RANKS ranks with one compute
# equal bits: every loss of at least 50 steps, and the weights.
set -euo pipefail
muster=$1 digits=$2 ranks=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

export OMP_NUM_THREADS=1 MUSTER_TRAIN_MIXED_PRECISION=${4:-no}
# 60 micro-batches an epoch, which 2, 3 and 4 ranks share out evenly.
arguments=(--epochs 4 --batch-size 24)
MUSTER_TRAIN_GRADIENT_ACCUMULATION_STEPS=$ranks "$digits" "${arguments[@]}" \
  --steps-log one.log --out one.safetensors
"$muster" launch -n "$ranks" --devices cpu -- "$digits" "${arguments[@]}" \
  --steps-log many.log --out many.safetensors

steps=$(($(wc -l <one.log) / ranks))
((steps >= 50)) || { echo "only $steps steps were taken" && exit 1; }
cmp one.log many.log
cmp one.safetensors many.safetensors
echo "$steps steps are equal"
