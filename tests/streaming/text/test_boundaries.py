# ruff: noqa: RUF001 - full-width marks are part of the texts
import pytest
from hypothesis import given, settings
from test_segmenter_properties import TEXTS

from streaming.text.boundaries import RUN_LIMIT, judge
from streaming.text.marks import CANDIDATE
from streaming.text.verdict import Rank


def verdict(text, *, quoted=False, final=False, start=0):
    """On the first candidate after ``|``, which stands for nothing."""
    mark = CANDIDATE.search(text, text.index("|")).start() - 1
    return judge(text.replace("|", ""), mark, start=start, quoted=quoted, final=final)


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_a_verdict_once_given_is_final(text):
    for found in CANDIDATE.finditer(text):
        given_early = [
            judge(text[:end], found.start(), start=0, quoted=False, final=False)
            for end in range(found.start() + 1, min(len(text), found.start() + 200) + 1)
        ]
        decided = [each for each in given_early if each is not None]
        assert given_early[len(given_early) - len(decided) :] == decided
        assert len(set(decided)) <= 1


@pytest.mark.parametrize(
    "text", ["Hi|.", "Hi|!", "4|,", "4|, ", "好|。", "好|，", "p.m|. ", "a|\n", "(Go|!) "]
)
def test_what_comes_next_is_waited_for(text):
    assert verdict(text) is None
    assert verdict(text, final=True) is not None


@pytest.mark.parametrize(
    ("text", "rank"),
    [
        ("Hi|. ", Rank.STOP),
        ("Hi|, a", Rank.CLAUSE),
        ("Hi|: a", Rank.CLAUSE),
        ("Hi |- a", Rank.CLAUSE),
        ("Hi|—a", Rank.CLAUSE),
        ("Hi|--a", Rank.CLAUSE),
        ("(Hi|) a", Rank.WEAK),
        ("Hi|; a", Rank.CLAUSE),
        ("好|；a", Rank.STOP),
        ("好|，a", Rank.CLAUSE),
        ("好|,a", Rank.CLAUSE),
        ("好|、a", Rank.WEAK),
        ("well|-known", Rank.NONE),
        ("run |--flag", Rank.NONE),
        ("9|–10", Rank.NONE),
        ("f(x|)y", Rank.NONE),
        ("a|,b", Rank.NONE),
        ("May 4|, 1987", Rank.NONE),
        ("U.S|., a", Rank.CLAUSE),
        ("Ok (yes|?) b", Rank.WEAK),
    ],
)
def test_ranks(text, rank):
    assert verdict(text).rank is rank


def test_closing_signs_belong_to_the_sentence():
    text = "他说：“好|。”）然"
    assert verdict(text).end == len(text) - 2


def test_a_straight_quote_closes_only_where_one_is_open():
    assert verdict('Go|."A', quoted=True).end == 4
    assert verdict('好|。"好', quoted=False).end == 2


def test_an_endless_run_is_judged_by_its_beginning():
    assert verdict("Go|" + "!" * 100).end == 2 + RUN_LIMIT
    assert verdict("Go|! " + "!" * 100).end == 3


def test_an_endless_run_does_not_end_inside_an_emoji():
    assert verdict("Go|!" + "👨‍👩‍👧" * 100).end == 3


def test_nothing_before_the_pending_text_is_looked_at():
    assert verdict("p.m|. then ").rank is Rank.NONE
    assert verdict("p.m|. then ", start=3).rank is Rank.STOP
