"""The Python side: a virtual environment with PyTorch, made on demand in the cache."""

import os
import subprocess
import sys
import venv
from pathlib import Path


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "muster"


def find_python(version):
    """The interpreter of the peer's environment; made first if it is missing. None if it cannot be."""
    folder = cache_folder() / f"benchmark-torch-{version}"
    python = folder / "bin/python"
    done = folder / "complete"
    if done.exists():
        return python
    print(f"benchmark: installing torch {version} and what it needs into {folder} (about 3 GB to "
          "download, 7 GB on disk)", file=sys.stderr)
    try:
        venv.create(folder, with_pip=True, clear=True)
        packages = [f"torch=={version}", "numpy"]
        subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=True)
    except (OSError, subprocess.SubprocessError) as problem:
        print(f"benchmark: no PyTorch to compare with: {problem}", file=sys.stderr)
        return None
    done.touch()
    return python
