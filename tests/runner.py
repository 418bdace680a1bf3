"""runner.py BUILD_FOLDER [PATTERN]: builds and runs the tests of a configured tree, counting cases.

CTest runs them: one entry a test source or script. An entry that is a Catch2 program leaves a report
in BUILD_FOLDER/tests/reports, from which its cases are counted; any other entry counts as one.
"""

import fcntl
import json
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

from support.clean_environment import clean_environment

SOURCE = Path(__file__).resolve().parent
OUTPUT_LINES = 60  # of a failed entry, from its end


class Entry:
    """One CTest entry: its name is group/file."""

    def __init__(self, description, build):
        self.name = description["name"]
        properties = {p["name"]: p["value"] for p in description.get("properties", [])}
        self.group = properties["LABELS"][0]
        self.report = build / "tests/reports" / (self.name.replace("/", "-") + ".xml")
        self.skips = []  # why, of each skipped case
        self.has_report = any("::out=" in word for word in description.get("command", []))

    def source(self):
        return next(SOURCE.glob(f"{self.group}/**/{self.name.split('/')[-1]}_test.cpp"), None)

    def count(self, status):
        """Counts the entry's cases; CTest's verdict stands where the report falls short of it."""
        if not self.has_report:
            return Counter([status])
        cases = Counter()
        try:
            for _, element in ElementTree.iterparse(self.report):
                if element.tag == "TestCase":
                    cases[verdict(element)] += 1
                elif element.tag == "Skip":
                    self.skips.append((element.text or "").strip())
        except (OSError, ElementTree.ParseError):
            status = "failed"  # it died before it could close its report
        if not cases["failed"] and (status == "failed" or not cases):
            cases["failed"] = 1
        return cases


def verdict(case):
    result = case.find("OverallResult")
    if result is None or result.get("success") != "true":
        return "failed"
    only_skipped = result.get("skips", "0") != "0"
    return "skipped" if only_skipped else "passed"


def ctest_verdict(case):
    if case.get("status") == "run":
        return "passed"
    # CTest says "notrun" too of a program that is not there.
    skip = case.find("skipped")
    asked = skip is not None and skip.get("message", "").startswith("SKIP_RETURN_CODE")
    return "skipped" if asked else "failed"


def read_entries(build):
    listing = subprocess.run(
        ["ctest", "--test-dir", build, "--show-only=json-v1"], check=True, capture_output=True
    )
    return [Entry(test, build) for test in json.loads(listing.stdout)["tests"]]


def select(entries, pattern):
    """The entries of the group `pattern`, else those named so, else those that hold such a case."""
    if not pattern:
        return entries
    group = [entry for entry in entries if entry.group == pattern]
    named = [entry for entry in entries if pattern in entry.name]
    title = re.compile(r'(TEST_CASE|SCENARIO|METHOD)\([^"]*"[^"]*' + re.escape(pattern), re.I)
    return group or named or [
        entry for entry in entries if (path := entry.source()) and title.search(path.read_text())
    ]


def lock(build):
    """Waits for another run in this build folder to end; the lock goes with this process."""
    file = open(build / "run.lock", "w", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print(f"tests/run: waiting for another run in {build}", flush=True)
        fcntl.flock(file, fcntl.LOCK_EX)
    return file


def build_targets(build, entries, everything):
    targets = [] if everything else sorted({"tests_" + entry.group for entry in entries})
    command = ["cmake", "--build", build] + (["--target", *targets] if targets else [])
    return subprocess.run(command, check=False).returncode == 0


def run_group(build, entries):
    """Runs entries; yields (entry, status, output) of each."""
    for entry in entries:
        entry.report.unlink(missing_ok=True)
    environment = clean_environment()
    names = "|".join(re.escape(entry.name) for entry in entries)
    with tempfile.TemporaryDirectory() as folder:
        junit = Path(folder) / "ctest.xml"
        subprocess.run(
            ["ctest", "--test-dir", build, "-Q", "-R", f"^({names})$", "--output-junit", junit],
            check=False, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        )
        results = {case.get("name"): case for case in ElementTree.parse(junit).iter("testcase")}
    for entry in entries:
        case = results.get(entry.name)
        output = "" if case is None else case.findtext("system-out") or ""
        yield entry, "failed" if case is None else ctest_verdict(case), output


def describe(counts):
    words = [f"{counts[kind]} {kind}" for kind in ("passed", "failed")]
    if counts["skipped"]:
        words.append(f"{counts['skipped']} skipped")
    return ", ".join(words)


def report(entry, cases, output):
    """What a person must see of an entry that did not simply pass."""
    lines = output.strip().splitlines()
    if cases["failed"]:
        print(f"--- {entry.name}")
        print("\n".join(lines[-OUTPUT_LINES:]) or "(no output)")
    elif cases["skipped"]:
        for reason in entry.skips or lines[-1:]:
            print(f"    {entry.name}: skipped: {reason}")


def main():
    build, pattern = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    held = lock(build)  # noqa: F841
    entries = read_entries(build)
    chosen = select(entries, pattern)
    if not chosen:
        groups = ", ".join(dict.fromkeys(entry.group for entry in entries))
        sys.exit(f"tests/run: no test is called '{pattern}'; the groups are {groups}")
    if not build_targets(build, chosen, everything=not pattern):
        sys.exit("tests/run: the build failed")
    names = {entry.name for entry in chosen}  # read again: CTest knows a command once it is built
    chosen = [entry for entry in read_entries(build) if entry.name in names]
    total = Counter()
    for group in dict.fromkeys(entry.group for entry in chosen):
        start, counts = time.monotonic(), Counter()
        results = list(run_group(build, [entry for entry in chosen if entry.group == group]))
        for entry, status, output in results:
            cases = entry.count(status)
            report(entry, cases, output)
            counts += cases
        print(f"{group:<12}{describe(counts):<34}{time.monotonic() - start:6.1f} s", flush=True)
        total += counts
    print(describe(total))
    sys.exit(0 if total["passed"] and not total["failed"] else 1)


main()
