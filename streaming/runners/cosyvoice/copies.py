"""Samples on their way from the device to the host.

On a GPU they are copied into pinned memory, on a stream of their own where there is one: an event
holds the copy back until they are computed, another tells when it is there. So the vocoder's next
step is launched meanwhile. Knows: streams, events. Does not know: what is copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

import numpy as np
import torch
from torch import Tensor

from streaming.runners.base import Samples
from streaming.runners.cosyvoice.copy_log import NOTHING_KEPT, SAMPLES, TO_HOST, CopyLog
from streaming.runners.cosyvoice.threads import FIRST, ONE


class Fetched:
    """Rows of samples of any lengths, there or on their way."""

    def __init__(
        self, flat: Tensor, finite: Tensor, lengths: Sequence[int], there: torch.cuda.Event | None
    ) -> None:
        """``flat`` and ``finite`` are on the host, and good once ``there`` has happened."""
        self._flat = flat
        self._finite = finite
        self._bounds = list(pairwise(accumulate(lengths, initial=0)))
        self._there = there

    def row(self, at: int) -> Samples:
        """Float32, ``(T,)``; waits until the copy has come to its end."""
        self._wait()
        first, end = self._bounds[at]
        samples: Samples = self._flat.numpy()[first:end]
        return samples

    def good(self, at: int) -> bool:
        """Whether all of the row's samples are numbers."""
        self._wait()
        return bool(self._finite) or bool(np.isfinite(self.row(at)).all())

    def _wait(self) -> None:
        if self._there is not None:
            self._there.synchronize()
            self._there = None


class Copies:
    """To the host. On a CPU nothing has to be copied, and all is there at once."""

    def __init__(self, device: torch.device, streams: int, log: CopyLog = NOTHING_KEPT) -> None:
        self._log = log
        own = device.type == "cuda" and streams != ONE
        self._own = torch.cuda.Stream(device, priority=FIRST) if own else None  # type: ignore[no-untyped-call]

    @torch.inference_mode()
    def fetch(self, rows: Sequence[Tensor], contexts: Sequence[int] = ()) -> Fetched:
        """What the current stream is about to compute; rows are ``(T,)``."""
        lengths = [len(row) for row in rows]
        flat = torch.cat([row.float() for row in rows])
        finite = flat.isfinite().all()
        copied = self._log.copying(SAMPLES, TO_HOST, tuple(contexts), flat.nbytes)
        if flat.device.type == "cpu":
            with copied:
                return Fetched(flat, finite, lengths, None)
        computing = torch.cuda.current_stream(flat.device)
        copying = self._own or computing
        copying.wait_stream(computing)
        with torch.cuda.stream(copying):
            with copied:
                on_host = [_copied(each) for each in (flat, finite)]
            there = torch.cuda.Event(blocking=True)  # type: ignore[no-untyped-call]
            there.record(copying)
        for each in (flat, finite):
            each.record_stream(copying)  # nobody gets its memory before it is copied
        return Fetched(on_host[0], on_host[1], lengths, there)


def _copied(tensor: Tensor) -> Tensor:
    host = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
    return host.copy_(tensor, non_blocking=True)
