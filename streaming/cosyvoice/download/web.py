"""GET requests that end: answers, and errors in words, from the standard library.

Proxies are taken from the environment (``HTTPS_PROXY``), as every tool does. Knows: HTTP. Does
not know: hubs, files.
"""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any, Final

from streaming.cosyvoice.download.errors import Refused, Unreachable

TIMEOUT_S: Final = 30.0
"""How long a connection may say nothing."""

BROKEN: Final = (http.client.HTTPException, OSError)
"""What a connection raises that breaks while an answer is read."""

_AGENT: Final = "cosystream"


@contextmanager
def get(
    url: str, *, headers: Mapping[str, str] | None = None, timeout_s: float = TIMEOUT_S
) -> Iterator[http.client.HTTPResponse]:
    """The answer to a GET, redirects followed, closed at the end.

    Raises:
        Refused: the answer is a 4xx but for 408 and 429.
        Unreachable: there is no answer, or a 5xx: another try may help.
    """
    request = urllib.request.Request(url, headers={"User-Agent": _AGENT, **(headers or {})})  # noqa: S310 - a hub's URL
    try:
        answer = urllib.request.urlopen(request, timeout=timeout_s)  # noqa: S310 - the same
    except urllib.error.HTTPError as error:
        with closing(error):
            raise _said_no(url, error) from error
    except BROKEN as error:
        raise Unreachable(f"{_host(url)} does not answer: {reason(error)}") from error
    with closing(answer):
        yield answer


def get_json(url: str, *, timeout_s: float = TIMEOUT_S) -> Any:
    """The JSON at a URL.

    Raises:
        Refused, Unreachable: as ``get``; also when the answer is no JSON (a login page, say).
    """
    with get(url, timeout_s=timeout_s) as answer:
        try:
            return json.load(answer)
        except BROKEN as error:
            raise Unreachable(f"{_host(url)} broke off: {reason(error)}") from error
        except ValueError as error:
            raise Refused(
                f"{url} answers with something else than a list of files: a proxy's page, perhaps"
            ) from error


def reason(error: BaseException) -> str:
    """An error's words, those of its cause where it only wraps one."""
    inner = getattr(error, "reason", None)
    if isinstance(inner, BaseException):
        return reason(inner)
    return str(error) or type(error).__name__


def _said_no(url: str, error: urllib.error.HTTPError) -> Refused | Unreachable:
    if error.code >= 500 or error.code in {408, 429}:  # noqa: PLR2004 - HTTP's own numbers
        return Unreachable(f"{_host(url)} answers {error.code} {error.reason}")
    return Refused(f"{_host(url)} answers {error.code} {error.reason} for {url}")


def _host(url: str) -> str:
    return url.split("/")[2]
