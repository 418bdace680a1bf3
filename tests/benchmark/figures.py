"""Measuring commands in turn, and telling the figures."""

import json
import os
import shutil
import statistics
import subprocess
import time


def time_command(words, environment=None):
    """Milliseconds from start to end of a command that has to succeed.

    Without subprocess, whose own work would be a tenth of the shortest ones.
    """
    program = shutil.which(words[0])
    nowhere = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
               (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    start = time.perf_counter()
    process = os.posix_spawn(program, words, environment or os.environ, file_actions=nowhere)
    _, status = os.waitpid(process, 0)
    milliseconds = (time.perf_counter() - start) * 1e3
    if status != 0:
        raise subprocess.CalledProcessError(os.waitstatus_to_exitcode(status), words)
    return milliseconds


class Command:
    """What is timed. A seldom one runs in every fifth round only, as it takes seconds."""

    def __init__(self, words, environment=None, seldom=False):
        self.words = list(map(str, words))
        self.environment = environment
        self.seldom = seldom


def time_in_turn(commands, rounds):
    """Median milliseconds of each of the named commands, one of each a round, the first round left out."""
    times = {name: [] for name in commands}
    for turn in range(rounds + 1):
        for name, command in commands.items():
            if command.seldom and turn % 5 != 1:
                continue
            milliseconds = time_command(command.words, command.environment)
            if turn > 0:
                times[name].append(milliseconds)
    return {name: statistics.median(values) for name, values in times.items()}


class Figure:
    """A figure of muster's, what it is compared with, and what is wanted of it."""

    def __init__(self, name, ours, unit, most=None, least=None, peer=None, judge="ratio"):
        """`peer`: its name and value. `judge`: what `most` or `least` is of: "ours"; "ratio", ours to the
        peer's; "gain", the peer's to ours."""
        self.name, self.ours, self.unit = name, ours, unit
        self.peer_name, self.peer = peer or ("", None)
        self.most, self.least, self.judge = most, least, judge

    @property
    def ratio(self):
        if not self.peer:
            return None
        return self.peer / self.ours if self.judge == "gain" else self.ours / self.peer

    @property
    def met(self):
        value = self.ours if self.judge == "ours" else self.ratio
        return value <= self.most if self.most is not None else value >= self.least

    def wanted(self):
        unit = f" {self.unit}" if self.judge == "ours" else " times"
        return f"at most {self.most}{unit}" if self.most is not None else f"at least {self.least}{unit}"

    def as_json(self):
        return {"ours": self.ours, "unit": self.unit, "peer": self.peer, "peer_name": self.peer_name,
                "ratio": self.ratio, "wanted": self.wanted(), "met": self.met}


def figure_table(title, figures):
    table = Table(title, "ours", "peer", "", "ratio", "wanted", "")
    for one in figures:
        peer = "" if one.peer is None else f"{one.peer:.4g} {one.unit}"
        ratio = "" if one.ratio is None else f"{one.ratio:.4g}"
        table.add(one.name, f"{one.ours:.4g} {one.unit}", peer, one.peer_name, ratio, one.wanted(),
                  "met" if one.met else "NOT met")
    return table


def read_line(command, environment):
    """The JSON line that a command prints."""
    output = subprocess.run(command, check=True, env=environment, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, text=True).stdout
    return json.loads(output.strip().splitlines()[-1])


class Table:
    """Rows of text with aligned columns; numbers to the right."""

    def __init__(self, *header):
        self.rows = [header]

    def add(self, *cells):
        self.rows.append([f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in cells])

    def __str__(self):
        widths = [max(map(len, column)) for column in zip(*self.rows)]
        lines = []
        for row in self.rows:
            cells = [cell.ljust(w) if i == 0 else cell.rjust(w)
                     for i, (cell, w) in enumerate(zip(row, widths))]
            lines.append("  ".join(cells).rstrip())
        return "\n".join(lines)
