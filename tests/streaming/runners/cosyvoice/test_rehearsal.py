"""What a rehearsal learns, over a speaker whose steps take as long as a table says."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest

from streaming.errors import DeviceFull
from streaming.runners.base import Made
from streaming.runners.cosyvoice.profile import SMALL_CARD
from streaming.runners.cosyvoice.progress import Progress
from streaming.runners.cosyvoice.rehearsal import CROWDS, Rehearsal
from streaming.runners.cosyvoice.rhythm import FLOW, LLM, RHYTHM, VOCODER, stages
from streaming.steps import Cost

TABLE = {LLM: Cost(0.001, 0.00004), FLOW: Cost(0.001, 0.000005), VOCODER: Cost(0.002, 0.00001)}
PROMPT_TOKENS, PREFILL_S, LENGTH_TOKENS = 100, 0.003, 60
COLD = 10
NOTHING, SOUND = np.zeros(0, np.float32), np.zeros(100, np.float32)


@dataclass(eq=False)
class Saying:
    progress: Progress
    made: int = 0


class Speaker:
    """Its first steps take long, as those of a network do."""

    def __init__(self, table=TABLE, room=1000, failure=None):
        self.table, self.room, self.failure = table, room, failure
        self.now_s = 0.0
        self.ran = Counter()
        self.held = self.most = 0

    def begin(self, _):
        self.held += 1
        self.most = max(self.most, self.held)
        return Saying(Progress(RHYTHM, 8, prefill_tokens=PROMPT_TOKENS))

    def release(self, _):
        self.held -= 1

    def wants(self, work, costs):
        return work.state.progress.wants(work.slack_s, costs)

    def step(self, stage, batch):
        self.ran[stage] += 1
        rows = [work.state.progress for work in batch]
        if len(rows) > self.room:
            self.now_s += 0.001
            return [self.failure] * len(rows)
        took_s = getattr(self, f"_{stage}")(rows)
        self.now_s += took_s * (COLD if self.ran[stage] == 1 else 1)
        heard = SOUND if stage == VOCODER else NOTHING
        return [
            Made(heard, row.vocoder_done, work.state) for row, work in zip(rows, batch, strict=True)
        ]

    def _llm(self, rows):
        prompts = sum(row.prefill_tokens for row in rows)
        for row in rows:
            row.begin_llm()
            row.end_llm()
            row.prefill_tokens = 0
            row.read_tokens(1, done=row.made_tokens + 1 >= LENGTH_TOKENS)
        return PREFILL_S * len(rows) if prompts else self.table[LLM].of(len(rows))

    def _flow(self, rows):
        frames = sum(row.whole_frames for row in rows)
        for row in rows:
            row.begin_euler()
            row.end_euler()
        return self.table[FLOW].of(frames)

    def _vocoder(self, rows):
        frames = sum(row.waiting_frames for row in rows)
        for row in rows:
            row.begin_vocoder()
        return self.table[VOCODER].of(max(1, frames))


def rehearsed(speaker, most=1000):
    rehearsal = Rehearsal(speaker, stages(64, SMALL_CARD), "anybody", lambda: speaker.now_s)
    rehearsal.run(most)
    return rehearsal


def slower(times):
    return {name: Cost(times * each.base_s, times * each.unit_s) for name, each in TABLE.items()}


def test_what_steps_cost_is_known_for_batches_that_nobody_has_asked_for():
    rehearsal = rehearsed(Speaker())
    for stage in stages(64, SMALL_CARD):
        rows = 30 if stage.name == LLM else 30 * 50
        expected_s = TABLE[stage.name].of(rows)
        assert rehearsal.cost(stage).of(rows) == pytest.approx(expected_s, rel=0.2), stage.name


def test_a_prompt_s_tokens_are_counted_as_they_cost_and_do_not_bend_the_line():
    rehearsal = rehearsed(Speaker())
    line = rehearsal.cost(stages(64, SMALL_CARD)[0])
    predicted_s = line.of(rehearsal.prefill_share * PROMPT_TOKENS)
    assert predicted_s == pytest.approx(PREFILL_S, rel=0.6)
    assert line.of(1) == pytest.approx(TABLE[LLM].of(1), rel=0.1)


@pytest.mark.parametrize(("times", "crowd"), [(1, max(CROWDS)), (5, min(CROWDS)), (200, 1)])
def test_a_slow_device_is_not_asked_for_more_than_it_can_soon_do(times, crowd):
    speaker = Speaker(slower(times))
    rehearsed(speaker)
    assert speaker.most == crowd


def test_no_more_speak_at_once_than_ever_may():
    speaker = Speaker()
    rehearsed(speaker, most=20)
    assert speaker.most == min(CROWDS)


def test_all_that_was_taken_is_given_back():
    speaker = Speaker()
    rehearsed(speaker)
    assert speaker.held == 0


def test_where_memory_does_not_hold_a_crowd_what_fewer_cost_is_enough():
    speaker = Speaker(room=7, failure=DeviceFull("memory is full"))
    rehearsal = rehearsed(speaker)
    assert speaker.held == 0
    assert rehearsal.cost(stages(64, SMALL_CARD)[0]).of(1) == pytest.approx(0.00104, rel=0.1)


def test_what_else_goes_wrong_is_raised_and_all_given_back():
    speaker = Speaker(room=0, failure=ValueError("the networks are broken"))
    with pytest.raises(ValueError, match="broken"):
        rehearsed(speaker)
    assert speaker.held == 0


def test_memory_that_does_not_hold_even_one_is_no_warm_start():
    with pytest.raises(DeviceFull):
        rehearsed(Speaker(room=0, failure=DeviceFull("memory is full")))
