"""Segments that come in parts, through the loop: spoken while they come, at rest while they do not.

The runner says a word a step, of the words that have come.
"""

import msgspec
import pytest
from loop_bench import SOUND, Bench, kinds
from making import segment

from streaming.messages import (
    Audio,
    Cancel,
    End,
    Failed,
    Finished,
    Mark,
    Open,
    PlaceMark,
    Released,
    SegmentGrown,
    SegmentStarted,
    Speak,
)
from streaming.runners.base import SPEECH, Made
from streaming.runners.tone import ToneRunner
from streaming.steps import Want


class WordByWord(ToneRunner):
    """A step is a word's tenth of a second."""

    def __init__(self, settings):
        super().__init__(settings)
        self.steps, self.asked, self.grown, self.released = [], 0, [], []

    def begin(self, work):
        assert work.interleaved
        return [0]

    def grow(self, _work, part):
        if "fail" in part.text:
            raise ValueError("it cannot be said")
        self.grown.append(part.text)

    def wants(self, work, _costs):
        self.asked += 1
        words = work.segment.text.split()
        work.starved = work.state[0] == len(words) and work.segment.more
        return () if work.starved else (Want(SPEECH),)

    def step(self, _stage, batch):
        self.steps.append([work.ctx for work in batch])
        return [self._say(work) for work in batch]

    def release(self, state):
        self.released.append(state)

    def _say(self, work):
        said, words = work.state[0], work.segment.text.split()
        done = said == len(words)
        work.state[0] += not done
        return Made(SOUND[: 0 if done else 2400], done, work.state)


@pytest.fixture
def bench():
    made = Bench(WordByWord, max_ahead_s=1000.0, slots=4)
    made.turn(Open(ctx=1, voice="tone-a", interleaved=True, words=True))
    return made


class Patient(WordByWord):
    """Says nothing before the third word has come."""

    def wants(self, work, costs):
        wants = super().wants(work, costs)
        few = len(work.segment.text.split()) < 3
        work.starved = work.starved or few
        return () if few else wants

    def step(self, stage, batch):
        self.on_step()
        return super().step(stage, batch)


class Writer:
    """Parts of one segment, each behind the one before."""

    def __init__(self, ctx=1, index=0):
        self.ctx, self.index, self.at = ctx, index, 0

    def write(self, text, *, more=True, ending="forced"):
        begin, self.at = self.at, self.at + len(text)
        part = segment(text, index=self.index, ending=ending)
        part = msgspec.structs.replace(part, char_start=begin, char_end=self.at, more=more)
        return Speak(ctx=self.ctx, segment=part)

    def end(self):
        return self.write("", more=False, ending="sentence")


