#!/usr/bin/env python3
"""check.py MUSTER MUSTER_CHECK BROKEN_CHECK: `muster test` says ok where all is well, and names each piece that is broken.

BROKEN_CHECK is the check program with the fault that BREAK_CHECK names. It lies where the installed one would, beside a copy
of MUSTER.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Fault: the check that must find it, and the ranks (of two) on which.
FAULTS = {
    "hardware": ("hardware", [0, 1]),
    "group": ("group", [1]),
    "all_reduce": ("all_reduce", [1]),
    "mean": ("all_reduce", [1]),
    "reduce_scatter": ("reduce_scatter", [1]),
    "all_gather": ("all_gather", [1]),
    "broadcast": ("broadcast", [1]),
    "all_to_all": ("all_to_all", [1]),
    "send, receive": ("send, receive", [1]),
    "split": ("subgroups", None),
    "allocate": ("subgroups", [1]),
    "abort": ("subgroups", [0, 1]),
    "deadlines": ("deadlines", [0]),
    "data loading": ("data loading", None),
    "metrics": ("metrics", [0, 1]),
    "weights": ("weights", [0, 1]),
    "training": ("training", None),
}
# Fault: the check in which ranks end, and what the launcher says of it.
ENDS = {
    "die": ("broadcast", "SIGSEGV"),
    "throw": ("all_to_all", "the test wants it"),
    "hang": ("all_gather", "all_gather"),
}


def fail(what, run):
    print(f"{what}: exit {run.returncode}\n{run.stdout}{run.stderr}")
    sys.exit(1)


def test(muster, *options, fault="", **more):
    environment = {**os.environ, "BREAK_CHECK": fault}
    return subprocess.run(
        [muster, "test", "--devices", "cpu", *options],
        env=environment, text=True, capture_output=True, check=False, **more)


def check_well(muster, ranks):
    run = test(muster, "-n", str(ranks), "--json")
    found = json.loads(run.stdout)
    results = {row["name"]: row["result"] for row in found["checks"]}
    peers = {"send, receive", "deadlines"} if ranks == 1 else set()
    expected = {name: "not_checked" if name in peers else "ok" for name in results}
    if run.returncode != 0 or results != expected or not found["ok"] or len(found["ranks"]) != ranks:
        fail(f"{ranks} ranks", run)
    # None of the checks of deadlines and lost groups may look like a failure.
    for line in run.stderr.splitlines():
        if "muster: ddp over" not in line and "muster: 1 rank" not in line:
            fail(f"{ranks} ranks say '{line}'", run)


def check_fault(muster, fault, name, ranks):
    run = test(muster, "-n", "2", "--json", fault=fault)
    try:
        found = json.loads(run.stdout)
    except json.JSONDecodeError:
        fail(fault, run)
    faulty = [row for row in found["checks"] if row["result"] == "fault"]
    if run.returncode != 1 or found["ok"] or found["outcome"] != "ok" or not faulty:
        fail(f"{fault} was not found", run)
    first = faulty[0]
    where = sorted({one["rank"] for one in first["faults"]})
    if first["name"] != name or ranks not in (None, where):
        fail(f"{fault} was found by {first['name']} on ranks {where}, not by {name} on {ranks}", run)
    if any(not one["expected"] or not one["found"] or one["expected"] == one["found"] for one in first["faults"]):
        fail(f"{fault} is not explained", run)
    print(f"{fault}: {first['name']}, ranks {where}: {first['faults'][0]}")


def check_end(muster, fault, name, text):
    run = test(muster, "-n", "2", "--comm-timeout", "8", fault=fault)
    row = next((line for line in run.stdout.splitlines() if line.startswith(name + " ")), "")
    told = f"muster: the check '{name}' was under way on rank" in run.stderr
    if run.returncode in (0, 1, 2) or "UNDER WAY" not in row or not told or text not in run.stderr:
        fail(fault, run)


def check_table(muster):
    run = test(muster, "-n", "2", fault="broadcast")
    lines = [line.split() for line in run.stdout.splitlines()]
    if not any(line[:2] == ["broadcast", "FAULT"] for line in lines) or "faults: broadcast on rank 1" not in run.stdout:
        fail("the table of a broken broadcast", run)
    if max(len(line) for line in run.stdout.splitlines()) > 80:
        fail("a table wider than 80 columns", run)


def check_missing(muster):
    run = test(muster)
    lines = run.stderr.splitlines()
    if run.returncode != 127 or run.stdout or len(lines) != 1 or "MUSTER_LAUNCHER_ONLY" not in lines[0]:
        fail("without a check program", run)


def check_unloaded(muster, program):
    program.write_text("#!/bin/sh\necho libtorch_cpu.so: cannot open >&2\nexit 127\n", encoding="utf-8")
    program.chmod(0o700)
    run = test(muster)
    if run.returncode != 127 or run.stdout or "MUSTER_LIBTORCH=DIR" not in run.stderr:
        fail("without LibTorch", run)
    program.unlink()


def main():
    muster, program, broken = (Path(word).resolve() for word in sys.argv[1:4])
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "bin" / "muster"
        place = Path(folder) / "libexec" / "muster"
        copy.parent.mkdir()
        shutil.copy(muster, copy)
        check_missing(copy)
        place.mkdir(parents=True)
        check_unloaded(copy, place / "muster-check")
        (place / "muster-check").symlink_to(program)
        for ranks in (1, 2, 3, 4):
            check_well(copy, ranks)
        (place / "muster-check").unlink()
        (place / "muster-check").symlink_to(broken)
        check_well(copy, 2)
        for fault, (name, ranks) in FAULTS.items():
            check_fault(copy, fault, name, ranks)
        check_table(copy)
        for fault, (name, text) in ENDS.items():
            check_end(copy, fault, name, text)
    print(f"{len(FAULTS)} faults were found, {len(ENDS)} ends were told")


main()
