"""Many listeners who interrupt, go away and come back: all that they held is free again.

Ten thousand do so in simulated time (``tests/benchmarks/test_capacity_storm.py``).
"""

import random

import pytest
from cosyvoice_rig import ENGLISH, MANDARIN, Rig, send_voices_away, settled

from streaming.cosyvoice.flow.host import HostMemory
from streaming.messages import Failed, Finished, Park, Released, Unpark

CONTEXTS = 60
AT_ONCE = 10
TEXTS = ("Hello.", "Me too.", "你好。")


class Crowd:
    """So many at once; half of them are cancelled after some turns, some away while they are."""

    def __init__(self, runner):
        self.random = random.Random(11)
        self.rig = Rig(runner)
        self.speaking = {}
        """The turn in which each is cancelled; never: ``None``."""
        self.away = {}
        self.ended = {Finished: set(), Released: set(), Failed: set()}

    def rage(self):
        left = iter(range(1, CONTEXTS + 1))
        turn = read = 0
        while True:
            while len(self.speaking) < AT_ONCE and (ctx := next(left, None)) is not None:
                self._begin(ctx, turn)
            if not self.speaking:
                return
            self._disturb(turn)
            self.rig.turns(1)
            turn += 1
            for message in self.rig.sent[read:]:
                if type(message) in self.ended:
                    self.ended[type(message)].add(message.ctx)
                    self.speaking.pop(message.ctx, None)
            read = len(self.rig.sent)

    def _begin(self, ctx, turn):
        text = self.random.choice(TEXTS)
        self.rig.speak(ctx, text, voice=self.random.choice((ENGLISH, MANDARIN)), seed=ctx)
        cancelled = self.random.random() < 0.5
        self.speaking[ctx] = turn + self.random.randint(0, 60) if cancelled else None
        if self.random.random() < 0.3:
            gone = turn + self.random.randint(1, 40)
            self.away[ctx] = gone, gone + self.random.randint(1, 40)

    def _disturb(self, turn):
        for ctx, stop in self.speaking.items():
            gone, back = self.away.get(ctx, (None, None))
            if turn == gone:
                self.rig.inbox.append(Park(ctx=ctx))
            if turn == back:
                self.rig.inbox.append(Unpark(ctx=ctx))
            if turn == stop:
                self.rig.cancel(ctx)


@pytest.fixture
def host(runner):
    send_voices_away(runner)  # copies of earlier tests lie in the other memory
    flow = runner._speech.models.flow
    before, flow.host = flow.host, HostMemory(flow.pool, 1 << 30)
    yield flow.host
    send_voices_away(runner)
    flow.host = before


def test_whoever_interrupts_leaves_no_slot_page_or_byte_behind(runner, host):
    crowd = Crowd(runner)
    crowd.rage()
    finished, released = crowd.ended[Finished], crowd.ended[Released]
    assert not crowd.ended[Failed]
    assert len(finished | released) == CONTEXTS
    assert len(released) > 0.3 * CONTEXTS
    assert not crowd.rig.engine._live
    assert settled(runner)
    assert host.used_bytes == 0
    assert runner.figures()["flow_host_bytes"] == 0
