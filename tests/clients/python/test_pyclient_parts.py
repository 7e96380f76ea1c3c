"""The parts without a socket: addresses, errors, the wire's shapes, queues."""

from __future__ import annotations

import asyncio
import itertools
import json
import pickle
import struct

import pytest

import cosystream
from cosystream import events, wire
from cosystream.address import Address
from cosystream.backoff import Backoff
from cosystream.errors import (
    ConnectionLost,
    ContextFailed,
    CosystreamError,
    MissingExtra,
    ProtocolViolation,
    Refused,
    from_wire,
)
from cosystream.inbox import Inbox
from cosystream.outbox import Outbox


@pytest.mark.parametrize(
    ("url", "stream", "http"),
    [
        ("http://h:1", "ws://h:1/v1/stream", "http://h:1/v1/voices"),
        ("https://h/tts/", "wss://h/tts/v1/stream", "https://h/tts/v1/voices"),
        ("ws://h/tts/v1/stream", "ws://h/tts/v1/stream", "http://h/tts/v1/voices"),
        ("wss://[::1]:9", "wss://[::1]:9/v1/stream", "https://[::1]:9/v1/voices"),
        ("127.0.0.1:8000", "ws://127.0.0.1:8000/v1/stream", "http://127.0.0.1:8000/v1/voices"),
    ],
)
def test_an_address_gives_both_urls_under_its_prefix(url, stream, http):
    address = Address.parse(url)
    assert address.stream_url == stream
    assert address.http_url("/v1/voices") == http


@pytest.mark.parametrize(
    "url", ["ftp://h", "http://", "http://h:port", "http://u:p@h", "http://h/?token=x"]
)
def test_an_address_that_cannot_be_one_is_refused_by_name(url):
    with pytest.raises(ValueError, match=r"^'"):
        Address.parse(url)


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("[::1]", True), ("localhost", True), ("10.0.0.1", False), ("h", False)],
)
def test_loopback_is_known_so_that_no_proxy_is_asked_for_it(host, loopback):
    assert Address.parse(f"http://{host}").loopback is loopback


def test_an_error_says_code_context_when_to_try_again_and_where_to_read():
    fields = {"code": "overloaded", "message": "full", "status": 503, "retryable": True}
    error = from_wire(ContextFailed, {**fields, "retry_after_ms": 500, "ctx": "a"})
    assert isinstance(error, CosystreamError)
    assert str(error) == (
        "overloaded: full [context a]; may be tried again in 500 ms (see "
        "https://github.com/cosystream/cosystream/blob/main/docs/protocol.md#9-errors)"
    )
    assert (error.code, error.status, error.retry_after_ms) == ("overloaded", 503, 500)


def test_an_error_of_the_clients_own_has_a_code_too():
    assert ConnectionLost("gone").code == "connection_lost"
    assert ConnectionLost("gone").retryable
    assert not Refused("no").retryable
    assert "clients/python" in MissingExtra("x").docs_url


def test_every_public_name_is_there_and_no_other():
    for name in cosystream.__all__:
        assert getattr(cosystream, name) is not None
    assert dir(cosystream) == sorted(cosystream.__all__)
    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = cosystream.nothing_like_it


def test_a_binary_message_is_taken_apart():
    message = struct.pack(">BBHIQ", 0x11, 3, 65535, 2**32 - 1, 2**40) + b"sound"
    audio = wire.decode_audio(message)
    assert (audio.flags, audio.sid, audio.seq) == (3, 65535, 2**32 - 1)
    assert (audio.pts_samples_48k, audio.payload) == (2**40, b"sound")


@pytest.mark.parametrize("message", [b"", b"\x11" * 15, b"\x21" + bytes(20), b"\x12" + bytes(20)])
def test_a_binary_message_of_another_kind_is_a_violation(message):
    with pytest.raises(ProtocolViolation):
        wire.decode_audio(message)


FLAGS = ["first", "last", "discontinuity", "silence", "resumed"]


@pytest.mark.parametrize("name", FLAGS)
def test_a_packets_flags_have_names(name):
    flags = 1 << FLAGS.index(name)
    packet = events.Packet(ctx="a", payload=b"", seq=1, pts_samples_48k=0, flags=flags)
    assert [other for other in FLAGS if getattr(packet, other)] == [name]


def test_events_are_typed_and_frozen():
    word = {"text": "Hi", "char_start": 0, "char_end": 2, "start_ms": 20, "end_ms": 180}
    words = wire.event_of({"type": "words", "ctx": "a", "items": [word], "source": "estimate"})
    assert words.items[0] == events.Word(**word)
    levels = wire.event_of(
        {"type": "levels", "ctx": "a", "pts_ms": 0, "step_ms": 20, "values": [0, 0.5]}
    )
    assert levels.values == (0, 0.5)
    with pytest.raises(AttributeError):
        levels.pts_ms = 3
    assert pickle.loads(pickle.dumps(words)) == words


def test_json_is_compact_unicode_and_never_nan():
    assert wire.encode({"delta": "你好"}) == '{"delta":"你好"}'
    with pytest.raises(ValueError, match="JSON"):
        wire.encode({"speed": float("nan")})


