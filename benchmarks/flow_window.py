"""What a window and a capped prompt cost in exactness: ``python -m benchmarks.flow_window``.

Speaks the same tokens with everything kept and with less, and says how far the mel frames are
apart. Give a checkpoint and a recording (10 to 30 s: its first half is the prompt, its second half
is spoken); without them a small network with random weights speaks random tokens, which shows that
it runs and nothing about voices. A shorter prompt also moves the starting noise; so the prompt
without its last second stands beside the caps: that loses nearly nothing but the noise's place.
Knows: the flow. Does not know: how a difference sounds; that is for ears.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor

from streaming.cosyvoice import checkpoint, tiny
from streaming.cosyvoice.flow import build
from streaming.cosyvoice.flow.base import FlowPrompt
from streaming.cosyvoice.flow.stream import Flow
from streaming.cosyvoice.flow.values import FlowVoice
from streaming.cosyvoice.prompt import recording
from streaming.cosyvoice.prompt.frontend import PromptFrontEnd
from streaming.cosyvoice.sizes import (
    LOOKAHEAD_TOKENS,
    MEL_BANDS,
    SPEAKER_SIZE,
    SPEECH_TOKENS,
    TOKENS_PER_S,
)

FIRST_HOP_TOKENS = 8


@dataclass(frozen=True)
class Difference:
    """How far the mel of one setting is from the exact one, in the mel's natural logarithms."""

    window_s: float | None
    prompt_s: float | None
    mean: float
    worst: float
    relative: float
    """Root mean square, over the standard deviation of the exact mel."""
    context_bytes: int
    """The most that the context held."""
    voice_bytes: int


def speak(
    flow: Flow, voice: FlowVoice, tokens: Sequence[int], window_s: float | None
) -> tuple[Tensor, int]:
    """The mel (2 * tokens, 80), hop by hop, and the most bytes that the context held."""
    state, mels, held = flow.begin(voice, window_s=window_s), [], 0
    while not state.ended:
        left, hop_tokens = tokens[state.tokens_done :], flow.next_hop(state) + LOOKAHEAD_TOKENS
        last = len(left) < hop_tokens
        hop = flow.start(state, left if last else left[:hop_tokens], last=last)
        while not hop.done:
            flow.euler([hop])
        state = hop.state
        held = max(held, state.bytes)
        mels.append(hop.mel)
    return torch.cat(mels), held


def differences(
    flow: Flow,
    prompt: FlowPrompt,
    tokens: Sequence[int],
    windows_s: Sequence[float],
    prompts_s: Sequence[float],
) -> Iterator[Difference]:
    """Each window with each prompt, the exact setting first: its differences are 0."""
    exact: Tensor | None = None
    voices = {
        prompt_s: flow.voice(prompt, prompt_s=prompt_s, first_hop_tokens=FIRST_HOP_TOKENS)
        for prompt_s in (None, *prompts_s)
    }
    for (prompt_s, voice), window_s in itertools.product(voices.items(), (None, *windows_s)):
        mel, held = speak(flow, voice, tokens, window_s)
        exact = mel if exact is None else exact
        apart = mel - exact
        yield Difference(
            window_s=window_s,
            prompt_s=prompt_s,
            mean=apart.abs().mean().item(),
            worst=apart.abs().max().item(),
            relative=(apart.square().mean().sqrt() / exact.std()).item(),
            context_bytes=held,
            voice_bytes=voice.bytes,
        )


def drawn(seconds: float, prompt_s: float) -> tuple[FlowPrompt, list[int]]:
    """A prompt and tokens of random numbers, always the same."""
    random = torch.Generator().manual_seed(0)
    count = int(prompt_s * TOKENS_PER_S)
    tokens = torch.randint(SPEECH_TOKENS, (count + int(seconds * TOKENS_PER_S),), generator=random)
    prompt = FlowPrompt(
        tokens=tuple(tokens[:count].tolist()),
        mel=torch.randn(2 * count, MEL_BANDS, generator=random),
        embedding=torch.randn(SPEAKER_SIZE, generator=random),
    )
    return prompt, tokens[count:].tolist()


def heard(files: checkpoint.Layout, path: Path) -> tuple[FlowPrompt, list[int]]:
    """The first half of a recording as a prompt, the tokens of its second half."""
    front = PromptFrontEnd(files.speech_tokenizer, files.campplus, files.generation)
    features = front.features(recording.read(path.read_bytes()).samples)
    half = len(features.tokens) // 2
    prompt = FlowPrompt(
        tokens=features.tokens[:half],
        mel=torch.from_numpy(features.mel[: 2 * half].copy()),
        embedding=torch.from_numpy(features.embedding.copy()),
    )
    return prompt, list(features.tokens[half:])


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one line a setting; the last line is a JSON list of them."""
    given = _parser().parse_args(arguments)
    device, dtype = torch.device(given.device), getattr(torch, given.dtype)
    if given.model is None:
        sizes = tiny.sizes(given.generation, given.size).flow
        with torch.random.fork_rng():
            torch.manual_seed(0)
            state = build.module(sizes).state_dict()
        prompt, tokens = drawn(given.seconds, prompt_s=6.0)
    else:
        loaded = checkpoint.load(given.model)
        sizes, state = loaded.sizes.flow, loaded.flow
        prompt, tokens = heard(loaded.files, given.recording)
    budget_bytes = int(given.memory_gb * 1e9)
    flow = build.flow(sizes, state, device=device, dtype=dtype, budget_bytes=budget_bytes)
    found = []
    prompts_s = (len(prompt.tokens) / TOKENS_PER_S - 1.0, *given.prompts)
    for one in differences(flow, prompt, tokens, given.windows, prompts_s):
        print(
            f"window {one.window_s or 'whole'} s, prompt {one.prompt_s or 'whole'} s: "
            f"mean {one.mean:.4f}, worst {one.worst:.3f}, relative {one.relative:.2%}; "
            f"context {one.context_bytes / 1e6:.1f} MB, voice {one.voice_bytes / 1e6:.1f} MB"
        )
        found.append(asdict(one))
    print(json.dumps(found))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.flow_window",
        description="How far the mel of a flow that looks back over a window, or over less of the "
        "recording, is from the exact one. Give a checkpoint and a recording of 10 to 30 s: its "
        "first half is the prompt, its second half is spoken. Without them random weights speak, "
        "which shows that it runs and nothing about voices.",
    )
    parser.add_argument("--model", type=Path, help="a checkpoint folder; needs --recording")
    parser.add_argument("--recording", type=Path, help="speech to take apart")
    parser.add_argument("--generation", default="cosyvoice3", choices=["cosyvoice3", "cosyvoice2"])
    parser.add_argument("--size", default="bench", choices=["tiny", "bench"])
    parser.add_argument("--seconds", type=float, default=20.0, help="to speak, without --model")
    parser.add_argument("--windows", type=_seconds, default=(2.0, 3.0, 6.0), help="such as 2,3,6")
    parser.add_argument("--prompts", type=_seconds, default=(3.0,), help="such as 3")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float32", choices=["float32", "float16", "bfloat16"])
    parser.add_argument("--memory-gb", type=float, default=1.0)
    return parser


def _seconds(text: str) -> tuple[float, ...]:
    return tuple(float(part) for part in text.split(",") if part)


if __name__ == "__main__":
    main()
