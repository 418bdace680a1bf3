#!/usr/bin/env python3
"""hang.py MUSTER RANK_HANG [TIMES]: what is said when ranks of our runtime hang.

Each kind of hang TIMES times (1). The longest time from the deadline to the verdict is printed; below
0: the hang was seen before. How long it may be is asked only of more than one time, which is done by
hand, on a machine with nothing else to do: `hang.py MUSTER RANK_HANG 25` looks at 100 hangs.
"""

import re
import subprocess
import sys
import time

TIMEOUT = 3.0
WAIT = "ranks 0, 2, 3 wait in all_reduce #3 'gradients'"
VERDICTS = {
    "sleep": WAIT + "; rank 1 is in its own code at step 2",
    "branch": WAIT + " of float32 [4]; rank 1 waits in barrier #3 'evaluation'",
    "exit": WAIT + "; rank 1 has exited with 0 at step 2",
    "shape": WAIT + " of float32 [4]; rank 1 waits in all_reduce #3 'gradients' of float32 [5]",
}


def launch(muster, program, how, *options):
    """Lines of stdout and stderr, and when each came."""
    command = [muster, "launch", "-n", "4", "--devices", "cpu", "--comm-timeout", str(TIMEOUT)]
    process = subprocess.Popen(
        command + list(options) + ["--", program, how],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    lines = [(time.clock_gettime(time.CLOCK_MONOTONIC), line) for line in process.stdout]
    return process.wait(), lines


def fail(how, lines, why):
    print(f"{how}: {why}; the job said:")
    print("".join(line for _, line in lines))
    sys.exit(1)


def entered(lines):
    """When the last rank came to the collective that hangs."""
    times = []
    for _, line in lines:
        at = re.search(r"\] at (\d+)\.(\d+)$", line.rstrip())
        if at:
            times.append(int(at[1]) + (int(at[2]) - 1000) / 1000)
    return max(times)


def look(muster, program, how):
    code, lines = launch(muster, program, how)
    told = [(at, line) for at, line in lines if VERDICTS[how] + "\n" in line]
    if len(told) != 1 or code == 0:
        fail(how, lines, f"expected '{VERDICTS[how]}' once and a failure, got exit code {code}")
    due = entered(lines) + TIMEOUT
    return told[0][0] - due, lines


def main():
    muster, program = sys.argv[1:3]
    times = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    for how in VERDICTS:
        late = []
        for _ in range(times):
            seconds, lines = look(muster, program, how)
            late.append(seconds)
        print(f"{how}: {times} of {times} right, at most {max(late):.2f} s after the deadline")
        if times > 1 and max(late) > 1:
            sys.exit(f"{how}: a verdict came {max(late):.2f} s after the deadline")
        text = "".join(line for _, line in lines)
        if how == "sleep":
            if "sleep_in_my_own_code" not in text:
                fail(how, lines, "the stack of rank 1 does not name its function")
            if "timeout of all_reduce #3 'gradients', missing 1" not in text:
                fail(how, lines, "the error does not name the collective and who is missing")
    different = "the ranks started different operations: "
    for how, expected in {
        "label": different + "ranks 0, 2 and 3: all_reduce(sum) #3 'gradients' of float32 [4]; "
                 "rank 1: all_reduce(sum) #3 'loss' of float32 [4]",
        "shape": different + "ranks 0, 2 and 3: all_reduce(sum) #3 'gradients' of float32 [4]; "
                 "rank 1: all_reduce(sum) #3 'gradients' of float32 [5]",
        "sleep": "timeout of all_reduce #3 'gradients', missing 1",
    }.items():
        code, lines = launch(muster, program, how, "--debug")
        if code == 0 or not any(expected in line for _, line in lines):
            fail(how + " with --debug", lines, f"expected '{expected}'")
    code, lines = launch(muster, program, "label")
    if code != 0:
        fail("label without --debug", lines, "expected that it is not noticed")
    print("with --debug: label, shape and a rank that does not come are named")


main()
