"""sizes.py SOURCE: no file is longer than its kind may be, so that each does one thing."""

import sys
from pathlib import Path

FOLDERS = ["config", "launcher", "backends", "runtime", "examples", "tests", "cmake"]
LIMITS = {".cpp": 400, ".cc": 400, ".hpp": 180, ".txt": 120, ".cmake": 200}
TEST_LIMIT = 500


def is_ours(path):
    return path.suffix != ".txt" or path.name == "CMakeLists.txt"


def main():
    source = Path(sys.argv[1])
    files = [source / "CMakeLists.txt"]
    for folder in FOLDERS:
        files += [p for p in sorted((source / folder).rglob("*")) if p.suffix in LIMITS and is_ours(p)]
    faults = []
    for path in files:
        limit = LIMITS[path.suffix]
        if limit == 400 and path.relative_to(source).parts[0] == "tests":
            limit = TEST_LIMIT
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > limit:
            faults.append(f"{path.relative_to(source)} has {lines} lines; {limit} is the limit")
    print("\n".join(faults) or f"{len(files)} files")
    sys.exit(1 if faults else 0)


main()
