"""``python -m bartviz``: the command line."""

import sys

from bartviz.commands.cli import main

sys.exit(main())
