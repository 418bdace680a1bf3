"""What muster is compared with: the launchers of PyTorch, Accelerate and OpenMPI."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.python_environment import (SETUP, interop_environment_if_made,  # noqa: E402
                                        torch_environment)


def find_python():
    """The interpreter of an environment with PyTorch; made first if it is missing. None if it cannot be."""
    try:
        return interop_environment_if_made() or torch_environment()
    except (OSError, subprocess.SubprocessError) as problem:
        print(f"benchmark: no PyTorch to compare with: {problem}", file=sys.stderr)
        return None


def find_accelerate():
    """The words that begin a command line of `accelerate launch`, or None."""
    python = interop_environment_if_made()
    return [python, "-m", "accelerate.commands.launch"] if python else None


def find_mpirun():
    """mpirun and the environment it needs, this system's or one that is unpacked into the cache. Or None."""
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    if installed := shutil.which("mpirun"):
        return [installed, *root], dict(os.environ)
    try:
        told = subprocess.run([SETUP, "--openmpi"], check=True, stdout=subprocess.PIPE, text=True)
    except (OSError, subprocess.SubprocessError) as problem:
        print(f"benchmark: no mpirun to compare with: {problem}", file=sys.stderr)
        return None
    folder = Path(told.stdout.strip())
    libraries = [str(path.parent) for path in folder.glob("**/lib*.so.*")]
    own = {
        "OPAL_PREFIX": str(folder / "usr"),
        "PMIX_MCA_pcompress_base_silence_warning": "1",
        "PMIX_INSTALL_PREFIX": str(next(folder.glob("usr/lib/*/pmix2"))),
        "LD_LIBRARY_PATH": os.pathsep.join(dict.fromkeys(libraries)),
    }
    return [str(folder / "usr/bin/orterun"), *root], os.environ | own
