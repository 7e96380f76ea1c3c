"""What a run is told, and how that is read from a command line.

Knows: names, defaults, what is allowed. Does not know: what any of it does.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

RAMP_S = 5.0
"""Sessions start spread over this long, unless all at once is asked for."""

CONNECT_S = 10.0
"""How long a connection may take to be ready."""

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True)
class Options:
    """One run; ``seconds`` bounds it, starts included."""

    url: str = "http://127.0.0.1:8000"
    sessions: int = 1
    seconds: float = 30.0
    text_mode: Literal["whole", "llm"] = "whole"
    arrivals: Literal["closed", "poisson"] = "closed"
    rate: float | None = None
    """Poisson arrivals a second over all sessions; ``None``: half the sessions talk on average."""
    burst: bool = False
    codec: Literal["opus", "pcm_s16le"] = "opus"
    barge_in: float = 0.0
    """The share of contexts that are cancelled while they speak."""
    voices: tuple[str, ...] = ()
    """Sessions take them in turn; none: the server's default."""
    lead_ms: int = 400
    processes: int = 1
    of_capacity: float | None = None
    """As many sessions as this share of what the server says it can serve."""
    warm_up_s: float = 10.0
    """One session speaks for so long before the server is asked."""
    key: str | None = None
    json: bool = False

    @property
    def stream_url(self) -> str:
        """The WebSocket's own address."""
        parts = urlsplit(self.url)
        scheme = {"http": "ws", "https": "wss"}.get(parts.scheme, parts.scheme)
        path = parts.path.rstrip("/").removesuffix("/v1/stream") + "/v1/stream"
        return f"{scheme}://{parts.netloc}{path}"

    @property
    def local(self) -> bool:
        """Whether the server is on this machine, so that its processes can be looked at."""
        return urlsplit(self.url).hostname in LOOPBACK

    @property
    def port(self) -> int:
        """The server's port, the scheme's own where none is given."""
        parts = urlsplit(self.url)
        return parts.port or (443 if parts.scheme in {"https", "wss"} else 80)


def parse(arguments: list[str] | None = None) -> Options:
    """The options of a command line; ends the program with a message where it makes no sense."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.load",
        description="Sessions that talk to a running server over real sockets, and what they see: "
        "first packets, gaps, refusals (docs/performance.md).",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    default = Options()
    add = parser.add_argument
    add("--url", default=default.url, help="the server")
    add("--sessions", type=_whole, default=default.sessions, metavar="N", help="at once")
    add("--seconds", type=_positive, default=default.seconds, metavar="S", help="in all")
    add(
        "--text-mode",
        choices=["whole", "llm"],
        default=default.text_mode,
        help="a context's text at once, or 1 to 5 characters 20 times a second",
    )
    add(
        "--arrivals",
        choices=["closed", "poisson"],
        default=default.arrivals,
        help="closed: every session talks without pause; poisson: contexts come at random",
    )
    add("--rate", type=_positive, metavar="R", help="poisson: contexts a second over all sessions")
    add("--burst", action="store_true", help=f"start at once, not spread over {RAMP_S:.0f} s")
    add("--codec", choices=["opus", "pcm_s16le"], default=default.codec, help="of the audio")
    add("--barge-in", type=_share, default=0.0, metavar="SHARE", help="cancel this share mid-way")
    add("--voices", type=_names, default=(), metavar="ID,ID", help="taken in turn by the sessions")
    add("--lead-ms", type=int, default=default.lead_ms, metavar="MS", help="pacing.lead_ms")
    add(
        "--of-capacity",
        type=_positive,
        metavar="SHARE",
        help="not N sessions, but this share of cosystream_capacity as /metrics tells it "
        "after one session has talked for --warm-up-s",
    )
    add(
        "--warm-up-s",
        type=_positive,
        default=default.warm_up_s,
        metavar="S",
        help="with --of-capacity",
    )
    add("--processes", type=_whole, default=default.processes, metavar="P", help="client processes")
    add("--key", help="an API key, where the server asks for one")
    add("--json", action="store_true", help="one JSON object instead of a table")
    options = Options(**vars(parser.parse_args(arguments)))
    if urlsplit(options.url).scheme not in {"http", "https", "ws", "wss"}:
        parser.error(f"--url {options.url}: expected http://HOST:PORT")
    return options


def _whole(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no whole number from 1 on")
    return int(text)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for name in text.split(",") if name)


def _positive(text: str) -> float:
    value = _number(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value


def _share(text: str) -> float:
    value = _number(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is no number") from None
