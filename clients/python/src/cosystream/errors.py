"""The tree of errors: what went wrong, whether asking again can help, where to read about it.

Knows: the fields of an error on the wire. Does not know: sockets, or what a caller does next.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

DOCS_URL = "https://github.com/cosystream/cosystream/blob/main/docs/protocol.md#9-errors"


class CosystreamError(Exception):
    """Base of all; ``code`` is the protocol's, or one of the client's own where nothing came.

    ``retryable`` says that the same request may succeed later (after ``retry_after_ms`` if given).
    Nothing is ever tried again silently: half a sentence may have been heard already.
    """

    default_code: ClassVar[str] = "error"
    default_retryable: ClassVar[bool] = False
    docs_url: ClassVar[str] = DOCS_URL

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        status: int | None = None,
        retryable: bool | None = None,
        retry_after_ms: int | None = None,
        ctx: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.status = status
        self.retryable = self.default_retryable if retryable is None else retryable
        self.retry_after_ms = retry_after_ms
        self.ctx = ctx

    def __str__(self) -> str:
        where = f" [context {self.ctx}]" if self.ctx else ""
        again = ""
        if self.retryable:
            when = "" if self.retry_after_ms is None else f" in {self.retry_after_ms} ms"
            again = f"; may be tried again{when}"
        return f"{self.code}: {self.message}{where}{again} (see {self.docs_url})"


class ConnectionFailed(CosystreamError):
    """No connection could be made: nobody listens there, or it is not a cosystream server."""

    default_code = "connection_failed"
    default_retryable = True


class ConnectionLost(CosystreamError):
    """The connection broke and the session could not be resumed; its contexts are gone."""

    default_code = "connection_lost"
    default_retryable = True


class Refused(CosystreamError):
    """The server would not begin a session or answer a request: key, origin, limits, settings."""

    default_code = "refused"


class SessionEnded(CosystreamError):
    """The server ended the session: idle, drained, slow reader, resumed elsewhere."""

    default_code = "session_ended"


class ContextFailed(CosystreamError):
    """The context was not opened, or ended before its text was spoken."""

    default_code = "context_failed"


class MessageRefused(CosystreamError):
    """One message was not carried out (text too long, text after ``end``); the context goes on."""

    default_code = "message_refused"


class ConsumerTooSlow(ContextFailed):
    """Nobody took this context's packets; its buffer is full and it was cancelled."""

    default_code = "consumer_too_slow"


class ProtocolViolation(CosystreamError):
    """The server sent something that the protocol does not allow."""

    default_code = "protocol_violation"


class ClientClosed(CosystreamError):
    """The client was closed while this context was still open."""

    default_code = "client_closed"


class TimedOut(CosystreamError):
    """The server said nothing for too long."""

    default_code = "timed_out"
    default_retryable = True


class MissingExtra(CosystreamError):
    """What was asked for needs an optional package; the message has the command that adds it."""

    default_code = "missing_extra"
    docs_url = "https://github.com/cosystream/cosystream/blob/main/clients/python/README.md#playing"


E = TypeVar("E", bound=CosystreamError)


def from_wire(kind: type[E], fields: Mapping[str, Any]) -> E:
    """The error that an ``error`` message or an HTTP error body describes."""
    return kind(
        str(fields.get("message", "no message")),
        code=str(fields.get("code", kind.default_code)),
        status=fields.get("status"),
        retryable=bool(fields.get("retryable")),
        retry_after_ms=fields.get("retry_after_ms"),
        ctx=fields.get("ctx"),
    )
