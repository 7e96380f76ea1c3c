"""``python -m streaming.cosyvoice.verify PATH``."""

import sys

from streaming.cosyvoice.verify.command import main

if __name__ == "__main__":
    sys.exit(main())
