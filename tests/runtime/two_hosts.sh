#!/usr/bin/env bash
# two_hosts.sh MUSTER DIGITS: training on two hosts, as far as programs can tell (network namespaces joined by a virtual
# cable, where loopback leads nowhere), computes the bits of one process. Needs root.
set -euo pipefail
muster=$1 digits=$2
skip() { echo "$1" && exit 77; }
((EUID == 0)) || skip "only root can make two networks"
command -v ip >/dev/null || skip "there is no ip command (iproute2)"
work=$(mktemp -d) a=muster-digits-$$-a b=muster-digits-$$-b
remove() {
  ip netns del $a 2>/dev/null || true
  ip netns del $b 2>/dev/null || true
  rm -rf "$work"
}
trap remove EXIT
{ ip netns add $a && ip netns add $b && ip netns exec $a true; } 2>/dev/null ||
  skip "this system denies network namespaces"
ip link add cable netns $a type veth peer name cable netns $b
for host in 1 2; do
  name=$([[ $host == 1 ]] && echo $a || echo $b)
  ip -n "$name" addr add 10.78.0.$host/24 dev cable
  ip -n "$name" link set cable up
  ip -n "$name" link set lo up
done
cd "$work"

export OMP_NUM_THREADS=1
# 60 micro-batches an epoch, which 3 ranks share out evenly.
arguments=(--epochs 2 --batch-size 24 --steps-log many.log --out many.safetensors)
launch() {
  ip netns exec "$1" "$muster" launch --nnodes 2 --master-addr 10.78.0.1 --rdzv-timeout 60 --devices cpu \
    --nproc-per-node "$2" -- "$digits" "${arguments[@]}"
}
MUSTER_TRAIN_GRADIENT_ACCUMULATION_STEPS=3 "$digits" --epochs 2 --batch-size 24 --steps-log one.log --out one.safetensors
mkdir b
(cd b && launch $b 1) &
launch $a 2
wait $!

[[ ! -e b/many.log ]] || { echo "a rank of the second host took itself for rank 0" && exit 1; }
steps=$(($(wc -l <one.log) / 3))
((steps >= 20)) || { echo "only $steps steps were taken" && exit 1; }
cmp one.log many.log
cmp one.safetensors many.safetensors
echo "$steps steps on two hosts are those of one process"
