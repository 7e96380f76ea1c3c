"""What a hello may ask for, and what holds where it is silent."""

import dataclasses

import pytest

from server import hellos
from server.access import Identity
from server.protocols import native
from server.settings import AudioSettings, LimitSettings, Settings
from streaming.errors import InvalidValue

ANNA = Identity("anna")
SETTINGS = dataclasses.replace(
    Settings(),
    audio=AudioSettings(opus_bitrate=40_000, opus_complexity=3, lead_ms=300),
    limits=LimitSettings(lead_ms_max=5_000),
)


def terms(**fields):
    hello, warnings = native.request_of({"type": "hello", **fields})
    assert warnings == []
    hellos.require_version(hello)
    return hellos.terms(hello, ANNA, SETTINGS)


def test_one_that_asks_for_nothing_gets_what_the_server_is_set_to():
    plain = terms()
    assert plain.identity is ANNA
    assert (plain.audio.codec, plain.audio.rate, plain.audio.frame_ms) == ("opus", 24_000, 80)
    assert (plain.audio.bitrate, plain.audio.complexity) == (40_000, 3)
    assert (plain.lead_ms, plain.metadata) == (300, None)


@pytest.mark.parametrize(
    ("asked", "rate"),
    [
        ({"codec": "mulaw"}, 8_000),
        ({"codec": "alaw"}, 8_000),
        ({"codec": "pcm_s16le"}, 24_000),
        ({"codec": "mulaw", "rate": 16_000}, 16_000),
    ],
)
def test_a_telephones_codecs_have_a_telephones_rate_unless_another_is_asked_for(asked, rate):
    assert terms(audio=asked).audio.rate == rate


def test_what_is_asked_for_goes_before_the_settings():
    asked = terms(audio={"bitrate": 16_000, "frame_ms": 20, "fec": True}, metadata={"a": 1})
    assert (asked.audio.bitrate, asked.audio.frame_ms, asked.audio.fec) == (16_000, 20, True)
    assert asked.metadata == {"a": 1}


@pytest.mark.parametrize("lead_ms", [0, 5_000, None])
def test_a_lead_may_be_anything_up_to_the_limit_or_none_at_all(lead_ms):
    assert terms(pacing={"lead_ms": lead_ms}).lead_ms == lead_ms


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"version": 9}, "speaks version 1, got 9"),
        ({"pacing": {"lead_ms": 5_001}}, "0 to 5000, or null for unpaced, got 5001"),
        ({"audio": {"codec": "mp3"}}, "codec"),
        ({"metadata": {"a": "x" * 5_000}}, "at most 4096 bytes of JSON, got 5008"),
    ],
)
def test_what_cannot_be_is_refused_with_its_value_and_what_could(fields, told):
    with pytest.raises(InvalidValue, match=told):
        terms(**fields)
