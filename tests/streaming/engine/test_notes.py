import json
import logging

from streaming.engine.notes import NoteHandler, note, note_error


def lines(capsys):
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_a_note_is_one_line_whatever_is_in_it(capsys):
    note("loaded", text="two\nlines", took_s=0.5)
    assert lines(capsys) == [
        {"event": "loaded", "level": "info", "text": "two\nlines", "took_s": 0.5}
    ]


def test_an_error_keeps_its_traceback_on_the_same_line(capsys):
    try:
        int("bad")
    except ValueError as error:
        note_error("failed", error, ctx=7)
    (line,) = lines(capsys)
    assert line["level"] == "error"
    assert line["ctx"] == 7
    assert "test_notes.py" in line["traceback"]


def test_what_modules_log_becomes_a_note(capsys):
    logger = logging.getLogger("a module")
    logger.propagate = False
    logger.addHandler(NoteHandler())
    logger.warning("odd %s", "text")
    try:
        {}["x"]
    except KeyError:
        logger.exception("broken")
    first, second = lines(capsys)
    assert (first["event"], first["level"]) == ("odd text", "warning")
    assert (second["event"], second["error"]) == ("broken", "KeyError('x')")
