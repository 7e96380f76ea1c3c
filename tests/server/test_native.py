"""The native protocol's reading and writing: every refusal says what and where, nothing escapes."""

from __future__ import annotations

import contextlib
import json
import struct
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server import requests
from server.events import Done, ErrorEvent, Flushed, Pong, Warn, error_event
from server.protocols import native
from streaming.audio.packetizer import Packet
from streaming.errors import BadJson, CosystreamError, InvalidValue, Overloaded, UnknownType


def parsed(raw: str | bytes) -> tuple[requests.Request, list[Warn]]:
    return native.request_of(native.decode(raw))


def parse(**message: Any) -> requests.Request:
    request, warnings = parsed(json.dumps(message))
    assert warnings == []
    return request


def refused(**message: Any) -> str:
    with pytest.raises(InvalidValue) as fault:
        parsed(json.dumps(message))
    return fault.value.message


class TestReading:
    def test_every_documented_type_is_known(self) -> None:
        required = {"text": {"delta": ""}, "played": {"pts_ms": 0}}
        for name in ("hello", "open", "text", "flush", "end", "cancel", "played", "ping"):
            assert type(parse(type=name, **required.get(name, {}))).__name__.lower() == name

    def test_everything_has_the_documented_default(self) -> None:
        assert parse(type="hello") == requests.Hello()
        assert parse(type="open") == requests.Open(
            ctx=None, voice=None, language="auto", speed=1.0, seed=0, instruct=None,
            timestamps=False, levels=False, text_mode="auto", max_delay_ms=None, priority=None,
            when="queue",
        )  # fmt: skip
        assert parse(type="text", delta="x") == requests.Text(delta="x", ctx=None, seq=None)
        assert parse(type="flush") == requests.Flush(ctx=None, id="")
        assert parse(type="cancel") == requests.Cancel(ctx=None, played_ms=None)

    def test_null_lead_is_unpaced_and_left_out_is_the_servers(self) -> None:
        hello = parse(type="hello", pacing={"lead_ms": None})
        assert isinstance(hello, requests.Hello)
        assert hello.pacing.lead_ms is None
        assert requests.Hello().pacing.lead_ms is msgspec.UNSET

    def test_unknown_fields_are_told_with_their_place_and_the_rest_is_taken(self) -> None:
        request, warnings = parsed(
            b'{"type": "hello", "audio": {"rate": 48000, "stereo": true}, "color": "red"}'
        )
        assert isinstance(request, requests.Hello)
        assert request.audio.rate == 48_000
        assert [(w.code, w.field) for w in warnings] == [
            ("unknown_field", "color"),
            ("unknown_field", "audio.stereo"),
        ]

    @pytest.mark.parametrize(
        ("lexicon", "told"),
        [
            ({"GIF": "jif"}, "lexicon.GIF"),  # as the Python client takes it, not the wire
            ([{"text": "GIF", "say": "jif"}, {"text": "a", "says": "b"}], "lexicon.says"),
            ({"replace": [{"GIF": "jif"}]}, None),
        ],
    )
    def test_of_a_lexicon_too(self, lexicon: object, told: str | None) -> None:
        _, warnings = parsed(json.dumps({"type": "open", "lexicon": lexicon}))
        assert [warning.field for warning in warnings] == ([told] if told else [])

    def test_nonsense_in_mass_is_answered_in_brief(self) -> None:
        names = {"x" * 5_000 + str(n): n for n in range(150)}
        _, warnings = parsed(json.dumps({"type": "end", **names}))
        assert len(warnings) == 17
        assert "134 more" in warnings[-1].message
        assert sum(len(native.encode_event(warning)) for warning in warnings) < 10_000


