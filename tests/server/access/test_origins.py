"""Which web pages may use the server."""

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from server.access.origins import Origins, is_loopback, origin_entry_fault, origin_of, parse
from streaming.errors import ForbiddenOrigin

LOCAL = "127.0.0.1:8000"
PUBLIC = "tts.example.com"


def refusal(origin, host, allowed=()):
    with pytest.raises(ForbiddenOrigin) as caught:
        Origins(allowed).check(origin, host)
    return caught.value.message


class TestOnLoopback:
    @pytest.mark.parametrize(
        "host", ["127.0.0.1:8000", "localhost:8000", "[::1]:8000", "127.8.0.1"]
    )
    @pytest.mark.parametrize(
        "origin",
        [
            "http://127.0.0.1:8000",
            "http://localhost:5173",
            "https://localhost",
            "http://app.localhost:3000",
            "http://127.1.2.3",
            "http://[::1]:9",
            "HTTP://LOCALHOST:8000",
        ],
    )
    def test_pages_of_this_machine_may(self, origin, host):
        Origins(()).check(origin, host)

    @pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:8000", "[::1]:8000", "0.0.0.0"])
    @pytest.mark.parametrize(
        "origin",
        [
            "https://evil.example",
            "http://evil.example:8000",
            "http://localhost.evil.example",
            "http://127.0.0.1.evil.example",
            "http://notlocalhost:8000",
            "http://128.0.0.1:8000",
            "http://192.168.1.7:8000",
            "null",
            "file://",
            "chrome-extension://abcdefgh",
        ],
    )
    def test_no_other_page_may(self, origin, host):
        assert "access.allowed_origins" in refusal(origin, host)

    @given(
        st.from_regex(
            r"https?://[a-z0-9\-]{1,20}(\.[a-z0-9\-]{1,20}){1,3}(:[0-9]{1,4})?", fullmatch=True
        )
    )
    def test_no_registered_name_may_whatever_host_it_claims(self, origin):
        name = origin.partition("://")[2]
        assume(not re.fullmatch(r"[0-9.]+|.*\.localhost", name.partition(":")[0]))
        assert not Origins(()).allows(origin, LOCAL)
        assert not Origins(()).allows(origin.replace("https:", "http:"), name)

    def test_what_is_no_page_may(self):
        Origins(()).check(None, LOCAL)


class TestItsOwnOrigin:
    @pytest.mark.parametrize(
        ("origin", "host"),
        [
            ("https://tts.example.com", "tts.example.com"),
            ("https://tts.example.com", "tts.example.com:443"),
            ("https://tts.example.com:443", "TTS.example.com"),
            ("https://tts.example.com:8443", "tts.example.com:8443"),
            ("https://tts.example.com", "tts.example.com."),
            ("http://192.168.1.5:8000", "192.168.1.5:8000"),
            ("http://192.168.1.5", "192.168.1.5:80"),
            ("http://[fd00::5]:8000", "[fd00::5]:8000"),
            ("http://speech-box:8000", "speech-box:8000"),
        ],
    )
    def test_may(self, origin, host):
        Origins(()).check(origin, host)

    @pytest.mark.parametrize(
        ("origin", "host"),
        [
            ("https://tts.example.com", "tts.example.com:8443"),
            ("https://tts.example.com:8443", "tts.example.com"),
            ("https://www.example.com", "example.com"),
            ("http://192.168.1.5:8001", "192.168.1.5:8000"),
            ("https://tts.example.com", ""),
            ("https://tts.example.com", "tts.example.com/../x"),
            ("https://tts.example.com", "a@tts.example.com"),
        ],
    )
    def test_another_port_or_name_is_another_origin(self, origin, host):
        refusal(origin, host)

    def test_a_page_that_rebinds_its_name_to_this_machine_may_not(self):
        message = refusal("http://evil.example:8000", "evil.example:8000")
        assert "evil.example:8000" in message

    def test_but_may_when_it_is_listed(self):
        Origins(["http://speech.lan:8000"]).check("http://speech.lan:8000", "speech.lan:8000")

    def test_pages_of_the_visitors_own_machine_may_not_use_a_public_server(self):
        refusal("http://localhost:3000", PUBLIC)


class TestListed:
    @pytest.mark.parametrize(
        ("entry", "origin"),
        [
            ("https://app.example", "https://app.example"),
            ("https://APP.example:443", "https://app.example"),
            ("http://app.example:80", "http://app.example"),
            ("null", "null"),
            ("file://", "file://"),
            ("tauri://localhost", "tauri://localhost"),
            ("chrome-extension://abcdefgh", "chrome-extension://abcdefgh"),
        ],
    )
    def test_may_whatever_the_host(self, entry, origin):
        for host in (LOCAL, PUBLIC, ""):
            Origins([entry]).check(origin, host)

    def test_scheme_and_port_count(self):
        refusal("http://app.example", LOCAL, ["https://app.example"])
        refusal("https://app.example:8443", LOCAL, ["https://app.example"])

    def test_a_star_is_all(self):
        for origin in ("https://evil.example", "null", "file://", "?"):
            Origins(["*"]).check(origin, LOCAL)


