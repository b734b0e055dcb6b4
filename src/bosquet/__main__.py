"""Entry point of ``python -m bosquet``, which is the same as the command `bosquet`."""

import sys

from bosquet.cli import main

if __name__ == "__main__":
    sys.exit(main())
