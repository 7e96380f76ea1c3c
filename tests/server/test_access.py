"""The door: keys, tokens and origins of one request together."""

import pytest

from server.access import ANONYMOUS, Access
from server.settings import AccessSettings, Allowance, ApiKey, LimitSettings
from streaming.clock import ManualClock
from streaming.errors import ForbiddenOrigin, NotAllowed, RateLimited, Unauthorized

HOST = "127.0.0.1:8000"
KEYS = (ApiKey("shop", "k-shop"), ApiKey("phone", "k-phone"))


def access_with(clock=None, limits=None, **settings):
    return Access(AccessSettings(**settings), limits or LimitSettings(), clock or ManualClock())


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def access(clock):
    return access_with(clock, api_keys=KEYS, allowed_origins=("https://shop.example",))


def who(access, authorization=None, token=None, origin=None, **how):
    return access.identify(authorization, token, origin, HOST, **how)


def minted(access, **bounds):
    return access.mint(who(access, "Bearer k-shop"), 60, **bounds)[0]


class TestAServerWithoutKeys:
    @pytest.mark.parametrize(
        "authorization", [None, "", "Bearer whatever", "Basic dTpw", "Bearer", "\ud800"]
    )
    def test_lets_everybody_in(self, authorization):
        identity = who(access_with(), authorization)
        assert (identity.name, identity.voices, identity.token_id) == (ANONYMOUS, None, None)

    def test_still_refuses_foreign_pages(self):
        with pytest.raises(ForbiddenOrigin):
            who(access_with(), origin="https://evil.example")

    def test_mints_tokens_that_bind(self):
        access = access_with()
        token, _ = access.mint(who(access), 60, voices=["heart"])
        assert who(access, token=token).voices == {"heart"}

    def test_refuses_a_token_that_is_no_good(self):
        with pytest.raises(Unauthorized):
            who(access_with(), token="cst_unknown")

    def test_asks_for_none(self, access):
        assert not access_with().asks_for_keys
        assert access.asks_for_keys


class TestKeys:
    @pytest.mark.parametrize(
        "authorization",
        ["Bearer k-shop", "bearer k-shop", "BEARER k-shop", "Bearer   k-shop ", "  Bearer k-shop"],
    )
    def test_the_right_one_is_known_by_name(self, access, authorization):
        identity = who(access, authorization)
        assert (identity.name, identity.voices, identity.token_id) == ("shop", None, None)

    def test_each_has_its_name(self, access):
        assert who(access, "Bearer k-phone").name == "phone"

    def test_each_has_what_it_was_given_and_so_have_its_tokens(self):
        given = Allowance(priority=5, contexts=2)
        access = access_with(api_keys=(ApiKey("shop", "k-shop", given), KEYS[1]))
        assert who(access, "Bearer k-shop").allowance == given
        assert who(access, token=minted(access, voices=["heart"])).allowance == given
        assert who(access, "Bearer k-phone").allowance == Allowance()

    @pytest.mark.parametrize(
        "authorization",
        [
            None,
            "",
            "Bearer",
            "Bearer ",
            "Bearer k-sho",
            "Bearer k-shopp",
            "Bearer K-SHOP",
            "Bearer shop",
            "Bearer k-shop,k-phone",
            "Bearer k-shop k-phone",
            "k-shop",
            "Basic k-shop",
            "Token k-shop",
            "Bearer é\ud800\0",
            "Bearer " + "x" * 100_000,
        ],
    )
    def test_anything_else_is_refused_without_being_repeated(self, access, authorization):
        with pytest.raises(Unauthorized) as caught:
            who(access, authorization)
        assert "k-sho" not in caught.value.message
        assert len(caught.value.message) < 300

    def test_whoever_sends_nothing_is_told_what_to_send(self, access):
        with pytest.raises(Unauthorized, match=r"Authorization: Bearer KEY.*POST /v1/tokens"):
            who(access)

    def test_another_scheme_is_named(self, access):
        with pytest.raises(Unauthorized, match="no Bearer key"):
            who(access, "Basic dTpw")

    def test_a_key_does_not_open_the_door_to_a_foreign_page(self, access):
        with pytest.raises(ForbiddenOrigin):
            who(access, "Bearer k-shop", origin="https://evil.example")

    def test_a_key_is_no_token(self, access):
        with pytest.raises(Unauthorized):
            who(access, token="k-shop")


