"""A script: Triton's kernels, run by Triton's interpreter on a CPU, beside those in plain torch.

One line of JSON: how far apart they are, by case. With TRITON_INTERPRET=1 from the start.
"""

import json
import sys

import plain_kernels
import torch

from streaming.cosyvoice import kernels
from streaming.cosyvoice.kernel_check import failure
from streaming.cosyvoice.llm.cache import KvCache
from streaming.cosyvoice.sizes import LlmSizes
from streaming.cosyvoice.tiles import Tiles

CPU = torch.device("cpu")


def pages(size, dtype, *, turns):
    """The flow's: three rows at other Euler steps, of 150, 120 and 1 keys."""
    groups, heads, count, steps = 2, 3, 7, 3
    shelf = torch.randn(2, steps, groups * heads, count, 50, size).to(dtype)
    qkv = torch.randn(3, groups, 50, 3, heads, size).to(dtype)
    turn = torch.randn(2, 3, 50, size // 2) if turns else None
    first = torch.tensor([0, 2, 1]) * groups * heads * count
    own, table = torch.tensor([5, 4, 6]), torch.tensor([[2, 3, 5], [3, 2, 4], [6, 0, 0]])
    page = 50 * size
    lengths = torch.tensor([150, 120, 1])
    tiles = Tiles((first[:, None] + table) * page, lengths, 50, count * page, size)
    made = []
    for them in (kernels, plain_kernels):
        given, kept = qkv.clone(), shelf.clone()
        them.keep(given, turn, kept, (first + own) * page)
        seen = them.attend(given[:, :, :, 0].transpose(2, 3), kept[0], kept[1], tiles)
        made.append((given[:, :, :, 0], kept, seen))
    return furthest(*made)


def slots(dtype):
    """The language model's: seven query heads a pair, at the first and the last position too."""
    sizes = LlmSizes("cosyvoice3", hidden=14 * 64, layers=2, heads=14, kv_heads=2)
    cache = KvCache(sizes, 5, 130, CPU, dtype)
    cache.keys.normal_()
    cache.values.normal_()
    tiles = cache.tiles(torch.tensor([3, 0, 4, 3]), torch.tensor([0, 63, 129, 64]))
    query = torch.randn(4, 2, 1, 7, 64).to(dtype)
    return furthest(
        *(
            [them.attend(query, cache.keys[1], cache.values[1], tiles)]
            for them in (kernels, plain_kernels)
        )
    )


def furthest(some, others):
    return max(float((one - other).abs().max()) for one, other in zip(some, others, strict=True))


torch.manual_seed(3)
found = {}
for dtype in (torch.float32, torch.float16):  # the interpreter has no bfloat16
    for size in (8, 16, 64):
        for turns in (False, True):
            found[f"{dtype} pages {size} {turns}"] = pages(size, dtype, turns=turns)
    found[f"{dtype} slots"] = slots(dtype)
    assert failure(kernels, CPU, dtype) is None
sys.stdout.write(json.dumps(found))
