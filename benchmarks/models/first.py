"""(d) From text to the first chunk, by part: one context through the engine's own loop.

Real time, one thread. The voice is there, as it is from its second utterance on; how long its very
first one takes is told beside that. What the parts leave of the whole is the engine's. Knows: the
loop, the runner's steps. Does not know: text's way into segments, sockets.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from benchmarks.models.desk import Desk, segments
from benchmarks.models.watched import PREFILL, TEXT, TOKENS, Took, WatchedRunner
from streaming.config import EngineSettings
from streaming.engine.loop import Engine
from streaming.errors import SynthesisFailed
from streaming.messages import Audio, Cancel, End, Failed, Message, Open, Released, Speak
from streaming.runners.cosyvoice.rhythm import FLOW, VOCODER

SENTENCE = "The next ferry to the island leaves at half past nine, from the second pier."
ROUNDS = 5
PARTS = (TEXT, PREFILL, TOKENS, FLOW, VOCODER)


def measure(
    runner: WatchedRunner,
    settings: EngineSettings,
    voice: str,
    *,
    text: str,
    rounds: int,
) -> dict[str, float]:
    """The median of some rounds, in ms; ``total`` holds them all, ``new_voice`` is the first one's.

    Nobody has spoken with the voice yet; what its recording says lies on the disk.

    Raises:
        SynthesisFailed: the context failed.
    """
    desk = Desk()
    engine = Engine(runner, settings, desk, desk)
    engine.begin()
    runner.clock = desk.now
    speak = [_first_s(runner, engine, desk, ctx, voice, text) for ctx in range(1, rounds + 2)]
    known = {
        part: round(1000 * statistics.median(each[part] for each in speak[1:]), 2)
        for part in (*PARTS, "engine", "total")
    }
    return known | {"new_voice": round(1000 * speak[0]["total"], 2)}


def _first_s(
    runner: WatchedRunner, engine: Engine, desk: Desk, ctx: int, voice: str, text: str
) -> dict[str, float]:
    steps: list[Took] = []
    heard_s: list[float] = []
    over: list[bool] = []

    def hear(message: Message) -> None:
        if isinstance(message, Audio):
            heard_s.append(desk.now())
        elif isinstance(message, Released):
            over.append(True)
        elif isinstance(message, Failed):
            raise SynthesisFailed(message.message)

    runner.watch, desk.told = steps.append, hear
    began_s = desk.now()
    for message in _said(ctx, voice, text):
        desk.tell(message)
    while not heard_s:
        engine.turn()
    took = _by_part(steps)
    desk.tell(Cancel(ctx=ctx))
    while not over:
        engine.turn()
    total_s = heard_s[0] - began_s
    return took | {"engine": total_s - sum(took.values()), "total": total_s}


def _said(ctx: int, voice: str, text: str) -> Sequence[Open | Speak | End]:
    spoken = [Speak(ctx=ctx, segment=segment) for segment in segments(text)]
    return [Open(ctx=ctx, voice=voice, seed=ctx), *spoken, End(ctx=ctx)]


def _by_part(steps: Sequence[Took]) -> dict[str, float]:
    return {part: sum(step.seconds for step in steps if step.part == part) for part in PARTS}
