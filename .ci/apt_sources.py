"""Writes this machine's own Debian or Ubuntu sources, in deb822 form, with Debian 12's backports.

Third parties' sources are left out: one that is down must not stop the set-up.
"""

import glob
import re
import sys


def os_release():
    with open("/etc/os-release", encoding="utf-8") as text:
        return dict(re.findall(r'^(\w+)="?([^"\n]*)', text.read(), re.M))


def one_line_entries(path):
    """Entries of a .list file: deb [option=value ...] uri suite component..."""
    names = {"arch": "Architectures", "signed-by": "Signed-By", "trusted": "Trusted"}
    for line in open(path, encoding="utf-8"):
        found = re.match(r"\s*deb\s+(?:\[([^]]*)\]\s*)?(\S+)\s+(\S+)\s+([^#\n]+)", line)
        if not found:
            continue
        options, uri, suite, components = found.groups()
        entry = {"URIs": uri, "Suites": suite, "Components": components.strip()}
        for option in (options or "").split():
            key, _, value = option.partition("=")
            if key in names:
                entry[names[key]] = value.replace(",", " ")
        yield entry


def deb822_entries(path):
    """Entries of a .sources file; a value keeps its continuation lines (an embedded key)."""
    for block in re.split(r"\n\s*\n", open(path, encoding="utf-8").read()):
        lines = "\n".join(line for line in block.split("\n") if not line.startswith("#"))
        entry = dict(re.findall(r"^([\w-]+):[ \t]*((?:.*)(?:\n[ \t]+.*)*)", lines, re.M))
        if "deb" in entry.get("Types", "").split() and entry.get("Enabled", "yes") != "no":
            yield {key: value for key, value in entry.items() if key not in ("Types", "Enabled")}


def main():
    release = os_release()
    codename = release.get("VERSION_CODENAME", "")
    entries = []
    for path in ["/etc/apt/sources.list", *sorted(glob.glob("/etc/apt/sources.list.d/*"))]:
        reader = deb822_entries if path.endswith(".sources") else one_line_entries
        if path.endswith((".list", ".sources")) and glob.glob(path):
            entries += reader(path)
    written = 0
    for entry in entries:
        suites = [s for s in entry["Suites"].split() if s.split("-")[0].split("/")[0] == codename]
        if not suites or "main" not in entry.get("Components", "").split():
            continue
        if release.get("ID") == "debian" and codename == "bookworm" and codename in suites:
            suites = list(dict.fromkeys([*suites, codename + "-backports"]))
        entry["Suites"] = " ".join(suites)
        print("\n".join(["Types: deb", *(f"{key}: {value}" for key, value in entry.items())]) + "\n")
        written += 1
    if not written:
        sys.exit(f"setup: no source of the suite '{codename}' under /etc/apt")


main()
