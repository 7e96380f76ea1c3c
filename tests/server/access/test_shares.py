"""How many contexts each key has at once."""

import pytest

from server.access.identity import Identity
from server.access.shares import Shares
from server.settings import Allowance
from streaming.errors import TooManyContexts

SHOP = Identity("shop", allowance=Allowance(contexts=2))
PHONE = Identity("phone", allowance=Allowance(contexts=1))


def test_a_key_has_as_many_as_it_was_given_whatever_others_have():
    shares = Shares()
    for identity in (SHOP, PHONE, SHOP):
        shares.require(identity)
        shares.take(identity)
    with pytest.raises(TooManyContexts, match="2 contexts at once and its limit is 2"):
        shares.require(SHOP)
    shares.give_back(SHOP)
    shares.require(SHOP)
    with pytest.raises(TooManyContexts):
        shares.require(PHONE)


def test_one_that_takes_the_place_of_its_own_may_begin():
    shares = Shares()
    shares.take(PHONE)
    shares.require(PHONE, leaving=1)


def test_a_key_without_a_limit_is_counted_and_never_refused():
    shares, anyone = Shares(), Identity("anyone")
    for _ in range(100):
        shares.require(anyone)
        shares.take(anyone)
    assert shares["anyone"] == 100
    for _ in range(100):
        shares.give_back(anyone)
    assert shares["anyone"] == 0
