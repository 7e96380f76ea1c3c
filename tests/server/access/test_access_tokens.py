"""Tokens: short-lived, for one session, bounded in number, kept as hashes."""

import pytest

from server.access.identity import Identity
from server.access.tokens import PREFIX, Tokens
from streaming.clock import ManualClock
from streaming.errors import InvalidValue, NotAllowed, RateLimited, Unauthorized

SHOP = Identity("shop")
PAGE = "https://shop.example"


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def tokens(clock):
    return Tokens(tokens_max=3, ttl_max_s=3600, clock=clock)


def found(tokens, token, origin=None, **how):
    identity = tokens.find(token, origin, **how)
    assert identity is not None
    return identity


class TestMinting:
    def test_gives_a_long_random_token_with_a_known_beginning(self, tokens):
        one, other = (tokens.mint(SHOP, 60)[0] for _ in range(2))
        assert one != other
        assert one.startswith(PREFIX)
        assert len(one) >= len(PREFIX) + 43  # 256 bits in base64

    def test_says_when_it_expires(self, tokens):
        assert tokens.mint(SHOP, 90)[1] == 90

    def test_carries_the_keys_name_and_its_own_bounds(self, tokens):
        token, _ = tokens.mint(SHOP, 60, voices=["heart", "sky"], max_characters=500)
        identity = found(tokens, token)
        assert identity.name == "shop"
        assert identity.voices == {"heart", "sky"}
        assert identity.max_characters == 500

    @pytest.mark.parametrize("ttl_s", [0, -1, 3601, 10**30])
    def test_refuses_a_lifetime_out_of_range(self, tokens, ttl_s):
        with pytest.raises(InvalidValue, match=rf"ttl_s is {ttl_s}; allowed: 1 to 3600"):
            tokens.mint(SHOP, ttl_s)

    @pytest.mark.parametrize("origin", ["shop.example", "https://shop.example/", "", "a" * 5000])
    def test_refuses_what_is_no_origin(self, tokens, origin):
        with pytest.raises(InvalidValue, match="origin is") as caught:
            tokens.mint(SHOP, 60, origin)
        assert len(caught.value.message) < 300

    @pytest.mark.parametrize("voices", [[], [""], ["x" * 129], ["v"] * 1001])
    def test_refuses_voices_that_are_none(self, tokens, voices):
        with pytest.raises(InvalidValue, match="voices"):
            tokens.mint(SHOP, 60, voices=voices)

    @pytest.mark.parametrize("characters", [0, -5])
    def test_refuses_a_budget_of_nothing(self, tokens, characters):
        with pytest.raises(InvalidValue, match="max_characters"):
            tokens.mint(SHOP, 60, max_characters=characters)

    def test_a_token_makes_no_tokens(self, tokens):
        token, _ = tokens.mint(SHOP, 60)
        with pytest.raises(NotAllowed, match="use a key"):
            tokens.mint(found(tokens, token), 60)


