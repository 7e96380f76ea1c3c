"""The language model for many contexts at once: slots, steps, voices' prefixes.

One step advances any set of contexts, however far each is: a prompt's piece for one, a token for
another, in one forward. What a context draws depends on its text, voice, seed and segment. In
float32 on a CPU its tokens are the same whoever shares its steps: batches are padded so that every
row is computed alike. In half precision, and on a GPU, the random numbers are the same and the
logits may differ in their last bits.
Does not know: text as characters, when a step is due.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from streaming.cosyvoice.capture import Record, made_ready
from streaming.cosyvoice.llm.cache import Kept, KvCache
from streaming.cosyvoice.llm.decoding import Decoding
from streaming.cosyvoice.llm.errors import BadTokens, OutOfSlots
from streaming.cosyvoice.llm.graphs import Choices, Launcher
from streaming.cosyvoice.llm.interleaving import StreamedText
from streaming.cosyvoice.llm.model import SpeechLlm
from streaming.cosyvoice.llm.packing import Buckets, pack, shapes_of
from streaming.cosyvoice.llm.sampler import RepetitionAware, Sampler, Sampling
from streaming.cosyvoice.llm.script import Codes, Limits, LlmPrompt, Script, WholeText
from streaming.cosyvoice.llm.silence import Silences
from streaming.cosyvoice.llm.step import Stepper
from streaming.cosyvoice.tiles import Kernels
from streaming.errors import BadState

_EXACT_ROWS = (8, 16, 24, 32, 40, 48, 56, 64)
"""From 8 rows on, in multiples of 8, a float32 matrix product gives each row the same bits."""

_LEAN_ROWS = (1, 2, 4, *_EXACT_ROWS)
_GPU_ROWS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
_IN_PLACE_ROWS = (1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256)
"""Closer to each other, since each comes in one shape alone."""

_GPU_LENGTHS = (256, 512, 1024, 2048, 4096)
_CPU_LENGTHS = tuple(range(64, 4097, 64))


@dataclass(frozen=True)
class Prefix:
    """A voice's beginning in the model, kept once: it belongs to this decoder's weights."""

    codes: Codes
    kept: Kept

    @property
    def bytes(self) -> int:
        """What it holds of the device's memory."""
        return self.kept.bytes


@dataclass(frozen=True, eq=False)
class Launched:
    """A row of a step that is under way."""

    decoding: Decoding
    choices: Choices | None = None
    """``None``: it draws nothing."""
    at: int = 0

    def take(self) -> list[int] | Exception:
        """Its new sound tokens, or what ended it; waits for the device. Once, and in order."""
        if self.choices is None or self.decoding.done:  # of one that had ended nobody hears more
            return []
        try:
            return self.decoding.heard(self.choices[self.at])
        except BadTokens as failure:
            return failure


