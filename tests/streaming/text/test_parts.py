"""Text for a model that takes it in mid-sentence: parts of long segments."""
# ruff: noqa: RUF001 - full-width marks are part of the texts

import re
from functools import reduce
from itertools import groupby

import pytest
from cutting import pieces
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchmarks.text_cases import read_cases, speak
from streaming.growing import joined
from streaming.segment import LexiconEntry
from streaming.text.normal.lexicon import Lexicon
from streaming.text.normal.normaliser import Normaliser
from streaming.text.parts import Parts
from streaming.text.pipeline import TextPipeline
from streaming.text.segmenter import Segmenter
from streaming.text.words import estimate_words

WALK = "I am thinking of a long walk, and you are not. "

TORN = "£3.50 each, CA$20, A$5, HK$100, NT$30, R$15, kr 200, 500 kr, zł 20"
"""The first clause of this, let go early, tears an amount; in one piece it is right."""


def parting(*, language="auto", lexicon=(), longest=200, max_delay_ms=None):
    words = Lexicon(lexicon)
    segmenter = Segmenter(
        language=language,
        text_mode="interleaved",
        max_segment_chars=longest,
        max_delay_ms=max_delay_ms,
        between_words=not words.has_phrases,
    )
    units = TextPipeline(segmenter, Normaliser((), words, language))
    return Parts(units, longest, max_delay_ms)


def parts_of(*deltas, **options):
    text = parting(**options)
    return [part for delta in deltas for part in text.append(delta, 0.0)] + text.end(0.0)


def wholes(parts):
    return [reduce(joined, group) for _, group in groupby(parts, key=lambda part: part.index)]


def words_of(segments):
    words = [word for segment in segments for word in estimate_words(segment, 0, 24_000)]
    return [(word.text, word.char_start, word.char_end) for word in words]


def texts(parts):
    return [part.text for part in parts]


class TestWhatIsLetGo:
    def test_words_go_in_mid_sentence_once_two_more_have_come(self):
        text = parting()
        assert text.append("I am thinking of a", 0.0) == []
        assert texts(text.append(" ", 0.0)) == ["I am thinking"]
        assert texts(text.append("long walk", 0.0)) == []

    def test_a_part_begins_with_the_blank_before_it(self):
        assert texts(parts_of(WALK)) == [
            "I am thinking",
            " of a long walk,",
            " and you are not.",
            "",
        ]

    @pytest.mark.parametrize(
        "text",
        [
            "It costs exactly $4.75 at the shop around the corner",
            "He was born on May 4, 1987 in a small town by the sea",
            "Some *very important words that are set apart* from others",
            "She met Henry VIII and all of his six wives in the garden",
            "The WHO said in the report that all of us should sleep",
        ],
    )
    def test_what_stands_near_other_signs_is_read_as_a_whole(self, text):
        for part in parts_of(text):
            assert not re.search(r"\d|\*|WHO|VIII", part.source) or part.char_end == len(text)

    def test_chinese_goes_clause_by_clause(self):
        parts = parts_of("我今天想去公园走走，你要不要一起去？好，我们走。")
        assert texts(parts) == ["我今天想去公园走走，", "你要不要一起去？", "好，我们走。", ""]

    def test_a_clause_before_a_number_waits_for_it(self):
        parts = parts_of("请把我的订单号记下来：20240315。")
        assert len(parts) == 2

    def test_phrases_of_a_lexicon_are_not_torn(self):
        entry = LexiconEntry(text="long walk", say="stroll")
        parts = parts_of("I am thinking of a long walk with you, and the dog", lexicon=(entry,))
        assert "".join(texts(parts)) == "I am thinking of a stroll with you, and the dog"

    @pytest.mark.parametrize("size", [1, 2, 5, 1000])
    def test_the_deltas_make_no_difference(self, size):
        text = WALK + "Take $5, or don't. " + "我今天想去公园走走，你要不要一起去？" + WALK
        assert parts_of(*pieces(text, [size])) == parts_of(text)


CASES = [each for each in read_cases() if each.text != TORN]


@pytest.mark.parametrize("kind", sorted({case.kind for case in CASES}))
def test_a_text_in_parts_is_spoken_as_it_is_whole(kind):
    for case in (case for case in CASES if case.kind == kind):
        (*parts,) = wholes(parts_of(*case.text, language=case.language))
        assert _letters("".join(texts(parts))) == _letters(speak(case).replace(" / ", " "))


def _letters(text):
    """Stops are put where a line ends without one; blanks stand where a sentence did."""
    return re.sub(r"[\s.。]", "", text)


