"""A session's contexts in order, and how names find them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from server.context import Context
from server.lineup import ENDED_IDS_KEPT, SIDS, Lineup
from streaming.errors import ContextGone, UnknownContext


def context(name: str, *, sid: int = 0, implicit: bool = False, ended: bool = False) -> Context:
    """As much of a context as a line-up looks at."""
    fake = SimpleNamespace(id=name, sid=sid, implicit=implicit, ended=ended, position=None)
    return cast("Context", fake)


def lineup(*contexts: Context) -> Lineup:
    made = Lineup()
    for entry in contexts:
        made.add(entry)
    return made


class TestOrder:
    def test_the_first_one_opened_has_the_turn(self) -> None:
        a, b = context("a"), context("b")
        line = lineup(a, b)
        assert line.head() is a
        line.remove(a)
        assert line.head() is b
        line.remove(b)
        assert line.head() is None
        assert len(line) == 0

    def test_it_can_be_changed_while_it_is_gone_through(self) -> None:
        line = lineup(context("a"), context("b"), context("c"))
        for entry in line:
            line.remove(entry)
        assert len(line) == 0

    def test_places_are_told_once_and_again_when_they_change(self) -> None:
        a, b, c = context("a"), context("b"), context("c")
        line = lineup(a, b, c)
        assert [(moved.id, moved.position) for moved in line.moved()] == [("b", 1), ("c", 2)]
        assert line.moved() == []
        line.remove(a)
        assert [(moved.id, moved.position) for moved in line.moved()] == [("b", 0), ("c", 1)]

    def test_one_that_never_waited_is_told_nothing(self) -> None:
        assert lineup(context("a")).moved() == []


class TestNames:
    def test_an_active_one_is_found(self) -> None:
        a = context("a")
        line = lineup(a)
        assert line.find("a", "text") is a
        assert line.get("a") is a
        assert "a" in line

    def test_one_never_opened_is_unknown(self) -> None:
        with pytest.raises(UnknownContext, match="'a'"):
            lineup().find("a", "text")

    def test_one_that_has_ended_is_gone(self) -> None:
        a = context("a")
        line = lineup(a)
        line.remove(a)
        with pytest.raises(ContextGone, match="'a'"):
            line.find("a", "text")
        assert line.get("a") is None

    def test_one_opened_again_is_there_again(self) -> None:
        line = lineup(context("a"))
        line.remove(line.find("a", "text"))
        again = context("a")
        line.add(again)
        assert line.find("a", "text") is again

    def test_ended_ids_are_remembered_for_a_while_and_no_longer(self) -> None:
        line = lineup()
        for number in range(ENDED_IDS_KEPT + 1):
            ended = context(f"c{number}")
            line.add(ended)
            line.remove(ended)
        with pytest.raises(UnknownContext):
            line.find("c0", "text")
        with pytest.raises(ContextGone):
            line.find("c1", "text")


class TestWithoutAName:
    def test_the_latest_implicit_one_that_takes_text_is_meant(self) -> None:
        line = lineup(
            context("auto-1", implicit=True),
            context("auto-2", implicit=True),
            context("auto-3", implicit=True, ended=True),
            context("named"),
        )
        assert line.find(None, "text").id == "auto-2"

    def test_one_with_a_name_is_never_meant(self) -> None:
        with pytest.raises(UnknownContext, match="flush without ctx"):
            lineup(context("named")).find(None, "flush")

    def test_ids_given_are_not_in_use(self) -> None:
        line = lineup(context("auto-2"))
        assert [line.implicit_id(), line.implicit_id()] == ["auto-1", "auto-3"]


class TestSids:
    def test_count_from_one(self) -> None:
        line = lineup()
        assert [line.next_sid() for _ in range(3)] == [1, 2, 3]

    def test_come_round_and_pass_over_those_in_use(self) -> None:
        line = lineup(context("a", sid=1), context("b", sid=3))
        line._last_sid = SIDS - 1
        assert [line.next_sid() for _ in range(3)] == [SIDS, 2, 4]
