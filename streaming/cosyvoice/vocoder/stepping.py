"""A step of many streams at once: rows in, one batch through the network, rows out.

Rows are as long as they like, and first and last ones share a batch with others. Knows: what
waits for lookahead, padding, how states are joined and parted. Does not know: the network: a
generation's ``forward`` takes tensors alone, reads nothing back to the host, and its shapes
depend on the padded rows and width alone, so it can be captured as it is.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

from streaming.cosyvoice.capture import made_ready
from streaming.cosyvoice.sizes import MEL_BANDS, VocoderSizes
from streaming.cosyvoice.transfer import integers
from streaming.cosyvoice.vocoder import counter
from streaming.cosyvoice.vocoder.pitch import PitchPredictor
from streaming.cosyvoice.vocoder.shapes import Shapes
from streaming.cosyvoice.vocoder.state import VocoderState
from streaming.cosyvoice.vocoder.trunk import Trunk

Advance = Callable[[Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]
"""A generation's ``forward`` of mel, plan, carried and exact: samples, carried and exact."""

Row = tuple[VocoderState, Tensor, bool]
"""A stream, its new mel frames (frames, 80), whether they are its last."""


@dataclass(frozen=True)
class Work:
    """One row of a batch: the frames it sees, and how many of them come out as sound."""

    state: VocoderState
    mel: Tensor
    frames: int
    last: bool

    @property
    def first(self) -> bool:
        """Whether nothing of the stream has sounded yet."""
        return self.state.done_frames == 0


@dataclass(frozen=True)
class Plan:
    """What ``forward`` knows of the rows: columns of one table, (5, B), int64, on the device."""

    counts: Tensor
    """(B,): frames of each row, as the generation counts them."""
    first: Tensor
    """(B, 1), bool"""
    last: Tensor
    start_frames: Tensor
    """(B,): which frame of the stream a row's first one is."""
    keys: Tensor

    @classmethod
    def of(cls, table: Tensor) -> Self:
        """The columns by name."""
        counts, first, last, start, keys = table.unbind()
        return cls(counts, first.bool()[:, None], last.bool()[:, None], start, keys)


