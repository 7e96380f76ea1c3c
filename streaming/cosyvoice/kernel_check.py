"""Whether kernels of attention in place do on a device what they should, before anybody speaks.

Knows: what torch makes of the same. Does not know: how the kernels are made.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from streaming.cosyvoice.flow.attention import by_head
from streaming.cosyvoice.tiles import Kernels, Tiles

NEAR = {torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 8e-2}
"""So far from torch's a number around 1 may be, and the largest of the numbers here is near 5."""

GROUPS, HEADS, KEYS, SIZE, PAGES = 2, 2, 50, 64, 5
PAGE = KEYS * SIZE
TABLE = [[1, 3, 4], [2, 0, 0]]
LENGTHS = (130, 21)
OWN = [4, 2]
"""Two rows: which pages each sees, how many keys of them, and where it puts its own."""


def failure(kernels: Kernels, device: torch.device, dtype: torch.dtype) -> str | None:
    """Why they are not to be used there, if so."""
    try:
        apart = _apart(kernels, device, dtype)
    except torch.OutOfMemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - compilers and drivers may raise anything
        lines = str(error).strip().splitlines() or [""]
        return f"its kernels fail here: {type(error).__name__}: {lines[0]}"
    if not apart <= NEAR[dtype]:  # NaN is not near either
        return f"its kernels compute something else here: {apart:.3g} apart"
    return None


def _apart(kernels: Kernels, device: torch.device, dtype: torch.dtype) -> float:
    """How far from torch's own are the queries that are turned, what is kept and what is seen."""
    numbers = torch.Generator().manual_seed(1)
    qkv = torch.randn(2, GROUPS, KEYS, 3, HEADS, SIZE, generator=numbers).to(device, dtype)
    shelf = torch.randn(2, GROUPS * HEADS, PAGES, KEYS, SIZE, generator=numbers).to(device, dtype)
    turn = torch.randn(2, 2, KEYS, SIZE // 2, generator=numbers).to(device)
    own, table = torch.tensor(OWN, device=device), torch.tensor(TABLE, device=device)
    expected = qkv.clone()
    query, *pair = by_head(expected, turn)

    kernels.keep(qkv, turn, shelf, own * PAGE)
    kept = shelf[:, :, own].transpose(1, 2)
    tiles = Tiles(table * PAGE, torch.tensor(LENGTHS, device=device), KEYS, PAGES * PAGE, SIZE)
    seen = kernels.attend(qkv[:, :, :, 0].transpose(2, 3), shelf[0], shelf[1], tiles)
    differences = (
        qkv[:, :, :, 0] - expected[:, :, :, 0],
        kept - torch.stack(pair),
        seen.transpose(2, 3).flatten(1, 2).float() - _seen(query, shelf, table),
    )
    return float(torch.stack([each.abs().max().float() for each in differences]).max())


def _seen(query: Tensor, shelf: Tensor, table: Tensor) -> Tensor:
    """(2, heads, keys, size) float32, by torch."""
    rows = []
    for row, length in enumerate(LENGTHS):
        key, value = shelf[:, :, table[row]].flatten(2, 3)[:, :, :length].float()
        rows.append(scaled_dot_product_attention(query[row].float(), key, value))
    return torch.stack(rows)