class TestASegment:
    def test_runs_to_the_end_through_all_sentences(self):
        text = WALK * 2 + WALK.strip()
        (whole,) = wholes(parts_of(text))
        assert (whole.text, whole.source) == (text, text)
        assert (whole.more, whole.ending) == (False, "end")
        assert (whole.char_start, whole.char_end) == (0, len(text))

    def test_ends_at_a_flush_and_the_next_begins(self):
        text = parting()
        first = text.append(WALK, 0.0) + text.flush(0.0)
        second = text.append("Come along", 0.0) + text.end(0.0)
        assert [part.index for part in first] == [0, 0, 0, 0]
        assert first[-1].ending == "sentence"  # as what was let go before
        assert [part.index for part in second] == [1, 1]
        assert second[0].text == "Come along"
        assert text.count == 2

    def test_a_flush_with_nothing_to_let_go_says_nothing(self):
        text = parting()
        assert text.flush(0.0) == []
        assert text.append("…", 0.0) + text.end(0.0) == []
        assert text.count == 0

    def test_the_last_part_alone_says_that_it_is(self):
        *parts, last = parts_of(WALK)
        assert all(part.more for part in parts)
        assert (last.more, last.text, last.source) == (False, "", "")

    def test_that_has_become_long_ends_with_a_sentence(self):
        first, second = wholes(parts_of(WALK * 7, longest=160))
        assert first.text == (WALK * 6).strip()
        assert first.ending == "sentence"
        assert second.text == WALK.strip()

    def test_that_has_no_sentence_ends_wherever_it_is_too_long(self):
        found = wholes(parts_of("and then we went on " * 30, longest=50))
        assert len(found) > 4
        assert all(100 <= len(each.text) < 150 for each in found[:-1])

    def test_lines_without_a_stop_get_one(self):
        (whole,) = wholes(parts_of("Shopping\n- milk\n- bread and butter\n\n今天的清单\n- 牛奶"))
        assert whole.text == "Shopping. milk. bread and butter. 今天的清单。牛奶"

    def test_a_pause_ends_none_but_where_the_client_said_so(self):
        text = parting()
        text.append(WALK, 0.0)
        assert text.due_s() is None
        limited = parting(max_delay_ms=800)
        limited.append("I am thinking of a walk ", 1.0)
        assert limited.due_s() == pytest.approx(1.8)
        assert [part.more for part in limited.tick(1.8)] == [True, False]
        assert limited.due_s() is None

    def test_text_that_goes_on_puts_that_off(self):
        text = parting(max_delay_ms=800)
        text.append("I am thinking of a long walk ", 1.0)
        text.append("with you and ", 1.5)
        assert not any(not part.more for part in text.tick(2.0))
        assert text.due_s() == pytest.approx(2.3)


ATOMS = [
    "Hello ", "the ", "walk ", "along, ", "I ", "Dr. ", "$4.75", "May ", "4", "VIII ", "*",
    "incomprehensibilities ",
    "well-known ", "don't ", "café ", "我们去公园，", "你好", "，", "。", ". ", "! ", "\n", "\n\n",
    " - ", "(", ") ", "  ", "：", ": ", "ж",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(ATOMS), max_size=60).map("".join)


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.lists(st.integers(1, 9), min_size=1, max_size=12), st.sampled_from([20, 60, 200]))
@example("the 你好：我们去公园，我们去公园，", [1], 20)  # the unit itself is too long
@example("abcdefghijklm bbb incomprehensibilities dd ", [1], 20)  # with what follows it is
def test_for_every_text_the_deltas_make_no_difference_and_nothing_is_lost(text, sizes, longest):
    parts = parts_of(text, longest=longest)
    assert parts_of(*pieces(text, sizes), longest=longest) == parts
    assert text.startswith("".join(part.source for part in parts))
    for part in parts:
        assert part.source == text[part.char_start : part.char_end]
    for index, (*before, last) in groupby(parts, key=lambda part: part.index):
        assert index in range(len(parts))
        assert all(part.more for part in before)
        assert not last.more


@settings(max_examples=60, deadline=None)
@given(TEXTS)
def test_the_words_of_the_whole_are_those_of_its_parts(text):
    parts = parts_of(text)
    assert words_of(wholes(parts)) == words_of(parts)
    for whole in wholes(parts):
        for span in whole.spans:
            assert 0 <= span.begin <= span.end <= len(whole.text)
            assert 0 <= span.source_begin <= span.source_end <= len(whole.source)
