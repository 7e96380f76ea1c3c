"""A front end's loop: nobody's long text holds up anybody else's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import msgspec

from streaming.clock import ManualClock
from streaming.config import TextSettings
from streaming.engine.channel import Channel
from streaming.engine.front import PIECE_CHARS, TextLoop
from streaming.messages import (
    PROBE_CTX,
    Message,
    TextAppend,
    TextDrop,
    TextEnd,
    TextEnded,
    TextOpen,
    TextSegments,
    ToText,
)
from streaming.segment import Segment
from streaming.text.frontend import FrontEnd

LONG = "A sentence with some words in it. " * 200


class Pipe:
    """Messages as they are put in, and what was said."""

    def __init__(self) -> None:
        self.inbox: list[ToText] = []
        self.said: list[Message] = []

    def receive(self, timeout_s: float | None) -> list[ToText]:
        del timeout_s
        messages, self.inbox = self.inbox, []
        return messages

    def send(self, messages: Sequence[Message]) -> None:
        self.said += messages


def loop(*messages: ToText, clock: ManualClock | None = None) -> tuple[TextLoop, Pipe]:
    pipe = Pipe()
    pipe.inbox += messages
    front, clock = FrontEnd(TextSettings()), clock or ManualClock()
    return TextLoop(front, cast("Channel[ToText]", pipe), cast("Any", clock)), pipe


def segments_of(pipe: Pipe) -> list[Segment]:
    return [
        segment for said in pipe.said if isinstance(said, TextSegments) for segment in said.segments
    ]


def opened(ctx: int) -> TextOpen:
    return TextOpen(
        ctx=ctx, language="en", text_mode="sentence", max_delay_ms=None, max_segment_chars=200
    )


def test_a_short_text_is_through_before_a_long_one_that_came_first() -> None:
    long, short = 1, 2
    texts, pipe = loop(
        opened(long), TextAppend(ctx=long, delta=LONG), TextEnd(ctx=long),
        opened(short), TextAppend(ctx=short, delta="Hello."), TextEnd(ctx=short),
        TextEnd(ctx=PROBE_CTX),
    )  # fmt: skip
    for _ in range(3):
        texts.turn()
    ended = [said.ctx for said in pipe.said if isinstance(said, TextEnded)]
    assert ended == [PROBE_CTX, short]


def test_a_long_text_comes_out_whole_and_its_end_last() -> None:
    texts, pipe = loop(opened(1), TextAppend(ctx=1, delta=LONG), TextEnd(ctx=1))
    for _ in range(len(LONG) // PIECE_CHARS + 3):
        texts.turn()
    assert "".join(segment.source for segment in segments_of(pipe)).strip() == LONG.strip()
    assert isinstance(pipe.said[-1], TextEnded)


class SlowClock(ManualClock):
    """Whatever is done takes a second."""

    def now(self) -> float:
        self.advance(1.0)
        return super().now()


def test_nothing_is_let_go_by_time_in_the_midst_of_what_has_come() -> None:
    price = "It costs $4." + "75 at most."
    texts, pipe = loop(
        msgspec.structs.replace(opened(1), max_delay_ms=50),
        TextAppend(ctx=1, delta=price.rjust(PIECE_CHARS + len("75 at most."))),
        TextAppend(ctx=1, delta=" And so"),
        clock=SlowClock(),
    )
    for _ in range(5):
        texts.turn()
    assert [segment.source.strip() for segment in segments_of(pipe)] == [price, "And so"]


def test_nor_while_others_kept_the_front_end_from_reading_it() -> None:
    texts, pipe = loop(
        opened(1), opened(2), TextAppend(ctx=1, delta="It costs $4."), clock=SlowClock()
    )
    texts.turn()
    texts.turn()
    pipe.inbox.append(TextAppend(ctx=1, delta="75 now."))  # came while what follows was worked on
    texts.turn()
    pipe.inbox.append(TextEnd(ctx=1))
    texts.turn()
    texts.turn()
    assert [segment.source for segment in segments_of(pipe)] == ["It costs $4.75 now."]


def test_what_was_dropped_is_not_worked_on() -> None:
    texts, pipe = loop(opened(1), TextAppend(ctx=1, delta=LONG))
    texts.turn()
    texts.turn()
    said = len(pipe.said)
    pipe.inbox.append(TextDrop(ctx=1))
    for _ in range(9):
        texts.turn()
    assert len(pipe.said) == said
