"""Whose voices an identity's are, and which it may use."""

import pytest

from server.access.identity import ANONYMOUS, Identity
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
