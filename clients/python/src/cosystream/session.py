"""What one session has received: each message once and in order, given to its context.

Knows: sequence numbers, which number in a header means which context. Does not know: sockets,
reconnecting, or how messages leave.
"""

from __future__ import annotations

import itertools
import logging

from cosystream import wire
from cosystream.context import Context
from cosystream.errors import (
    ContextFailed,
    CosystreamError,
    MessageRefused,
    SessionEnded,
    from_wire,
)
from cosystream.events import Cancelled, Done, GoingAway, Packet, Ready, WarningEvent

log = logging.getLogger("cosystream")


class Gap(Exception):
    """A number was skipped: something got lost on the way, and has to be asked for again."""


class Session:
    """The receiving half, over as many connections as it takes."""

    def __init__(self, ready: Ready) -> None:
        self.ready = ready
        self.contexts: dict[str, Context] = {}
        """Those for which the server has not said the last word yet."""
        self.last_seq = 0
        self.farewell: CosystreamError | None = None
        """The fatal error that ends the session."""
        self.behind = False
        """Whether outboxes have something to send that nobody is sending."""
        self.resync_id = "resync-0"
        self._resyncs = itertools.count(1)
        self._by_sid: dict[int, Context] = {}

    def take(self, message: str | bytes) -> Context | None:
        """Give a message to whom it belongs, and return that context.

        A number that came before is passed over. Raises Gap where one is missing,
        ProtocolViolation for what cannot be understood.
        """
        if isinstance(message, bytes):
            return self._take_audio(wire.decode_audio(message))
        fields = wire.decode_text(message)
        if self._repeated(fields.get("seq")):
            return None
        return self._take_event(fields)

    def resume_request(self) -> wire.Fields:
        """The ``resume`` of a ``hello``."""
        return {
            "session": self.ready.session,
            "token": self.ready.resume_token,
            "last_seq": self.last_seq,
        }

    def resumed(self, ready: Ready) -> None:
        """A new connection to the same session: rewind what is to be sent again.

        A context that ``ready`` does not list has ended, which is about to be told again, or its
        ``open`` never arrived. The answer to a ping (``resync_id``), which comes after all that
        is sent again, tells which (``_settle``).
        """
        self.ready = ready
        self.resync_id = f"resync-{next(self._resyncs)}"
        for context in self.contexts.values():
            if context.id in ready.text_seqs:
                context.outbox.rewind(ready.text_seqs[context.id])
                self._by_sid[ready.sids[context.id]] = context
            else:
                context.outbox.hold()

    def _settle(self) -> None:
        """All that was to be sent again has come: decide about what the server did not list."""
        for context in [context for context in self.contexts.values() if context.outbox.held]:
            if context.acknowledged:
                self._end(context, ContextFailed("the server lost it", retryable=True))
            else:
                context.outbox.restart()
                self.behind = True

    def fail_all(self, error: CosystreamError) -> None:
        """The session is over: so is everything in it."""
        for context in list(self.contexts.values()):
            self._end(context, error)

    def _repeated(self, seq: int | None) -> bool:
        if seq is None:
            return False
        if seq > self.last_seq + 1:
            raise Gap(f"message {seq} came after {self.last_seq}")
        if seq <= self.last_seq:
            return True
        self.last_seq = seq
        return False

    def _take_audio(self, audio: wire.AudioMessage) -> Context | None:
        if self._repeated(audio.seq):
            return None
        context = self._by_sid.get(audio.sid)
        if context is None:
            return None  # its end was local: cancelled here, or nobody took its packets
        context.accept(
            Packet(
                ctx=context.id,
                payload=audio.payload,
                seq=audio.seq,
                pts_samples_48k=audio.pts_samples_48k,
                flags=audio.flags,
            )
        )
        return context

    def _take_event(self, fields: wire.Fields) -> Context | None:
        context = self.contexts.get(fields.get("ctx", ""))
        if fields["type"] == "error":
            self._take_error(fields, context)
            return context
        if fields["type"] == "pong" and fields.get("id") == self.resync_id:
            self._settle()
            return None
        event = wire.event_of(fields)
        if isinstance(event, WarningEvent):
            self._warn(event, context)
        elif isinstance(event, GoingAway):
            self._go_away(event)
        elif event is not None and context is not None:
            if fields["type"] == "opened":
                self._by_sid[event.sid] = context
            context.accept(event)
            if isinstance(event, Done | Cancelled):
                self._forget(context)
        return context

    def _take_error(self, fields: wire.Fields, context: Context | None) -> None:
        if "ctx" not in fields or fields["ctx"] is None:
            error = from_wire(SessionEnded, fields)
            if fields.get("fatal"):
                self.farewell = error
            else:
                log.error("%s", error)
        elif context is None:
            log.debug("late: %s", from_wire(MessageRefused, fields))
        elif fields.get("fatal") or not context.acknowledged:
            self._end(context, from_wire(ContextFailed, fields))
        elif not (fields.get("code") == "context_ended" and context.outbox.end_repeated):
            context.refuse(from_wire(MessageRefused, fields))

    def _warn(self, warning: WarningEvent, context: Context | None) -> None:
        if warning.code == "not_active":
            return  # a cancel that came too late, or twice: whoever cancelled gets the outcome
        log.warning("%s: %s", warning.code, warning.message)
        if context is not None:
            context.accept(warning)

    def _go_away(self, event: GoingAway) -> None:
        log.warning("the server drains: contexts begun are finished in %s ms", event.deadline_ms)
        for context in self.contexts.values():
            context.accept(event)

    def _end(self, context: Context, error: CosystreamError) -> None:
        context.fail(error)
        self._forget(context)

    def _forget(self, context: Context) -> None:
        self.contexts.pop(context.id, None)
        for sid in [sid for sid, other in self._by_sid.items() if other is context]:
            del self._by_sid[sid]
