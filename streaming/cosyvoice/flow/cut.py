"""How much of a prompt the flow uses, and where hops may end.

Knows: counts of tokens. Does not know: tensors, or why a hop should be long or short.
"""

from __future__ import annotations

from streaming.cosyvoice.sizes import BLOCK_TOKENS, LOOKAHEAD_TOKENS, TOKENS_PER_S

LARGEST_FIRST_HOP = BLOCK_TOKENS - LOOKAHEAD_TOKENS
"""A first hop leaves this many tokens of the prompt in its block: the lookahead of the blocks
before it, which are then the prompt's alone."""


def prompt_tokens(
    tokens: int, *, prompt_s: float | None = None, first_hop_tokens: int | None = None
) -> int:
    """How many of a prompt's ``tokens`` to use, from its beginning.

    At most ``prompt_s`` of it; and as many as leave ``first_hop_tokens`` (1 to 22; more counts as
    22) to the end of a block. A prompt too short for that is used whole.
    """
    most = tokens if prompt_s is None else min(tokens, int(prompt_s * TOKENS_PER_S))
    if first_hop_tokens is None:
        return most
    begun = BLOCK_TOKENS - min(max(first_hop_tokens, 1), LARGEST_FIRST_HOP)
    if most < begun:
        return most
    return most - (most - begun) % BLOCK_TOKENS


def whole_blocks(prompt: int) -> int:
    """Blocks of a prompt of so many tokens that no later token changes."""
    return max(prompt - LOOKAHEAD_TOKENS, 0) // BLOCK_TOKENS


def to_block_end(position: int) -> int:
    """Tokens from ``position`` to the end of its block, 1 to 25."""
    return BLOCK_TOKENS - position % BLOCK_TOKENS
