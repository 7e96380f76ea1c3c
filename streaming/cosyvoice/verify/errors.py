"""Why a verification does not come about."""

from __future__ import annotations


class CannotTry(Exception):
    """There is something to be done first; the message says what."""