class Decoder:
    """``slots`` contexts of at most ``positions`` tokens, prompt and speech together.

    ``prefill_tokens`` is the most that one step feeds of one context. The model's head and norms
    are raised to float32; ``record`` records steps of single tokens, to be replayed; with
    ``kernels`` those read keys and values in place. Not to be used from two threads at once.
    """

    def __init__(
        self,
        model: SpeechLlm,
        *,
        slots: int,
        positions: int,
        prefill_tokens: int = 256,
        sampling: Sampling | None = None,
        sampler: Sampler | None = None,
        record: Record | None = None,
        kernels: Kernels | None = None,
    ) -> None:
        model.keep_in_float32()
        self.model = model.eval()
        self.limits = Limits(positions, prefill_tokens)
        self.cache = KvCache(model.sizes, slots, positions, model.device, model.dtype)
        chosen = sampler or RepetitionAware(model.ids, sampling or Sampling())
        self._launcher = Launcher(Stepper(model, self.cache, chosen, kernels), record)
        self._buckets = _buckets(model, in_place=kernels is not None)
        self._free = list(range(slots))

    @property
    def free_slots(self) -> int:
        """How many contexts could begin now."""
        return len(self._free)

    @torch.inference_mode()
    def warm(self, rows: int) -> int:
        """Record every shape that single tokens of so many contexts take; how many. Seconds."""
        shapes = shapes_of(self.cache, self._buckets, rows) if self._launcher.captures else []
        return made_ready("language model", shapes, self._launcher.capture)

    @torch.inference_mode()
    def prefix(self, prompt: LlmPrompt, *, streamed: bool = False) -> Prefix:
        """Compute what a voice's contexts begin with, whatever their text. Blocks until it is."""
        script = self._script(prompt, (), streamed=streamed)
        maker = Decoding(self.cache.scratch, script, self._silences(), seed=0, segment=0)
        while maker.fed < len(script.prefix):
            self._advance([maker])
        kept = self.cache.keep(maker.slot, maker.fed)
        self.cache.wipe(maker.slot, maker.fed)
        return Prefix(script.prefix, kept)

    @torch.inference_mode()
    def prefix_of(self, decoding: Decoding) -> Prefix | None:
        """What this one began with, for the voice's next contexts, at the price of a copy.

        None until it has drawn a token: only that shows that its keys and values are sound.
        """
        codes = decoding.script.prefix
        if decoding.failure is not None or decoding.released or not decoding.script.steps:
            return None
        return Prefix(codes, self.cache.keep(decoding.slot, len(codes)))

    @torch.inference_mode()
    def begin(
        self,
        prompt: LlmPrompt,
        text: Sequence[int],
        *,
        seed: int,
        segment: int,
        streamed: bool = False,
        prefix: Prefix | None = None,
    ) -> Decoding:
        """Take a slot for one segment; ``streamed`` text may be appended to.

        Raises ``OutOfSlots``, ``OutOfPositions``, ``BadIds``, and ``ValueError`` for a prefix that
        is another prompt's.
        """
        script = self._script(prompt, text, streamed=streamed)
        if prefix is not None and prefix.codes != script.prefix:
            raise ValueError("this prefix was made of another prompt, or for the other text mode")
        if not self._free:
            raise OutOfSlots(f"all {self.cache.slots} slots of the language model are taken")
        slot = self._free[0]
        made = Decoding(slot, script, self._silences(), seed=seed, segment=segment)
        if prefix is not None:
            self.cache.restore(slot, prefix.kept)
            script.skip_prefix()
            made.fed = prefix.kept.positions
        heapq.heappop(self._free)  # only now: a copy may find no memory
        return made

    def suffices(self, prompt: LlmPrompt, text: Sequence[int], *, ended: bool) -> bool:
        """Whether a streamed one of that text would want more than its prefix."""
        script = StreamedText(
            self.model.sizes.generation, self.model.ids, prompt, text, self.limits
        )
        if ended:
            script.end()
        script.skip_prefix()
        return script.done or bool(script.pieces)

    def append(self, decoding: Decoding, text: Sequence[int]) -> None:
        """More text of a streamed one, which no step is under way for, in whatever thread.

        Raises ``OutOfPositions`` where a new segment is due.
        """
        _streamed(decoding).append(text)

    def end_text(self, decoding: Decoding) -> None:
        """A streamed one's text is complete; as ``append``."""
        _streamed(decoding).end()

    def step(self, batch: Sequence[Decoding]) -> list[list[int] | Exception]:
        """Feed each one's next piece; the new sound tokens of each, or what ended it alone."""
        return [launched.take() for launched in self.launch(batch)]

    @torch.inference_mode()
    def launch(self, batch: Sequence[Decoding]) -> list[Launched]:
        """Feed each one's next piece; what each draws is taken when the device has done it.

        A whole text's next step may be launched before that: it finds on the device what was drawn.
        Those that want nothing are left as they are. When this raises, nothing has advanced, and
        the step may be tried again with fewer.
        """
        if len({id(one) for one in batch}) < len(batch):
            raise ValueError("a decoding is in the batch twice")
        if any(one.released for one in batch):
            raise BadState("a released decoding cannot be stepped")
        rows = [one for one in batch if one.wants]
        drawing = self._advance(rows) if rows else {}
        return [drawing.get(one.slot) or Launched(one) for one in batch]

    @torch.inference_mode()
    def release(self, decoding: Decoding) -> None:
        """Free its slot, at any time; nothing of it stays. Once is enough, twice does no harm."""
        if decoding.released:
            return
        decoding.released = True
        touched = decoding.fed + self.limits.piece  # a step that raised may have written ahead
        self.cache.wipe(decoding.slot, min(touched, self.limits.positions))
        heapq.heappush(self._free, decoding.slot)

    def _advance(self, rows: Sequence[Decoding]) -> dict[int, Launched]:
        packed = pack(rows, self.cache, self._buckets)
        choices = self._launcher.run(packed)
        for one in rows:
            one.fed_piece()
        return {one.slot: Launched(one, choices, at) for at, one in enumerate(packed.drawing)}

    def _script(self, prompt: LlmPrompt, text: Sequence[int], *, streamed: bool) -> Script:
        kind = StreamedText if streamed else WholeText
        return kind(self.model.sizes.generation, self.model.ids, prompt, text, self.limits)

    def _silences(self) -> Silences:
        return Silences(self.model.sizes.generation)


def _streamed(decoding: Decoding) -> StreamedText:
    if not isinstance(decoding.script, StreamedText):
        raise BadState("this segment's text was given whole")
    return decoding.script


def _buckets(model: SpeechLlm, *, in_place: bool) -> Buckets:
    if in_place:
        return Buckets(_IN_PLACE_ROWS)
    if model.device.type == "cuda":
        return Buckets(_GPU_ROWS, _GPU_LENGTHS)
    rows = _EXACT_ROWS if model.dtype == torch.float32 else _LEAN_ROWS
    return Buckets(rows, _CPU_LENGTHS)