class TestUse:
    def test_an_unknown_token_is_nothing(self, tokens):
        for text in ("", "x", PREFIX + "a" * 43, "\ud800", "x" * 100_000):
            assert tokens.find(text, None) is None

    def test_finding_does_not_spend(self, tokens):
        token, _ = tokens.mint(SHOP, 60)
        assert found(tokens, token) == found(tokens, token)

    def test_it_opens_one_session(self, tokens):
        token, _ = tokens.mint(SHOP, 60)
        identity = found(tokens, token)
        tokens.spend(identity.token_id, "s-1")
        with pytest.raises(Unauthorized, match="has been used"):
            tokens.find(token, None)
        with pytest.raises(Unauthorized, match="has been used"):
            tokens.spend(identity.token_id, "s-2")

    def test_of_two_that_found_it_together_one_wins(self, tokens):
        token, _ = tokens.mint(SHOP, 60)
        first, second = found(tokens, token), found(tokens, token)
        tokens.spend(first.token_id, "s-1")
        with pytest.raises(Unauthorized):
            tokens.spend(second.token_id, "s-2")

    def test_it_resumes_that_session_even_when_its_time_is_over(self, tokens, clock):
        token, _ = tokens.mint(SHOP, 60)
        tokens.spend(found(tokens, token).token_id, "s-1")
        clock.advance(1000)
        again = found(tokens, token, resuming=True)
        tokens.spend(again.token_id, "s-1")

    def test_it_resumes_no_other_session(self, tokens):
        token, _ = tokens.mint(SHOP, 60)
        tokens.spend(found(tokens, token).token_id, "s-1")
        with pytest.raises(Unauthorized):
            tokens.spend(found(tokens, token, resuming=True).token_id, "s-2")

    def test_after_its_session_it_is_worth_nothing(self, tokens):
        token, _ = tokens.mint(SHOP, 60)
        token_id = found(tokens, token).token_id
        tokens.spend(token_id, "s-1")
        tokens.release("s-2")
        assert found(tokens, token, resuming=True)
        tokens.release("s-1")
        assert tokens.find(token, None, resuming=True) is None
        assert len(tokens) == 0

    def test_a_session_resumed_with_newer_ones_takes_all_along(self, tokens):
        for _ in range(3):
            token, _ = tokens.mint(SHOP, 60)
            tokens.spend(found(tokens, token).token_id, "s-1")
        tokens.release("s-1")
        assert len(tokens) == 0

    def test_a_request_that_nothing_resumes_uses_it_up(self, tokens):
        token, _ = tokens.mint(SHOP, 60)
        token_id = found(tokens, token).token_id
        tokens.use_up(token_id)
        assert tokens.find(token, None) is None
        assert len(tokens) == 0
        with pytest.raises(Unauthorized):
            tokens.use_up(token_id)

    def test_what_opened_a_session_cannot_be_used_up(self, tokens):
        token, _ = tokens.mint(SHOP, 60)
        token_id = found(tokens, token).token_id
        tokens.spend(token_id, "s-1")
        with pytest.raises(Unauthorized, match="has been used"):
            tokens.use_up(token_id)

    def test_it_expires(self, tokens, clock):
        token, _ = tokens.mint(SHOP, 60)
        clock.advance(59.9)
        token_id = found(tokens, token).token_id
        clock.advance(0.1)
        with pytest.raises(Unauthorized, match="expired"):
            tokens.spend(token_id, "s-1")
        assert tokens.find(token, None) is None

    def test_one_that_expired_says_so(self, tokens, clock):
        token, _ = tokens.mint(SHOP, 60)
        clock.advance(60)
        for resuming in (True, False):
            with pytest.raises(Unauthorized, match="expired"):
                tokens.find(token, None, resuming=resuming)
            token, _ = tokens.mint(SHOP, 1)
            clock.advance(1)

    def test_bound_to_an_origin_it_serves_that_one(self, tokens):
        token, _ = tokens.mint(SHOP, 60, "https://Shop.example:443")
        assert found(tokens, token, PAGE)
        for origin in (None, "https://evil.example", "http://shop.example", "null"):
            with pytest.raises(Unauthorized, match=r"https://shop\.example alone"):
                tokens.find(token, origin)

    def test_unbound_it_serves_any(self, tokens):
        token, _ = tokens.mint(SHOP, 60)
        assert found(tokens, token, "https://anything.example")


class TestBounds:
    def test_too_many_unspent_are_refused_with_a_time(self, tokens, clock):
        for ttl_s in (30, 10, 20):
            tokens.mint(SHOP, ttl_s)
        clock.advance(4)
        with pytest.raises(RateLimited) as caught:
            tokens.mint(SHOP, 60)
        assert caught.value.retry_after_ms == 6001

    def test_expired_ones_make_room(self, tokens, clock):
        kept, _ = tokens.mint(SHOP, 30)
        for _ in range(2):
            tokens.mint(SHOP, 10)
        clock.advance(10)
        tokens.mint(SHOP, 60)
        assert len(tokens) == 2
        assert found(tokens, kept)

    def test_spent_ones_do_not_count(self, tokens):
        for n in range(10):
            token, _ = tokens.mint(SHOP, 60)
            tokens.spend(found(tokens, token).token_id, f"s-{n}")

    def test_no_token_is_kept(self, tokens):
        token, _ = tokens.mint(SHOP, 60, PAGE)
        assert token.removeprefix(PREFIX) not in repr(vars(tokens))


class TestIdentity:
    def test_without_bounds_may_use_every_voice_and_any_amount(self):
        SHOP.require_voice("heart")
        SHOP.require_characters(10**9)

    @pytest.mark.parametrize("voice", ["sky", "", "../heart", "heart\0", "HEART", "heart "])
    def test_of_a_token_may_use_its_voices_alone(self, voice):
        identity = Identity("shop", voices=frozenset({"heart", "emma"}))
        identity.require_voice("heart")
        with pytest.raises(NotAllowed, match="covers: emma, heart"):
            identity.require_voice(voice)

    def test_of_a_token_may_speak_its_characters_alone(self):
        identity = Identity("shop", max_characters=100)
        identity.require_characters(100)
        with pytest.raises(NotAllowed, match=r"covers 100 characters.*101"):
            identity.require_characters(101)
