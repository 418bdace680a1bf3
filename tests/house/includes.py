"""includes.py SOURCE: who includes whom, and which third-party headers, against the house's rules."""

import re
import sys
from pathlib import Path

# Folder: the folders whose headers it may include.
MAY_INCLUDE = {
    "config": {"config"},
    "launcher": {"launcher", "config"},
    "backends": {"backends", "config"},
    "runtime": {"runtime", "backends", "config"},
    "examples": {"examples", "runtime", "backends", "config"},
}
LIBTORCH = r"(torch|ATen|c10|caffe2|gloo)/"
LAUNCHERS = r"(CLI|boost)/|hwloc\.h"
FORBIDDEN = {  # third-party headers that a folder must not include
    "config": rf"{LIBTORCH}|{LAUNCHERS}|nlohmann/",
    "launcher": LIBTORCH,
    "backends": rf"{LAUNCHERS}|toml\+\+/",
    "runtime": rf"{LAUNCHERS}|toml\+\+/",
    "examples": rf"{LAUNCHERS}|toml\+\+/|nlohmann/|fmt/",
}
# Public headers name tensors and devices and forward-declare the rest, so that they stay cheap.
PUBLIC_FORBIDDEN = r"(fmt|nlohmann|toml\+\+|CLI|boost)/|hwloc\.h|xxhash\.h|torch/(torch|nn|optim|data)\.h"
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)', re.M)
ROW = "launcher -> config <- backends <- runtime <- examples"


def owners(source):
    """Maps each public header, as it is included (muster/x.hpp), to the folder that has it."""
    return {
        str(path.relative_to(source / folder / "include")): folder
        for folder in MAY_INCLUDE
        for path in (source / folder / "include").rglob("*.hpp")
    }


def faults_of(path, folder, source, public):
    text = path.read_text(encoding="utf-8")
    for quote, name in INCLUDE.findall(text):
        where = f"{path.relative_to(source)} includes {name}"
        owner = public.get(name)
        if owner is None and name.startswith("muster/"):
            yield f"{where}, which no folder has"
        elif owner is not None and owner not in MAY_INCLUDE[folder]:
            yield f"{where} of {owner}; allowed is {ROW}"
        elif quote == '"':
            near = [base / name for base in (path.parent, source / folder)]
            if not any(candidate.is_file() for candidate in near):
                yield f"{where}, which is not in {folder}"
        elif re.match(FORBIDDEN[folder], name):
            yield f"{where}, which {folder} does without"
        elif "include" in path.parts and re.match(PUBLIC_FORBIDDEN, name):
            yield f"{where}, which does not belong in a public header"


def main():
    source = Path(sys.argv[1])
    public, faults, seen = owners(source), [], 0
    for folder in MAY_INCLUDE:
        for path in sorted((source / folder).rglob("*.[ch]pp")):
            seen += 1
            faults += faults_of(path, folder, source, public)
    print("\n".join(faults) or f"{seen} files")
    sys.exit(1 if faults or not seen else 0)


main()
