"""What leaves the server over its socket as Opus is speech that a recogniser understands.

The packets are decoded by PyAV, so neither our encoder nor our client vouches for itself.
"""

from __future__ import annotations

import json

import av
import numpy as np
import pytest
import soxr
from recognise import RATE, transcribe, word_errors
from websockets.sync.client import connect

SENTENCES = (
    "Welcome to the stream, everyone, this is take number 7.",
    "The train to Boston leaves at 9:45 from platform 12.",
    "Please call Sarah Miller at 555-0142 before Friday.",
    "Doctor Johnson will see you on March 21st, 2026.",
    "London had 8 million people and about 270 stations last year.",
    "Flight 408 from Chicago to Denver is delayed by 35 minutes.",
    "Alice and Robert bought 16 apples, 4 lemons and a melon.",
    "The meeting with Michael moved from Monday to Thursday at 3 in the afternoon.",
    "It is 72 degrees in Houston today, with a 20 percent chance of rain.",
    "In 1969, Neil Armstrong walked on the moon.",
)
HEADER_BYTES = 16


@pytest.mark.recognise
def test_ten_sentences_with_numbers_and_names_are_understood(live_server):
    heard = [transcribe(speech) for speech in _spoken(live_server.ws_url, SENTENCES)]

    errors = [word_errors(*pair) for pair in zip(SENTENCES, heard, strict=True)]
    wrong, words = (sum(column) for column in zip(*errors, strict=True))
    assert wrong / words <= 0.05, "\n".join(heard)


def _spoken(ws_url, sentences):
    """Each sentence as a context of its own on one session, as float samples at 16 kHz."""
    with connect(ws_url, subprotocols=["cosystream.v1"], max_size=None) as socket:
        socket.send(json.dumps({"type": "hello", "pacing": {"lead_ms": None}}))
        pre_skip = json.loads(socket.recv(timeout=10))["audio"]["pre_skip"]
        for number, sentence in enumerate(sentences):
            ctx = f"sentence-{number}"
            for message in (
                {"type": "open", "ctx": ctx},
                {"type": "text", "ctx": ctx, "delta": sentence},
                {"type": "end", "ctx": ctx},
            ):
                socket.send(json.dumps(message))
            packets, samples = _until_done(socket, ctx)
            yield _decoded(packets, pre_skip, samples)


def _until_done(socket, ctx):
    packets = []
    while True:
        message = socket.recv(timeout=20)
        if isinstance(message, bytes):
            packets.append(message[HEADER_BYTES:])
            continue
        event = json.loads(message)
        assert event["type"] != "error", event
        if event["type"] == "done" and event["ctx"] == ctx:
            return packets, event["samples"]


def _decoded(packets, pre_skip, samples):
    decoder = av.CodecContext.create("opus", "r")
    decoder.layout = "mono"
    decoder.sample_rate = 48_000
    frames = [frame for packet in packets for frame in decoder.decode(av.Packet(packet))]
    pcm = np.concatenate([frame.to_ndarray().reshape(-1) for frame in frames])
    if pcm.dtype != np.float32:
        pcm = pcm.astype(np.float32) / 32768
    return soxr.resample(pcm[pre_skip : pre_skip + samples * 2], 48_000, RATE)
