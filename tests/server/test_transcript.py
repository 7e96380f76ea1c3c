"""What was spoken and what remains, split at any moment."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from server.transcript import Transcript
from streaming.messages import SegmentStarted, Words
from streaming.segment import Segment, Word


def started(at: int, char_start: int, char_end: int, index: int = 0) -> SegmentStarted:
    segment = Segment(
        index=index, text="", source="", char_start=char_start, char_end=char_end, ending="sentence"
    )
    return SegmentStarted(ctx=1, segment=segment, position_samples=at)


def words(*spans: tuple[int, int, int, int]) -> Words:
    """Each (char_start, char_end, start_samples, end_samples)."""
    items = tuple(
        Word(text="", char_start=a, char_end=b, start_samples=c, end_samples=d)
        for a, b, c, d in spans
    )
    return Words(ctx=1, items=items, source="estimate")


def test_before_any_audio_nothing_was_spoken() -> None:
    said = Transcript()
    said.append("Hello ")
    said.append("there.")
    assert said.split(0) == ("", "Hello there.")
    assert said.chars == 12


def test_a_word_counts_from_its_middle_on() -> None:
    said = Transcript()
    said.append("Hello there.")
    said.segment_started(started(0, 0, 12))
    said.words(words((0, 5, 100, 300), (6, 12, 400, 600)))
    assert said.split(199) == ("", "Hello there.")
    assert said.split(200) == ("Hello", " there.")
    assert said.split(499) == ("Hello", " there.")
    assert said.split(500) == ("Hello there.", "")


def test_a_segment_that_begins_has_all_before_it_behind_it() -> None:
    said = Transcript()
    said.append("One. Two.")
    said.segment_started(started(0, 0, 5))
    said.segment_started(started(1_000, 5, 9, index=1))
    assert said.split(999) == ("", "One. Two.")
    assert said.split(1_000) == ("One. ", "Two.")


def test_what_was_spoken_stays_spoken_though_the_clock_be_put_back() -> None:
    said = Transcript()
    said.append("One. Two.")
    said.segment_started(started(0, 0, 5))
    said.segment_started(started(1_000, 5, 9, index=1))
    said.heard(1_500)
    assert said.split(10) == ("One. ", "Two.")


def test_offsets_count_code_points() -> None:
    said = Transcript()
    said.append("👋🏽 hi 你好")
    said.segment_started(started(0, 0, 8))
    said.words(words((3, 5, 0, 10)))
    assert said.split(10) == ("👋🏽 hi", " 你好")


@given(
    st.lists(st.text(max_size=20), max_size=10),
    st.lists(st.tuples(st.integers(0, 250), st.integers(0, 5_000)), max_size=20),
    st.lists(st.integers(0, 6_000), max_size=8),
)
def test_both_parts_joined_are_the_whole_text_and_the_first_only_grows(
    deltas: list[str], spots: list[tuple[int, int]], moments: list[int]
) -> None:
    said = Transcript()
    for delta in deltas:
        said.append(delta)
    for number, (char, at) in enumerate(sorted(spots, key=lambda spot: spot[1])):
        if number % 2:
            said.segment_started(started(at, char, char + 1))
        else:
            said.words(words((0, char, at, at)))
    before = ""
    for moment in sorted(moments):
        spoken, remaining = said.split(moment)
        assert spoken + remaining == "".join(deltas)
        assert spoken.startswith(before)
        before = spoken


def test_words_of_a_guessed_length_hold_until_the_length_is_known():
    said = Transcript()
    said.append("one two three")
    guessed, known = (
        words((0, 3, 0, 100), (4, 7, 100, 200)),
        words((0, 3, 0, 300), (4, 7, 300, 600)),
    )
    said.words(msgspec.structs.replace(guessed, provisional=True))
    assert said.split(60) == ("one", " two three")
    said.words(known)
    assert said.split(160) == ("one", " two three")
    assert said.split(450) == ("one two", " three")
