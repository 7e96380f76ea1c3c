"""The engine's loop over a modelled device in simulated time; a script says who speaks when."""

from collections import Counter

from benchmarks.capacity.device import ESTIMATES
from benchmarks.capacity.policies import POLICIES
from benchmarks.capacity.runner import ModelledRunner
from benchmarks.capacity.simulate import HOST_S, MAX_BATCH
from benchmarks.capacity.sound import CountedTrack
from benchmarks.capacity.world import World
from streaming.config import EngineSettings
from streaming.engine.loop import Engine
from streaming.messages import (
    Audio,
    Cancel,
    End,
    Finished,
    Open,
    Park,
    Played,
    Released,
    Speak,
    Unpark,
)
from streaming.runners.base import Later
from streaming.segment import Segment

RATE = 24_000


def piece(index, chars):
    return Segment(
        index=index, text="x" * chars, source="", char_start=0, char_end=chars, ending="sentence"
    )


class ReadingWorld(World):
    """Tells which cancels the engine has read."""

    def __init__(self, turn_s):
        super().__init__(turn_s)
        self.on_cancel = lambda _ctx: None

    def receive(self, timeout_s):
        messages = super().receive(timeout_s)
        for message in messages:
            if isinstance(message, Cancel):
                self.on_cancel(message.ctx)
        return messages


class WatchedRunner(ModelledRunner):
    """Knows whose steps are under way, and what was released too early."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.under_way = Counter()
        self.released_at_work = []
        self.on_launch = lambda _stage, _contexts: None
        self._owners = {}

    def begin(self, work):
        state = super().begin(work)
        self._owners[id(state)] = state, work.ctx
        return state

    def step(self, stage, batch):
        contexts = [work.ctx for work in batch]
        self.on_launch(stage, contexts)
        self.under_way.update((stage, ctx) for ctx in contexts)
        later = super().step(stage, batch)

        def land(made):
            self.under_way.subtract((stage, ctx) for ctx in contexts)
            return later.land(made)

        return Later(later.made, land)

    def release(self, state):
        super().release(state)
        _, ctx = self._owners.pop(id(state))
        if any(self.under_way[stage.name, ctx] for stage in self.stages):
            self.released_at_work.append(ctx)


class Simulated:
    """One engine; times are seconds of simulated time."""

    def __init__(
        self,
        device="H200",
        policy="deadline",
        *,
        track=CountedTrack,
        max_batch=MAX_BATCH,
        **settings,
    ):
        self.world = ReadingWorld(HOST_S)
        self.world.told = self._hear
        self.runner = WatchedRunner(ESTIMATES[device], self.world, max_batch=max_batch, seed=1)
        settings = EngineSettings(**{"slots": 4096, "capacity": 4096} | settings)
        self.engine = Engine(
            self.runner, settings, self.world, self.world, POLICIES[policy](), track=track
        )
        self.asked_s, self.first_s, self.dry_s = {}, {}, {}
        self.late_s = Counter()
        self.samples = Counter()
        self.over = set()
        self._still = set()
        self.on_over = lambda _ctx: None
        self.engine.begin()

    def say(self, ctx, *chars, at_s, priority=0, write_s=0.0, report_s=1.0, collects=False):
        """A context of segments of so many characters, each so long after the one before.

        Its listener tells every so often how much was played; one who makes a file ``collects``:
        has played what there is.
        """

        def begin():
            self.asked_s[ctx] = self.world.now()
            self._tell(Open(ctx=ctx, voice="modelled", priority=priority))
            written = [Speak(ctx=ctx, segment=piece(*each)) for each in enumerate(chars)]
            for index, message in enumerate([*written, End(ctx=ctx)]):
                when_s = at_s + write_s * min(index, len(chars) - 1)
                self.world.at(when_s, lambda message=message: self._tell(message))
            self._listen(ctx, report_s, collects)

        self.world.at(at_s, begin)

    def cancel(self, ctx, *, at_s):
        """Its listener interrupts."""
        self.world.at(at_s, lambda: self._tell(Cancel(ctx=ctx)))

    def park(self, ctx, *, at_s, until_s):
        """Its listener goes away and comes back."""
        self.world.at(at_s, lambda: self._tell(Park(ctx=ctx)))
        self.world.at(until_s, lambda: self._tell(Unpark(ctx=ctx)))

    def stand_still(self, ctx, *, at_s, until_s):
        """Its listener plays nothing for a while, and tells nothing."""

        def stop():
            self._still.add(ctx)
            if self.dry_s.get(ctx, 0.0) > at_s:
                self.dry_s[ctx] += until_s - at_s

        self.world.at(at_s, stop)
        self.world.at(until_s, lambda: self._still.discard(ctx))

    def run(self, until_s):
        """Until then, or until nothing is left to happen."""
        self.world.at(until_s, lambda: None)
        while self.world.now() < until_s:
            self.engine.turn()

    def _tell(self, message):
        if message.ctx not in self.over:
            self.world.tell(message)

    def _listen(self, ctx, report_s, collects):
        if ctx in self.over:
            return
        now_s = self.world.now()
        left_s = 0.0 if collects else max(0.0, self.dry_s.get(ctx, 0.0) - now_s)
        if ctx not in self._still:
            self._tell(Played(ctx=ctx, samples=self.samples[ctx] - round(left_s * RATE)))
        self.world.at(now_s + report_s, lambda: self._listen(ctx, report_s, collects))

    def _hear(self, message):
        now_s = self.world.now()
        match message:
            case Audio(ctx=ctx, pcm=pcm):
                self.first_s.setdefault(ctx, now_s)
                dry_s = self.dry_s.get(ctx, now_s)
                self.late_s[ctx] = max(self.late_s[ctx], now_s - dry_s)
                self.dry_s[ctx] = max(now_s, dry_s) + len(pcm) / 2 / RATE
                self.samples[ctx] += len(pcm) // 2
            case Finished(ctx=ctx) | Released(ctx=ctx):
                self.over.add(ctx)
                self.on_over(ctx)
