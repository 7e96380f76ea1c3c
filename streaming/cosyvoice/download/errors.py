"""What can go wrong with a download, each with the words that say what to do."""

from __future__ import annotations


class DownloadError(Exception):
    """The checkpoint was not fetched; what has arrived is kept for the next try."""


class Unreachable(DownloadError):
    """No answer: no network, a name that is not found, a proxy, a time-out."""


class Refused(DownloadError):
    """The hub answered, and what it said is no (404, 403, or nothing that can be understood)."""


class Damaged(DownloadError):
    """What arrived is not what the hub describes, twice."""


class NoRoom(DownloadError):
    """The disk is full, or will be."""
