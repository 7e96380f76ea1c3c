# ruff: noqa: RUF001 - full-width marks are part of the texts
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streaming.segment import Segment
from streaming.text.words import estimate_words, usual_samples


def segment(source, char_start=0):
    return Segment(
        index=0,
        text=source.strip(),
        source=source,
        char_start=char_start,
        char_end=char_start + len(source),
        ending="sentence",
    )


def words(source):
    return [word.text for word in estimate_words(segment(source), 0, 24_000)]


class TestSplit:
    @pytest.mark.parametrize(
        ("source", "expected"),
        [
            ("We've sold it, haven't we?", ["We've", "sold", "it", "haven't", "we"]),
            ("Lunch is $15 at 12:45PM.", ["Lunch", "is", "$15", "at", "12:45PM"]),
            ("About 12,350.50 or -5.", ["About", "12,350.50", "or", "-5"]),
            ("It's 75% or 20°C.", ["It's", "75%", "or", "20°C"]),
            ("See help.example.org/faq?x=1.", ["See", "help.example.org/faq?x=1"]),
            ("https://a.org, ana.b@a.org!", ["https://a.org", "ana.b@a.org"]),
            ("A well-known Node.js v2.1.0", ["A", "well-known", "Node.js", "v2.1.0"]),
            ("C++ and C#, “quoted”", ["C++", "and", "C#", "quoted"]),
            ("word—word and so...on", ["word", "word", "and", "so", "on"]),
            ("今天很冷。", ["今", "天", "很", "冷"]),
            ("花了12.5元，用Node.js", ["花", "了", "12.5", "元", "用", "Node.js"]),
            ("しゃしん カード", ["しゃ", "し", "ん", "カー", "ド"]),
            ("안녕하세요 여러분", ["안녕하세요", "여러분"]),
            ("1 + 1 = 2", ["1", "+", "1", "=", "2"]),
            ("🎉 … — ***", []),
        ],
    )
    def test_words_are_as_the_client_wrote_them(self, source, expected):
        assert words(source) == expected

    def test_offsets_are_those_of_the_context(self):
        source = " Go, 好🎉 $15."
        for word in estimate_words(segment(source, char_start=100), 0, 24_000):
            assert source[word.char_start - 100 : word.char_end - 100] == word.text


class TestEstimate:
    def test_fills_the_audio_without_a_gap(self):
        made = estimate_words(segment("One, two. Three"), 1_000, 24_000)
        assert made[0].start_samples == 1_000
        assert made[-1].end_samples == 25_000
        for before, after in pairwise(made):
            assert before.end_samples == after.start_samples

    def test_longer_words_and_those_before_a_pause_take_longer(self):
        made = estimate_words(segment("a internationally b, c d"), 0, 48_000)
        short, long, before_pause, after, last = (
            each.end_samples - each.start_samples for each in made
        )
        assert long > before_pause > short
        assert short == pytest.approx(after, abs=1)
        assert last > after

    def test_the_pause_after_the_segment_is_the_last_words(self):
        first, last = estimate_words(segment("so so"), 0, 48_000)
        assert last.end_samples - last.start_samples > first.end_samples + 6_000

    def test_a_number_takes_as_long_as_its_digits_are_said(self):
        short, long = estimate_words(segment("5 12345"), 0, 48_000)
        assert long.end_samples - long.start_samples > 3 * short.end_samples

    def test_capitals_are_spelt(self):
        spelt, said, _ = estimate_words(segment("CCTV word here"), 0, 48_000)
        assert spelt.end_samples > 2 * (said.end_samples - said.start_samples)

    def test_no_words_no_times(self):
        assert estimate_words(segment("…"), 0, 100) == ()

    @given(st.text(max_size=80), st.integers(0, 10**9), st.integers(0, 10**7))
    def test_whatever_the_text_times_never_go_back(self, source, start, samples):
        made = estimate_words(segment(source), start, samples)
        borders = [border for word in made for border in (word.start_samples, word.end_samples)]
        assert borders == sorted(borders)
        assert all(start <= border <= start + samples for border in borders)


def test_the_usual_length_grows_with_what_is_said():
    short, long, chinese = (
        usual_samples(_plain(text)) / 24_000
        for text in ("Hello.", "Hello there, how are you today?", "今天天气怎么样？")
    )
    assert 0.2 < short < 1.2
    assert 1.2 < long < 4.0
    assert 0.8 < chinese < 4.0
    assert usual_samples(_plain("…")) == 0


def _plain(text):
    return Segment(index=0, text=text, source=text, char_start=0, char_end=len(text), ending="end")
