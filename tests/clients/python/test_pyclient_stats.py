"""What is measured, by clocks moved by hand."""

from __future__ import annotations

import struct

import pytest

from cosystream.events import AudioFormat, Done, SegmentEvent
from cosystream.loudness import AUDIBLE, first_audible
from cosystream.stats import Meter

PCM = AudioFormat(codec="pcm_s16le", rate=24_000, frame_ms=80)
OPUS = AudioFormat(codec="opus", rate=24_000, frame_ms=80, pre_skip=312)
QUIET = bytes(3840)
LOUD = struct.pack("<h", 3000) * 1920


def segment(char_end: int, index: int = 0) -> SegmentEvent:
    return SegmentEvent(ctx="a", index=index, text="", char_start=0, char_end=char_end, pts_ms=0)


def done(**fields: float) -> Done:
    return Done(ctx="a", reason="completed", audio_ms=160, samples=3840, rtf=0.01, **fields)


def test_one_shot_is_measured_from_the_text():
    meter = Meter(PCM, connect_ms=4.0)
    meter.text("Hello there. And more.", 10.0)
    meter.release(10.001)
    meter.segment(segment(12))
    meter.packet(LOUD, 10.040)
    stats = meter.stats(done())
    assert stats.first_packet_ms == pytest.approx(40)
    assert stats.first_delta_to_packet_ms == pytest.approx(40)
    assert stats.ttfa_ms == pytest.approx(40)
    assert (stats.connect_ms, stats.packets, stats.rtf) == (4.0, 1, 0.01)


def test_written_text_is_measured_from_the_delta_that_completes_the_first_segment():
    meter = Meter(PCM)
    for number, delta in enumerate(["Hello ", "there", ". ", "And", " more"]):
        meter.text(delta, 10.0 + number)
    meter.segment(segment(12))
    meter.packet(LOUD, 14.5)
    stats = meter.stats(None)
    assert stats.first_packet_ms == pytest.approx(2500)
    assert stats.first_delta_to_packet_ms == pytest.approx(4500)


def test_text_that_only_the_end_lets_go_is_measured_from_the_end():
    meter = Meter(PCM)
    meter.text("Hello there \n", 10.0)
    meter.release(12.0)
    meter.segment(segment(11))
    meter.packet(LOUD, 12.030)
    assert meter.stats(None).first_packet_ms == pytest.approx(30)


def test_a_segment_let_go_before_the_end_was_sent_is_not_measured_from_the_end():
    meter = Meter(PCM)
    meter.text("Hello there.", 10.0)
    meter.segment(segment(12))
    meter.release(10.02)
    meter.packet(LOUD, 10.03)
    assert meter.stats(None).first_packet_ms == pytest.approx(30)


def test_leading_silence_counts_to_the_first_sound_only():
    meter = Meter(PCM)
    meter.text("x", 0.0)
    meter.release(0.0)
    meter.segment(segment(1))
    meter.packet(QUIET, 0.030)
    meter.packet(bytes(1920) + LOUD[1920:], 0.031)
    stats = meter.stats(None)
    assert stats.first_packet_ms == pytest.approx(30)
    assert stats.ttfa_ms == pytest.approx(30 + 80 + 40)


def test_for_opus_the_silence_is_the_servers_figure():
    meter = Meter(OPUS)
    meter.text("x", 0.0)
    meter.release(0.0)
    meter.segment(segment(1))
    meter.packet(b"opus", 0.030)
    assert meter.stats(None).ttfa_ms is None
    stats = meter.stats(done(first_packet_ms=25.0, ttfa_ms=45.0))
    assert stats.ttfa_ms == pytest.approx(50)


def test_an_underrun_is_how_late_a_packet_is_and_playing_goes_on_from_there():
    meter = Meter(PCM)
    meter.text("x", 0.0)
    meter.release(0.0)
    meter.segment(segment(1))
    for now_s in (0.0, 0.080, 0.200, 0.281, 0.290):
        meter.packet(LOUD, now_s)
    assert meter.stats(None).worst_underrun_ms == pytest.approx(40)
    assert meter.stats(None).audio_ms == pytest.approx(400)


def test_without_audio_times_are_none():
    meter = Meter(PCM)
    meter.text("...", 0.0)
    meter.release(0.0)
    stats = meter.stats(None)
    assert stats.first_packet_ms is None
    assert stats.ttfa_ms is None
    assert stats.audio_ms == 0


def test_as_json_times_are_rounded_and_all_keys_are_there():
    meter = Meter(PCM, connect_ms=1.23456)
    figures = meter.stats(done()).as_dict()
    assert figures["connect_ms"] == 1.235
    assert set(figures) >= {
        "first_packet_ms", "ttfa_ms", "audio_ms", "worst_underrun_ms", "packets", "rtf",
    }  # fmt: skip


@pytest.mark.parametrize("sign", [1, -1])
def test_audible_is_the_first_sample_over_the_threshold(sign):
    samples = [0, sign * (AUDIBLE - 1), sign * AUDIBLE, 0]
    assert first_audible("pcm_s16le", struct.pack("<4h", *samples)) == 2
    assert first_audible("pcm_s16le", struct.pack("<2h", *samples[:2])) is None


def test_audible_is_known_for_telephone_codecs():
    assert first_audible("mulaw", b"\xff\x7f\xff\x00") == 3
    assert first_audible("alaw", b"\xd5\x55\xd5\x2a") == 3
    assert first_audible("mulaw", b"\xff\x7f") is None
    assert first_audible("alaw", b"\xd5\x55") is None
