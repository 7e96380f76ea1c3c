"""The engine's loop over a runner, in this process and fed by hand."""

from __future__ import annotations

import contextlib
import gc
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
from letters import Mailbox
from making import segment
from rehearsing import unrehearsed

from streaming.clock import SystemClock
from streaming.config import CosyVoiceSettings, EngineSettings
from streaming.cosyvoice.prompt.features import PromptFeatures
from streaming.cosyvoice.sizes import SPEECH_TOKENS
from streaming.engine.loop import Engine
from streaming.messages import Audio, Cancel, End, Failed, Finished, Open, Speak
from streaming.runners.cosyvoice.runner import CosyVoiceRunner
from streaming.voices.files import VoiceFiles, VoiceRecord

SPEECH_A_TEXT_TOKEN = 6
"""Random networks do not know when to stop; tests need not hear them out."""

ENGLISH, MANDARIN = "starter-english", "starter-mandarin"


def load(
    checkpoint,
    voices_dir,
    *,
    slots=10,
    precision="fp32",
    device="cpu",
    flow_mib=256,
    rehearsed=False,
    **cosyvoice,
):
    """A runner; unless ``rehearsed``, its stages cost what is guessed, however slow the machine."""
    settings = EngineSettings(
        runner="cosyvoice",
        model=str(checkpoint),
        device=device,
        precision=precision,
        slots=slots,
        max_ahead_s=1000.0,
        voices_dir=str(voices_dir),
        cosyvoice=CosyVoiceSettings(
            **{"flow_mib": flow_mib, "first_hop_tokens": 8} | cosyvoice  # as on a GPU
        ),
    )
    runner = CosyVoiceRunner(settings)
    with contextlib.nullcontext() if rehearsed else unrehearsed():
        runner.load()
    few_tokens(runner)
    return runner


def few_tokens(runner):
    decoder = runner._speech.models.decoder
    decoder.limits = replace(decoder.limits, most=SPEECH_A_TEXT_TOKEN)


def store(runner, count):
    """So many voices of recordings that nobody made, each another; their ids."""
    files = VoiceFiles(Path(runner._settings.voices_dir))
    model = runner._speech.models.listener.model
    return [_store(files, model, number) for number in range(count)]


def _store(files, model, number):
    dice, audio = np.random.default_rng(number), f"{number:064x}"
    tokens = 46 + 3 * number
    features = PromptFeatures(
        tuple(dice.integers(0, SPEECH_TOKENS, tokens).tolist()),
        dice.standard_normal((2 * tokens, 80)).astype(np.float32),
        dice.standard_normal(192).astype(np.float32),
        model,
    )
    files.write_features(audio, model, features.to_bytes())
    record = VoiceRecord(
        id=f"v-{'abcdefgh'[number] * 20}", name="", owner="me", transcript=f"I am {number}.",
        language="en", consent="a test", created="", audio=audio, duration_ms=40 * tokens,
    )  # fmt: skip
    files.write_record(record)
    return record.id


class Watched:
    """A runner that keeps what each context began last."""

    def __init__(self, runner, begun):
        self._runner, self._begun = runner, begun

    def __getattr__(self, name):
        return getattr(self._runner, name)

    def begin(self, work):
        self._begun[work.ctx] = self._runner.begin(work)
        return self._begun[work.ctx]


class Rig(Mailbox):
    """Put messages in, let it turn, look at what it said."""

    def __init__(self, runner):
        super().__init__()
        self.runner = runner
        self.begun = {}
        watched = Watched(runner, self.begun)
        self.engine = Engine(watched, runner._settings, self, SystemClock())
        self.engine.begin()

    def receive(self, timeout_s):
        if timeout_s and not self.inbox:  # nothing can be launched: a voice is being read
            self.woken.wait(min(timeout_s, 1.0))
        self.woken.clear()
        return super().receive(timeout_s)

    def speak(self, ctx, *texts, voice=ENGLISH, end=True, **options):
        self.inbox.append(Open(ctx=ctx, voice=voice, **options))
        for index, text in enumerate(texts):
            self.inbox.append(Speak(ctx=ctx, segment=segment(text, index=index)))
        if end:
            self.inbox.append(End(ctx=ctx))

    def cancel(self, ctx):
        self.inbox.append(Cancel(ctx=ctx))

    def turns(self, count):
        for _ in range(count):
            self.engine.turn()

    def run(self, *contexts, turns=20_000):
        """Until those contexts are over."""
        for _ in range(turns):
            self.engine.turn()
            if all(self.of(ctx, Finished | Failed) for ctx in contexts):
                return self
        raise AssertionError(f"not over after {turns} turns")

    def of(self, ctx, kind):
        return [each for each in self.sent if isinstance(each, kind) and each.ctx == ctx]

    def pcm(self, ctx):
        chunks = [each.pcm for each in self.of(ctx, Audio)]
        return np.frombuffer(b"".join(chunks), "<i2").astype(np.int32)


class Writer:
    """A context's interleaved text, part by part."""

    def __init__(self, rig, ctx, *, voice=ENGLISH, index=0, opens=True, **options):
        self._rig, self._ctx, self._index, self._at = rig, ctx, index, 0
        if opens:
            rig.inbox.append(Open(ctx=ctx, voice=voice, interleaved=True, words=True, **options))

    def write(self, text, *, more=True, language="en"):
        begin, self._at = self._at, self._at + len(text)
        ending = "forced" if more else "sentence"
        part = segment(text, index=self._index, ending=ending)
        part = msgspec.structs.replace(
            part, char_start=begin, char_end=self._at, more=more, language=language
        )
        self._rig.inbox.append(Speak(ctx=self._ctx, segment=part))

    def end(self, *, last=True):
        self.write("", more=False)
        if last:
            self._rig.inbox.append(End(ctx=self._ctx))


def turns(rig, count):
    """So many turns, or until all wait for text: the loop would sleep then."""
    for _ in range(count):
        rig.engine.turn()
        if not any(_busy(live) for live in rig.engine._live.values()):
            return


def _busy(live):
    return live.context.wants or live.under_way.total() or not live.context.voice_ready


def written(rig, ctx, parts, *, apart=0, **options):
    """A context that gets its parts so many turns apart."""
    writer = Writer(rig, ctx, **options)
    for part in parts:
        writer.write(part)
        turns(rig, apart)
    writer.end()
    return rig


def alone(runner, text, **options):
    """What a context makes that has the runner for itself."""
    rig = Rig(runner)
    rig.speak(99, text, **options)
    return rig.run(99).pcm(99)


def send_voices_away(runner, *, from_host=True):
    """None that is idle is on the device then, nor, unless told otherwise, on the host."""
    voices = runner._speech.voices
    while voices.pages.free():
        pass
    voices.prefixes.leave()
    while from_host and voices.pages.free_host():
        pass
    for part in voices._parts.values():
        if from_host:
            part.prefixes.clear_host()


def settled(runner):
    """Nothing is held but by voices."""
    gc.collect()  # a rig and its runner know each other
    decoder, flow = runner._speech.models.decoder, runner._speech.models.flow
    voices = runner._speech.voices
    parts = voices._flows.values()
    kept = [part.voice or (part.making and part.making.after) for part in parts]
    pages = sum(len(voice.kept) for voice in kept if voice)  # half made ones are gone on with
    users = sum(part.users for part in parts)
    free = decoder.free_slots == decoder.cache.slots
    nothing_away = flow.host.used_bytes == voices.host_bytes
    held = flow.pool.pages - flow.pool.free
    return free and users == 0 and held == pages and nothing_away
