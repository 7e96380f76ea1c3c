"""What a context has to tell the server, in order, and may have to tell again after a resume.

Knows: which messages were sent over this connection and which are known to have arrived. Does not
know: sockets, or when to send. Deltas are numbered, so that sending one again is harmless; a
``flush`` or ``end`` of which it is not known whether it arrived is sent again, and what the server
says to its repetition is for the reader to pass over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Entry:
    kind: Literal["open", "text", "flush", "end", "cancel"]
    message: Message
    text_seq: int
    """The number of the last delta before it (its own, for a delta)."""
    chars: int
    """Code points of text up to and including it."""


class Outbox:
    """One context's messages; what is known to have arrived is forgotten."""

    def __init__(self, ctx: str, opening: Message) -> None:
        self._ctx = ctx
        self._entries = [_Entry("open", {"type": "open", "ctx": ctx, **opening}, 0, 0)]
        self._next = 0
        self._text_seq = 0
        self.chars = 0
        """Code points of text given so far."""
        self.held = False
        """True while it is not known what of it the server has: nothing may be taken."""
        self.ended = False
        self.cancelled = False
        self.end_repeated = False
        """Whether ``end`` was sent again: the server may call the second one an error."""

    @property
    def pending(self) -> bool:
        """Whether ``take`` would give something."""
        return not self.held and self._next < len(self._entries)

    def take(self) -> Message | None:
        """The next message to send over this connection, or None."""
        if not self.pending:
            return None
        entry = self._entries[self._next]
        self._next += 1
        return entry.message

    def text(self, delta: str) -> None:
        """Append numbered text."""
        self._text_seq += 1
        self.chars += len(delta)
        self._add("text", {"delta": delta, "seq": self._text_seq})

    def flush(self, flush_id: str) -> None:
        """Have what has come so far spoken. Raises ValueError for an id that is under way."""
        if flush_id in self._flush_ids():
            raise ValueError(f"flush id {flush_id!r} is under way already")
        self._add("flush", {"id": flush_id})

    def end(self) -> None:
        """No more text."""
        self.ended = True
        self._add("end", {})

    def cancel(self, played_ms: float | None) -> None:
        """Stop now, behind what was to be sent before: all text is told apart by ``cancelled``."""
        self.cancelled = True
        self._add("cancel", {} if played_ms is None else {"played_ms": played_ms})

    def opened(self) -> None:
        """The server has the opening."""
        self._forget(lambda entry: entry.kind == "open")

    def spoken_to(self, char_end: int) -> None:
        """The server has the text before that offset, for it speaks it."""
        self._forget(lambda entry: entry.kind == "text" and entry.chars <= char_end)

    def flushed(self, flush_id: str) -> bool:
        """The server has that flush; False where it was known already (a repetition)."""
        known = flush_id not in self._flush_ids()
        self._forget(lambda entry: entry.kind == "flush" and entry.message["id"] == flush_id)
        return not known

    def rewind(self, text_seq: int) -> None:
        """A new connection to the same session, whose last accepted delta is ``text_seq``."""
        self.held = False
        self._next = 0
        self._entries = [entry for entry in self._entries if _missing(entry, text_seq)]
        self.end_repeated |= any(entry.kind == "end" for entry in self._entries)

    def hold(self) -> None:
        """A new connection to the same session, which does not say that it has the context."""
        self.held = True

    def restart(self) -> None:
        """The server never had it: send everything, from the opening."""
        self.held = False
        self._next = 0

    def _add(self, kind: Literal["text", "flush", "end", "cancel"], body: Message) -> None:
        message = {"type": kind, "ctx": self._ctx, **body}
        self._entries.append(_Entry(kind, message, self._text_seq, self.chars))

    def _flush_ids(self) -> set[str]:
        return {entry.message["id"] for entry in self._entries if entry.kind == "flush"}

    def _forget(self, arrived: Any) -> None:
        sent, unsent = self._entries[: self._next], self._entries[self._next :]
        kept = [entry for entry in sent if not arrived(entry)]
        self._entries = kept + unsent
        self._next = len(kept)


def _missing(entry: _Entry, text_seq: int) -> bool:
    if entry.kind == "open":
        return False
    if entry.kind == "text":
        return entry.text_seq > text_seq
    # A flush or end before an accepted delta has arrived; after the last one, nobody knows.
    return entry.kind == "cancel" or entry.text_seq >= text_seq
