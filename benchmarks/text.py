"""How long the text front end takes: ``python -m benchmarks.text [--json]``.

Knows: texts of set lengths and the segmenter. Does not know: a server; nothing is spoken.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial

from streaming.text.normal.normaliser import Normaliser
from streaming.text.segmenter import Segmenter
from streaming.text.words import estimate_words

ENGLISH = (
    "The first train leaves at 9:30 from platform 4. Dr. Lin said that it costs $12.50, but the "
    "later one, at 10:15, is cheaper. Would you like me to book it? I can also send the ticket to "
    "ana.b@example.org right away. "
)
CHINESE = "第一班车上午９：３０从四号站台出发，票价是12.50元。晚一点的那班便宜一些；要我帮您订吗？"  # noqa: RUF001  a Chinese text
REPEATS = 20
NO_STOP_CHARS = 20_000
ONE_CHAR_DELTAS = 10_000


@dataclass(frozen=True)
class Report:
    """Milliseconds; each figure is the best of a few runs, which is what the code costs."""

    english_segment_median_ms: float
    english_segment_worst_ms: float
    chinese_segment_median_ms: float
    chinese_segment_worst_ms: float
    words_median_ms: float
    english_spoken_median_ms: float
    english_spoken_worst_ms: float
    chinese_spoken_median_ms: float
    chinese_spoken_worst_ms: float
    no_stop_20k_ms: float
    one_char_10k_ms: float
    twice_the_text_ratio: float
    machine: str


def cut(deltas: Sequence[str]) -> int:
    """Take the deltas through a segmenter; how many segments there were."""
    segmenter = Segmenter()
    for delta in deltas:
        segmenter.append(delta, 0.0)
    segmenter.end(0.0)
    return segmenter.count


def best_ms(call: Callable[[], object], runs: int = 5) -> float:
    """The shortest of a few runs of the call."""
    return min(_timed_ms(call) for _ in range(runs))


def _timed_ms(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return (time.perf_counter() - begin) * 1000


def segment_times_ms(text: str) -> list[float]:
    """For each segment, what all its one-word deltas cost together."""
    segmenter = Segmenter()
    times: list[float] = []
    spent_s = 0.0
    for index in range(0, len(text), 4):
        begin = time.perf_counter()
        segments = segmenter.append(text[index : index + 4], 0.0)
        spent_s += time.perf_counter() - begin
        if segments:
            times.append(spent_s * 1000)
            spent_s = 0.0
    return times


def _words_ms() -> float:
    segments = Segmenter().append(ENGLISH * REPEATS, 0.0)
    return statistics.median(
        _timed_ms(lambda segment=segment: estimate_words(segment, 0, 48_000))  # type: ignore[misc]  # bound in the loop
        for segment in segments
    )


def spoken_times_ms(text: str) -> list[float]:
    """For each segment, what making it into words costs."""
    normaliser = Normaliser()
    segments = Segmenter().append(text, 0.0)
    return [best_ms(partial(normaliser.speak, segment), runs=3) for segment in segments]


def measure() -> Report:
    """Run everything, a second or two."""
    cut([ENGLISH])
    english, chinese = segment_times_ms(ENGLISH * REPEATS), segment_times_ms(CHINESE * REPEATS)
    english_spoken = spoken_times_ms(ENGLISH * REPEATS)
    chinese_spoken = spoken_times_ms(CHINESE * REPEATS)
    long = ENGLISH * (ONE_CHAR_DELTAS // len(ENGLISH))
    return Report(
        english_segment_median_ms=round(statistics.median(english), 4),
        english_segment_worst_ms=round(max(english), 4),
        chinese_segment_median_ms=round(statistics.median(chinese), 4),
        chinese_segment_worst_ms=round(max(chinese), 4),
        words_median_ms=round(_words_ms(), 4),
        english_spoken_median_ms=round(statistics.median(english_spoken), 4),
        english_spoken_worst_ms=round(max(english_spoken), 4),
        chinese_spoken_median_ms=round(statistics.median(chinese_spoken), 4),
        chinese_spoken_worst_ms=round(max(chinese_spoken), 4),
        no_stop_20k_ms=round(best_ms(lambda: cut(["abcd " * (NO_STOP_CHARS // 5)])), 2),
        one_char_10k_ms=round(best_ms(lambda: cut(list(long))), 2),
        twice_the_text_ratio=round(
            best_ms(lambda: cut(list(long * 2))) / best_ms(lambda: cut(list(long))), 2
        ),
        machine=f"{platform.machine()}, Python {platform.python_version()}",
    )


def main() -> None:
    """Print the report as lines, or as one JSON object."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.text", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object on one line")
    arguments = parser.parse_args()
    report = asdict(measure())
    if arguments.json:
        json.dump(report, sys.stdout)
        print()
        return
    for name, value in report.items():
        print(f"{name:28} {value}")


if __name__ == "__main__":
    main()
