"""CUDA graphs without CUDA: what a capture would refuse, and what it would remember.

A capture sees tensors alone. It breaks where the host waits for the device, and it repeats for
ever what the host knew the first time. ``Watched`` refuses all that a capture refuses, of a step
over tensors that are on no device at hand; ``tape`` records a step's operations with the very
tensors they had, and runs them again, without the Python that chose them.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

ELSEWHERE = torch.device("meta")
"""Tensors here have shapes and no numbers: whoever wants to know one has to ask a device."""

_WAITS = {
    "aten::_local_scalar_dense",  # .item(), .tolist(), bool(), int(), float()
    "aten::is_nonzero",
    "aten::equal",
    "aten::nonzero",  # and masks as indices
    "aten::masked_select",
    "aten::_unique2",
    "aten::unique_dim",
    "aten::unique_consecutive",
    "aten::repeat_interleave.Tensor",
    "aten::bincount",
}

_UNKNOWN_TO_A_REPLAY = ("rand", "normal", "bernoulli", "dropout", "multinomial", "fft")
"""Random numbers would come of a generator's state, and cuFFT plans while it runs."""


class Refused(AssertionError):
    """A capture would have broken here."""


class Watched(TorchDispatchMode):
    """Refuses operations that wait for the device, copies between devices, and generators."""

    def __init__(self):
        super().__init__()
        self.seen = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        del types
        kwargs = kwargs or {}
        name = func.name()
        if name in _WAITS:
            raise Refused(f"{name} waits for the device")
        if any(word in name for word in _UNKNOWN_TO_A_REPLAY):
            raise Refused(f"{name} cannot be replayed")
        given = [each for each in tree_flatten((args, kwargs))[0] if isinstance(each, Tensor)]
        if any(each.dtype == torch.bool for each in _indices(name, args)):
            raise Refused(f"{name} with a mask: its shape is the device's to say")
        made = func(*args, **kwargs)
        out = [each for each in tree_flatten(made)[0] if isinstance(each, Tensor)]
        devices = {each.device.type for each in (*given, *out)}
        if len(devices) > 1:
            raise Refused(f"{name} is on {sorted(devices)}: {[each.shape for each in given]}")
        if devices == {"cpu"}:
            raise Refused(f"{name} computes on the host: a replay would not")
        self.seen += 1
        return made


class Apart(TorchDispatchMode):
    """Host and device as they are apart, for what runs outside of a capture.

    Tensors of both may meet only in copies, or where the host's is a single number; what is on the
    device is asked for nothing. ``slow`` are copies that the host would wait for: torch makes them
    of memory that is not pinned, or to hand a result over.
    """

    def __init__(self):
        super().__init__()
        self.slow = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        del types
        kwargs, name = kwargs or {}, func.name()
        given = [each for each in tree_flatten((args, kwargs))[0] if isinstance(each, Tensor)]
        there = [each for each in given if each.device.type == ELSEWHERE.type]
        here = [each for each in given if each.device.type != ELSEWHERE.type]
        if name in {"aten::copy_", "aten::_to_copy"}:
            return self._copied(func, args, kwargs, there, here)
        if there and name in _WAITS:
            raise Refused(f"{name} waits for the device")
        if there and any(each.dtype == torch.bool for each in _indices(name, args)):
            raise Refused(f"{name} with a mask waits for the device")
        if there and any(each.dim() for each in here):
            raise Refused(f"{name} mixes {[(each.device.type, each.shape) for each in given]}")
        return func(*args, **kwargs)

    def _copied(self, func, args, kwargs, there, here):
        into = args[0] if func.name() == "aten::copy_" else None
        device = kwargs.get("device") if into is None else into.device
        crosses = device is not None and {each.device.type for each in given_to(args, into)} != {
            torch.device(device).type
        }
        waits = not (kwargs.get("non_blocking") or (into is not None and args[2:3] == (True,)))
        if crosses and waits and all(each.dim() for each in given_to(args, into)):
            self.slow.append([tuple(each.shape) for each in (*there, *here)])
        if into is not None and here and into is here[0] and there:
            return into  # nothing can be copied out of nowhere
        return func(*args, **kwargs)


def given_to(args, into):
    """What a copy is of."""
    return [args[0]] if into is None else [args[1]]


def _indices(name, args):
    if not name.startswith(("aten::index", "aten::_unsafe_index")) or len(args) < 2:
        return []
    indices = args[1] if isinstance(args[1], list | tuple) else [args[1]]
    return [each for each in indices if isinstance(each, Tensor)]


class Tape(TorchDispatchMode):
    """Remembers operations with the tensors they had."""

    def __init__(self):
        super().__init__()
        self._played = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        del types
        made = func(*args, **(kwargs or {}))
        self._played.append((func, args, kwargs or {}, made))
        return made

    def replay(self):
        """All again, into the tensors of the first time: what was given may have changed."""
        for func, args, kwargs, made in self._played:
            again = func(*args, **kwargs)
            tree_map(_overwrite, made, again)


def _overwrite(first, again):
    if isinstance(first, Tensor) and first.data_ptr() != again.data_ptr():
        first.copy_(again)


def tape(work):
    """A :class:`~streaming.cosyvoice.capture.Record`, of a CPU."""
    played = Tape()
    with played:
        work()
    return played.replay
