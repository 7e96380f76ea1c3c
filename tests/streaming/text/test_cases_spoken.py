# ruff: noqa: RUF001 - full-width marks are part of the texts
import pytest
from cutting import pieces

from benchmarks.text_cases import main, read_cases, speak
from streaming.text.normal.normaliser import Normaliser
from streaming.text.pipeline import TextPipeline
from streaming.text.segmenter import Segmenter
from streaming.text.words import estimate_words

CASES = list(read_cases())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.text)
def test_a_text_is_spoken_as_it_should_be(case):
    assert speak(case) == case.spoken


def char_by_char(case):
    text = TextPipeline(Segmenter(language=case.language), Normaliser((), language=case.language))
    segments = [made for char in case.text for made in text.append(char, 0.0)] + text.end(0.0)
    return " / ".join(segment.text for segment in segments), "".join(
        segment.source for segment in segments
    )


@pytest.mark.parametrize("kind", sorted({case.kind for case in CASES}))
def test_also_when_it_comes_character_by_character(kind):
    for case in (case for case in CASES if case.kind == kind):
        spoken, source = char_by_char(case)
        assert spoken == case.spoken
        assert case.text.startswith(source)


def words_of(text, language="auto", size=3):
    line = TextPipeline(Segmenter(language=language), Normaliser((), language=language))
    made = [each for piece in pieces(text, [size]) for each in line.append(piece, 0.0)]
    return [
        (word.text, word.char_start, word.char_end, word.end_samples - word.start_samples)
        for segment in made + line.end(0.0)
        for word in estimate_words(segment, 0, 96_000)
    ]


class TestWordsAreTheClients:
    def test_amounts_and_times_keep_their_writing_and_place(self):
        text = "Lunch is $15 at 12:45PM, see you there."
        words = words_of(text)
        assert [each[0] for each in words] == [
            "Lunch",
            "is",
            "$15",
            "at",
            "12:45PM",
            "see",
            "you",
            "there",
        ]
        assert all(text[begin:end] == word for word, begin, end, _ in words)

    def test_a_word_takes_as_long_as_what_is_spoken_for_it(self):
        lengths = {
            word: length for word, _, _, length in words_of("I paid $1,234.56 for it today.")
        }
        assert lengths["$1,234.56"] > 5 * lengths["paid"]

    def test_what_is_spoken_for_several_words_is_shared_among_them(self):
        words = words_of("They raised $2.7 billion in May.")
        assert [each[0] for each in words] == ["They", "raised", "$2.7", "billion", "in", "May"]

    def test_silent_words_are_none(self):
        assert [each[0] for each in words_of("Fine T_T then [doge] <|endofprompt|>go")] == [
            "Fine", "then", "go",
        ]  # fmt: skip

    def test_a_number_in_chinese_is_one_word(self):
        words = [each[0] for each in words_of("售价１，２００元。", "zh")]
        assert words == ["售", "价", "１，２００", "元"]


def test_the_table_counts_every_text(capsys):
    main()
    table = capsys.readouterr()
    assert table.err == ""
    assert sum(int(row.split("|")[2]) for row in table.out.splitlines()[2:]) == len(CASES)
