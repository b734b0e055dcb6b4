"""``python -m bosquet`` is the command `bosquet`."""

import sys

from bosquet.cli import main

if __name__ == "__main__":
    sys.exit(main())
