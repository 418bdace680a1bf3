"""Measuring commands in turn, and telling the figures."""

import json
import statistics
import subprocess
import time


def time_command(command, environment=None):
    """Milliseconds from start to end of a command that has to succeed."""
    start = time.perf_counter()
    subprocess.run(command, check=True, env=environment, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL)
    return (time.perf_counter() - start) * 1e3


def time_in_turn(commands, rounds):
    """Median milliseconds of each of the named commands, one of each a round, the first round left out."""
    times = {name: [] for name in commands}
    for turn in range(rounds + 1):
        for name, command in commands.items():
            milliseconds = time_command(command)
            if turn > 0:
                times[name].append(milliseconds)
    return {name: statistics.median(values) for name, values in times.items()}


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
