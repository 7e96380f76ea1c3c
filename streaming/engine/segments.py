"""A context's segments, one after another: begun, fed with what steps made, complete.

Knows: what a segment needs to begin, and what follows a step. Does not know: which step is next,
what else is live.
"""

from __future__ import annotations

from collections.abc import Callable

from streaming.context import Mark, Pending
from streaming.engine.lines import StageLines
from streaming.engine.live import Live
from streaming.engine.roster import Roster
from streaming.engine.vitals import Vitals
from streaming.engine.voices import Voices
from streaming.errors import DeviceFull
from streaming.messages import Mark as Marked
from streaming.messages import Message, Skipped
from streaming.runners.base import Made, Runner, StepResult, Work
from streaming.segment import Segment
from streaming.text.speakable import has_words


class Segments:
    """What becomes of the queues of contexts."""

    def __init__(
        self,
        runner: Runner,
        voices: Voices,
        lines: StageLines,
        roster: Roster,
        vitals: Vitals,
        out: list[Message],
        now: Callable[[], float],
    ) -> None:
        """``out`` is what is published next; messages are put at its end."""
        self._runner = runner
        self._voices = voices
        self._lines = lines
        self._roster = roster
        self._vitals = vitals
        self._out = out
        self._now = now

    def take(self, live: Live, segment: Segment) -> None:
        """One comes, or the next part of the one that grows."""
        growing = live.context.growing
        if growing is not None:
            self._grow(live, growing, segment)
            return
        live.context.queue.append(Pending(segment, self._now()))
        self.settle(live)

    def _grow(self, live: Live, growing: Pending, part: Segment) -> None:
        work = live.work if growing is live.context.head else None
        awaited = work is None or live.context.starved
        growing.grow(part, self._now(), awaited=awaited)
        if work is None:
            return  # it will begin with all that has come by then
        work.segment = growing.segment
        self._out += live.track.grow(part)
        try:
            self._runner.grow(work, part)
        except Exception as error:  # noqa: BLE001 - a model may raise anything; its context is told
            self._roster.fail_on_text(live, error)
            return
        if awaited:
            self._lines.begin(live)
        else:
            self._lines.ask(live)

    def settle(self, live: Live) -> None:
        """Deal with all that needs no step: marks, segments without a word, the end."""
        context = live.context
        while context.queue:
            item = context.queue[0]
            if isinstance(item, Mark):
                position = live.track.position_samples
                self._out.append(Marked(ctx=live.ctx, mark=item.name, position_samples=position))
            elif not has_words(item.segment.text):
                self._out.append(
                    Skipped(ctx=live.ctx, segment=item.segment, reason="it holds no word")
                )
            else:
                break
            context.queue.popleft()
        if context.complete:
            self._roster.finish(live)
        elif context.head is not None and context.voice_ready and live.work is None:
            self._begin(live)

    def deliver(self, live: Live, result: StepResult) -> None:
        """What a step of the segment at the head came to."""
        if isinstance(result, DeviceFull):
            self._roster.make_room(live, result)
            return
        if isinstance(result, Exception):
            self._roster.fail_on_text(live, result)
            return
        try:
            if len(result.samples) or result.done:
                self._publish(live, result)
            self._go_on(live, result)
        except Exception as error:  # noqa: BLE001 - what it made may break what handles it
            self._roster.fail_on_text(live, error)

    def _begin(self, live: Live) -> None:
        """Give the segment at the head its state."""
        head, asked = live.context.head, live.context.open
        assert head is not None, "only a segment is begun"
        if not self._voices.ready(asked.voice):  # it had to make room since the last segment
            live.context.voice_ready = False
            return
        work = Work(
            ctx=asked.ctx,
            segment=head.segment,
            voice=asked.voice,
            speed=asked.speed,
            seed=asked.seed,
            instruct=asked.instruct,
            language=asked.language,
            interleaved=asked.interleaved,
        )
        try:
            work.state = self._runner.begin(work)
        except Exception as error:  # noqa: BLE001 - a model may raise anything; its context is told
            self._roster.fail_on_text(live, error)
            return
        live.work = work
        self._lines.begin(live)

    def _publish(self, live: Live, made: Made) -> None:
        context = live.context
        head = context.head
        assert head is not None, "a step was made of it"
        before = live.track.position_samples
        final = context.on_last_segment
        self._out += live.track.add(head.segment, made, final=final, parts=head.parts)
        samples = live.track.position_samples - before
        context.produced(samples, self._now())
        self._vitals.audio_samples += samples

    def _go_on(self, live: Live, made: Made) -> None:
        """What is next for a context after a step."""
        if not made.done:
            assert live.work is not None, "a step was made of it"
            live.work.state = made.state
            self._lines.ask(live)
            return
        self._roster.end_segment(live)
        live.context.queue.popleft()
        self.settle(live)
