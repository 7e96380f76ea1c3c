"""Sentences too short for a voice are spoken with the one after them."""

import pytest
from cutting import cut, texts
from hypothesis import given
from hypothesis import strategies as st

from streaming.text.segmenter import Segmenter

SHORT = "Hi. Yes. I do think so. Ok. No. Well, that is a long sentence indeed. Bye."


def test_a_short_sentence_waits_for_the_next_but_the_first_for_none():
    assert texts(cut(SHORT, min_segment_chars=20)) == [
        "Hi.",
        "Yes. I do think so. Ok.",
        "No. Well, that is a long sentence indeed.",
        "Bye.",
    ]


def test_without_a_least_length_every_sentence_is_its_own():
    assert len(cut(SHORT)) == 7


def test_characters_of_chinese_count_twice():
    text = "你好。是的。好的呀。我们今天一起去公园玩吧。走。"
    assert texts(cut(text, min_segment_chars=20)) == [
        "你好。",
        "是的。好的呀。我们今天一起去公园玩吧。",
        "走。",
    ]


def test_a_paragraph_ends_it_whatever_its_length():
    assert texts(cut("One is here. Two.\n\nThree. Four.", min_segment_chars=40)) == [
        "One is here.",
        "Two.",
        "Three. Four.",
    ]


def test_it_waits_no_longer_than_any_finished_sentence():
    segmenter = Segmenter(min_segment_chars=20, idle_release_ms=300)
    assert texts(segmenter.append("Hello there. Ok. ", 1.0)) == ["Hello there."]
    assert segmenter.due_s() == pytest.approx(1.3)
    assert texts(segmenter.tick(1.3)) == ["Ok."]
    assert segmenter.due_s() is None


def test_also_when_the_next_has_begun():
    segmenter = Segmenter(min_segment_chars=20, idle_release_ms=300)
    segmenter.append("Hello there. Ok. And th", 1.0)
    assert texts(segmenter.tick(1.3)) == ["Ok."]
    assert texts(segmenter.append("en we go on for a while. ", 2.0)) == [
        "And then we go on for a while."
    ]


def test_a_flush_and_the_end_let_all_go_and_what_follows_is_a_first():
    segmenter = Segmenter(min_segment_chars=20)
    segmenter.append("Hello there. Ok. ", 0.0)
    assert texts(segmenter.flush(0.0)) == ["Ok."]
    assert texts(segmenter.append("Yes. ", 0.0)) == ["Yes."]


def test_a_sentence_is_never_longer_for_it_than_the_limit():
    segments = cut("Go. " * 40, min_segment_chars=60, max_segment_chars=30)
    assert all(len(text) <= 30 for text in texts(segments))


@given(st.lists(st.integers(1, 9), min_size=1, max_size=30))
def test_how_the_text_is_cut_into_deltas_makes_no_difference(sizes):
    text = SHORT + " 你好。是的。OK. Then 3.5 of it. Go!\nOn. "
    deltas, at = [], 0
    for size in sizes:
        deltas.append(text[at : at + size])
        at += size
    deltas.append(text[at:])
    whole = cut(text, min_segment_chars=20)
    assert cut(*deltas, min_segment_chars=20) == whole
    assert text.startswith("".join(segment.source for segment in whole))
