"""The end of a context: what its client is told, what is measured, and that nothing of it stays.

Knows: the three ways to end: complete, failed, cancelled. Does not know: what brings the end about,
the session's other contexts.
"""

from __future__ import annotations

import structlog
from msgspec import UNSET

from server.context import Context, ms_of
from server.events import Cancelled, Done, error_event
from server.lineup import Lineup
from server.metrics import Outcome
from server.outbox import Outbox
from server.output import Ending
from server.services import Services, Terms
from streaming.errors import CosystreamError, by_code
from streaming.messages import Failed, Finished
from streaming.samples import PTS_PER_MS, SAMPLE_RATE


class Endings:
    """The ends of one session's contexts."""

    def __init__(
        self,
        services: Services,
        terms: Terms,
        lineup: Lineup,
        outbox: Outbox,
        log: structlog.stdlib.BoundLogger,
    ) -> None:
        self._access = services.access
        self._metrics = services.metrics
        self._terms = terms
        self._lineup = lineup
        self._outbox = outbox
        self._log = log

    def tell(self, context: Context, ending: Ending) -> None:
        """The engine is done with it, well or not."""
        if isinstance(ending, Finished):
            self._finished(context, ending)
        else:
            self._failed(context, ending)

    def cancelled(self, context: Context, heard_samples: int, *, by_client: bool) -> None:
        """It was stopped, with so much of it heard (24 kHz).

        ``by_client``: the client has said so lately; else it is the play clock's estimate.
        """
        spoken, remaining = context.transcript.split(heard_samples)
        self.drop(context, "cancelled")
        self._outbox.event(
            Cancelled(
                ctx=context.id,
                audio_sent_ms=context.sent_48k // PTS_PER_MS,
                played_ms=ms_of(heard_samples),
                text_spoken=spoken,
                text_remaining=remaining,
                source="client" if by_client else "clock",
            )
        )
        self._log.info("context cancelled", ctx=context.id, played_ms=ms_of(heard_samples))

    def given_up(self, context: Context, error: CosystreamError) -> None:
        """End it, and tell its client why."""
        self.drop(context, "error")
        self._outbox.event(error_event(error, ctx=context.id, fatal=True))

    def drop(self, context: Context, outcome: Outcome) -> None:
        """End it and tell nobody: nothing of it stays but its id."""
        self._lineup.remove(context)
        self._access.contexts.give_back(self._terms.identity)
        context.close()
        underrun_ms = context.underrun_s * 1000 if context.begun else None
        self._metrics.context_ended(outcome, underrun_ms)

    def _finished(self, context: Context, finished: Finished) -> None:
        audio_s = finished.samples / SAMPLE_RATE
        rtf = round(finished.compute_s / audio_s, 4) if audio_s else None
        metadata = self._terms.metadata
        done = Done(
            ctx=context.id,
            reason="completed",
            audio_ms=ms_of(finished.samples),
            samples=finished.samples,
            first_packet_ms=context.timer.first_packet_ms,
            first_delta_to_packet_ms=context.timer.first_delta_to_packet_ms,
            ttfa_ms=context.timer.ttfa_ms,
            rtf=rtf,
            last_seq=context.last_seq,
            metadata=UNSET if metadata is None else metadata,
        )
        self.drop(context, "done")
        self._outbox.event(done)
        self._measure(done)

    def _measure(self, done: Done) -> None:
        if done.first_packet_ms is not None:
            self._metrics.first_packet(done.first_packet_ms)
        if done.ttfa_ms is not None:
            self._metrics.first_sound(done.ttfa_ms)
        if done.rtf is not None:
            self._metrics.computed(done.rtf)
        self._log.info(
            "context done",
            ctx=done.ctx,
            audio_ms=done.audio_ms,
            first_packet_ms=done.first_packet_ms,
            rtf=done.rtf,
        )

    def _failed(self, context: Context, failed: Failed) -> None:
        error = by_code(failed.code, failed.message, failed.retry_after_ms)
        self.given_up(context, error)
        self._metrics.error(error.code)
        self._log.warning("context failed", ctx=context.id, code=error.code, message=error.message)
