"""unpack_wheel.py WHEEL FOLDER PREFIX...: unpacks what lies under the prefixes, and nothing else."""

import sys
import zipfile

wheel, folder, *prefixes = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        if any(name == prefix or name.startswith(prefix + "/") for prefix in prefixes):
            archive.extract(name, folder)
