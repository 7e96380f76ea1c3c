"""What a server tells at ``/metrics``. Knows: the page. Does not know: what becomes of figures."""

from __future__ import annotations

import re
import socket
import urllib.request
from urllib.parse import urlsplit


def answers(url: str) -> bool:
    """Whether anybody listens at that address."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme in {"https", "wss"} else 80)
    try:
        socket.create_connection((parts.hostname or "", port), timeout=5).close()
    except OSError:
        return False
    return True


def page(url: str) -> str | None:
    """The whole of it; ``None`` where nobody answers."""
    address = url.replace("ws", "http", 1) if url.startswith("ws") else url
    try:
        with urllib.request.urlopen(f"{address.rstrip('/')}/metrics", timeout=5) as answer:  # noqa: S310 - an address the operator typed, checked in options.py
            return str(answer.read().decode())
    except OSError:
        return None


def capacity(url: str) -> dict[str, int]:
    """Listeners that can be served in time, by what computes their voices; empty: not told."""
    found = re.findall(r'^cosystream_capacity{lane="(.*)"} (\S+)$', page(url) or "", re.MULTILINE)
    return {lane: int(float(listeners)) for lane, listeners in found}
