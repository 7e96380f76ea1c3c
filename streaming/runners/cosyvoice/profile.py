"""What steps cost before any has run: a profile that was measured, or, until a rehearsal, a guess.

Knows: the file that ``python -m benchmarks.gpu --table`` writes. Does not know: what a step does.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path

from streaming.runners.cosyvoice.rhythm import FLOW, LLM, VOCODER, usual
from streaming.steps import Cost

SMALL_CARD: Mapping[str, Cost] = {
    LLM: Cost(0.01, 0.0005),
    FLOW: Cost(0.004, 0.0002),
    VOCODER: Cost(0.005, 0.0002),
}


def priors(path: str | None, window_s: float) -> Mapping[str, Cost]:
    """What stages cost by that profile; without one, a guess, which a rehearsal corrects.

    Steps are planned as those that look back as far as is usual with that window.

    Raises:
        ValueError: it cannot be read, or is no such table.
    """
    return SMALL_CARD if path is None else usual(costs(Path(path)), window_s)


def costs(path: Path) -> dict[str, Cost]:
    """The lines of a table.

    Raises:
        ValueError: it cannot be read, or is no such table.
    """
    try:
        table = json.loads(path.read_text(encoding="utf-8"))["costs"]
        lines = {stage: Cost(**table[stage]) for stage in (LLM, FLOW, VOCODER)}
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, RecursionError) as error:  # what they hold may be all of the file
        raise ValueError(f"{path} is no table of step costs: {error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is no table of step costs: {error!r} is wrong in it") from error
    bad = next((stage for stage, line in lines.items() if not _possible(line)), None)
    if bad is not None:
        raise ValueError(f"{path} is no table of step costs: {lines[bad]!r} cannot be {bad!r}'s")
    return lines


def _possible(line: Cost) -> bool:
    numbers = (line.base_s, line.unit_s, line.look_s)
    known = all(isinstance(number, int | float) and number >= 0 for number in numbers)
    return known and 0 < sum(numbers) < math.inf
