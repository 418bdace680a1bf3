#!/usr/bin/env python3
"""busy.py MUSTER RANK_BUSY LAUNCHER_PROBE: what is no hang, and stacks that ranks tell themselves.

What takes long takes three times as long as --hang-timeout allows; on a slow machine it takes longer.
"""

import errno
import os
import signal
import subprocess
import sys
import time

LIMIT = 2.0


def start(how, seconds, *options, wrapper=()):
    muster, program = sys.argv[1:3]
    command = [*wrapper, muster, "launch", "-n", "2", "--devices", "cpu", *options, "--", program, how]
    return subprocess.Popen(
        command + [str(seconds)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace")


def fail(how, text, why):
    sys.exit(f"{how}: {why}; the job said:\n{text}")


def watched(how, expected):
    process = start(how, 3 * LIMIT, "--hang-timeout", str(LIMIT))
    text = process.communicate()[0]
    if process.returncode != expected:
        fail(how, text, f"expected exit code {expected}, got {process.returncode}")
    return text


def until(process, what):
    """All lines up to the one with `what`."""
    text = ""
    for line in process.stdout:
        text += line
        if what in line:
            return text
    fail(what, text, "it never came")


def both_begin(process):
    return until(process, "begins") + until(process, "begins")


def asked(how, options=(), wrapper=()):
    """What is said of ranks that nobody may trace."""
    process = start(how, 600, *options, wrapper=wrapper)
    both_begin(process)
    process.send_signal(signal.SIGQUIT)
    # The verdict is written at once, and this is its last part.
    text = until(process, "stack of") + until(process, "no stack was read")
    process.terminate()
    rest = process.communicate()[0]
    if process.returncode != 143:
        fail(how, text + rest, f"expected that it goes on until SIGTERM, got {process.returncode}")
    return text + rest


def look_at_busy():
    process = start("busy", 600)
    both_begin(process)
    text = ""
    for _ in range(200):  # Rank 0 has begun, which does not say that it is busy by now.
        process.send_signal(signal.SIGQUIT)
        text += until(process, "muster: ")
        if "rank 0 is busy with evaluation for " in text and "rank 1 waits in barrier" in text:
            break
        time.sleep(0.1)
    else:
        fail("busy", text, "the verdict does not say what rank 0 is busy with")
    process.terminate()
    process.communicate()


def signals_while_allocating():
    """The handler may not wait for what it interrupted."""
    process = start("allocate", 4)
    both_begin(process)
    pids = subprocess.run(["ps", "-eo", "pid=,args="], capture_output=True, text=True).stdout
    mine = [int(line.split()[0]) for line in pids.splitlines()
            if line.split()[1:] == [sys.argv[2], "allocate", "4"]]
    for _ in range(500):
        for pid in mine:
            try:
                os.kill(pid, signal.SIGURG)
            except ProcessLookupError:
                pass
        time.sleep(0.002)
    text = process.communicate(timeout=120)[0]
    if process.returncode != 0 or len(mine) != 2:
        fail("allocate", text, f"{len(mine)} ranks were signalled, exit code {process.returncode}")


def main():
    for how in ("busy", "main-first", "batches", "forward"):
        text = watched(how, 0)
        if "no step" in text:
            fail(how, text, "a hang was seen")
    for how in ("sleep", "after-busy"):
        text = watched(how, 124)
        if "in their own code at step 2" not in text:
            fail(how, text, "the verdict does not say where the ranks are")
    look_at_busy()
    print("busy, main_process_first, batches and forward passes are no hang; the rest is")

    sandbox = (sys.argv[3], "--in-sandbox", str(errno.ENOSYS))
    text = asked("sleep", wrapper=sandbox)
    if "sleep_in_my_own_code  (rank_busy)" not in text:
        fail("sleep", text, "the ranks did not tell their stacks")
    for how in ("blocks", "handles"):
        text = asked(how, wrapper=sandbox)
        if "  (rank_busy)" in text:
            fail(how, text, "a stack was told that cannot be the first thread's")
    signals_while_allocating()
    print("ranks that nobody may trace tell their own stacks; SIGURG disturbs nobody")


main()