class StreamingVocoder(Trunk):
    """Both generations' outer half: :meth:`begin` a stream, :meth:`step` any set of streams."""

    kept_frames: int
    """Mel frames that are seen again with those that follow."""

    least_frames = 1
    """A batch is padded to these."""

    usual_shapes: Shapes
    """Those worth capturing."""

    blank_carried: Tensor
    blank_exact: Tensor

    def __init__(self, sizes: VocoderSizes, pitch: PitchPredictor, pre_kernel: int) -> None:
        super().__init__(sizes, pitch, pre_kernel)
        self._shapes = Shapes()
        self._advance: Advance = self.forward

    def launch(self, shapes: Shapes, wrap: Callable[[Advance], Advance] | None = None) -> None:
        """From now on batches are filled up to ``shapes``; steps of these go through ``wrap``."""
        self._shapes = shapes
        self._advance = wrap(self.forward) if wrap else self.forward

    @torch.inference_mode()
    def warm(self, rows: int) -> int:
        """Run a step of every shape that so many rows meet, on silence; how many there are.

        What is compiled or captured for a shape is then there before anyone waits for it.
        """
        return made_ready(
            "vocoder",
            self._shapes.all(rows),
            lambda shape: self._advance(*self._laid_out((), (), *shape)),
        )

    def fuse(self, dtype: torch.dtype = torch.float32) -> Self:
        """See :meth:`Trunk.fuse`; from then on streams can begin."""
        super().fuse(dtype)
        for name, blank in zip(("blank_carried", "blank_exact"), self._blank(), strict=True):
            self.register_buffer(name, blank, persistent=False)
        return self

    @abstractmethod
    def _blank(self) -> tuple[Tensor, Tensor]:
        """What a new stream carries, and carries exactly: (size,) each."""

    @abstractmethod
    def _sounding(self, frames: int, *, first: bool, last: bool) -> int:
        """How many of the ``frames`` that a row sees come out as sound: none if not above 0."""

    @abstractmethod
    def _start(self, work: Work) -> int:
        """Which frame of the stream a row's first one is."""

    @abstractmethod
    def _count(self, work: Work) -> int:
        """A row's frames, as ``forward`` counts them."""

    @abstractmethod
    def _span(self, work: Work) -> slice:
        """Where a row's finished samples lie in what ``forward`` makes."""

    def begin(self, seed: int = 0) -> VocoderState:
        """A new stream; the seed is that of its noise."""
        if not hasattr(self, "blank_exact"):
            raise RuntimeError("the vocoder is not ready: call fuse() once its weights are loaded")
        mel = self.blank_exact.new_empty(0, MEL_BANDS, dtype=torch.float32)
        return VocoderState(counter.key(seed), mel, self.blank_carried, self.blank_exact)

    @torch.inference_mode()
    def step(self, rows: Sequence[Row]) -> list[tuple[Tensor, VocoderState]]:
        """Each row's new samples, 24 kHz float32, and its next state.

        Raises ``ValueError`` for mel of another shape and for a stream that has ended, before
        anything is computed.
        """
        works = [self._work(*row) for row in rows]
        sounding = [work for work in works if work.frames]
        made = (each for part in self._parts(sounding) for each in self._batch(part))
        return [next(made) if work.frames else self._waiting(work) for work in works]

    def whole(self, mel: Tensor, seed: int = 0) -> Tensor:
        """An utterance in one pass: mel (frames, 80) to samples (frames * 480,)."""
        return self.step([(self.begin(seed), mel, True)])[0][0]

    def _work(self, state: VocoderState, mel: Tensor, last: bool) -> Work:
        if state.ended:
            raise ValueError("the stream has ended: begin another one")
        if mel.dim() != 2 or mel.shape[1] != MEL_BANDS:  # noqa: PLR2004 - frames and bands
            raise ValueError(f"mel must be (frames, {MEL_BANDS}), not {tuple(mel.shape)}")
        seen = torch.cat([state.mel, mel.to(state.mel)])
        frames = self._sounding(len(seen), first=state.done_frames == 0, last=last)
        return Work(state, seen, max(0, frames), last)

    def _waiting(self, work: Work) -> tuple[Tensor, VocoderState]:
        return work.mel.new_empty(0), replace(work.state, mel=work.mel, ended=work.last)

    def _parts(self, works: Sequence[Work]) -> Iterator[Sequence[Work]]:
        """Batches that some shape holds; all in one where none holds any."""
        widest = max((self._count(work) for work in works), default=0)
        size = self._shapes.most_rows(max(self.least_frames, widest)) or max(1, len(works))
        for begin in range(0, len(works), size):
            yield works[begin : begin + size]

    def _batch(self, works: Sequence[Work]) -> list[tuple[Tensor, VocoderState]]:
        samples, carried, exact = self._made(works)
        return [
            (row[self._span(work)], self._next(work, new_carried, new_exact))
            for work, row, new_carried, new_exact in zip(
                works, samples, carried, exact, strict=False
            )
        ]

    def _made(self, works: Sequence[Work]) -> tuple[Tensor, Tensor, Tensor]:
        """What ``forward`` makes of the rows; those that fill a shape up come after them."""
        counts = [self._count(work) for work in works]
        widest = max(self.least_frames, *counts)
        own_noise = any(work.state.noise is not None for work in works)
        shape = None if own_noise else self._shapes.of(len(works), widest)
        if shape is not None:
            return self._advance(*self._laid_out(works, counts, *shape))
        given = self._laid_out(works, counts, len(works), widest)
        noise = self._given(works, given[0])
        made: tuple[Tensor, Tensor, Tensor] = self(*given, noise, ragged=min(counts) < widest)
        return made

    def _laid_out(
        self, works: Sequence[Work], counts: Sequence[int], rows: int, width: int
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Mel, plan, carried and exact; rows beyond ``works`` begin and are silent."""
        filling = rows - len(works)
        table: list[list[int]] = [
            [*counts, *[self.least_frames] * filling],
            [*(work.first for work in works), *[True] * filling],
            [*(work.last for work in works), *[False] * filling],
            [*(self._start(work) for work in works), *[0] * filling],
            [*(work.state.key for work in works), *[0] * filling],
        ]
        carried = [work.state.carried for work in works] + [self.blank_carried] * filling
        exact = [work.state.exact for work in works] + [self.blank_exact] * filling
        return (
            self._padded(works, rows, width),
            integers(table, self.blank_exact.device),
            torch.stack(carried),
            torch.stack(exact),
        )

    def _padded(self, works: Sequence[Work], rows: int, width: int) -> Tensor:
        """The rows' mel, (rows, width, 80), silence after each."""
        mel = self.blank_exact.new_zeros(rows, width, MEL_BANDS, dtype=torch.float32)
        for row, work in zip(mel, works, strict=False):
            row[: len(work.mel)] = work.mel
        return mel

    def _given(self, works: Sequence[Work], mel: Tensor) -> Tensor | None:  # noqa: ARG002 - a generation's own
        """The batch's noise where a stream brought its own; None: ``forward`` makes it."""
        return None

    def _next(self, work: Work, carried: Tensor, exact: Tensor) -> VocoderState:
        """The rows are copied, or one slow stream would keep a whole batch in memory."""
        return replace(
            work.state,
            mel=work.mel[-self.kept_frames :].clone(),
            carried=carried.clone(),
            exact=exact.clone(),
            done_frames=work.state.done_frames + work.frames,
            ended=work.last,
        )
