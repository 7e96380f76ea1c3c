# ruff: noqa: RUF001 - full-width marks are part of the texts
import logging

import pytest
from cutting import pieces
from hypothesis import given, settings
from hypothesis import strategies as st

from streaming.segment import LexiconEntry
from streaming.text.normal import normaliser as normaliser_module
from streaming.text.normal.lexicon import Lexicon
from streaming.text.normal.normaliser import Normaliser
from streaming.text.pipeline import TAG_WAIT_S, TextPipeline
from streaming.text.reasoning import ReasoningFilter
from streaming.text.segmenter import Segmenter
from streaming.text.speakable import has_words

PARTS = [
    "Hello there. ",
    "你好，",
    "我们三点见。",
    "$4.75",
    "12:45PM",
    "３．５",
    "１，２００元",
    " ",
    "\n",
    "\n\n",
    "-",
    "~",
    "**",
    "*",
    "_",
    "`",
    "```",
    "# ",
    "| a | b |",
    "[x](y)",
    "<think>",
    "</think>",
    "<",
    "<th",
    "ink>",
    "a < b",
    "</",
    "<|endofprompt|>",
    "[doge]",
    "T_T",
    "^_^",
    "(╯°□°）╯",
    "🎉",
    "👨‍👩‍👧",
    "哈哈哈哈",
    "666",
    "yyds",
    "GIF",
    "her_name",
    "5km/h",
    "20m²",
    "1/4",
    "2026-03-18",
    "ana@x.org",
    "https://a.org/b?c=1.",
    "\ue000",
    "\u200b",
    "\x00",
    "ß",
    "ありがとう",
    "[h][ào]",
    "I",
    "IV",
    "Part IV",
    "1",
    "2.",
    "3-2",
    "5~10",
    "℃",
    "%",
]
TEXTS = st.lists(st.sampled_from(PARTS) | st.text(max_size=6), max_size=20).map("".join)
SIZES = st.lists(st.integers(1, 9), min_size=1, max_size=6)
LEXICON = Lexicon([LexiconEntry(text="GIF", say="jif")])


def pipeline(*, drop=True, **options):
    return TextPipeline(
        Segmenter(**options), Normaliser((), LEXICON), ReasoningFilter() if drop else None
    )


def run(deltas, **options):
    text = pipeline(**options)
    segments = [segment for delta in deltas for segment in text.append(delta, 0.0)]
    return segments + text.end(0.0)


def spoken(*deltas, **options):
    return [segment.text for segment in run(deltas, **options)]


class TestWhatAlwaysHolds:
    @settings(max_examples=150, deadline=None)
    @given(TEXTS, SIZES, st.booleans())
    def test_however_the_text_is_cut(self, text, sizes, drop):
        assert run(pieces(text, sizes), drop=drop) == run([text], drop=drop)

    @settings(max_examples=150, deadline=None)
    @given(TEXTS, SIZES, st.booleans())
    def test_sources_joined_are_the_text(self, text, sizes, drop):
        segments = run(pieces(text, sizes), drop=drop)
        joined = "".join(segment.source for segment in segments)
        assert text.startswith(joined)
        for index, segment in enumerate(segments):
            assert segment.index == index
            assert segment.source == text[segment.char_start : segment.char_end]
            assert has_words(segment.text)

    @settings(max_examples=150, deadline=None)
    @given(TEXTS, st.sampled_from([(), ("en",), ("zh",), ("zh", "en"), ("ja",)]))
    def test_every_stretch_of_the_words_has_its_place_in_the_source(self, text, languages):
        made = Normaliser(languages, LEXICON)
        for segment in map(made.speak, Segmenter().append(text + "\n. ", 0.0)):
            at = 0
            for span in segment.spans:
                assert (span.begin, span.end > span.begin) == (at, True)
                assert 0 <= span.source_begin <= span.source_end <= len(segment.source)
                at = span.end
            assert at == len(segment.text)

    @settings(max_examples=100, deadline=None)
    @given(TEXTS)
    def test_nothing_that_a_client_writes_makes_a_rule_fail(self, text):
        with pytest.MonkeyPatch.context() as patch:
            failures = []
            patch.setattr(
                normaliser_module._log, "error", lambda *_, exc_info: failures.append(exc_info)
            )
            run([text])
            assert failures == []


class TestSilentSegments:
    def test_a_segment_of_faces_belongs_to_the_next(self):
        first, second = run(["Hi. T_T\n", "[doge]\nBye."])
        assert (first.text, second.text) == ("Hi.", "Bye.")
        assert (second.index, second.source) == (1, " T_T\n[doge]\nBye.")

    def test_at_the_end_to_the_last(self):
        (only,) = run(["Hi there T_T\n[doge]"], text_mode="manual")
        assert only.source == "Hi there T_T\n[doge]"
        assert only.ending == "end"

    def test_a_text_of_only_silent_things_has_no_segments(self):
        assert run(["T_T [doge] <|endofprompt|>", "<think>so</think>"]) == []


class TestReasoning:
    @pytest.mark.parametrize(
        "deltas",
        [
            ["<thi", "nk>the user wants a num", "ber</th", "ink", ">", "It is 42."],
            ["<THINKING>hm</THINKING>It is 42."],
            ['<think effort="low">a < b</think >It is 42.'],
            ["<|begin_of_thought|>x", "<|end_of_thought|>It is 42."],
            ["[THINK]x. y.[/THINK]It is 42."],
            ["◁think▷x◁/think▷It is 42."],
            ["It is<reasoning>x</reasoning>42."],
            ["</think>It is 42."],
            ["It is 42.<think>and now"],
            ["It is 42.<think>and</thi"],
        ],
    )
    def test_is_not_spoken_in_any_spelling(self, deltas):
        assert spoken(*deltas) == ["It is forty two."]

    def test_unless_nobody_asked_for_that(self):
        assert spoken("<think>Two.</think> Three.", drop=False) == ["Two.", "Three."]

    def test_a_sign_that_is_no_tag_passes_at_once(self):
        text = pipeline()
        assert [each.text for each in text.append("Is 3 < 5? Y", 0.0)] == [
            "Is three less than five?"
        ]

    def test_what_may_become_a_tag_waits_a_bounded_time(self):
        text = pipeline()
        assert text.append("So it is <", 1.0) == []
        assert text.due_s() == pytest.approx(1.0 + TAG_WAIT_S)
        assert text.tick(1.0 + TAG_WAIT_S) == []
        assert text.due_s() is None
        (only,) = text.append(" 5. And", 2.0)
        assert only.text == "So it is less than five."

    def test_words_after_it_keep_their_place(self):
        (only,) = run(["<think>long ago</think>It costs $5."])
        assert only.source == "<think>long ago</think>It costs $5."
        last = only.spans[-2]
        assert only.text[last.begin : last.end] == "five dollars"
        assert only.source[last.source_begin : last.source_end] == "$5"

    def test_a_flush_within_a_span_does_not_end_it(self):
        text = pipeline()
        assert text.append("<think>so", 0.0) + text.flush(0.0) == []
        (only,) = text.append(" it is</think>Yes.", 0.0) + text.end(0.0)
        assert only.text == "Yes."


class TestFaults:
    def test_a_rule_that_fails_costs_no_text_and_is_logged(self, monkeypatch, caplog):
        def fail(_):
            raise ZeroDivisionError("cannot")

        monkeypatch.setattr(normaliser_module, "strip_faces", fail)
        with caplog.at_level(logging.ERROR):
            assert spoken("It is 5 o'clock.") == ["It is 5 o'clock."]
        assert "as it was written" in caplog.text