class TestTokens:
    def test_one_opens_the_door_from_the_query_or_as_bearer(self, access):
        token = minted(access, voices=["heart"], max_characters=10)
        for identity in (who(access, token=token), who(access, f"Bearer {token}")):
            assert (identity.name, identity.max_characters) == ("shop", 10)

    def test_a_proxys_password_beside_it_does_no_harm(self, access):
        assert who(access, "Basic dTpw", minted(access)).name == "shop"

    def test_a_key_beside_it_wins(self, access):
        assert who(access, "Bearer k-phone", minted(access)).name == "phone"

    def test_it_opens_one_session_and_resumes_it(self, access, clock):
        token = minted(access)
        identity = who(access, token=token)
        access.spend(identity, "s-1")
        with pytest.raises(Unauthorized):
            who(access, token=token)
        clock.advance(600)
        again = who(access, token=token, resuming=True)
        access.spend(again, "s-1")
        with pytest.raises(Unauthorized):
            access.spend(again, "s-2")
        access.release(again, "s-1")
        with pytest.raises(Unauthorized):
            who(access, token=token, resuming=True)

    def test_a_request_uses_it_up(self, access):
        token = minted(access)
        identity = who(access, token=token)
        access.use_up(identity)
        for again in (lambda: access.use_up(identity), lambda: who(access, token=token)):
            with pytest.raises(Unauthorized):
                again()

    def test_a_key_is_never_spent(self, access):
        identity = who(access, "Bearer k-shop")
        access.use_up(identity)
        for session in ("s-1", "s-2"):
            access.spend(identity, session)
        access.release(identity, "s-1")
        assert who(access, "Bearer k-shop") == identity

    def test_it_is_for_its_page(self, access):
        token = minted(access, origin="https://shop.example")
        assert who(access, token=token, origin="https://shop.example")
        with pytest.raises(Unauthorized):
            who(access, token=token, origin="http://localhost:3000")

    def test_it_does_not_open_the_door_to_a_page_that_is_not_listed(self, access):
        token = minted(access, origin="https://other.example")
        with pytest.raises(ForbiddenOrigin):
            who(access, token=token, origin="https://other.example")

    def test_it_makes_no_others(self, access):
        with pytest.raises(NotAllowed):
            access.mint(who(access, token=minted(access)), 60)

    def test_neither_errors_nor_identities_repeat_it(self, access):
        token = minted(access)
        identity = who(access, token=token)
        access.spend(identity, "s-1")
        with pytest.raises(Unauthorized) as caught:
            who(access, token=token)
        assert token not in f"{identity!r} {caught.value}"


class TestRates:
    def test_come_from_the_settings(self, clock):
        limits = LimitSettings(opens_per_minute=2, messages_per_s=1)
        access = access_with(clock, limits, requests_per_minute=1)
        access.require_request(who(access), "10.0.0.1")
        access.opens.require("s-1", "contexts")
        access.opens.require("s-1", "contexts")
        assert access.messages.take("c-1") == 0
        assert access.messages.take("c-1") == pytest.approx(1)
        with pytest.raises(RateLimited):
            access.require_request(who(access), "10.0.0.1")
        access.require_request(who(access), "10.0.0.2")
        with pytest.raises(RateLimited):
            access.opens.require("s-1", "contexts")

    def test_a_key_may_have_one_of_its_own(self, clock):
        keys = (ApiKey("shop", "k-shop", Allowance(requests_per_minute=2)), KEYS[1])
        access = access_with(clock, api_keys=keys, requests_per_minute=1)
        shop, phone = who(access, "Bearer k-shop"), who(access, "Bearer k-phone")
        for identity, most in ((shop, 2), (phone, 1)):
            for address in range(most):
                access.require_request(identity, f"10.0.0.{address}")
            with pytest.raises(RateLimited):
                access.require_request(identity, "10.0.0.9")

    def test_a_session_that_is_over_leaves_nothing(self, access):
        access.opens.require("s-1", "contexts")
        access.release(who(access, "Bearer k-shop"), "s-1")
        assert len(access.opens) == 0


def test_cors_follows_the_same_list(access):
    headers = access.cors_headers("https://shop.example", HOST, preflight=True)
    assert headers["Access-Control-Allow-Origin"] == "https://shop.example"
    assert access.cors_headers("https://evil.example", HOST) == {"Vary": "Origin"}
