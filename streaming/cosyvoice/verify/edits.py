"""How far one sequence is from another: what recognisers are judged by.

Knows: Levenshtein's distance. Does not know: words, characters, languages.
"""

from __future__ import annotations

from collections.abc import Sequence


def edits(wanted: Sequence[str], got: Sequence[str]) -> int:
    """The fewest items substituted, dropped or put in that make ``wanted`` into ``got``."""
    row = list(range(len(got) + 1))
    for i, item in enumerate(wanted, 1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(got, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (item != other))
    return row[-1]
