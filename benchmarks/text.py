"""How long the text front end takes: ``python -m benchmarks.text [--json]``.

``…_first_…``: from a context's first text to its first segment, all of the front end's share of a
first packet: within the process, and with the way into a front end's own process and back. Knows:
texts of set lengths, the front end. Does not know: a server; nothing is spoken.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial

from streaming.clock import LoopClock
from streaming.config import EngineSettings, TextSettings
from streaming.engine.supervisor import Supervisor
from streaming.engine.wire import from_text
from streaming.messages import PROBE_CTX, FromText, TextAppend, TextDrop, TextEnd, TextOpen
from streaming.text.frontend import FrontEnd
from streaming.text.normal.normaliser import Normaliser
from streaming.text.segmenter import Segmenter
from streaming.text.words import estimate_words

ENGLISH = (
    "The first train leaves at 9:30 from platform 4. Dr. Lin said that it costs $12.50, but the "
    "later one, at 10:15, is cheaper. Would you like me to book it? I can also send the ticket to "
    "ana.b@example.org right away. "
)
CHINESE = "第一班车上午９：３０从四号站台出发，票价是12.50元。晚一点的那班便宜一些；要我帮您订吗？"  # noqa: RUF001  a Chinese text
SHORT_ENGLISH = "Your table is booked for 7:30 tonight. "
SHORT_CHINESE = "您尾号1234的卡3月5日15:30消费1,234.50元。请"
REPEATS = 20
FIRSTS = 200
READY_S = 30.0
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
    english_first_median_ms: float
    english_first_worst_ms: float
    chinese_first_median_ms: float
    chinese_first_worst_ms: float
    english_first_there_and_back_median_ms: float
    english_first_there_and_back_worst_ms: float
    chinese_first_there_and_back_median_ms: float
    chinese_first_there_and_back_worst_ms: float
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


def first_times_ms(text: str, language: str) -> list[float]:
    """For each of many contexts, from its first text to its first segment."""
    front = FrontEnd(TextSettings())
    times: list[float] = []
    for ctx in range(1, FIRSTS + 1):
        begin = time.perf_counter()
        front.handle(TextOpen(ctx=ctx, language=language), 0.0)
        said = front.handle(TextAppend(ctx=ctx, delta=text), 0.0)
        times.append((time.perf_counter() - begin) * 1000)
        assert said, "the text has a whole sentence"
        front.handle(TextDrop(ctx=ctx), 0.0)
    return times


def _put_all(inbox: asyncio.Queue[FromText], messages: Sequence[FromText]) -> None:
    for message in messages:
        inbox.put_nowait(message)


async def there_and_back_ms(text: str, language: str) -> list[float]:
    """The same with a front end in its own process; each context waits for the one before."""
    inbox: asyncio.Queue[FromText] = asyncio.Queue()
    child: Supervisor[FromText] = Supervisor(
        "text",
        EngineSettings(),
        LoopClock(),
        reader=from_text,
        on_messages=partial(_put_all, inbox),
        on_change=lambda: None,
        probe=TextEnd(ctx=PROBE_CTX),
    )
    await child.start()
    try:
        async with asyncio.timeout(READY_S):
            await inbox.get()
        times: list[float] = []
        for ctx in range(1, FIRSTS + 1):
            begin = time.perf_counter()
            child.send(TextOpen(ctx=ctx, language=language))
            child.send(TextAppend(ctx=ctx, delta=text))
            async with asyncio.timeout(READY_S):
                await inbox.get()
            times.append((time.perf_counter() - begin) * 1000)
            child.send(TextDrop(ctx=ctx))
        return times
    finally:
        await child.close()


def measure() -> Report:
    """Run everything, a second or two."""
    cut([ENGLISH])
    english, chinese = segment_times_ms(ENGLISH * REPEATS), segment_times_ms(CHINESE * REPEATS)
    english_spoken = spoken_times_ms(ENGLISH * REPEATS)
    chinese_spoken = spoken_times_ms(CHINESE * REPEATS)
    english_first = first_times_ms(SHORT_ENGLISH, "en")
    chinese_first = first_times_ms(SHORT_CHINESE, "zh")
    english_back = asyncio.run(there_and_back_ms(SHORT_ENGLISH, "en"))
    chinese_back = asyncio.run(there_and_back_ms(SHORT_CHINESE, "zh"))
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
        english_first_median_ms=round(statistics.median(english_first), 3),
        english_first_worst_ms=round(max(english_first), 3),
        chinese_first_median_ms=round(statistics.median(chinese_first), 3),
        chinese_first_worst_ms=round(max(chinese_first), 3),
        english_first_there_and_back_median_ms=round(statistics.median(english_back), 3),
        english_first_there_and_back_worst_ms=round(max(english_back), 3),
        chinese_first_there_and_back_median_ms=round(statistics.median(chinese_back), 3),
        chinese_first_there_and_back_worst_ms=round(max(chinese_back), 3),
        no_stop_20k_ms=round(best_ms(lambda: cut(["abcd " * (NO_STOP_CHARS // 5)])), 2),
        one_char_10k_ms=round(best_ms(lambda: cut(list(long))), 2),
        twice_the_text_ratio=round(
            best_ms(lambda: cut(list(long * 2))) / best_ms(lambda: cut(list(long))), 2
        ),
        machine=f"{platform.machine()}, Python {platform.python_version()}",
    )


def main() -> None:
    """Print the report as lines, or as one JSON object."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.text",
        description="How long the text front end takes. ..._first_...: from a context's first text "
        "to its first segment, within the process and with the way into its own process and back.",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on one line")
    arguments = parser.parse_args()
    report = asdict(measure())
    if arguments.json:
        json.dump(report, sys.stdout)
        print()
        return
    for name, value in report.items():
        print(f"{name:42} {value}")


if __name__ == "__main__":
    main()
