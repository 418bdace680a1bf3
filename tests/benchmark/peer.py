"""The Python side: PyTorch's launcher and its DistributedDataParallel."""

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.python_environment import torch_environment  # noqa: E402


def find_python():
    """The interpreter of the peer's environment; made first if it is missing. None if it cannot be."""
    try:
        return torch_environment()
    except (OSError, subprocess.SubprocessError) as problem:
        print(f"benchmark: no PyTorch to compare with: {problem}", file=sys.stderr)
        return None