class TestRefusals:
    def test_name_the_setting_and_the_exact_value(self):
        message = refusal("https://Shop.Example:443", LOCAL)
        assert 'add "https://shop.example" to access.allowed_origins' in message

    def test_the_value_they_name_is_one_that_works(self):
        for origin in ("null", "http://[2001:DB8::1]:80", "file://", "https://a.example:444"):
            value = refusal(origin, LOCAL).split('"')[1]
            assert origin_entry_fault(value) is None
            Origins([value]).check(origin, LOCAL)

    @pytest.mark.parametrize(
        "origin",
        ["", "evil", "https://", "https://a b", "https://a/b", "https://u@a", "https://a:99999",
         "https://a:b", "https://a\r\nX: y", "https://ä.example", "https://[::1", "x" * 10_000],
    )  # fmt: skip
    def test_what_is_no_origin_is_refused_and_shown_short(self, origin):
        message = refusal(origin, LOCAL)
        assert "is not an origin" in message
        assert len(message) < 400
        assert "\n" not in message

    def test_a_name_longer_than_names_can_be_is_no_origin(self):
        assert len(refusal(f"https://{'a' * 10_000}.example", LOCAL)) < 400


class TestCors:
    def test_an_allowed_page_is_named_and_caches_are_told(self):
        headers = Origins(["https://app.example"]).headers("https://app.example", PUBLIC)
        assert headers["Access-Control-Allow-Origin"] == "https://app.example"
        assert headers["Vary"] == "Origin"
        assert "Access-Control-Allow-Methods" not in headers

    def test_a_preflight_is_told_what_it_may_send(self):
        headers = Origins(()).headers("http://localhost:5173", LOCAL, preflight=True)
        assert headers["Access-Control-Allow-Origin"] == "http://localhost:5173"
        assert "POST" in headers["Access-Control-Allow-Methods"]
        assert "Authorization" in headers["Access-Control-Allow-Headers"]

    @pytest.mark.parametrize("origin", [None, "https://evil.example", "null"])
    @pytest.mark.parametrize("preflight", [True, False])
    def test_nobody_else_gets_more_than_vary(self, origin, preflight):
        assert Origins(()).headers(origin, LOCAL, preflight=preflight) == {"Vary": "Origin"}

    def test_where_all_may_no_header_of_a_client_is_repeated(self):
        headers = Origins(["*"]).headers("https://a.example\x7f", LOCAL)
        assert headers["Access-Control-Allow-Origin"] == "*"

    def test_cookies_are_never_asked_for(self):
        headers = Origins(["*"]).headers("https://a.example", LOCAL, preflight=True)
        assert "Access-Control-Allow-Credentials" not in headers


class TestRequestsWithoutOrigin:
    """An ``<audio>`` element of a foreign page sends none, and drives the server all the same."""

    def test_of_programs_have_none(self):
        assert origin_of({"host": LOCAL}) is None

    def test_the_header_counts_where_there_is_one(self):
        assert origin_of({"origin": "https://a.example", "referer": "http://b/"}) == (
            "https://a.example"
        )

    @pytest.mark.parametrize("site", ["cross-site", "same-site"])
    def test_of_another_sites_page_come_from_its_referer(self, site):
        headers = {"sec-fetch-site": site, "referer": "https://evil.example/page?x=1"}
        assert origin_of(headers) == "https://evil.example"

    def test_of_a_page_that_hides_itself_count_as_null(self):
        assert origin_of({"sec-fetch-site": "cross-site"}) == "null"
        assert origin_of({"sec-fetch-site": "cross-site", "referer": "about:blank"}) == "null"

    def test_typed_into_the_address_bar_have_none(self):
        assert origin_of({"sec-fetch-site": "none"}) is None

    def test_of_the_own_page_are_its_own(self):
        own = {"sec-fetch-site": "same-origin", "referer": "https://tts.example.com/tts/"}
        assert origin_of(own) == "https://tts.example.com"
        assert origin_of({"sec-fetch-site": "same-origin"}) is None


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("localhost", True),
        ("LOCALHOST.", True),
        ("a.localhost", True),
        ("127.0.0.1", True),
        ("127.255.255.254", True),
        ("::1", True),
        ("[::1]", True),
        ("0.0.0.0", False),
        ("::", False),
        ("10.0.0.1", False),
        ("localhost.example", False),
        ("", False),
    ],
)
def test_loopback_hosts(host, loopback):
    assert is_loopback(host) is loopback


def test_an_origin_is_written_without_its_default_port():
    assert str(parse("http://A.example:80")) == "http://a.example"
    assert str(parse("https://a.example:80")) == "https://a.example:80"
    assert str(parse("tauri://localhost")) == "tauri://localhost"
