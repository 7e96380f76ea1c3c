"""Who is live, and every way to leave: finished, failed, cancelled, or to make room for others.

A context that has steps under way when it ends keeps its state until they have landed; its owner
hears of the end then, since its slot and its memory are free only then. Knows: contexts, their
ends, who waits for memory. Does not know: how a segment is made, when a step is due.
"""

from __future__ import annotations

from collections.abc import Mapping

from streaming.engine.lines import StageLines
from streaming.engine.live import Live
from streaming.engine.notes import note_error
from streaming.engine.voices import Voices
from streaming.errors import CosystreamError, DeviceFull, SynthesisFailed
from streaming.messages import Failed, Finished, Message, Released
from streaming.runners.base import Runner


class Roster:
    """The contexts of one engine."""

    def __init__(
        self, runner: Runner, voices: Voices, lines: StageLines, out: list[Message]
    ) -> None:
        """``out`` is what is published next; messages are put at its end."""
        self._runner = runner
        self._voices = voices
        self._lines = lines
        self._out = out
        self._live: dict[int, Live] = {}
        self._leaving: set[Live] = set()
        """Contexts that have ended while steps of them are under way."""
        self._short: list[Live] = []
        """Contexts that found no memory for a step, and wait for some."""

    @property
    def live(self) -> Mapping[int, Live]:
        """By context; always the same mapping, so it may be kept."""
        return self._live

    def add(self, live: Live) -> None:
        """It is live from here on."""
        self._live[live.ctx] = live

    # --- ends ------------------------------------------------------------------------------

    def finish(self, live: Live) -> None:
        """All of it is made."""
        self._out += live.track.finish()
        self._out.append(
            Finished(
                ctx=live.ctx,
                samples=live.track.position_samples,
                compute_s=live.context.compute_s,
            )
        )
        self._drop(live)

    def cancel(self, live: Live) -> None:
        """Nobody wants it any more."""
        live.cancelled = True
        self._drop(live)

    def fail(self, live: Live, error: Exception, otherwise: str) -> None:
        """An error of ours is told as it is; of any other its owner is told ``otherwise``."""
        told = error if isinstance(error, CosystreamError) else SynthesisFailed(otherwise)
        live.failed = Failed(
            ctx=live.ctx, code=told.code, message=told.message, retryable=told.retryable
        )
        self._drop(live)

    def fail_on_text(self, live: Live, error: Exception) -> None:
        """What was to be spoken could not be; what is not an error of ours is logged."""
        if not isinstance(error, CosystreamError):
            note_error("step_failed", error, ctx=live.ctx)
        self.fail(live, error, "the voice failed on this text; the server's log says how")

    def end_segment(self, live: Live) -> None:
        """Nothing more is made of the segment at the head; what its state holds is free."""
        self._lines.leave(live)
        if live.work is not None:
            self._runner.release(live.work.state)
            live.work = None

    def free(self, live: Live) -> None:
        """One that is gone leaves, unless steps of it are under way still."""
        if live.under_way.total():
            self._leaving.add(live)
            return
        self._leaving.discard(live)
        self.end_segment(live)
        self._try_again()
        if live.cancelled:
            self._out.append(Released(ctx=live.ctx, compute_s=live.context.compute_s))
        elif live.failed is not None:
            self._out.append(live.failed)

    def _drop(self, live: Live) -> None:
        """It is over; what its state holds is free once nothing of it is under way."""
        del self._live[live.ctx]
        self.purge(live.voice)
        live.gone = True
        self._lines.leave(live)
        self.free(live)

    def purge(self, voice: str) -> None:
        """If the voice was removed and nobody speaks with it any more, nothing of it is kept."""
        self._voices.purge(voice, (live.voice for live in self._live.values()))

    # --- room ------------------------------------------------------------------------------

    def make_room(self, live: Live, full: DeviceFull) -> None:
        """The newest context ends, so that ``live``, whose step found no memory, can try again.

        One that has ended is enough, though what is under way for it still holds the memory.
        """
        if not self._leaving:
            begun = (each for each in self._live.values() if each.work is not None)
            self.fail_on_text(max(begun, key=lambda each: each.ctx), full)
        if not live.gone:
            self._short.append(live)
            self._try_again()

    def _try_again(self) -> None:
        """Whoever found no memory, once all is free that soon will be."""
        if self._leaving:
            return
        short, self._short = self._short, []
        for live in short:
            if live.work is not None and not live.gone:
                self._lines.ask(live)
