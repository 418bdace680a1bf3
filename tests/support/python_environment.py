"""Virtual environments in the cache, made when they are missing."""

import fcntl
import os
import shutil
import subprocess
import sys
import venv
import zlib
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
SETUP = SOURCE / ".ci/setup"
REQUIREMENTS = SOURCE / "tests/interop/requirements.txt"


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "muster"


def torch_version():
    return os.environ.get("MUSTER_TORCH_VERSION", "2.11.0")


def find_environment(name, requirements, size, below=None):
    """The interpreter of the environment `name`, into which pip installed the requirements.

    What is downloaded is said before, with its size. `below`: the interpreter of another
    environment, whose packages are seen too. Throws CalledProcessError or OSError.
    """
    folder = cache_folder() / name
    python, done = folder / "bin/python", folder / "complete"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.parent / "python.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            print(f"tests: installing {', '.join(requirements)} into {folder}: {size}", file=sys.stderr)
            install(folder, python, requirements, below)
            done.touch()
    return python


def install(folder, python, requirements, below):
    venv.create(folder, with_pip=False, clear=True)
    if below is not None:
        (packages_of(python) / "below.pth").write_text(f"{packages_of(below)}\n", encoding="utf-8")
    told = subprocess.run([SETUP, "--pip", python], check=True, stdout=subprocess.PIPE, text=True)
    pip = [*told.stdout.splitlines(), "install", "-q", "--no-cache-dir", "--disable-pip-version-check"]
    # What comes as source is built with what is installed: torch too, where its build asks for it.
    subprocess.run([*pip, "setuptools", "wheel"], check=True)
    subprocess.run([*pip, "--no-build-isolation", *requirements], check=True)


def packages_of(python):
    asked = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    return Path(subprocess.run(asked, check=True, stdout=subprocess.PIPE, text=True).stdout.strip())


def torch_environment():
    """The interpreter of an environment with PyTorch."""
    version = torch_version()
    return find_environment(f"benchmark-torch-{version}", [f"torch=={version}", "numpy"],
                            "about 3 GB to download, 5 GB on disk")


def interop_name():
    """Another one for other versions, so that an environment is whole or is not there."""
    listed = REQUIREMENTS.read_text(encoding="utf-8")
    return f"interop-{zlib.crc32(f'{torch_version()} {listed}'.encode()):08x}"


def interop_environment():
    """The interpreter of an environment with the libraries of tests/interop/requirements.txt."""
    requirements = REQUIREMENTS.read_text(encoding="utf-8").split()
    python = find_environment(interop_name(), requirements, "0.1 GB to download, 0.3 GB on disk",
                              torch_environment())
    for other in cache_folder().glob("interop-*"):
        if other.name != interop_name():
            shutil.rmtree(other)
    return python


def interop_environment_if_made():
    """The same, or None if tests/interop/run was not there yet."""
    folder = cache_folder() / interop_name()
    return folder / "bin/python" if (folder / "complete").exists() else None