def test_ready_keeps_the_token_out_of_sight():
    ready = wire.ready_of(
        {
            "type": "ready",
            "session": "s",
            "resume_token": "secret",
            "resumed": True,
            "audio": {"codec": "opus", "rate": 24000, "frame_ms": 80, "pre_skip": 312},
            "pacing": {"lead_ms": 400},
            "limits": {"contexts": 16},
            "contexts": [{"ctx": "a", "sid": 4, "state": "waiting", "text_seq": 2}],
        }
    )
    assert (ready.audio.pre_skip, ready.lead_ms) == (312, 400)
    assert (ready.text_seqs, ready.sids) == ({"a": 2}, {"a": 4})
    assert "secret" not in repr(ready)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"audio": {"codec": "opus"}},
        {"audio": {"codec": "opus", "rate": 1, "frame_ms": 1}, "contexts": [{"ctx": "a"}]},
        {"audio": {"codec": "opus", "rate": 1, "frame_ms": 1}, "pacing": None},
    ],
)
def test_a_ready_that_lacks_what_is_needed_is_a_violation(fields):
    with pytest.raises(ProtocolViolation):
        wire.ready_of({"type": "ready", "session": "s", "resume_token": "t", **fields})


def test_waits_grow_to_a_bound_and_differ():
    backoff = Backoff(first_s=0.1, factor=2, max_s=1)
    waits = list(itertools.islice(backoff.waits_s(), 8))
    bounds = [0.1, 0.2, 0.4, 0.8, 1, 1, 1, 1]
    assert all(bound / 2 <= wait <= bound for wait, bound in zip(waits, bounds, strict=True))
    assert len(set(waits[-4:])) > 1


def taken(outbox: Outbox) -> list[str]:
    messages = iter(outbox.take, None)
    return [f"{m['type']}{m.get('seq', m.get('id', ''))}" for m in messages]


def filled() -> Outbox:
    outbox = Outbox("a", {"voice": "v"})
    outbox.text("One. ")
    outbox.flush("f")
    outbox.text("Two.")
    outbox.end()
    return outbox


def test_messages_leave_once_and_in_order():
    outbox = filled()
    assert taken(outbox) == ["open", "text1", "flushf", "text2", "end"]
    assert taken(outbox) == []
    assert not outbox.pending


@pytest.mark.parametrize(
    ("text_seq", "again"),
    [
        (0, ["text1", "flushf", "text2", "end"]),
        (1, ["flushf", "text2", "end"]),
        (2, ["end"]),
    ],
)
def test_after_a_resume_only_what_may_be_missing_leaves_again(text_seq, again):
    outbox = filled()
    taken(outbox)
    outbox.rewind(text_seq)
    assert taken(outbox) == again


def test_a_context_the_server_never_heard_of_is_held_and_then_sent_whole():
    outbox = filled()
    taken(outbox)
    outbox.hold()
    assert not outbox.pending
    assert outbox.take() is None
    outbox.restart()
    assert taken(outbox) == ["open", "text1", "flushf", "text2", "end"]


def test_what_is_known_to_have_arrived_is_forgotten():
    outbox = filled()
    taken(outbox)
    outbox.opened()
    outbox.spoken_to(5)
    assert outbox.flushed("f")
    assert not outbox.flushed("f")
    outbox.rewind(0)
    assert taken(outbox) == ["text2", "end"]


def test_a_cancel_is_kept_until_it_is_answered():
    outbox = filled()
    outbox.cancel(12.5)
    assert taken(outbox)[-1] == "cancel"
    outbox.rewind(2)
    assert taken(outbox) == ["end", "cancel"]


def test_text_lengths_count_code_points():
    outbox = Outbox("a", {})
    outbox.text("a😀字")
    assert outbox.chars == 3


def packet(size: int) -> events.Packet:
    return events.Packet(ctx="a", payload=bytes(size), seq=1, pts_samples_48k=0)


async def test_an_inbox_gives_what_waits_before_it_raises_its_end():
    inbox = Inbox(1000)
    inbox.put(packet(1))
    inbox.end(ContextFailed("over"))
    inbox.put(packet(2))
    assert len((await inbox.get()).payload) == 1
    with pytest.raises(ContextFailed):
        await inbox.get()


async def test_an_inbox_is_full_by_bytes_and_says_when_there_is_room():
    inbox = Inbox(1000)
    for _ in range(3):
        inbox.put(packet(400))
    assert inbox.full
    waiting = asyncio.create_task(inbox.room())
    await asyncio.sleep(0)
    assert not waiting.done()
    await inbox.get()
    await asyncio.sleep(0)
    assert not waiting.done()
    await inbox.get()
    await asyncio.wait_for(waiting, 1)
    assert not inbox.full


async def test_dropping_the_packets_keeps_the_events():
    inbox = Inbox(10)
    inbox.put(packet(400))
    inbox.put(events.Queued(ctx="a", position=0))
    inbox.drop_packets()
    assert isinstance(await inbox.get(), events.Queued)


async def test_a_refusal_is_raised_once_before_what_waits():
    inbox = Inbox(1000)
    inbox.put(packet(1))
    inbox.refuse(ContextFailed("no"))
    with pytest.raises(ContextFailed):
        await inbox.get()
    assert isinstance(await inbox.get(), events.Packet)


def test_a_refused_http_body_that_is_json_is_read_as_an_error():
    body = json.loads('{"error": {"code": "unauthorized", "message": "no key", "status": 401}}')
    assert from_wire(Refused, body["error"]).status == 401
