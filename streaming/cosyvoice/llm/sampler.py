"""Repetition-aware sampling for a batch, on the device, without a word to the host.

Draw from the nucleus; if that token is among the last ten, mask it and draw again from everything
(VALL-E 2's rule with the official ``top_p`` 0.8, ``top_k`` 25, window 10, threshold 0.1). Answers
*choices*: a sound, stop or fill.
Does not know: K/V, text, when which sign is allowed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor
from torch.nn.functional import pad

from streaming.cosyvoice.llm.ids import BROKEN, FILL, STOP, Ids
from streaming.cosyvoice.llm.randomness import exponentials, step_keys
from streaming.cosyvoice.sizes import SPEECH_TOKENS

RING = 16
"""Tokens of the past kept for a slot; at least the window and two."""

MAY_STOP, MAY_END, MAY_FILL, AFTER_FILL = 1, 2, 4, 8
"""Flags of a row. Any sign may be drawn, and is a stop; the sign of the end alone may; the fill
may; the token before was a fill that nobody drew. Signs that no flag allows are masked."""


def drawn_at(step: int) -> int:
    """The code that stands for whatever a slot drew at a step: the device looks it up."""
    return -1 - step % RING


_ID_BITS = 13
_ID_MASK = (1 << _ID_BITS) - 1


@dataclass(frozen=True)
class Sampling:
    """The numbers of the rule; ``greedy`` takes the most likely sound or stop instead."""

    top_p: float = 0.8
    top_k: int = 25
    window: int = 10
    tau: float = 0.1
    greedy: bool = False


@dataclass(frozen=True)
class Draw:
    """What a batch of draws is of, int64 (R,) each."""

    slots: Tensor
    steps: Tensor
    keys: Tensor
    flags: Tensor


class Sampler(Protocol):
    """Logits (R, rows of the head) float32 to choices (R,) int64."""

    def __call__(self, logits: Tensor, history: Tensor, draw: Draw, /) -> Tensor:
        """``history`` (slots + 1, RING) holds at ``step % RING`` what each slot drew at a step.

        A fill that nobody drew is noted in it (``AFTER_FILL``).
        """


class RepetitionAware:
    """The official rule, or its greedy form for golden cases."""

    def __init__(self, ids: Ids, sampling: Sampling) -> None:
        if not 0 < sampling.window <= RING - 2:
            raise ValueError(f"window must be 1 to {RING - 2}, not {sampling.window}")
        self._ids = ids
        self._sampling = sampling

    def __call__(self, logits: Tensor, history: Tensor, draw: Draw) -> Tensor:
        """Draw for each row; a row that is not finite gives ``BROKEN``."""
        finite = logits.isfinite().all(dim=-1)
        logp = self._masked(logits, draw.flags).log_softmax(dim=-1)
        recent = self._recent(history, draw)
        token = logp.argmax(dim=-1) if self._sampling.greedy else self._drawn(logp, recent, draw)
        return torch.where(finite, self._choice(token, draw.flags), BROKEN)

    def _masked(self, logits: Tensor, flags: Tensor) -> Tensor:
        signs = torch.arange(SPEECH_TOKENS, logits.shape[1], device=logits.device)
        fill = MAY_FILL if not self._sampling.greedy else 0
        allowed = (
            _has(flags, MAY_STOP)
            | (_has(flags, MAY_END) & (signs == self._ids.stop))
            | (_has(flags, fill) & (signs == self._ids.fill))
        )
        kept = logits[:, SPEECH_TOKENS:].masked_fill(~allowed, -torch.inf)
        return torch.cat([logits[:, :SPEECH_TOKENS], kept], dim=1)

    def _choice(self, token: Tensor, flags: Tensor) -> Tensor:
        fill = (token == self._ids.fill) & ((flags & MAY_FILL) != 0)
        return torch.where(token < SPEECH_TOKENS, token, torch.where(fill, FILL, STOP))

    def _recent(self, history: Tensor, draw: Draw) -> Tensor:
        """The last tokens, (R, window), -1 where there were none."""
        before = (draw.steps - 1) % RING
        noted = history[draw.slots, before]
        forced = (draw.flags & AFTER_FILL) != 0
        history[draw.slots, before] = torch.where(forced, FILL, noted)
        back = torch.arange(1, self._sampling.window + 1, device=draw.steps.device)
        at = draw.steps[:, None] - back
        return torch.where(at >= 0, history[draw.slots[:, None], at % RING], -1)

    def _drawn(self, logp: Tensor, recent: Tensor, draw: Draw) -> Tensor:
        near, far = step_keys(draw.keys, draw.steps)
        first = self._from_nucleus(logp, near)
        choice = self._choice(first, draw.flags)
        seen = (recent == choice[:, None]).sum(dim=-1)
        rest = logp.scatter(1, first[:, None], -torch.inf)
        everything = torch.arange(logp.shape[1], device=logp.device)
        second = _race(rest, far, everything[None]).argmax(dim=-1)
        limit = self._sampling.window * self._sampling.tau
        return torch.where(seen >= limit, second, first)

    def _from_nucleus(self, logp: Tensor, keys: Tensor) -> Tensor:
        ids, inside = nucleus(logp, self._sampling.top_p, self._sampling.top_k)
        score = _race(logp.gather(1, ids), keys, ids).masked_fill(~inside, -torch.inf)
        return ids.gather(1, score.argmax(dim=-1, keepdim=True))[:, 0]


def nucleus(logp: Tensor, top_p: float, top_k: int) -> tuple[Tensor, Tensor]:
    """Ids (R, top_k), most likely first, and which of them the first draw may take.

    Those that begin before the sum reaches ``top_p``. Equal probabilities are ordered by id, so
    the set is the same on every device.
    """
    bits = logp.view(torch.int32)
    ordered = (bits ^ ((bits >> 31) & 0x7FFFFFFF)).to(torch.int64)
    ids = torch.arange(logp.shape[1], device=logp.device)
    ranked = (ordered << _ID_BITS) | (_ID_MASK - ids)
    best = _ID_MASK - (ranked.topk(top_k, dim=-1).values & _ID_MASK)
    before = pad(logp.gather(1, best).exp().cumsum(dim=-1)[:, :-1], (1, 0))
    return best, before < top_p


def _has(flags: Tensor, flag: int) -> Tensor:
    return ((flags & flag) != 0)[:, None]


def _race(logp: Tensor, keys: Tensor, candidates: Tensor) -> Tensor:
    return logp - exponentials(keys[:, None], candidates).log()
