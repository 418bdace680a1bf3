"""What ranks' output costs the launcher, and how soon it acts on a rank that failed."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from figures import Figure

# Writes MEGABYTES in lines of 80 bytes, then waits until it is told to end.
WRITER = """
import os, sys
block = (b'x' * 79 + b'\\n') * 800
left = int(sys.argv[1]) * 1000000
while left > 0:
    left -= os.write(1, block[:left])
while not os.path.exists(sys.argv[2]):
    import time; time.sleep(0.01)
"""

# Rank 1 fails, and says when; rank 0 says when it was told to end.
FAILING = """
import os, signal, sys, time
rank = os.environ['RANK']
def tell():
    with open(f'{sys.argv[1]}.{rank}', 'w') as file:
        file.write(str(time.monotonic_ns()))
if rank == '0':
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    open(sys.argv[1], 'w').close()
    signal.sigwait([signal.SIGTERM])
    tell()
else:
    while not os.path.exists(sys.argv[1]):
        time.sleep(0.001)
    time.sleep(0.05)
    tell()
    os._exit(7)
"""


def cpu_seconds(pid):
    """User and system time of one process, without its children."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_mib(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))


def read_bytes(stream, expected):
    """Reads that many bytes, or to the end."""
    buffer = bytearray(1 << 20)
    while expected > 0:
        count = stream.readinto(buffer)
        if not count:
            break
        expected -= count


class Passing:
    """Some megabytes on their way through a command, and what they cost it."""

    def __init__(self, command, megabytes, ranks, extra_per_line):
        with tempfile.TemporaryDirectory() as folder:
            end = os.path.join(folder, "end")
            writer = [sys.executable, "-c", WRITER, str(megabytes // ranks), end]
            lines = megabytes // ranks * 1000000 // 80 * ranks
            start = time.monotonic()
            process = self.start(command, writer)
            read_bytes(process.stdout, lines * (80 + extra_per_line))
            self.gigabytes_a_second = megabytes / 1000 / (time.monotonic() - start)
            # What is done in less than a tick of this clock counts as one.
            seconds = max(cpu_seconds(process.pid), 1 / os.sysconf("SC_CLK_TCK"))
            self.cpu_s_a_gigabyte = seconds / (megabytes / 1000)
            self.peak_mib = peak_mib(process.pid)
            open(end, "w", encoding="utf-8").close()
            process.stdout.read()
            process.wait()

    @staticmethod
    def start(command, writer):
        if command != ["cat"]:
            return subprocess.Popen(command + writer, stdout=subprocess.PIPE, bufsize=0)
        source = subprocess.Popen(writer, stdout=subprocess.PIPE)
        return subprocess.Popen(command, stdin=source.stdout, stdout=subprocess.PIPE, bufsize=0)

    def figures(self):
        return {"cpu_s_a_gb": self.cpu_s_a_gigabyte, "gb_a_s": self.gigabytes_a_second,
                "peak_mib": self.peak_mib}


def output_figures(muster, megabytes):
    """CPU seconds of a GB through `cat`, and through a launcher of two ranks in several ways."""
    launch = [muster, "launch", "-n", "2", "--devices", "cpu"]
    figures = {"cat": Passing(["cat"], megabytes, 1, 0).figures()}
    figures["prefixes"] = Passing([*launch, "--"], megabytes, 2, 4).figures()
    figures["no prefixes"] = Passing([*launch, "--no-prefix", "--"], megabytes, 2, 0).figures()
    with tempfile.TemporaryDirectory(dir="/dev/shm") as logs:
        logged = [*launch, "--log-dir", logs, "--"]
        figures["prefixes and log files"] = Passing(logged, megabytes, 2, 4).figures()
    return figures


def failure_ms(launch, rounds):
    """From the last moment of a rank that fails until another one has its SIGTERM."""
    times = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            ready = os.path.join(folder, "ready")
            subprocess.run([*map(str, launch), sys.executable, "-c", FAILING, ready], check=False,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            failed, told = (int(Path(f"{ready}.{rank}").read_text()) for rank in (1, 0))
        times.append((told - failed) / 1e6)
    return {"median_ms": statistics.median(times), "worst_ms": max(times)}


def failure_figures(muster, torchrun, rounds):
    ours = failure_ms([muster, "launch", "-n", "2", "--devices", "cpu", "-q", "--"], rounds)
    peer = None
    if torchrun:
        start = [*torchrun, "--standalone", "--no-python", "--nproc-per-node", 2]
        peer = ("torchrun", failure_ms(start, 3)["median_ms"])
    return ours, [Figure("failure acted on, median", ours["median_ms"], "ms", most=5, judge="ours",
                         peer=peer)]


def cost_figures(costs):
    """Of what `output_figures` measured."""
    cat = ("cat", costs["cat"]["cpu_s_a_gb"])
    ours = {name: cost for name, cost in costs.items() if name != "cat"}
    figures = [Figure(f"a GB of output, {name}", cost["cpu_s_a_gb"], "CPU s", most=1, judge="ours", peer=cat)
               for name, cost in ours.items()]
    peak = max(cost["peak_mib"] for cost in ours.values()) * 1.048576
    return [*figures, Figure("memory while output passes", peak, "MB", most=12, judge="ours")]
