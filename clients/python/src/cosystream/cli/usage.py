"""The error of a command line that cannot be carried out.

Apart from ``arguments``, which names what carries out a command, since all of that raises it.
"""

from __future__ import annotations


class Usage(Exception):
    """What was asked cannot be done as asked; the message says what can."""
