"""What came, and what it changes: each message, and each voice that has been loaded.

Knows: messages, contexts. Does not know: steps, how a segment is made, what is published.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from streaming.config import EngineSettings
from streaming.context import Context, Mark
from streaming.engine.lines import StageLines
from streaming.engine.live import Live
from streaming.engine.roster import Roster
from streaming.engine.segments import Segments
from streaming.engine.track import Track
from streaming.engine.voices import Voices
from streaming.messages import (
    Cancel,
    End,
    ForgetVoice,
    Open,
    Park,
    PlaceMark,
    Played,
    Speak,
    StartIn,
    ToEngine,
    Unpark,
)


class Inbox:
    """Takes what came."""

    def __init__(
        self,
        settings: EngineSettings,
        track: Callable[..., Track],
        voices: Voices,
        lines: StageLines,
        roster: Roster,
        segments: Segments,
    ) -> None:
        """``track`` makes the keeper of a context's audio."""
        self._settings = settings
        self._track = track
        self._voices = voices
        self._lines = lines
        self._roster = roster
        self._segments = segments

    def take(self, messages: Sequence[ToEngine], now_s: float) -> None:
        """All of it, in order, then the voices that are there since the last call."""
        for message in messages:
            if isinstance(message, Open):
                self._open(message, now_s)
            elif isinstance(message, ForgetVoice):
                self._voices.remove(message.voice)
                self._roster.purge(message.voice)
            elif (live := self._roster.live.get(message.ctx)) is not None:
                self._tell(live, message, now_s)
        self._take_voices()

    def _open(self, message: Open, now_s: float) -> None:
        context = Context(
            message,
            audible_s=now_s + message.start_in_ms / 1000,
            first_packet_target_s=self._settings.first_packet_target_ms / 1000,
            voice_ready=self._voices.ready(message.voice),
        )
        track = self._track(message.ctx, self._settings.pauses, words=message.words)
        self._roster.add(Live(message.ctx, context, track))

    def _tell(self, live: Live, message: ToEngine, now_s: float) -> None:
        context = live.context
        match message:
            case Speak(segment=segment):
                self._segments.take(live, segment)
            case PlaceMark(mark=name):
                context.queue.append(Mark(name))
                self._segments.settle(live)
            case End():
                context.ended = True
                self._segments.settle(live)
            case Cancel():
                self._roster.cancel(live)
            case Park():
                context.parked = True
                self._lines.rank(live)
            case Unpark():
                context.parked = False
                self._lines.rank(live)
            case Played(samples=samples):
                context.played(samples, now_s)
                self._lines.rank(live)
            case StartIn(ms=delay_ms):
                context.start_in(delay_ms / 1000, now_s)
                self._lines.rank(live)

    def _take_voices(self) -> None:
        for outcome in self._voices.loaded():
            waiting = [live for live in self._roster.live.values() if live.voice == outcome.voice]
            for live in waiting:
                if outcome.error is None:
                    live.context.voice_ready = True
                    self._segments.settle(live)
                else:
                    told = f"voice {outcome.voice!r} could not be loaded"
                    self._roster.fail(live, outcome.error, otherwise=told)
            self._roster.purge(outcome.voice)
