"""Where a server is: one address for its HTTP and its WebSocket, with a path prefix or without.

Knows: how URLs are put together, which hosts are this machine. Does not know: sockets.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit, urlunsplit

DEFAULT_URL = "http://127.0.0.1:8000"

_SECURE = {"http": False, "ws": False, "https": True, "wss": True}
_STREAM_PATH = "/v1/stream"


@dataclass(frozen=True)
class Address:
    """A server's address, taken apart once."""

    secure: bool
    netloc: str
    host: str
    prefix: str
    """Path prefix without a slash at its end, for example ``/tts``; empty at the root."""

    @classmethod
    def parse(cls, url: str) -> Address:
        """From http, https, ws or wss; ``/v1/stream`` at the end is allowed and means the same.

        Raises ValueError, naming what is wrong, for anything else.
        """
        parts = urlsplit(url if "://" in url else f"http://{url}")
        if parts.scheme not in _SECURE:
            raise ValueError(f"{url!r}: the scheme must be http, https, ws or wss")
        if not parts.hostname:
            raise ValueError(f"{url!r}: there is no host in it, as in {DEFAULT_URL}")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError(f"{url!r}: give keys and tokens as arguments, not in the address")
        _check_port(url, parts)
        prefix = parts.path.rstrip("/").removesuffix(_STREAM_PATH)
        return cls(_SECURE[parts.scheme], parts.netloc, parts.hostname, prefix)

    @property
    def stream_url(self) -> str:
        """The WebSocket's URL."""
        return self._url("wss" if self.secure else "ws", _STREAM_PATH)

    def http_url(self, path: str = "") -> str:
        """The URL of ``path`` (with its slash) on the server."""
        return self._url("https" if self.secure else "http", path)

    @property
    def loopback(self) -> bool:
        """Whether it is this machine: proxies are no use then."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:  # a name, not a number
            return self.host == "localhost" or self.host.endswith(".localhost")

    def _url(self, scheme: str, path: str) -> str:
        return urlunsplit((scheme, self.netloc, self.prefix + path, "", ""))


def _check_port(url: str, parts: SplitResult) -> None:
    try:
        _ = parts.port
    except ValueError as wrong:
        raise ValueError(f"{url!r}: {wrong}") from wrong
