import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streaming.audio import packetizer as packetizer_module
from streaming.audio.codec import open_coder
from streaming.audio.format import AudioFormat
from streaming.audio.packetizer import Packetizer
from tests.streaming.audio.sounds import (
    dbfs,
    decode,
    heard,
    packetize,
    pcm16,
    snr_db,
    speech_like,
    tone,
)

CODECS = ["opus", "pcm_s16le", "mulaw", "alaw"]
RATES = [8_000, 16_000, 24_000, 48_000]
FRAMES_MS = [20, 40, 60, 80]
EVERY_FORMAT = [
    pytest.param(AudioFormat(*settings), id="-".join(map(str, settings)))
    for settings in itertools.product(CODECS, RATES, FRAMES_MS)
]
OPUS = AudioFormat("opus", 24_000, 80)


def played_rate(audio):
    return 48_000 if audio.codec == "opus" else audio.rate


@pytest.mark.parametrize("audio", EVERY_FORMAT)
class TestEveryFormat:
    def test_decodes_to_the_duration_that_went_in_to_within_a_packet(self, audio):
        samples = 24_000 + 137
        played = heard(audio, packetize(audio, pcm16(speech_like(samples)), [1_000, 777, 1_234]))

        surplus_ms = len(played) * 1000 / played_rate(audio) - samples / 24
        assert -0.1 < surplus_ms <= audio.frame_ms

    def test_sounds_like_what_went_in(self, audio):
        played = heard(audio, packetize(audio, pcm16(tone(24_000)), [1_920]))

        rate = played_rate(audio)
        steady = slice(rate // 20, rate * 9 // 10)
        want = tone(rate, rate=rate)[steady]
        assert snr_db(want, played[steady]) > {"opus": 20, "pcm_s16le": 60}.get(audio.codec, 30)

    def test_timestamps_have_no_hole_and_the_ends_are_told(self, audio):
        packets = packetize(audio, pcm16(tone(10_000)), [1_111])

        length = 48 * audio.frame_ms
        assert [p.pts_48k for p in packets] == [i * length for i in range(len(packets))]
        assert {p.duration_48k for p in packets} == {length}
        assert [p.first for p in packets] == [True] + [False] * (len(packets) - 1)
        assert [p.last for p in packets] == [False] * (len(packets) - 1) + [True]

    def test_each_packet_is_whole(self, audio):
        packets = packetize(audio, pcm16(tone(7_001)), [1_111])

        if audio.codec == "opus":
            assert {len(decode(audio, [p.payload])) for p in packets} == {48 * audio.frame_ms}
        else:
            sample_bytes = 2 if audio.codec == "pcm_s16le" else 1
            assert {len(p.payload) for p in packets} == {
                audio.rate * audio.frame_ms // 1000 * sample_bytes
            }


@pytest.mark.parametrize("audio", [AudioFormat(c, 24_000, ms) for c in CODECS for ms in FRAMES_MS])
def test_odd_pieces_leave_no_dropout(audio):
    data = pcm16(tone(48_000))

    played = heard(audio, packetize(audio, data, [1_000, 777, 1_234]))

    step = played_rate(audio) // 200
    loudness = [dbfs(played[i : i + step]) for i in range(2 * step, len(played) * 4 // 5, step)]
    assert max(loudness) - min(loudness) < 1


@pytest.mark.parametrize("audio", [AudioFormat(c, 24_000, ms) for c in CODECS for ms in FRAMES_MS])
def test_pieces_make_the_same_packets_as_the_whole(audio):
    data = pcm16(speech_like(20_000))

    assert packetize(audio, data, [1, 500, 3_333]) == packetize(audio, data, [20_000])


def test_the_last_sound_is_not_lost():
    audio = AudioFormat("opus", 24_000, 20)
    packetizer = Packetizer(audio)

    packets = packetizer.push(pcm16(tone(2_560)), last=True)
    packetizer.close()

    assert len(packets) == 6
    assert packets[-1].last
    assert packetizer.samples_in == 2_560
    played = heard(audio, packets)
    assert len(played) >= 2_560 * 2
    assert dbfs(played[2_400 * 2 : 2_560 * 2]) > dbfs(tone(1_000)) - 3


@settings(deadline=None)
@given(samples=st.integers(1, 8_000), frame_ms=st.sampled_from(FRAMES_MS))
def test_as_many_packets_as_the_sound_needs_and_no_more(samples, frame_ms):
    audio = AudioFormat("opus", 24_000, frame_ms)

    packets = packetize(audio, bytes(2 * samples))

    whole = 24 * frame_ms
    assert len(packets) == -(-(samples + 156) // whole)


@settings(deadline=None)
@given(samples=st.integers(1, 8_000), frame_ms=st.sampled_from(FRAMES_MS))
def test_plain_codecs_pad_the_end_with_silence_alone(samples, frame_ms):
    audio = AudioFormat("pcm_s16le", 24_000, frame_ms)
    data = pcm16(tone(samples))

    joined = b"".join(p.payload for p in packetize(audio, data))

    assert joined[: len(data)] == data
    assert not any(joined[len(data) :])
    assert len(joined) - len(data) < 2 * audio.rate * audio.frame_ms // 1000


@pytest.mark.parametrize("codec", CODECS)
def test_a_chunk_is_a_packet_at_once(codec):
    packetizer = Packetizer(AudioFormat(codec, 24_000, 80))

    assert len(packetizer.push(pcm16(tone(1_920)))) == 1
    packetizer.close()


@pytest.mark.parametrize("rate", RATES)
def test_no_packet_of_opus_waits_for_a_resampler(rate):
    packetizer = Packetizer(AudioFormat("opus", rate, 80))

    assert len(packetizer.push(pcm16(tone(1_920)))) == 1
    packetizer.close()


@pytest.mark.parametrize("codec", CODECS)
def test_no_audio_makes_no_packet(codec):
    for end in (Packetizer.finish, lambda packetizer: packetizer.push(b"", last=True)):
        packetizer = Packetizer(AudioFormat(codec, 24_000, 80))
        assert packetizer.push(b"") == []
        assert end(packetizer) == []
        packetizer.close()


def test_pcm_that_ends_on_a_packet_needs_no_more():
    packetizer = Packetizer(AudioFormat("pcm_s16le", 24_000, 80))

    assert [p.last for p in packetizer.push(bytes(3_840))] == [False]
    assert packetizer.finish() == []
    ending = Packetizer(AudioFormat("pcm_s16le", 24_000, 80))
    assert [p.last for p in ending.push(bytes(3_840), last=True)] == [True]


def test_silent_packets_are_told():
    quiet, loud = np.full(1_920, 0.001, np.float32), tone(1_920, amplitude=0.01)

    packets = packetize(AudioFormat("mulaw", 24_000, 80), pcm16([*quiet, *loud, *quiet]))

    assert [p.silence for p in packets] == [True, False, True]


def test_after_the_end_nothing_is_taken():
    packetizer = Packetizer(OPUS)
    packetizer.push(bytes(3_840), last=True)

    with pytest.raises(ValueError, match="ended"):
        packetizer.push(bytes(3_840))
    with pytest.raises(ValueError, match="ended"):
        packetizer.finish()
    packetizer.close()
    packetizer.close()


def test_half_a_sample_is_refused_and_nothing_else_disturbed():
    packetizer = Packetizer(OPUS)

    with pytest.raises(ValueError, match="3 bytes"):
        packetizer.push(b"abc")

    assert len(packetizer.push(bytes(3_840), last=True)) == 2
    packetizer.close()


def test_a_cancelled_context_never_sounds_in_the_next():
    cancelled = Packetizer(OPUS)
    cancelled.push(pcm16(tone(30_000, amplitude=0.9)))
    cancelled.close()

    after = packetize(OPUS, pcm16([*np.zeros(2_400), *tone(9_600)]))

    assert dbfs(heard(OPUS, after)[: 48 * 60]) < -60


def test_one_encoder_lives_through_all_of_a_context(monkeypatch):
    opened = []
    monkeypatch.setattr(
        packetizer_module, "open_coder", lambda audio: opened.append(audio) or open_coder(audio)
    )

    packetize(OPUS, pcm16(speech_like(48_000)))

    assert opened == [OPUS]


@pytest.mark.parametrize("rate", RATES)
def test_opus_and_pcm_last_equally_long_at_every_rate(rate):
    data = pcm16(tone(24_000 + 55))

    lengths_ms = [
        len(packetize(AudioFormat(codec, rate, 20), data)) * 20 for codec in ("opus", "pcm_s16le")
    ]

    assert abs(lengths_ms[0] - lengths_ms[1]) <= 20
