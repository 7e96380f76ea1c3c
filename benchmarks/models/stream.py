"""(a) What flow and vocoder cost a second of audio, hop by hop, beside one pass over everything.

One utterance of a minute with a prompt of 3 s. Hops are whole blocks of the flow's mask, a second
each, so a hop's cost is that of its second. One thread computes, and its processor time counts, the
least of some rounds: what else the machine does is left out. Knows: networks. Does not know: the
runner.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from benchmarks.models import voices
from streaming.cosyvoice import checkpoint, vocoder
from streaming.cosyvoice.flow.base import FlowPrompt, Network
from streaming.cosyvoice.flow.pool import RESERVED
from streaming.cosyvoice.flow.stream import Flow
from streaming.cosyvoice.flow.v2.module import FlowV2
from streaming.cosyvoice.flow.v2.network import NetworkV2
from streaming.cosyvoice.flow.v3.module import FlowV3
from streaming.cosyvoice.flow.v3.network import NetworkV3
from streaming.cosyvoice.flow.values import FlowVoice
from streaming.cosyvoice.sizes import BLOCK_TOKENS, LOOKAHEAD_TOKENS, SPEECH_TOKENS, UnetSizes
from streaming.cosyvoice.vocoder import Vocoder

WINDOW_S = 3.0
EARLY, ROUNDS = 5, 2


@dataclass(frozen=True)
class Networks:
    """A checkpoint's flow and vocoder on the CPU, in float32, and something to say."""

    whole: FlowV2 | FlowV3
    network: Network
    vocoder: Vocoder
    prompt: FlowPrompt
    tokens: tuple[int, ...]

    def flow(self) -> Flow:
        """With memory for all of it: a page for each block of the prompt and of the utterance."""
        blocks = len(self.tokens) // BLOCK_TOKENS + voices.PROMPT_S
        return Flow(self.network, budget_bytes=(blocks + RESERVED) * page_bytes(self.network))


@dataclass(frozen=True)
class Streamed:
    """Seconds of computing for each second of audio, first to last."""

    flow_s: tuple[float, ...]
    vocoder_s: tuple[float, ...]
    context_bytes: int
    """What the flow's state holds before the last hop."""
    voice_bytes: int

    @property
    def whole_s(self) -> float:
        """All of it."""
        return sum(self.flow_s) + sum(self.vocoder_s)

    def cost_s(self, second: int) -> float:
        """Of that second of audio, counted from 1."""
        return self.flow_s[second - 1] + self.vocoder_s[second - 1]

    @property
    def growth(self) -> float:
        """The last second's cost over the fifth's."""
        return self.cost_s(len(self.flow_s)) / self.cost_s(EARLY)


def page_bytes(network: Network) -> int:
    """What the flow keeps of a block, a second of speech."""
    return sum(
        math.prod((*shelf.lead, *shelf.page)) * shelf.dtype.itemsize
        for shelf in network.shelves.values()
    )


def load(folder: Path, seconds: int) -> Networks:
    """Of a checkpoint folder, to say ``seconds`` of random tokens."""
    loaded = checkpoint.load(folder)
    sizes = loaded.sizes.flow
    whole: FlowV2 | FlowV3 = FlowV2(sizes) if isinstance(sizes, UnetSizes) else FlowV3(sizes)
    whole.load_state_dict(loaded.flow, strict=True)
    network = (
        NetworkV2(whole.eval(), device=torch.device("cpu"))
        if isinstance(whole, FlowV2)
        else NetworkV3(whole.eval(), device=torch.device("cpu"))
    )
    sound = vocoder.of(loaded.sizes.generation, loaded.sizes.vocoder)
    sound.load_state_dict(loaded.vocoder, strict=True)
    features = voices.prompt(0, "")
    tokens = np.random.default_rng(1).integers(SPEECH_TOKENS, size=seconds * BLOCK_TOKENS)
    return Networks(
        whole=whole,
        network=network,
        vocoder=sound.eval().fuse(),
        prompt=FlowPrompt(
            features.tokens, torch.from_numpy(features.mel), torch.from_numpy(features.embedding)
        ),
        tokens=tuple(tokens.tolist()),
    )


def streamed(networks: Networks, window_s: float | None, rounds: int) -> Streamed:
    """Hop by hop."""
    flow = networks.flow()
    voice = flow.voice(networks.prompt)
    taken = [_hops(networks, flow, voice, window_s) for _ in range(rounds)]
    return Streamed(
        flow_s=_least([each.flow_s for each in taken]),
        vocoder_s=_least([each.vocoder_s for each in taken]),
        context_bytes=taken[0].context_bytes,
        voice_bytes=voice.bytes,
    )


def one_pass_s(networks: Networks, rounds: int = 1) -> tuple[float, float]:
    """Flow and vocoder, each once over the whole utterance."""
    taken: list[tuple[float, float]] = []
    for _ in range(rounds):
        began_s = time.thread_time()
        mel = networks.whole.one_pass(networks.prompt, networks.tokens, streaming=True)
        middle_s = time.thread_time()
        networks.vocoder.step([(networks.vocoder.begin(), mel, True)])
        taken.append((middle_s - began_s, time.thread_time() - middle_s))
    return min(flow_s for flow_s, _ in taken), min(sound_s for _, sound_s in taken)


def _hops(networks: Networks, flow: Flow, voice: FlowVoice, window_s: float | None) -> Streamed:
    state, sound = flow.begin(voice, window_s=window_s), networks.vocoder.begin()
    flow_s: list[float] = []
    vocoder_s: list[float] = []
    held = 0
    for begin in range(0, len(networks.tokens), BLOCK_TOKENS):
        end = begin + BLOCK_TOKENS
        last = end == len(networks.tokens)
        given = networks.tokens[begin : end if last else end + LOOKAHEAD_TOKENS]
        began_s = time.thread_time()
        hop = flow.start(state, given, last=last)
        while not hop.done:
            flow.euler([hop])
        middle_s = time.thread_time()
        ((_, sound),) = networks.vocoder.step([(sound, hop.mel, last)])
        vocoder_s.append(time.thread_time() - middle_s)
        flow_s.append(middle_s - began_s)
        held = max(held, state.bytes)
        state = hop.state
    return Streamed(tuple(flow_s), tuple(vocoder_s), held, voice.bytes)


def _least(rounds: Sequence[Sequence[float]]) -> tuple[float, ...]:
    return tuple(min(each) for each in zip(*rounds, strict=True))
