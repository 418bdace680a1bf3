"""sizes.py SOURCE: no file is longer than its kind may be, so that each does one thing."""

import sys
from pathlib import Path

LIMITS = [("CMakeLists.txt", 120), ("_test.cpp", 500), (".cpp", 400), (".hpp", 400), (".cmake", 200)]


def main():
    source = Path(sys.argv[1])
    folders = ["config", "launcher", "backends", "runtime", "examples", "tests", "cmake"]
    files = [p for folder in folders for p in sorted((source / folder).rglob("*")) if p.is_file()]
    faults = []
    for path in [source / "CMakeLists.txt", *files]:
        limit = next((limit for ending, limit in LIMITS if path.name.endswith(ending)), None)
        lines = limit and len(path.read_text(encoding="utf-8").splitlines())
        if limit and lines > limit:
            faults.append(f"{path.relative_to(source)} has {lines} lines; {limit} is the limit")
    print("\n".join(faults) or f"{len(files)} files")
    sys.exit(1 if faults else 0)


main()
