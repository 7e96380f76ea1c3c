"""Whose voices an identity's are, and which it may use."""

import pytest

from server.access.identity import ANONYMOUS, Identity
from server.settings import Allowance
from streaming.errors import NotAllowed


def test_a_keys_voices_are_under_its_name_and_everybodys_under_none():
    assert Identity("shop").owner == "shop"
    assert Identity("shop", token_id="t").owner == "shop"
    assert Identity(ANONYMOUS).owner == ""


def test_a_token_may_narrow_which_voices():
    narrow = Identity("shop", voices=frozenset({"heart"}))
    assert narrow.may_use("heart")
    assert not narrow.may_use("kore")
    assert Identity("shop").may_use("kore")
    with pytest.raises(NotAllowed, match="heart"):
        narrow.require_voice("kore")


@pytest.mark.parametrize(("asked", "had"), [(None, 5), (0, 0), (-10, -10), (5, 5), (10, 5)])
def test_a_key_has_its_priority_where_none_is_asked_for_and_never_more(asked, had):
    assert Identity("shop", allowance=Allowance(priority=5)).priority(asked) == had


def test_a_key_without_one_has_none_and_where_no_key_is_asked_for_all_is_allowed():
    assert [Identity("shop").priority(asked) for asked in (None, -3, 3)] == [0, -3, 0]
    assert [Identity(ANONYMOUS).priority(asked) for asked in (None, -3, 10)] == [0, -3, 10]
