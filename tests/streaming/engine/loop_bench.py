"""An engine's loop on a bench, in this process: messages in by hand, turned one by one."""

from concurrent.futures import Future

import numpy as np
from letters import Mailbox
from making import segment

from streaming.clock import ManualClock
from streaming.config import EngineSettings
from streaming.engine.loop import Engine
from streaming.messages import End, Open, Speak, Stats
from streaming.runners.base import Later, Made
from streaming.runners.tone import ToneRunner
from streaming.steps import Stage, Want

SOUND = np.full(2400, 0.1, np.float32)


class CountingRunner(ToneRunner):
    """Keeps every batch it was given."""

    def __init__(self, settings):
        super().__init__(settings)
        self.batches = []

    def step(self, stage, batch):
        self.batches.append([work.ctx for work in batch])
        return super().step(stage, batch)


class Bench:
    """An engine on a bench: put messages in, let it turn, look at what it said."""

    def __init__(self, runner_type=CountingRunner, **settings):
        self.settings = EngineSettings(runner="tone", **settings)
        self.runner = runner_type(self.settings)
        self.mailbox = Mailbox()
        self.clock = ManualClock()
        self.engine = Engine(self.runner, self.settings, self.mailbox, self.clock)

    def turn(self, *messages, times=1):
        self.mailbox.inbox.extend(messages)
        self.mailbox.sent.clear()
        for _ in range(times):
            self.engine.turn()
        return [each for each in self.mailbox.sent if not isinstance(each, Stats)]

    def stats(self):
        self.clock.advance(1.0)
        self.turn()
        return next(each for each in self.mailbox.sent if isinstance(each, Stats))


class Held(ToneRunner):
    """Steps of a second of speech that end when a test says so."""

    stages = (Stage("llm", max_batch=8, in_flight=2, ahead=2),)

    def __init__(self, settings):
        super().__init__(settings)
        self.begun = 0
        self.unloaded = False
        self.launched, self.released = [], []
        self.under_way = []

    def begin(self, _work):
        self.begun += 1
        return self.begun

    def wants(self, _work, _costs):
        return (Want("llm"),)

    def step(self, _stage, batch):
        self.launched.append([(work.ctx, work.state) for work in batch])
        self.under_way.append((Future(), [work.state for work in batch]))
        return Later(self.under_way[-1][0])

    def release(self, state):
        self.released.append(state)

    def unload(self):
        assert self.released == list(range(1, self.begun + 1))
        self.unloaded = True

    def end(self, *, done=False, fails=False):
        """The oldest step comes to its end."""
        future, states = self.under_way.pop(0)
        bad = RuntimeError("of the device")
        future.set_result([bad if fails else Made(SOUND, done, state) for state in states])


class HeldBench(Bench):
    """Over a runner whose steps end when a test says so; nobody is ever too far ahead."""

    def __init__(self, runner_type=Held, **settings):
        super().__init__(runner_type, max_ahead_s=1000.0, **settings)

    def turn(self, *messages, times=3):
        return super().turn(*messages, times=times)


def opened(ctx, *texts, voice="tone-a", end=True, **options):
    speaks = [
        Speak(ctx=ctx, segment=segment(text, index=index)) for index, text in enumerate(texts)
    ]
    return [Open(ctx=ctx, voice=voice, **options), *speaks, *([End(ctx=ctx)] if end else [])]


def kinds(events):
    return [type(event) for event in events]
