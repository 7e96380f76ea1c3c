"""``python -m streaming.cosyvoice.download cosyvoice3``."""

from __future__ import annotations

import sys

from streaming.cosyvoice.download.command import main

sys.exit(main())
