# ruff: noqa: RUF001 - full-width marks are meant
import pytest

from benchmarks.text_cases import Case
from benchmarks.text_heard import LONGEST_WORDS, SHORTEST_WORDS, compared, sample


@pytest.mark.parametrize(
    ("language", "spoken", "heard", "wrong"),
    [
        ("en", "Lunch is fifteen dollars at nine A M.", "Lunch is $15 at 9 AM.", 0),
        ("en", "It is five percent of one / And more.", "It is 5% of 1 and more", 0),
        ("en", "It is five percent.", "It was five percent.", 1),
        ("zh", "一共三百块，三点见。", "一共300块3点见", 0),
        ("zh", "今天很好。", "今天很号。", 1),
    ],
)
def test_numbers_count_as_heard_however_they_are_written(language, spoken, heard, wrong):
    assert compared(Case("", language, "", spoken), heard)[0] == wrong


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_sample_has_texts_of_that_language_of_a_fit_length(language):
    every, few = sample(language, 1), sample(language, 10)
    assert {case.language for case in every} == {language}
    assert every[::10] == few
    assert 0 < SHORTEST_WORDS < LONGEST_WORDS < len(every)
