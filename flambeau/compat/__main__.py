"""``python -m flambeau.compat SCRIPT``: the same as ``flambeau run SCRIPT``."""

import sys

from flambeau.cli import main

sys.exit(main(["run", *sys.argv[1:]]))
