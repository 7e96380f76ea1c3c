"""What our own networks make in one pass, at tiny size: the second set of golden cases.

    PYTHONPATH=. .venv/bin/python tests/streaming/cosyvoice/own_golden/own_golden_rule.py

writes ``own_golden.npz`` beside this file. The first set, made by the official code, does not come
with the repository; this one does, so that a change of what is computed is noticed in any clone. It
is made anew only where such a change is meant, and the first set still agrees.
"""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from streaming.cosyvoice import checkpoint, tiny, vocoder
from streaming.cosyvoice.flow.base import FlowPrompt
from streaming.cosyvoice.flow.v2.module import FlowV2
from streaming.cosyvoice.flow.v3.module import FlowV3
from streaming.cosyvoice.llm.decoder import Decoder
from streaming.cosyvoice.llm.model import SpeechLlm
from streaming.cosyvoice.llm.sampler import Sampling
from streaming.cosyvoice.llm.script import LlmPrompt
from streaming.cosyvoice.sizes import END_OF_PROMPT, SPEECH_TOKENS, UnetSizes

FILE = Path(__file__).with_name("own_golden.npz")
GENERATIONS = ("cosyvoice2", "cosyvoice3")
POSITIONS = 600
PROMPT_TOKENS, TOKENS, OFFLINE_TOKENS, FRAMES = 20, 60, 15, 40
SEEDS = (0, 1, 2**63 - 1)
LIKELIEST = 64
FULL_SCALE = 32_767
"""Samples are stored in 16 bits, which is 1.5e-5 from what they were."""


@dataclass(frozen=True)
class Networks:
    """Those of a tiny checkpoint, read as any is, and what they are given."""

    generation: str
    llm: SpeechLlm
    flow: FlowV2 | FlowV3
    vocoder: vocoder.VocoderV2 | vocoder.VocoderV3
    weights: str
    """A hash of all weights."""

    @property
    def llm_prompt(self):
        start = (40, 41, END_OF_PROMPT) if self.generation == "cosyvoice3" else ()
        return LlmPrompt((*start, 72, 101, 108, 108, 111), tuple(range(700, 740, 4)))

    @property
    def text(self):
        return (84, 104, 101, 32, 114, 105, 118, 101, 114, 46, 228, 189)


def networks(generation):
    """Written, loaded and built: takes a second."""
    with tempfile.TemporaryDirectory() as folder:
        tiny.write(Path(folder), generation)
        loaded = checkpoint.load(Path(folder))
        llm = SpeechLlm(loaded.sizes.llm)
        llm.load_state_dict(loaded.llm)
        sizes = loaded.sizes.flow
        flow = FlowV2(sizes) if isinstance(sizes, UnetSizes) else FlowV3(sizes)
        flow.load_state_dict(loaded.flow)
        sound = vocoder.of(generation, loaded.sizes.vocoder)
        sound.load_state_dict(loaded.vocoder)
        weights = _hash(loaded.llm, loaded.flow, loaded.vocoder)
    return Networks(generation, llm.eval(), flow.eval(), sound.eval().fuse(), weights)


def inputs():
    """What flow and vocoder are given; stored, since nobody promises random numbers for ever."""
    random = np.random.default_rng(2026)
    return {
        "flow.prompt_mel": random.standard_normal((2 * PROMPT_TOKENS, 80), np.float32),
        "flow.embedding": random.standard_normal(192, np.float32),
        "flow.prompt_tokens": random.integers(SPEECH_TOKENS, size=PROMPT_TOKENS),
        "flow.tokens": random.integers(SPEECH_TOKENS, size=TOKENS),
        "vocoder.mel": _smooth(random.standard_normal((FRAMES + 4, 80), np.float32)),
    }


def flow_case(given):
    """The flow's prompt and tokens, of ``inputs``."""
    prompt = FlowPrompt(
        tuple(given["flow.prompt_tokens"].tolist()),
        torch.from_numpy(given["flow.prompt_mel"]),
        torch.from_numpy(given["flow.embedding"]),
    )
    return prompt, given["flow.tokens"].tolist()


@torch.inference_mode()
def outputs(of, given):
    """All that one generation's networks make of it, each in one pass."""
    prompt, tokens = flow_case(given)
    wave = of.vocoder.whole(torch.from_numpy(given["vocoder.mel"]), seed=3)
    made = {
        "weights": np.array(of.weights),
        "flow.streaming": of.flow.one_pass(prompt, tokens, streaming=True).numpy(),
        "flow.offline": of.flow.one_pass(prompt, tokens[:OFFLINE_TOKENS], streaming=False).numpy(),
        "vocoder.wave": (wave.numpy() * FULL_SCALE).round().astype(np.int16),
        "llm.greedy": np.array(decoded(of, greedy=True)),
        "llm.streamed": np.array(decoded(of, greedy=True, streamed=True)),
        **{f"llm.seed{seed}": np.array(decoded(of, seed=seed)) for seed in SEEDS},
        **likeliest(of),
    }
    return {f"{of.generation}.{name}": value for name, value in made.items()}


def decoded(of, *, greedy=False, streamed=False, seed=0, prefill_tokens=256):
    """The speech tokens of the text, alone in the decoder."""
    decoder = Decoder(
        of.llm,
        slots=1,
        positions=POSITIONS,
        prefill_tokens=prefill_tokens,
        sampling=Sampling(greedy=greedy),
    )
    text = () if streamed else of.text
    decoding = decoder.begin(of.llm_prompt, text, seed=seed, segment=2, streamed=streamed)
    if streamed:
        decoder.append(decoding, of.text)
        decoder.end_text(decoding)
    while not decoding.done:
        decoder.step([decoding])
    return decoding.tokens


class Heard:
    """A sampler that keeps the first logits it hears, and then always draws the same."""

    def __init__(self):
        self.logits = None

    def __call__(self, logits, _history, draw):
        if self.logits is None:
            self.logits = logits[0].clone()
        return torch.full_like(draw.slots, 7)


def first_logits(of, *, prefill_tokens=256):
    """Log-probabilities of the first token."""
    heard = Heard()
    decoder = Decoder(
        of.llm, slots=1, positions=POSITIONS, prefill_tokens=prefill_tokens, sampler=heard
    )
    decoding = decoder.begin(of.llm_prompt, of.text, seed=0, segment=0)
    while heard.logits is None:
        decoder.step([decoding])
    return heard.logits.log_softmax(-1)


def likeliest(of):
    """The ids and log-probabilities of what may come first."""
    logp, ids = first_logits(of).topk(LIKELIEST)
    return {"llm.first_ids": ids.numpy().astype(np.int32), "llm.first_logp": logp.numpy()}


def _smooth(noise):
    """Frames that vary as slowly as speech."""
    return np.sum([noise[lag : lag + FRAMES] for lag in range(5)], axis=0, dtype=np.float32)


def _hash(*states):
    found = hashlib.sha256()
    for state in states:
        for name, value in sorted(state.items()):
            found.update(name.encode())
            found.update(value.contiguous().numpy().tobytes())
    return found.hexdigest()


if __name__ == "__main__":
    torch.set_num_threads(1)
    everything = inputs()
    for generation in GENERATIONS:
        everything |= outputs(networks(generation), everything)
    np.savez_compressed(FILE, **everything)
    print(f"{FILE}: {FILE.stat().st_size:,} bytes")  # noqa: T201 - a command
