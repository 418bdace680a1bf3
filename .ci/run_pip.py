"""run_pip.py WHEEL CERTIFICATES ARGUMENT...: runs pip out of its wheel, trusting these certificates.

Debian's pip has none of its own, and newer ones read the system's as soon as they are imported.
"""

import sys

wheel, certificates, *arguments = sys.argv[1:]
sys.path.insert(0, wheel)

from pip._vendor import certifi  # noqa: E402

certifi.where = lambda: certificates

from pip._internal.cli.main import main  # noqa: E402

sys.exit(main(arguments))
