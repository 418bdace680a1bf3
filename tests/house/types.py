"""types.py SOURCE: no name of a type means two things.

The linker takes either of two definitions of one name for both, silently.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

FOLDERS = ["config", "launcher", "backends", "runtime"]
NOISE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S
)
SCOPE = re.compile(
    r"\b(namespace|struct|class|enum class|enum|union)\b([^;{}()=]*)\{|[{}]"
)
ATTRIBUTE = re.compile(r"\[\[.*?\]\]|alignas\(.*?\)")


def type_name(words):
    words = re.split(r"(?<!:):(?!:)|\bfinal\b", ATTRIBUTE.sub("", words))[0].split()
    return words[-1] if words and "<" not in words[-1] else ""  # Not a specialization's.


def types(text):
    """Types that other files can see, with their namespaces."""
    scopes = []
    for match in SCOPE.finditer(NOISE.sub(" ", text)):
        if match[0] == "}":
            if scopes:
                scopes.pop()
            continue
        name = None  # Of a function's body, and of a namespace without a name.
        if match[1] == "namespace":
            name = match[2].strip() or None
        elif match[1]:
            name = type_name(match[2]) or None
            if name and None not in scopes:
                yield "::".join([*scopes, name])
        scopes.append(name)


def main():
    source = Path(sys.argv[1])
    places = defaultdict(list)
    for folder in FOLDERS:
        for path in sorted((source / folder).rglob("*.[ch]pp")):
            for name in types(path.read_text(encoding="utf-8")):
                places[name].append(str(path.relative_to(source)))
    faults = [f"{n}: {', '.join(p)}" for n, p in places.items() if len(p) > 1]
    print("\n".join(faults) or f"{len(places)} types")
    sys.exit(1 if faults or not places else 0)


main()
