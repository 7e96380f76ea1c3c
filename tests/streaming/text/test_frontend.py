import time

import pytest

from streaming.config import TextSettings
from streaming.messages import (
    Failed,
    TextAppend,
    TextDrop,
    TextEnd,
    TextEnded,
    TextFlush,
    TextFlushed,
    TextOpen,
    TextSegments,
)
from streaming.text import segmenter
from streaming.text.frontend import FrontEnd


@pytest.fixture
def front():
    return FrontEnd(TextSettings())


def opened(front, *ctxs, **options):
    for ctx in ctxs:
        assert front.handle(TextOpen(ctx=ctx, **options), 0.0) == []


def spoken(answers):
    return {
        answer.ctx: [each.text for each in answer.segments]
        for answer in answers
        if isinstance(answer, TextSegments)
    }


class TestAContextsLife:
    def test_segments_then_their_count(self, front):
        opened(front, 1)
        assert spoken(front.handle(TextAppend(ctx=1, delta="One. Tw"), 0.0)) == {1: ["One."]}
        segments, ended = front.handle(TextEnd(ctx=1), 0.0)
        assert spoken([segments]) == {1: ["Tw"]}
        assert ended == TextEnded(ctx=1, segments=2)
        assert len(front) == 0

    def test_a_text_without_words_ends_with_none(self, front):
        opened(front, 1)
        front.handle(TextAppend(ctx=1, delta="🎉 …"), 0.0)
        assert front.handle(TextEnd(ctx=1), 0.0) == [TextEnded(ctx=1, segments=0)]

    def test_flush_is_answered_after_what_it_let_go(self, front):
        opened(front, 1)
        front.handle(TextAppend(ctx=1, delta="Hello"), 0.0)
        segments, flushed = front.handle(TextFlush(ctx=1, flush_id="f"), 0.0)
        assert spoken([segments]) == {1: ["Hello"]}
        assert flushed == TextFlushed(ctx=1, flush_id="f")

    def test_what_comes_for_one_that_is_gone_is_ignored(self, front):
        opened(front, 1)
        assert front.handle(TextDrop(ctx=1), 0.0) == []
        for late in (TextAppend(ctx=1, delta="x. "), TextFlush(ctx=1, flush_id=""), TextEnd(ctx=1)):
            assert front.handle(late, 0.0) == []
        assert len(front) == 0

    def test_contexts_do_not_mix(self, front):
        opened(front, 1, 2)
        for one, two in zip("I am one. ", "Am I two? ", strict=True):
            said = spoken(front.handle(TextAppend(ctx=1, delta=one), 0.0))
            said |= spoken(front.handle(TextAppend(ctx=2, delta=two), 0.0))
        assert said == {1: ["I am one."], 2: ["Am I two?"]}

    def test_the_contexts_options_are_its_own(self, front):
        opened(front, 1, text_mode="manual")
        opened(front, 2, max_segment_chars=20)
        delta = "One two three four five six. "
        assert front.handle(TextAppend(ctx=1, delta=delta), 0.0) == []
        assert len(spoken(front.handle(TextAppend(ctx=2, delta=delta), 0.0))[2]) == 2


class TestTime:
    def test_the_first_that_is_due_is_told_and_let_go(self, front):
        opened(front, 1, 2, 3)
        front.handle(TextAppend(ctx=1, delta="One."), 5.0)
        front.handle(TextAppend(ctx=2, delta="Two."), 4.0)
        front.handle(TextAppend(ctx=3, delta="Three"), 3.0)
        assert front.due_s() == pytest.approx(4.3)
        assert spoken(front.tick(4.4)) == {2: ["Two."]}
        assert front.due_s() == pytest.approx(5.3)
        assert spoken(front.tick(9.0)) == {1: ["One."]}
        assert front.due_s() is None

    def test_more_text_puts_it_off(self, front):
        opened(front, 1)
        front.handle(TextAppend(ctx=1, delta="It is 4."), 1.0)
        front.handle(TextAppend(ctx=1, delta="5 and"), 1.1)
        assert front.due_s() is None
        assert front.tick(9.0) == []

    def test_a_dropped_context_is_never_due(self, front):
        opened(front, 1)
        front.handle(TextAppend(ctx=1, delta="One."), 1.0)
        front.handle(TextDrop(ctx=1), 1.0)
        assert front.due_s() is None

    def test_max_delay_is_kept(self, front):
        opened(front, 1, max_delay_ms=100)
        front.handle(TextAppend(ctx=1, delta="and so"), 1.0)
        assert front.due_s() == pytest.approx(1.1)
        assert spoken(front.tick(1.1)) == {1: ["and so"]}

    def test_a_thousand_contexts_cost_the_next_one_no_more(self, front):
        def cpu_s(front, ctxs):
            opened(front, *ctxs)
            begin = time.process_time()
            for turn in range(10_000 // len(ctxs)):
                for ctx in ctxs:
                    front.handle(TextAppend(ctx=ctx, delta="a."), float(turn))
                    front.due_s()
            return time.process_time() - begin

        assert cpu_s(front, range(1_000)) < 5 * cpu_s(FrontEnd(TextSettings()), range(10))


class TestFaults:
    @pytest.fixture
    def _faulty(self, monkeypatch):
        def spoken_text(source):
            if "fault" in source:
                raise ZeroDivisionError("cannot")
            return source.strip()

        monkeypatch.setattr(segmenter, "spoken_text", spoken_text)

    @pytest.mark.usefixtures("_faulty")
    def test_one_contexts_fault_ends_that_context_alone(self, front):
        opened(front, 1, 2)
        (failed,) = front.handle(TextAppend(ctx=1, delta="A fault. "), 0.0)
        assert isinstance(failed, Failed)
        assert (failed.ctx, failed.code) == (1, "internal")
        assert spoken(front.handle(TextAppend(ctx=2, delta="Fine. "), 0.0)) == {2: ["Fine."]}
        assert len(front) == 1

    @pytest.mark.usefixtures("_faulty")
    def test_also_when_its_time_has_come(self, front):
        opened(front, 1, 2)
        front.handle(TextAppend(ctx=1, delta="A fault."), 0.0)
        front.handle(TextAppend(ctx=2, delta="Fine."), 0.0)
        failed, fine = front.tick(1.0)
        assert isinstance(failed, Failed)
        assert spoken([fine]) == {2: ["Fine."]}
        assert front.due_s() is None
