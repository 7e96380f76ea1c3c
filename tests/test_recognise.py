"""The measure of intelligibility is itself right: words alike are alike, errors are counted."""

from __future__ import annotations

import pytest
from recognise import model_folder, normalise, word_error_rate, word_errors


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        ("Platform seven, please.", "platform 7 please"),
        ("It leaves at 9:45.", "It leaves at 9.45"),
        ("Doctor Johnson on March 21st", "Dr. Johnson, on March 21."),
        ("a 20 percent chance", "A 20% chance!"),
        ("1,250 people", "1250 people"),
        ("It costs 14 dollars.", "it costs $14"),
        ("I don't know", "i don't know."),
    ],
)
def test_words_are_alike_however_they_are_written(said, heard):
    assert normalise(said) == normalise(heard)
    assert word_error_rate(said, heard) == 0.0


@pytest.mark.parametrize(
    ("said", "heard", "errors"),
    [
        ("the red house", "the bread house", (1, 3)),
        ("the red house", "the house", (1, 3)),
        ("the red house", "the very red house", (1, 3)),
        ("the red house", "", (3, 3)),
        ("call 555 0142", "call 555 0143", (1, 3)),
    ],
)
def test_substituted_dropped_and_added_words_are_counted(said, heard, errors):
    assert word_errors(said, heard) == errors


def test_saying_something_where_nothing_was_asked_is_an_error():
    assert word_error_rate("", "hello") == 1.0
    assert word_error_rate("", "") == 0.0


@pytest.mark.recognise
def test_the_model_is_joined_once_and_checked():
    first = (model_folder() / "model.bin").stat()
    again = (model_folder() / "model.bin").stat()
    assert first.st_size == 145_217_607
    assert (again.st_ino, again.st_mtime_ns) == (first.st_ino, first.st_mtime_ns)
