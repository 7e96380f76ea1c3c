"""The two kernels of attention in place, in plain torch: what those in Triton must come to.

They ask the device nothing either, so that they can be taken where a kernel would stand.
"""

import sys
from functools import partial

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from streaming.cosyvoice.flow.attention import InPlace
from streaming.cosyvoice.flow.rotary import turned
from streaming.cosyvoice.tiles import Tiles


def attend(query: Tensor, keys: Tensor, values: Tensor, tiles: Tiles) -> Tensor:
    _, groups, heads, _, size = query.shape
    head, key, number = (
        torch.arange(n, device=keys.device) for n in (groups * heads, tiles.keys, size)
    )
    begins = tiles.begins[:, None] + head[:, None] * tiles.head_stride
    places = (begins[..., None] + key * tiles.key_stride).flatten(2)
    there = torch.arange(places.shape[-1], device=keys.device) < tiles.lengths[:, None]
    # What a row does not see may lie behind the end of everything.
    index = torch.where(there[:, None], places, tiles.begins[:, :1, None])[..., None] + number
    seen = [part.reshape(-1)[index] for part in (keys, values)]
    made = scaled_dot_product_attention(
        query.flatten(1, 2),
        *seen,
        attn_mask=there[:, None, None].expand(-1, -1, query.shape[3], -1),
    )
    return made.unflatten(1, (groups, heads)).transpose(2, 3)


def keep(qkv: Tensor, turn: Tensor | None, shelf: Tensor, begins: Tensor) -> None:
    if turn is not None:
        qkv[..., :2, 0, :] = turned(qkv[..., :2, 0, :], turn[:, :, None, :, None])
    kept = qkv[:, :, :, 1:].permute(3, 0, 1, 4, 2, 5).flatten(2, 3).flatten(3)
    head, number = (torch.arange(n, device=shelf.device) for n in kept.shape[2:])
    place = begins[:, None, None] + head[:, None] * shelf.stride(-4) + number
    for half, new in zip(shelf, kept, strict=True):
        half.view(-1)[place] = new


in_place = partial(InPlace, kernels=sys.modules[__name__])
