"""Which web pages may use the server: the one question a browser's ``Origin`` answers.

Any page can make a visitor's browser connect to ``127.0.0.1``, so a server that asks for no key
would speak for all of them. Allowed are therefore, beside what is listed: requests without an
origin (no page made them), pages of the server's own origin, and pages on a loopback address when
the server too was reached by one.

"Own" means that ``Origin`` and ``Host`` agree, and that this cannot be arranged from outside. A
page may point its own domain at 127.0.0.1 after it was loaded (DNS rebinding); origin and host
then agree. It needs a registered name and plain http for that, for it has no certificate that it
could use here. So agreement counts with https, with an address, and with a name without a dot;
plain http on a name with one has to be listed.

Knows: origins, hosts, the headers of CORS. Does not know: keys, tokens or sockets.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from streaming.errors import ForbiddenOrigin

_ORIGIN = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.\-]*)://(?P<host>\[[0-9a-f:.]+\]|[a-z0-9._\-]{0,253})(?::(?P<port>[0-9]{1,5}))?"
)
_DEFAULT_PORTS = {"http": 80, "https": 443}
_PORT_MAX = 65_535
_SHOWN_CHARS = 200
_PREFLIGHT_AGE_S = 600


@dataclass(frozen=True)
class Origin:
    """An origin in its parts; ``port`` is None where the scheme has no default."""

    scheme: str
    host: str
    port: int | None

    def __str__(self) -> str:
        usual = self.port == _DEFAULT_PORTS.get(self.scheme)
        return f"{self.scheme}://{self.host}" + ("" if usual else f":{self.port}")


def parse(text: str) -> Origin | None:
    """The origin written in ``text``, in lower case, or None where it is none (``null`` too)."""
    match = _ORIGIN.fullmatch(text.lower())
    if not match or not (match["host"] or match["scheme"] == "file"):
        return None
    scheme = match["scheme"]
    port = int(match["port"]) if match["port"] else _DEFAULT_PORTS.get(scheme)
    if port is not None and port > _PORT_MAX:
        return None
    return Origin(scheme, match["host"].removesuffix("."), port)


def origin_entry_fault(entry: str) -> str | None:
    """What is wrong with an entry of ``access.allowed_origins``, or None."""
    if entry in {"*", "null"} or parse(entry):
        return None
    repaired = parse(entry.rstrip("/"))
    if repaired is None and "://" not in entry:
        repaired = parse(f"https://{entry.rstrip('/')}")
    meant = f"; did you mean {repaired}?" if repaired else ""
    return f'"*", "null" or origins like https://example.com (no path, no slash at the end){meant}'


def is_loopback(host: str) -> bool:
    """Whether a host, without its port, is this machine and no other."""
    name = host.lower().removesuffix(".").strip("[]")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    address = _address(name)
    return address is not None and address.is_loopback


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


def _cannot_be_rebound(own: Origin) -> bool:
    name = own.host.strip("[]")
    return own.scheme == "https" or "." not in name or _address(name) is not None


def origin_of(headers: Mapping[str, str]) -> str | None:
    """The origin that made an HTTP request, from its headers (names in lower case).

    Browsers send no ``Origin`` when a page of another site has an ``<audio>`` element fetch from
    us, but ``Sec-Fetch-Site`` tells that one does, and ``Referer`` which; one that hides it
    counts as ``null``. Programs send neither.
    """
    if origin := headers.get("origin"):
        return origin
    site = headers.get("sec-fetch-site")
    if site not in {"cross-site", "same-site", "same-origin"}:
        return None
    referer = re.match(r"[a-z]+://[^/?#\s]+", headers.get("referer", ""), re.IGNORECASE)
    if referer:
        return referer[0]
    return None if site == "same-origin" else "null"


class Origins:
    """The origins that may use the server."""

    def __init__(self, allowed: Sequence[str]) -> None:
        self._all = "*" in allowed
        self._listed = frozenset(str(parse(entry) or entry) for entry in allowed)

    def check(self, origin: str | None, host: str) -> None:
        """Raise ForbiddenOrigin unless a request with these two headers may be served."""
        if not self.allows(origin, host):
            assert origin is not None
            raise ForbiddenOrigin(_refusal(origin))

    def allows(self, origin: str | None, host: str) -> bool:
        """Whether a request with this ``Origin`` (None: no such header) and ``Host`` may pass."""
        if origin is None or self._all:
            return True
        page = parse(origin)
        if page is None:
            return origin == "null" and origin in self._listed
        if str(page) in self._listed:
            return True
        own = parse(f"{page.scheme}://{host}")
        if own is None or page.scheme not in _DEFAULT_PORTS:
            return False
        if is_loopback(page.host) and is_loopback(own.host):
            return True
        return page == own and _cannot_be_rebound(own)

    def headers(self, origin: str | None, host: str, *, preflight: bool = False) -> dict[str, str]:
        """The CORS headers of an answer; only ``Vary`` where no page or a forbidden one asks."""
        headers = {"Vary": "Origin"}
        if origin is None or not self.allows(origin, host):
            return headers
        headers["Access-Control-Allow-Origin"] = "*" if self._all else origin
        if preflight:
            headers["Access-Control-Allow-Methods"] = "GET, POST, DELETE, OPTIONS"
            headers["Access-Control-Allow-Headers"] = "Authorization, Content-Type"
            headers["Access-Control-Max-Age"] = str(_PREFLIGHT_AGE_S)
        else:
            headers["Access-Control-Expose-Headers"] = "Retry-After"
        return headers


def _refusal(origin: str) -> str:
    page = parse(origin)
    if page is None and origin != "null":
        cut = repr(origin[:_SHOWN_CHARS])
        return (
            f"The Origin header {cut} is not an origin, so access.allowed_origins cannot allow it."
        )
    if page is None:
        return (
            "A page opened from a file, or in a sandboxed frame, may not use this server: its "
            'origin is "null". Serve it (python -m http.server), or add "null" to '
            "access.allowed_origins."
        )
    value = str(page)[:_SHOWN_CHARS]
    return (
        f'Pages from {value} may not use this server. To allow them, add "{value}" to '
        "access.allowed_origins."
    )