def samples(events):
    return sum(len(event.pcm) // 2 for event in events if isinstance(event, Audio))


class TestWhileTextComes:
    def test_what_has_come_is_spoken_before_the_segment_is_complete(self, bench):
        write = Writer().write
        events = bench.turn(write("one two"), times=5)
        assert kinds(events)[0] is SegmentStarted
        assert samples(events) > 2400
        events = bench.turn(write(" three"), times=5)
        assert samples(events) > 0
        assert bench.runner.grown == [" three"]

    def test_it_makes_what_the_whole_would_make(self, bench):
        writer = Writer()
        events = bench.turn(writer.write("one two"), times=5)
        events += bench.turn(writer.write(" three"), times=5)
        events += bench.turn(writer.write(" four five"), times=5)
        events += bench.turn(writer.end(), End(ctx=1), times=5)
        other = Bench(WordByWord, max_ahead_s=1000.0)
        whole = Writer(2).write("one two three four five", more=False, ending="sentence")
        opened = Open(ctx=2, voice="tone-a", interleaved=True)
        at_once = other.turn(opened, whole, End(ctx=2), times=10)
        assert isinstance(events[-1], Finished)
        assert pcm(events) == pcm(at_once)

    def test_each_part_is_told_where_it_can_be_heard_first(self, bench):
        writer = Writer()
        events = bench.turn(writer.write("one two"), times=5)
        events += bench.turn(writer.write(" three"))
        (started,) = (each for each in events if isinstance(each, SegmentStarted))
        (grown,) = (each for each in events if isinstance(each, SegmentGrown))
        assert (started.segment.source, started.position_samples) == ("one two", 0)
        assert (grown.part.source, grown.part.char_start) == (" three", 7)
        assert 0 < grown.position_samples <= 2 * 2400
        events = bench.turn(writer.end(), times=3)
        assert SegmentGrown not in kinds(events)  # nothing was added

    def test_a_mark_behind_it_is_answered_once_it_is_complete(self, bench):
        writer = Writer()
        assert Mark not in kinds(bench.turn(writer.write("one two"), times=5))
        mark = PlaceMark(ctx=1, mark="m")
        assert kinds(bench.turn(writer.end(), mark, times=3))[-1] is Mark

    def test_the_next_segment_begins_behind_it(self, bench):
        writer, following = Writer(), Writer(index=1)
        bench.turn(writer.write("one two"), writer.end(), times=8)
        events = bench.turn(following.write("three"), following.end(), End(ctx=1), times=8)
        assert [each.segment.index for each in events if isinstance(each, SegmentStarted)] == [1]
        assert kinds(events)[-1] is Finished

    def test_it_may_come_before_it_can_be_begun(self, bench):
        first, second = Writer(), Writer(index=1)
        parts = [second.write("three"), second.write(" four"), second.end()]
        events = bench.turn(first.write("one two"), first.end(), *parts, End(ctx=1), times=12)
        assert kinds(events)[-1] is Finished
        (_, started) = (each for each in events if isinstance(each, SegmentStarted))
        assert started.segment.source == "three four"
        assert bench.runner.grown == [""]

    def test_a_part_that_cannot_be_said_fails_its_context_alone(self, bench):
        write = Writer().write
        bench.turn(write("one"), times=3)
        other = Writer(2)
        opened = Open(ctx=2, voice="tone-a", interleaved=True)
        bench.turn(opened, other.write("still here"))
        events = bench.turn(write(" fail"), other.end(), End(ctx=2), times=8)
        assert [each.ctx for each in events if isinstance(each, Failed)] == [1]
        assert [each.ctx for each in events if isinstance(each, Finished)] == [2]


class TestWhileTextDoesNotCome:
    def test_no_step_is_made_nobody_is_asked_and_the_loop_sleeps(self, bench):
        bench.turn(Writer().write("one two"), times=5)
        made, asked = len(bench.runner.steps), bench.runner.asked
        for _ in range(10):
            bench.stats()
        assert len(bench.runner.steps) == made
        assert bench.runner.asked == asked
        bench.mailbox.rests.clear()
        bench.turn(times=3)
        assert min(bench.mailbox.rests[1:]) > 0.5  # until it next says that it lives

    def test_its_listener_is_not_late(self, bench):
        writer = Writer()
        bench.turn(writer.write("one two"), times=5)
        for _ in range(10):
            assert bench.stats().late == ()
        bench.turn(writer.write(" three"), times=3)  # said at once: the silence was not ours
        assert bench.stats().late == ()

    def test_it_may_give_its_memory_to_others(self, bench):
        writer = Writer()
        bench.turn(writer.write("one two"), times=5)
        (live,) = bench.engine._live.values()
        assert (live.work.parked, live.work.slack_s) == (True, float("inf"))
        seen = []
        bench.runner.step = lambda _, batch: seen.append(batch[0].parked) or [ValueError()]
        bench.turn(writer.write(" three"))
        assert seen == [False]

    def test_others_go_on(self, bench):
        bench.turn(Writer().write("one two"), times=5)
        other = Writer(2)
        opened = Open(ctx=2, voice="tone-a", interleaved=True)
        said = other.write("and so do I", more=False)
        assert kinds(bench.turn(opened, said, End(ctx=2), times=8))[-1] is Finished

    def test_a_cancel_frees_all(self, bench):
        bench.turn(Writer().write("one two"), times=5)
        assert kinds(bench.turn(Cancel(ctx=1))) == [Released]
        assert bench.runner.released == [[2]]

    def test_a_pause_before_the_first_sound_puts_its_deadline_off(self):
        bench, writer, due_s = Bench(Patient), Writer(), []
        bench.turn(Open(ctx=1, voice="tone-a", interleaved=True), writer.write("one two"))
        bench.clock.advance(7.0)
        assert bench.stats().late == ()
        (live,) = bench.engine._live.values()
        bench.runner.on_step = lambda: due_s.append(live.context.deadline_s(bench.clock.now()))
        came_s = bench.clock.now()
        events = bench.turn(writer.write(" three"), times=3)
        assert due_s[0] == pytest.approx(came_s + 0.15)
        (started,) = (each for each in events if isinstance(each, SegmentStarted))
        assert started.segment.source == "one two three"  # what the first sound waited for


def pcm(events):
    return b"".join(event.pcm for event in events if isinstance(event, Audio))
