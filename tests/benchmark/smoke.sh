#!/usr/bin/env bash
# smoke.sh NAME BUILD_FOLDER: the benchmark NAME runs, and gives numbers above 0.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
arguments=(--build "$2" --rounds 1 --steps 3 --no-peer)
./run "$1" "${arguments[@]}"
./run "$1" "${arguments[@]}" --json | python3 -c '
import json, sys

def numbers(value):
    if isinstance(value, dict):
        idle = value.get("unit") == "%"  # Ranks that sleep may cost nothing at all.
        for name, part in value.items():
            if not (idle and name == "ours" and part == 0):
                yield from numbers(part)
    elif isinstance(value, list):
        for part in value:
            yield from numbers(part)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield value

found = list(numbers(json.load(sys.stdin)))
assert found and all(number > 0 for number in found), found'
