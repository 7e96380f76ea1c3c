"""How attention's biases lie in memory. Knows: numbers. Does not know: what they hide."""

BIAS_STEP = 16
"""Each row of a bias begins at a multiple of so many numbers: torch's kernels ask for that, and
would copy another bias for every layer."""


def aligned(length: int) -> int:
    """A row of that length, with what it is filled up with."""
    return -(-length // BIAS_STEP) * BIAS_STEP
