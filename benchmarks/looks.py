"""How many of a context's blocks the flow looks at, for those who reckon what a step costs.

Knows: blocks. Does not know: networks, real or simulated ones.
"""

from __future__ import annotations

from streaming.cosyvoice.sizes import BLOCK_TOKENS


def seen_blocks(end_tokens: int, voice_blocks: int, window_blocks: int | None) -> int:
    """From a hop that ends so many tokens after the recording's first; its own blocks count too.

    ``window_blocks`` is how many it looks back beside those of the recording; None: all.
    """
    blocks = -(-end_tokens // BLOCK_TOKENS)
    return blocks if window_blocks is None else min(blocks, voice_blocks + window_blocks + 1)
