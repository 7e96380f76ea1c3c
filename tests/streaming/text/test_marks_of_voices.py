# ruff: noqa: RUF001 - full-width marks are meant
"""Marks that a voice obeys: whole, untouched, paired in every segment; others are taken away."""

import pytest

from streaming.config import TextSettings
from streaming.messages import TextAppend, TextEnd, TextOpen, TextSegments
from streaming.text.frontend import FrontEnd
from streaming.text.normal.normaliser import Normaliser
from streaming.text.pipeline import TextPipeline
from streaming.text.segmenter import Segmenter
from streaming.text.words import estimate_words

MARKS = ("[laughter]", "[breath]", "<strong>", "</strong>", "<laughter>", "</laughter>")


def made(text, marks=MARKS, language="en", **options):
    line = TextPipeline(
        Segmenter(language=language, **options), Normaliser((), language=language, marks=marks)
    )
    return [each for char in text for each in line.append(char, 0.0)] + line.end(0.0)


def spoken(text, marks=MARKS, language="en", **options):
    return [segment.text for segment in made(text, marks, language, **options)]


class TestThoseThatAreTaken:
    def test_pass_as_they_are_written(self):
        text = "[laughter] That is <strong>very</strong> good [breath] indeed."
        assert spoken(text) == [text]

    def test_also_in_chinese(self):
        text = "你好[laughter]，这<strong>真的</strong>太好了[breath]。"
        assert spoken(text, language="zh") == [text]

    def test_are_no_words_of_the_text(self):
        (segment,) = made("[laughter] <strong>So</strong> it is [breath].")
        assert [word.text for word in estimate_words(segment, 0, 24_000)] == ["So", "it", "is"]

    def test_numbers_beside_them_are_words(self):
        assert spoken("[breath]5 <strong>7</strong>!") == ["[breath]five <strong>seven</strong>!"]

    def test_a_stretch_over_two_sentences_is_closed_and_begun_again(self):
        assert spoken("<strong>One is. Two is.</strong> Three is.") == [
            "<strong>One is.</strong>",
            "<strong>Two is.</strong>",
            "Three is.",
        ]

    def test_an_end_without_a_beginning_and_a_second_beginning_go(self):
        assert spoken("So</strong> it <strong>is <strong>so</strong>.") == [
            "So it <strong>is so</strong>."
        ]

    def test_are_whole_however_short_segments_are(self):
        segments = spoken("word [laughter]" * 12, max_segment_chars=24)
        assert "".join(segments).count("[laughter]") == 12

    def test_alone_are_spoken(self):
        assert spoken("Good. [laughter]") == ["Good.", "[laughter]"]


class TestThoseThatAreNot:
    def test_are_taken_away(self):
        assert spoken("Well [sigh] <em>this</em> [laughter].", ("[laughter]",)) == [
            "Well this [laughter]."
        ]
        assert spoken("[laughter] Well <strong>this</strong>.", ()) == ["Well this."]

    @pytest.mark.parametrize("language", ["en", "zh", "de"])
    def test_a_prompts_end_is_never_let_through(self, language):
        assert "|" not in "".join(spoken("Hallo <|endofprompt|> du.", MARKS, language))

    @pytest.mark.parametrize("language", ["en", "zh", "de", "ja"])
    def test_brackets_that_a_model_might_take_for_phones_are_none(self, language):
        assert "[" not in "".join(spoken("Wert arr[i] und [AA] oder [B].", MARKS, language))


def test_the_front_end_is_told_them_with_the_context():
    front = FrontEnd(TextSettings())
    front.handle(TextOpen(ctx=1, marks=("[breath]",)), 0.0)
    assert front.handle(TextAppend(ctx=1, delta="[breath] So [laughter]"), 0.0) == []
    let_go, _ = front.handle(TextEnd(ctx=1), 0.0)
    assert isinstance(let_go, TextSegments)
    assert [segment.text for segment in let_go.segments] == ["[breath] So"]
