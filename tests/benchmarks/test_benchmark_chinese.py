"""Two writings of the same Chinese words count as the same."""

import pytest

from benchmarks import chinese


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("为了参加比赛。", "為了參加比賽"),
        ("三百二十八块", "328块"),
        ("二零二六年", "2026年"),
        ("一万二千元", "12,000元"),
        ("百分之十五", "15%"),
        ("三点四十五分", "3:45"),
        ("幺三八", "138"),
        ("十二月", "12月"),
        ("一份工作", "1份工作"),
    ],
)
def test_the_same_words_are_the_same(one, other):
    assert chinese.plain(one) == chinese.plain(other)
    assert chinese.errors(one, other)[0] == 0


def test_errors_are_counted_in_characters():
    assert chinese.errors("今天天气很好", "今天天起很好啊") == (2, 6)


def test_there_are_thirty_sentences():
    assert len(chinese.SENTENCES) == 30
