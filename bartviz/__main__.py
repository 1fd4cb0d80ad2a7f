"""``python -m bartviz``: the command line."""

import sys

from bartviz.cli import main

sys.exit(main())