class TestRefusing:
    @pytest.mark.parametrize(
        "raw",
        [
            "", " ", "text", "{", "[1]", "3", "null", '"x"', '{"a": NaN}', '{"a": 1e999}',
            '{"a": "\\ud800"}', "{} {}", b"\xff", b'{"a": "\xc3"}', "[" * 100_000,
        ],
    )  # fmt: skip
    def test_what_is_no_json_object(self, raw: str | bytes) -> None:
        with pytest.raises(BadJson):
            parsed(raw)

    @pytest.mark.parametrize("half", ["\\ud83d", "\\ude00", "\\ud83d\\ude00\\ud83d more"])
    def test_half_a_character_of_a_browsers_is_told_as_such(self, half: str) -> None:
        with pytest.raises(BadJson, match="half of a surrogate pair"):
            parsed(f'{{"type": "text", "delta": "{half}"}}')

    @pytest.mark.parametrize("depth", [32, 100, 990, 995, 999])
    def test_what_is_nested_too_deep_to_be_written_out_again(self, depth: int) -> None:
        with pytest.raises(BadJson):
            parsed('{"type": "ping", "id": ' + "[" * depth + "]" * depth + "}")

    def test_a_ping_as_deep_as_allowed_is_answered(self) -> None:
        request = parse(type="ping", id=json.loads("[" * 31 + "]" * 31))
        assert isinstance(request, requests.Ping)
        assert native.encode_event(Pong(id=request.id)).count(b"[") == 31

    @pytest.mark.parametrize("type_", ["shout", "", "Text", None, 3, ["text"], {"a": 1}, True])
    def test_an_unknown_type_with_those_there_are(self, type_: object) -> None:
        with pytest.raises(UnknownType) as fault:
            parsed(json.dumps({"type": type_}))
        assert json.dumps(type_, separators=(",", ":")) in fault.value.message
        assert "cancel, end, flush, hello, open, ping, played, text" in fault.value.message

    @pytest.mark.parametrize(
        ("message", "field", "value"),
        [
            ({"type": "hello", "version": "one"}, "version", '"one"'),
            ({"type": "hello", "audio": 3}, "audio", "3"),
            ({"type": "hello", "audio": {"rate": "24000"}}, "audio.rate", '"24000"'),
            ({"type": "hello", "audio": {"frame_ms": 2.5}}, "audio.frame_ms", "2.5"),
            ({"type": "hello", "audio": {"codec": None}}, "audio.codec", "null"),
            ({"type": "hello", "audio": {"fec": 1}}, "audio.fec", "1"),
            ({"type": "hello", "pacing": {"lead_ms": -7}}, "pacing.lead_ms", "-7"),
            ({"type": "hello", "pacing": {"lead_ms": 1e308}}, "pacing.lead_ms", "1e308"),
            ({"type": "hello", "metadata": [1]}, "metadata", "[1]"),
            ({"type": "open", "ctx": ""}, "ctx", '""'),
            ({"type": "open", "ctx": "x" * 129}, "ctx", "xxxx"),
            ({"type": "open", "voice": 5}, "voice", "5"),
            ({"type": "open", "speed": 99}, "speed", "99"),
            ({"type": "open", "speed": True}, "speed", "true"),
            ({"type": "open", "seed": -1}, "seed", "-1"),
            ({"type": "open", "seed": 2**63}, "seed", "9223372036854775808"),
            ({"type": "open", "priority": 11}, "priority", "11"),
            ({"type": "open", "max_delay_ms": 49}, "max_delay_ms", "49"),
            ({"type": "open", "timestamps": "yes"}, "timestamps", '"yes"'),
            ({"type": "text", "delta": 3}, "delta", "3"),
            ({"type": "text", "delta": "x", "seq": 0}, "seq", "0"),
            ({"type": "flush", "id": "x" * 129}, "id", "xxxx"),
            ({"type": "cancel", "played_ms": -3}, "played_ms", "-3"),
            ({"type": "played", "pts_ms": "soon"}, "pts_ms", '"soon"'),
        ],
    )
    def test_a_wrong_value_by_its_field_and_value(
        self, message: dict[str, Any], field: str, value: str
    ) -> None:
        told = refused(**message)
        assert told.startswith(f"{field}: ")
        assert told.partition(", got ")[2].strip('"').startswith(value.strip('"'))
        assert "expected" in told

    @pytest.mark.parametrize(
        ("message", "field", "choices"),
        [
            ({"type": "open", "when": "later"}, "when", ("queue", "interrupt", "replace")),
            ({"type": "open", "text_mode": "x"}, "text_mode", ("auto", "sentence", "manual")),
            (
                {"type": "hello", "audio": {"framing": "x"}},
                "audio.framing",
                ("header", "bare", "xiaozhi2", "xiaozhi3"),
            ),
        ],
    )
    def test_a_wrong_choice_with_those_there_are(
        self, message: dict[str, Any], field: str, choices: tuple[str, ...]
    ) -> None:
        told = refused(**message)
        assert told.startswith(f"{field}: ")
        assert all(choice in told for choice in choices)

    @pytest.mark.parametrize(
        ("message", "field"),
        [
            ({"type": "text"}, "delta"),
            ({"type": "played"}, "pts_ms"),
            ({"type": "hello", "resume": {"session": "s"}}, "resume.token"),
        ],
    )
    def test_a_missing_field_by_its_name(self, message: dict[str, Any], field: str) -> None:
        assert refused(**message).startswith(f"{field}: required")

    def test_without_repeating_a_long_value(self) -> None:
        assert len(refused(type="open", ctx="x" * 100_000)) < 200


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)
FIELDS = st.sampled_from(sorted({
    name for kind in requests.Request.__subclasses__() for name in kind.__struct_fields__
} | {"rate", "codec", "frame_ms", "lead_ms", "session", "token", "last_seq"}))  # fmt: skip
TYPES = st.sampled_from(["hello", "open", "text", "flush", "end", "cancel", "played", "ping"])


