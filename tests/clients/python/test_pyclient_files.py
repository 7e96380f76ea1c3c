"""Files that other programs read: PyAV and the standard library are the judges."""

from __future__ import annotations

import io
import math
import struct
import wave
from fractions import Fraction

import av
import numpy as np
import pytest

from cosystream.events import AudioFormat
from cosystream.files import OpusFile, RawFile, WavFile
from cosystream.ogg import OggOpus

SAMPLES = 24_000


class Pipe(io.BytesIO):
    """Where nothing can be changed later."""

    def seekable(self) -> bool:
        return False


def tone(samples: int = SAMPLES) -> np.ndarray:
    return (8000 * np.sin(2 * math.pi * 440 * np.arange(samples) / 24_000)).astype("<i2")


def packets_of(pcm: bytes, size: int) -> list[bytes]:
    return [pcm[start : start + size].ljust(size, b"\0") for start in range(0, len(pcm), size)]


def opus_packets(frame_ms: int, seconds: float = 1.0) -> tuple[list[bytes], int]:
    encoder = av.CodecContext.create("libopus", "w")
    encoder.sample_rate, encoder.layout, encoder.format = 48_000, "mono", "s16"
    encoder.time_base = Fraction(1, 48_000)
    encoder.bit_rate = 128_000
    encoder.options = {"frame_duration": str(frame_ms)}
    sound = np.repeat(tone(int(seconds * 24_000)), 2).reshape(1, -1)
    frame = av.AudioFrame.from_ndarray(sound, format="s16", layout="mono")
    frame.sample_rate, frame.pts, frame.time_base = 48_000, 0, Fraction(1, 48_000)
    encoder.open()
    fifo = av.AudioFifo()
    fifo.write(frame)
    size = frame_ms * 48
    out = []
    while (piece := fifo.read(size, partial=True)) is not None:
        out += [bytes(packet) for packet in encoder.encode(piece)]
    out += [bytes(packet) for packet in encoder.encode(None)]
    return out, encoder.delay if hasattr(encoder, "delay") else 312


def decoded(data: bytes) -> np.ndarray:
    with av.open(io.BytesIO(data)) as container:
        frames = [frame.to_ndarray() for frame in container.decode(audio=0)]
    return np.concatenate(frames, axis=1)


@pytest.mark.parametrize("seekable", [True, False])
def test_a_wav_holds_the_samples_without_the_padding(seekable):
    audio = AudioFormat(codec="pcm_s16le", rate=24_000, frame_ms=80)
    file = io.BytesIO() if seekable else Pipe()
    wav = WavFile(file, audio)
    pcm = tone(2_000).tobytes()
    for packet in packets_of(pcm, 3_840):
        wav.write(packet)
    wav.finish(2_000)
    assert file.getvalue()[44:] == pcm
    riff, data = (
        struct.unpack("<I", file.getvalue()[4:8]),
        struct.unpack("<I", file.getvalue()[40:44]),
    )
    expected = (36 + len(pcm), len(pcm)) if seekable else (0xFFFFFFFF, 0xFFFFFFFF)
    assert (*riff, *data) == expected
    if seekable:
        with wave.open(io.BytesIO(file.getvalue())) as reader:
            assert (reader.getnframes(), reader.getframerate()) == (2_000, 24_000)


def test_a_wav_broken_off_is_whole_all_the_same():
    file = io.BytesIO()
    wav = WavFile(file, AudioFormat(codec="pcm_s16le", rate=24_000, frame_ms=80))
    for packet in packets_of(tone(3_840).tobytes(), 3_840):
        wav.write(packet)
    wav.finish(None)
    with wave.open(io.BytesIO(file.getvalue())) as reader:
        assert reader.getnframes() == 3_840


def test_a_wav_of_nothing_is_a_wav():
    file = io.BytesIO()
    WavFile(file, AudioFormat(codec="pcm_s16le", rate=8_000, frame_ms=20)).finish(0)
    with wave.open(io.BytesIO(file.getvalue())) as reader:
        assert reader.getnframes() == 0


