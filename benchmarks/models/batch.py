"""(b) Tokens a second of the language model: many contexts in a step beside one.

The body at its published size with random weights, in bfloat16: a step reads all of them whatever
the batch. One thread's processor time tells what a batch is worth, whatever else the machine does;
all cores on the wall tell what it yields. Knows: the decoder. Does not know: the runner, other
precisions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch

from benchmarks.models import voices
from streaming.cosyvoice.llm.decoder import Decoder
from streaming.cosyvoice.llm.decoding import Decoding
from streaming.cosyvoice.llm.model import SpeechLlm
from streaming.cosyvoice.llm.script import LlmPrompt
from streaming.cosyvoice.sizes import END_OF_PROMPT, LlmSizes

BATCH = 16
STEPS, ROUNDS = 12, 4
TEXT_TOKENS = 60
"""So that nobody stops before the measurement does."""

Clock = Callable[[], float]

_POSITIONS = 512
_TEXT_IDS = 10_000


def decoder(sizes: LlmSizes, slots: int, dtype: torch.dtype = torch.bfloat16) -> Decoder:
    """With random weights that keep a signal's size, on the CPU."""
    with torch.device("meta"):
        model = SpeechLlm(sizes)
    model = model.to(dtype).to_empty(device="cpu")
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.normal_(std=1 / math.sqrt(weight.shape[-1]))
            else:
                weight.fill_(1.0)
    return Decoder(model.eval(), slots=slots, positions=_POSITIONS)


def measure(
    made: Decoder, batches: Sequence[int], *, steps: int, rounds: int, clock: Clock
) -> dict[int, dict[str, float]]:
    """Tokens a second and milliseconds a step, by batch, on torch's threads as they are set.

    The quickest step of some rounds, in turn.
    """
    step_s = dict.fromkeys(batches, float("inf"))
    for _ in range(rounds):
        for batch in batches:
            step_s[batch] = min(step_s[batch], _step_s(made, batch, steps, clock))
    return {
        batch: {"step_ms": round(1000 * least_s, 2), "tokens_per_s": round(batch / least_s, 1)}
        for batch, least_s in step_s.items()
    }


def _step_s(made: Decoder, batch: int, steps: int, clock: Clock) -> float:
    """The quickest step once all are past their prompts."""
    rows = [_begun(made, number) for number in range(batch)]
    while any(len(row.piece.codes) > 1 for row in rows):
        made.step(rows)
    taken: list[float] = []
    for _ in range(steps):
        began_s = clock()
        made.step(rows)
        taken.append(clock() - began_s)
    for row in rows:
        made.release(row)
    return min(taken)


def _begun(made: Decoder, number: int) -> Decoding:
    features = voices.prompt(number, "")
    ids = np.random.default_rng(number).integers(_TEXT_IDS, size=2 * TEXT_TOKENS).tolist()
    prompt = LlmPrompt((END_OF_PROMPT, *ids[TEXT_TOKENS:]), features.tokens)
    return made.begin(prompt, ids[:TEXT_TOKENS], seed=number, segment=0)