@given(st.text() | JSON_VALUES.map(json.dumps))
def test_no_text_whatever_makes_it_raise_anything_but_a_refusal(raw: str) -> None:
    with contextlib.suppress(CosystreamError):
        parsed(raw)


@given(
    TYPES,
    st.dictionaries(FIELDS, JSON_VALUES | st.dictionaries(FIELDS, JSON_VALUES, max_size=4)),
)
def test_no_value_of_any_field_does_and_what_is_taken_can_be_answered(
    type_: str, fields: dict[str, Any]
) -> None:
    try:
        request, warnings = parsed(json.dumps({**fields, "type": type_}))
    except CosystreamError as fault:
        native.encode_event(error_event(fault))
    else:
        for warning in warnings:
            native.encode_event(warning)
        if isinstance(request, requests.Ping):
            native.encode_event(Pong(id=request.id))


@given(st.binary(max_size=200))
def test_no_bytes_do(raw: bytes) -> None:
    with contextlib.suppress(CosystreamError):
        parsed(raw)


class TestWriting:
    def test_what_is_not_set_is_left_out_and_none_is_null(self) -> None:
        done = Done(
            seq=9, ctx="a", reason="completed", audio_ms=0, samples=0, first_packet_ms=None,
            first_delta_to_packet_ms=None, ttfa_ms=None, rtf=None, last_seq=0,
        )  # fmt: skip
        told = json.loads(native.encode_event(done))
        assert told["type"] == "done"
        assert told["rtf"] is None
        assert "metadata" not in told
        assert "seq" not in json.loads(native.encode_event(Flushed(ctx="a", id="", pts_ms=1)))

    def test_an_error_carries_all_that_is_documented(self) -> None:
        error = error_event(Overloaded("full", retry_after_ms=70), ctx="a", fatal=True)
        assert isinstance(error, ErrorEvent)
        assert json.loads(native.encode_event(error)) == {
            "type": "error", "code": "overloaded", "message": "full", "status": 503,
            "retryable": True, "retry_after_ms": 70, "fatal": True, "ctx": "a",
        }  # fmt: skip


def packet(**flags: bool) -> Packet:
    given = {"first": False, "last": False, "silence": False, **flags}
    return Packet(b"payload", 48_000 * 3_600 * 30, 3_840, **given)


class TestFraming:
    def test_the_header_is_sixteen_bytes_big_endian(self) -> None:
        data = native.framing("header")(packet(), 513, 70_000)
        assert data[:16] == struct.pack(">BBHIQ", 0x11, 0, 513, 70_000, 48_000 * 3_600 * 30)
        assert data[16:] == b"payload"

    @pytest.mark.parametrize(("flag", "bit"), [("first", 1), ("last", 2), ("silence", 8)])
    def test_each_flag_has_its_bit(self, flag: str, bit: int) -> None:
        assert native.framing("header")(packet(**{flag: True}), 1, 1)[1] == bit

    def test_a_sequence_past_32_bits_comes_round(self) -> None:
        data = native.framing("header")(packet(), 1, 2**32 + 5)
        assert data[4:8] == b"\0\0\0\5"

    def test_bare_is_the_payload(self) -> None:
        assert native.framing("bare")(packet(), 1, 1) == b"payload"

    def test_those_of_small_devices_carry_size_and_time(self) -> None:
        at_ms = 3_600_000 * 30
        assert native.framing("xiaozhi2")(packet(), 1, 1) == (
            struct.pack(">HHIII", 2, 0, 0, at_ms, 7) + b"payload"
        )
        assert (
            native.framing("xiaozhi3")(packet(), 1, 1) == struct.pack(">BBH", 0, 0, 7) + b"payload"
        )

    def test_sent_again_sets_one_bit_and_only_where_there_is_a_header(self) -> None:
        data = native.framing("header")(packet(last=True), 1, 1)
        again = native.mark_resumed(data, "header")
        assert again[1] == 18
        assert (again[:1], again[2:]) == (data[:1], data[2:])
        assert native.mark_resumed(b"payload", "bare") == b"payload"
