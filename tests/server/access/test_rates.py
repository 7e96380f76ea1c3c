"""How often something may be done."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.access.rates import RateLimiter, address_key
from streaming.clock import ManualClock
from streaming.errors import RateLimited


@pytest.fixture
def clock():
    return ManualClock()


def test_a_burst_passes_and_one_more_waits(clock):
    limiter = RateLimiter.per_minute(3, clock)
    assert [limiter.take("a") for _ in range(4)] == [0, 0, 0, pytest.approx(20)]


def test_waiting_as_told_is_enough(clock):
    limiter = RateLimiter.per_minute(7, clock)
    for _ in range(50):
        if wait_s := limiter.take("a"):
            clock.advance(wait_s)
            assert limiter.take("a") == 0


def test_a_refused_request_costs_nothing(clock):
    limiter = RateLimiter.per_second(1, clock)
    limiter.take("a")
    for _ in range(100):
        assert limiter.take("a") == pytest.approx(1)


def test_keys_do_not_share(clock):
    limiter = RateLimiter.per_second(1, clock)
    limiter.take("a")
    assert limiter.take("b") == 0


def test_a_bucket_holds_no_more_than_a_burst(clock):
    limiter = RateLimiter.per_second(2, clock)
    clock.advance(1_000_000)
    assert [limiter.take("a") for _ in range(3)] == [0, 0, pytest.approx(0.5)]


def test_costs_above_the_burst_are_paid_later(clock):
    limiter = RateLimiter(rate_per_s=10, burst=10, clock=clock)
    assert limiter.take("a", cost=25) == 0
    assert limiter.take("a", cost=25) == pytest.approx(2.5)


def test_the_error_says_what_and_when(clock):
    limiter = RateLimiter.per_minute(1, clock)
    limiter.require("a", "contexts opened")
    with pytest.raises(RateLimited, match="contexts opened") as caught:
        limiter.require("a", "contexts opened")
    assert caught.value.retry_after_ms == 60_000
    clock.advance(60)
    limiter.require("a", "contexts opened")


def test_the_least_recently_used_key_is_forgotten(clock):
    limiter = RateLimiter(rate_per_s=1, burst=1, clock=clock, keys_max=2)
    limiter.take("a")
    limiter.take("b")
    assert limiter.take("a") > 0
    limiter.take("c")
    assert len(limiter) == 2
    assert limiter.take("a") > 0
    assert limiter.take("b") == 0


def test_a_key_whose_owner_is_gone_is_forgotten(clock):
    limiter = RateLimiter.per_second(1, clock)
    limiter.take("a")
    limiter.forget("a")
    limiter.forget("never seen")
    assert len(limiter) == 0


@given(
    rate=st.integers(1, 1000),
    pauses_s=st.lists(st.floats(0, 3, allow_nan=False), min_size=1, max_size=100),
)
def test_the_long_run_never_passes_the_rate(rate, pauses_s):
    clock = ManualClock()
    limiter = RateLimiter.per_second(rate, clock)
    taken = 0
    for pause_s in pauses_s:
        clock.advance(pause_s)
        taken += limiter.take("a") == 0
    assert taken <= rate * (1 + clock.now()) + 1e-6


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("testclient", "testclient"),
        ("", ""),
    ],
)
def test_an_ipv6_client_counts_by_its_network(address, key):
    assert address_key(address) == key
