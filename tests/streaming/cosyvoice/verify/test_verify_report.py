"""What is printed, on streams of several kinds."""

import io
import sys
from contextlib import redirect_stderr

import pytest

from streaming.cosyvoice.verify.judging import Check
from streaming.cosyvoice.verify.notes import Notes
from streaming.cosyvoice.verify.report import Report, seconds
from streaming.cosyvoice.verify.sentences import SENTENCES
from streaming.engine.notes import note, note_error

CHECKS = [Check("it is so", good=True), Check("that", good=False, detail="no"), Check("?", None)]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def encoded(encoding):
    return io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True)


def printed(out):
    out.seek(0)
    return out.read()


def test_a_file_gets_no_colours_and_a_terminal_does(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    plain, terminal = io.StringIO(), Terminal()
    for out in (plain, terminal):
        Report(out).checks(CHECKS)
    assert "\x1b" not in plain.getvalue()
    assert terminal.getvalue().count("\x1b[") == 2 * len(CHECKS)


def test_who_wants_no_colours_gets_none(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    terminal = Terminal()
    Report(terminal).verdict("Good.", good=True)
    assert terminal.getvalue() == "\nGood.\n"


def test_checks_say_what_and_why():
    out = io.StringIO()
    Report(out).checks(CHECKS)
    assert out.getvalue().splitlines()[1:] == ["✓ it is so", "✗ that: no", "? ?"]


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_a_console_without_chinese_still_says_the_rest(encoding):
    out = encoded(encoding)
    report = Report(out)
    report.sentence(2, SENTENCES[1])
    report.checks(CHECKS)
    lines = printed(out).splitlines()
    assert "2  Mandarin, voice starter-mandarin" in lines
    assert "BAD  that: no" in lines


def test_long_values_are_folded_under_themselves_and_longer_ones_cut():
    out = io.StringIO()
    Report(out).fact("heard", "one two three " * 100)
    first, *more = out.getvalue().splitlines()
    assert first.startswith("  heard         one two")
    assert all(line.startswith(" " * 16) for line in more)
    assert max(map(len, (first, *more))) <= 88
    assert more[-1].endswith("…")
    assert len(more) < 7


@pytest.mark.parametrize(("value", "text"), [(0.853, "0.85 s"), (9.99, "9.99 s"), (12.4, "12 s")])
def test_seconds_for_people(value, text):
    assert seconds(value) == text


def test_what_the_engine_notes_is_a_fact_and_all_else_goes_where_it_went():
    out, errors = io.StringIO(), io.StringIO()
    with redirect_stderr(Notes(Report(out), errors)):
        note("llm_ready", steps="eager")
        note_error("step_failed", ValueError("a fault"), ctx=1)
        note("memory_shared_out", slots="slots 2")
        sys.stderr.write("a library's ")
        sys.stderr.write("words\n[1]\n")
    assert out.getvalue().splitlines() == [
        "  llm ready     eager",
        "  step failed   error ValueError('a fault'), ctx 1",
        "  memory shared out  slots 2",
    ]
    traceback, *words = errors.getvalue().rsplit("\n", 3)
    assert "ValueError: a fault" in traceback
    assert words == ["a library's words", "[1]", ""]
