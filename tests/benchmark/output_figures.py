"""What ranks' output costs the launcher, and how soon it acts on a rank that failed."""

import os
import statistics
import subprocess
import sys
import tempfile
import time

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
if os.environ['RANK'] == '0':
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    open(sys.argv[1], 'w').close()
    signal.sigwait([signal.SIGTERM])
    sys.stdout.write(f'{time.monotonic_ns()}\\n')
else:
    while not os.path.exists(sys.argv[1]):
        time.sleep(0.001)
    time.sleep(0.05)
    os.write(1, f'{time.monotonic_ns()}\\n'.encode())
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


def failure_ms(muster, rounds):
    """From the last moment of a rank that fails until another one has its SIGTERM."""
    times = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            program = [sys.executable, "-c", FAILING, os.path.join(folder, "ready")]
            command = [muster, "launch", "-n", "2", "--devices", "cpu", "-q", "--", *program]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  text=True, check=False)
        said = dict(line.split("] ") for line in done.stdout.splitlines())
        times.append((int(said["[0"]) - int(said["[1"])) / 1e6)
    return {"median_ms": statistics.median(times), "worst_ms": max(times)}
