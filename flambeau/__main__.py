"""``python -m flambeau``: the command line."""

import sys

from flambeau.cli import main

sys.exit(main())
