"""Clauses, stretches, and the silence where they begin and end."""

import numpy as np
import pytest

from streaming.runners.mandarin.pieces import (
    FIRST_BEATS,
    LONGEST_BEATS,
    LONGEST_PHONEMES,
    SHORTEST_FRAMES,
    Word,
    cut,
    fade,
    next_end,
)


def words(count, mark_every=0):
    return [
        Word(f"w{place}", 2, "," if mark_every and place % mark_every == 0 else "")
        for place in range(1, count + 1)
    ]


def test_a_short_segment_is_one_clause():
    assert cut(words(4, mark_every=2), first=True) == ("w1 w2, w3 w4,",)


def test_the_first_clause_of_a_context_ends_at_a_mark_soon():
    first, *_ = cut(words(40, mark_every=4), first=True)
    assert first.endswith("w8,")
    later, *_ = cut(words(40, mark_every=4), first=False)
    assert later.endswith("w20,")


@pytest.mark.parametrize(("first", "beats"), [(True, FIRST_BEATS), (False, LONGEST_BEATS)])
def test_without_a_mark_it_ends_between_words(first, beats):
    clauses = cut(words(60), first=first)
    assert len(clauses[0].split()) == beats // 2
    assert " ".join(clauses) == " ".join(f"w{place}" for place in range(1, 61))


def test_no_clause_has_more_phonemes_than_the_model_takes():
    clauses = cut([Word("x" * 40, 1)] * 30, first=False)
    assert max(map(len, clauses)) <= LONGEST_PHONEMES


def test_nothing_is_no_clause():
    assert cut([], first=True) == ()


def test_stretches_cover_the_clause_and_grow():
    ends, begin = [], 10
    while begin < 600:
        begin = next_end(begin, 600, len(ends))
        ends.append(begin)
    lengths = np.diff([10, *ends])
    assert ends[-1] == 600
    assert lengths[0] < lengths[1] < lengths[2]
    assert lengths.min() >= SHORTEST_FRAMES


def test_a_clause_rises_from_silence_and_falls_to_it():
    loud = np.ones(2_400, np.float32)
    whole = fade(loud, start=True, stop=True)
    assert whole[0] == whole[-1] == 0.0
    assert whole[1_200] == 1.0
    assert np.array_equal(fade(loud, start=False, stop=False), loud)
    assert loud[0] == 1.0
