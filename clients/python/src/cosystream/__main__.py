"""``python -m cosystream``: the same as the command."""

import sys

from cosystream.cli import main

if __name__ == "__main__":
    sys.exit(main())
