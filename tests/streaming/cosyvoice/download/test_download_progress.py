"""Progress is a line that changes on a terminal, and a line now and then in a log."""

from __future__ import annotations

import io

import pytest

from streaming.clock import ManualClock
from streaming.cosyvoice.download.progress import Progress, duration, size


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def test_a_terminal_has_one_line_with_share_speed_and_time_left(clock):
    out = Terminal()
    progress = Progress(4_000_000_000, out, clock=clock.now)
    progress.file("llm.pt", 0)
    clock.advance(10.0)
    progress.moved(1_000_000_000)
    assert out.getvalue() == (
        "\r\x1b[K[######..................]  25% 1.0 GB, 100 MB/s, 30 s left  llm.pt"
    )


def test_bytes_of_an_earlier_run_do_not_count_as_speed(clock):
    out = Terminal()
    progress = Progress(2_000_000, out, clock=clock.now)
    progress.file("llm.pt", 1_000_000)
    clock.advance(1.0)
    progress.moved(1_100_000)
    assert "55% 1.1 MB, 100 kB/s" in out.getvalue()


def test_a_file_that_begins_anew_counts_once(clock):
    out = Terminal()
    progress = Progress(1000, out, clock=clock.now)
    progress.file("llm.pt", 500)
    progress.moved(100)
    clock.advance(1.0)
    progress.moved(1000)
    progress.end()
    assert "100% 1.0 kB" in out.getvalue()
    assert out.getvalue().endswith("\n")


def test_a_terminal_is_not_flooded(clock):
    out = Terminal()
    progress = Progress(1000, out, clock=clock.now)
    progress.file("llm.pt", 0)
    for have in range(100):
        clock.advance(0.01)
        progress.moved(have)
    assert 4 <= out.getvalue().count("\r") <= 6


def test_a_log_has_a_line_every_ten_seconds_and_no_signs_of_a_terminal(clock):
    out = io.StringIO()
    progress = Progress(1000, out, clock=clock.now)
    progress.file("llm.pt", 0)
    for have in range(100):
        clock.advance(0.5)
        progress.moved(have)
    progress.say("a word")
    progress.end()
    lines = out.getvalue().splitlines()
    assert len(lines) == 6
    assert "a word" in lines
    assert "\x1b" not in out.getvalue()


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 kB"), (28e6, "28 MB"), (4.4e9, "4.4 GB")],
)
def test_bytes_for_people(count, words):
    assert size(count) == words


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0 s"), (59.4, "59 s"), (61, "1 min"), (3700, "1 h 1 min")]
)
def test_seconds_for_people(seconds, words):
    assert duration(seconds) == words
