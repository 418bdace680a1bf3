"""interop.py MUSTER [PATTERN]: the scripts of this folder under `muster launch -n 2`.

Each rank leaves what its library told it (common.tell); that, the losses and the weights are checked
here, and what the launcher says of a rank that fails. `run` is what to call.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from support.clean_environment import clean_environment  # noqa: E402
from support.python_environment import interop_environment  # noqa: E402

RANKS = 2
OUTPUT_LINES = 40  # of a failed case, from its end
ERROR = "ValueError: row 5 of rank 1 is wrong"


class Case:
    """A script, how it is started, and what its library should tell each rank beside its place."""

    def __init__(self, script, kind, options=(), **expected):
        self.name = f"{script}/{kind}"
        self.script = script
        self.raises = kind == "raise"
        self.precision = expected.setdefault("precision", "no")
        self.options = list(options)
        self.expected = expected

    def command(self, muster, folder):
        words = [muster, "launch", "-n", RANKS, "--devices", "cpu", "--timeout", 900, "--report",
                 folder / "report.json", *self.options, "--", HERE / f"{self.script}.py", folder,
                 self.precision]
        return [str(word) for word in words] + ["raise"] * self.raises


def all_cases():
    own = {
        "ddp": {"elastic": True},
        "hf_accelerate": {"accumulation": 1, "device": "cpu"},
        "lightning_ddp": {"environment": "TorchElasticEnvironment"},
        "deepspeed_zero": {"stage": 1},
        "hf_trainer": {},
    }
    # These two take their precision from the launcher's environment, the others from their code.
    by_launcher = {"hf_accelerate", "hf_trainer"}
    bf16 = ["--env", "ACCELERATE_MIXED_PRECISION=bf16"]
    for script, expected in own.items():
        yield Case(script, "train", **expected)
        yield Case(script, "bf16", bf16 if script in by_launcher else [], precision="bf16", **expected)
        yield Case(script, "raise")
    yield Case("hf_accelerate", "accumulate", ["--gradient-accumulation-steps", 4],
               accumulation=4, device="cpu")


def faults_of_training(case, folder, code):
    if code != 0:
        return [f"the exit code is {code}"]
    told = [json.loads((folder / f"{rank}.json").read_text()) for rank in range(RANKS)]
    faults = []
    for rank, facts in enumerate(told):
        expected = {"rank": rank, "local_rank": rank, "world": RANKS, **case.expected}
        for name, value in expected.items():
            if facts[name] != value:
                faults.append(f"rank {rank}: {name} is {facts[name]!r}, not {value!r}")
        losses = facts["losses"]
        first, last = sum(losses[:4]), sum(losses[-4:])
        if len(losses) < 8 or not last < 0.8 * first:
            faults.append(f"rank {rank}: the losses do not go down: {losses}")
    if told[0]["weights"] != told[1]["weights"]:
        faults.append("the ranks end with different weights")
    return faults


def faults_of_failure(folder, code, output):
    report = json.loads((folder / "report.json").read_text())
    first = report["first_failure"] or {}
    found = {
        "exit code": (code, 1),
        "outcome": (report["outcome"], "rank_failed"),
        "failed rank": (first.get("rank"), 1),
        "its error": (first.get("error"), ERROR),
        "others": ([other["rank"] for other in report["consequences"]], [0]),
        "first line": ("muster: rank 1 failed first: exit 1" in output, True),
        "error line": (f"  error    {ERROR}\n" in output, True),
    }
    return [f"{name}: {value!r}, not {wanted!r}" for name, (value, wanted) in found.items()
            if value != wanted]


def run_case(case, muster, environment):
    """What is wrong, and what the job said."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # Whatever a library writes under HOME goes with the folder.
        environment = environment | {"HOME": name, "XDG_CONFIG_HOME": name}
        done = subprocess.run(case.command(muster, folder), cwd=folder, env=environment, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace")
        try:
            if case.raises:
                faults = faults_of_failure(folder, done.returncode, done.stdout)
            else:
                faults = faults_of_training(case, folder, done.returncode)
        except (OSError, ValueError, KeyError) as problem:
            faults = [f"exit code {done.returncode}, and no facts: {problem!r}"]
        return faults, done.stdout


def environment_for(python):
    """As in a shell where the environment is active; DeepSpeed keeps what it compiles beside it."""
    own = {
        "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
        "TORCH_EXTENSIONS_DIR": str(python.parents[1] / "extensions"),
        "DS_ACCELERATOR": "cpu",
        "HF_HUB_OFFLINE": "1",
    }
    return clean_environment() | own


def main():
    muster, pattern = Path(sys.argv[1]).resolve(), sys.argv[2] if len(sys.argv) > 2 else ""
    cases = [case for case in all_cases() if pattern in case.name]
    if not cases:
        sys.exit(f"interop: no case has '{pattern}' in its name; there are "
                 + ", ".join(case.name for case in all_cases()))
    try:
        environment = environment_for(interop_environment())
    except (OSError, subprocess.SubprocessError) as problem:
        sys.exit(f"interop: the libraries cannot be installed: {problem}")
    failed = 0
    for case in cases:
        start = time.monotonic()
        faults, output = run_case(case, muster, environment)
        print(f"{case.name:<26}{'failed' if faults else 'passed'}{time.monotonic() - start:8.1f} s",
              flush=True)
        if faults:
            failed += 1
            print("\n".join(output.splitlines()[-OUTPUT_LINES:] + [f"  {fault}" for fault in faults]))
    print(f"{len(cases) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