@pytest.mark.parametrize(("codec", "name"), [("mulaw", "pcm_mulaw"), ("alaw", "pcm_alaw")])
def test_telephone_codecs_make_a_wav_that_says_so(codec, name):
    file = io.BytesIO()
    wav = WavFile(file, AudioFormat(codec=codec, rate=8_000, frame_ms=20))
    wav.write(bytes(range(160)))
    wav.write(bytes(160))
    wav.finish(3 * 161)  # at 24 kHz: an odd number at 8 kHz
    assert len(file.getvalue()) % 2 == 0
    with av.open(io.BytesIO(file.getvalue())) as container:
        assert container.streams.audio[0].codec_context.name == name
    assert decoded(file.getvalue()).shape[1] == 161


@pytest.mark.parametrize("rate", [8_000, 16_000, 24_000, 48_000])
def test_the_exact_length_holds_at_every_rate(rate):
    file = io.BytesIO()
    raw = RawFile(file, AudioFormat(codec="pcm_s16le", rate=rate, frame_ms=20))
    size = rate // 50 * 2
    for _ in range(3):
        raw.write(bytes(size))
    raw.finish(24_000 // 50 * 2 + 240)
    assert len(file.getvalue()) == 2 * size + rate // 100 * 2


@pytest.mark.parametrize("frame_ms", [20, 40, 60, 80])
def test_ogg_opus_of_every_packet_length_decodes_to_the_exact_length(frame_ms):
    packets, pre_skip = opus_packets(frame_ms)
    file = Pipe()
    audio = AudioFormat(codec="opus", rate=24_000, frame_ms=frame_ms, pre_skip=pre_skip)
    opus = OpusFile(file, audio)
    for packet in packets:
        opus.write(packet)
    opus.finish(SAMPLES)
    sound = decoded(file.getvalue())
    assert sound.shape[1] == SAMPLES * 2
    loudest = np.abs(np.fft.rfft(sound[0])).argmax()
    assert abs(loudest - 440) <= 2


def test_ogg_opus_broken_off_decodes_to_all_that_came():
    packets, pre_skip = opus_packets(20)
    file = Pipe()
    audio = AudioFormat(codec="opus", rate=24_000, frame_ms=20, pre_skip=pre_skip)
    opus = OpusFile(file, audio)
    for packet in packets[:10]:
        opus.write(packet)
    opus.finish(None)
    assert decoded(file.getvalue()).shape[1] == 10 * 960 - pre_skip


def pages_of(data: bytes) -> list[tuple[int, int, int, int]]:
    """(flags, granule, number, payload bytes) of each page, the check sums checked by PyAV."""
    pages = []
    while data:
        assert data[:4] == b"OggS"
        flags, granule, _serial, number = struct.unpack_from("<BqII", data, 5)
        lacing = data[27 : 27 + data[26]]
        size = 27 + len(lacing) + sum(lacing)
        pages.append((flags, granule, number, sum(lacing)))
        data = data[size:]
    return pages


def test_pages_are_numbered_flagged_and_closed_every_second():
    ogg = OggOpus(rate=24_000, pre_skip=312, serial=7)
    data = ogg.head()
    for _ in range(130):
        data += ogg.packet(b"x" * 50, 960)
    data += ogg.finish()
    pages = pages_of(data)
    assert [number for _, _, number, _ in pages] == list(range(len(pages)))
    assert [flags for flags, *_ in pages] == [2, 0, 0, 0, 4]
    assert [granule for _, granule, _, _ in pages] == [0, 0, 48_000, 96_000, 130 * 960]


def test_a_page_never_holds_more_than_its_lacing_can_say():
    ogg = OggOpus(rate=48_000, pre_skip=0, serial=7)
    data = ogg.head()
    for _ in range(60):
        data += ogg.packet(b"y" * 1275 * 4, 120)
    data += ogg.finish()
    assert sum(size for *_, size in pages_of(data)[2:]) == 60 * 1275 * 4


@pytest.mark.parametrize("size", [0, 1, 254, 255, 256, 510, 511])
def test_packets_of_every_awkward_size_come_back_whole(size):
    ogg = OggOpus(rate=48_000, pre_skip=0, serial=7)
    ogg.packet(bytes(size), 960)
    page = ogg.finish()
    lacing = page[27 : 27 + page[26]]
    assert sum(lacing) == size
    assert lacing[-1] < 255
