"""What starting ranks takes, and what watching them costs, beside other launchers."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from figures import Command, Figure, time_in_turn

RANKS = 64
WATCHED = 8
LAUNCH = "muster launch -n 1 -- true"
PLAN = "muster launch -n 10000 --dry-run"
MANY, BARE = f"muster launch -n {RANKS} -- true", f"{RANKS} times fork and exec"


def start_commands(muster, fork_exec, torchrun, accelerate, mpirun):
    """`torchrun` and the like: the words that begin such a command line; None without it."""
    launch = [muster, "launch", "--devices", "cpu", "-n"]
    program = ["--", "/bin/true"]
    commands = {
        "true": Command(["/bin/true"]),
        LAUNCH: Command([*launch, 1, *program]),
        "muster --help": Command([muster, "--help"]),
        "muster launch -n 1 --dry-run": Command([*launch, 1, "--dry-run", *program]),
        PLAN: Command([*launch, 10000, "--dry-run", *program]),
        "muster env": Command([muster, "env"]),
        BARE: Command([fork_exec, RANKS, "/bin/true"]),
        MANY: Command([*launch, RANKS, *program]),
    }
    if torchrun:
        commands["torchrun --no-python true"] = Command(
            [*torchrun, "--standalone", "--no-python", "/bin/true"], seldom=True)
    if accelerate:
        said = ["--num_machines", 1, "--mixed_precision", "no", "--dynamo_backend", "no",
                "--num_cpu_threads_per_process", 1]
        commands["accelerate launch true"] = Command(
            [*accelerate, "--cpu", "--num_processes", 1, *said, "--no_python", "/bin/true"], seldom=True)
    if mpirun:
        words, environment = mpirun
        commands["mpirun -n 1 true"] = Command([*words, "-n", 1, "/bin/true"], environment)
    return commands


def start_figures(times):
    ours = times[LAUNCH]
    for peer, least in (("torchrun --no-python true", 450), ("accelerate launch true", 1),
                        ("mpirun -n 1 true", 1)):
        if peer in times:
            yield Figure("start of 1 rank", ours, "ms", least=least, judge="gain",
                         peer=(peer.rsplit(" ", 1)[0], times[peer]))
    for name in ("muster --help", "muster launch -n 1 --dry-run"):
        yield Figure(name, times[name], "ms", most=1, peer=("the launch", ours))
    yield Figure("plan of 10000 ranks", times[PLAN], "ms", most=50, judge="ours")
    yield Figure(f"start of {RANKS} ranks", times[MANY], "ms", most=1.25, peer=(BARE, times[BARE]))


def measure_start(commands, rounds):
    times = time_in_turn(commands, rounds)
    return times, list(start_figures(times))


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
        return [int(word) for word in file.read().split()]


def cpu_ns(pid):
    """Time on a CPU, more exactly than /proc/PID/stat has it; of all threads."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="utf-8") as file:
            total += int(file.read().split()[0])
    return total


def peak_mb(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) * 1024 / 1e6 for line in file if line.startswith("VmHWM"))


def ranks_below(pid):
    found = children_of(pid)
    return found + [rank for child in found for rank in ranks_below(child)]


class Watching:
    """A launcher, with what else of its own it started, while its ranks sleep."""

    def __init__(self, command, seconds):
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        while len(ranks_below(process.pid)) < WATCHED and process.poll() is None:
            time.sleep(0.01)
        time.sleep(2)  # What comes with a start.
        # All that is not a rank: of ours the guardian too.
        own = [pid for pid in [process.pid, *children_of(process.pid)]
               if pid == process.pid or children_of(pid)]
        before = sum(map(cpu_ns, own))
        time.sleep(seconds)
        self.cpu_percent = (sum(map(cpu_ns, own)) - before) / seconds / 1e7
        self.peak_mb = peak_mb(process.pid)
        process.send_signal(signal.SIGTERM)
        process.wait()


def watch_figures(muster, torchrun, seconds):
    sleeping = ["--", "sleep", "1000"]
    ours = Watching([muster, "launch", "-n", str(WATCHED), "--devices", "cpu", *sleeping], seconds)
    theirs = None
    if torchrun:
        theirs = Watching([*map(str, torchrun), "--standalone", "--no-python", "--nproc-per-node",
                           str(WATCHED), *sleeping[1:]], seconds)

    def peer(name):
        return theirs and ("torchrun", getattr(theirs, name))

    return [
        Figure("memory of the launcher", ours.peak_mb, "MB", most=12, judge="ours",
               peer=peer("peak_mb")),
        Figure(f"CPU while {WATCHED} ranks sleep", ours.cpu_percent, "%", most=0.1, judge="ours",
               peer=peer("cpu_percent")),
    ]


def hang_figures(muster, program, times):
    """Of tests/runtime/hang.py, TIMES of each kind of hang; what it said if it was not content."""
    script = Path(__file__).resolve().parents[1] / "runtime/hang.py"
    done = subprocess.run([sys.executable, script, muster, program, str(times)], check=False, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    found = re.findall(r"^\w+: (\d+) of \d+ right, at most (-?[\d.]+) s", done.stdout, re.M)
    right = sum(int(count) for count, _ in found)
    latest = max((float(seconds) for _, seconds in found), default=float("inf"))
    figures = [
        Figure(f"hangs explained rightly, of {4 * times}", right, "hangs", least=4 * times, judge="ours"),
        Figure("latest verdict after the deadline", latest, "s", most=1, judge="ours"),
    ]
    return figures, done.stdout if done.returncode else ""
