import gc
import threading

import numpy as np
import opuslib_next
import psutil
import pytest

from streaming.audio import opus
from streaming.audio.format import AudioFormat
from streaming.audio.opus import OpusEncoder
from tests.streaming.audio.sounds import decode, pcm16, snr_db, speech_like, tone

OPUS = AudioFormat("opus", 24_000, 80)


@pytest.fixture
def encoder():
    encoder = OpusEncoder(24_000)
    yield encoder
    encoder.close()


@pytest.mark.parametrize("rate", [8_000, 12_000, 16_000, 24_000, 48_000])
@pytest.mark.parametrize("frame_ms", [20, 40, 60, 80])
def test_every_length_at_every_rate_decodes_to_itself(rate, frame_ms):
    encoder = OpusEncoder(rate)
    signal = tone(rate * frame_ms // 1000, rate=rate)

    packet = encoder.encode(pcm16(signal))
    encoder.close()

    assert len(decode(OPUS, [packet])) == 48 * frame_ms


@pytest.mark.parametrize("size", [0, 1, 2, 959, 961, 480, 3_838, 3_841, 3_842, 4_800, 1_000_000])
def test_a_buffer_of_any_other_length_never_reaches_libopus(encoder, size):
    with pytest.raises(ValueError, match=f"{size} bytes are no packet at 24000 Hz"):
        encoder.encode(bytes(size))


def test_a_rate_that_libopus_has_not_is_refused():
    with pytest.raises(ValueError, match="44100"):
        OpusEncoder(44_100)


def test_the_lookahead_is_the_same_time_at_every_rate():
    for rate in opus.RATES:
        encoder = OpusEncoder(rate)
        assert encoder.lookahead_samples * 48_000 == opus.lookahead_48k() * rate
        encoder.close()
    assert opus.lookahead_48k() == 312


def test_after_close_it_refuses_and_close_is_harmless(encoder):
    encoder.close()
    encoder.close()

    with pytest.raises(ValueError, match="closed"):
        encoder.encode(bytes(3_840))
    with pytest.raises(ValueError, match="closed"):
        _ = encoder.lookahead_samples


def test_one_that_nobody_closed_is_freed_once(monkeypatch):
    freed = []
    monkeypatch.setattr(opus.api, "destroy", freed.append)
    forgotten = OpusEncoder(24_000)
    state = forgotten._state
    del forgotten
    gc.collect()

    assert freed == [state]
    monkeypatch.undo()
    opus.api.destroy(state)


def test_one_that_could_not_be_set_up_is_freed(monkeypatch):
    freed = []
    destroy = opus.api.destroy
    monkeypatch.setattr(opus.api, "destroy", lambda state: (freed.append(state), destroy(state)))

    with pytest.raises(opuslib_next.OpusError):
        OpusEncoder(24_000, complexity=11)
    gc.collect()

    assert len(freed) == 1


def test_an_error_of_libopus_is_raised(encoder, monkeypatch):
    monkeypatch.setattr(opus.api, "libopus_encode", lambda *_: opuslib_next.BAD_ARG)

    with pytest.raises(opuslib_next.OpusError):
        encoder.encode(bytes(3_840))


def test_closing_while_another_thread_encodes_is_safe():
    outcomes = []

    def encode_until_closed(encoder):
        try:
            while True:
                encoder.encode(bytes(3_840))
        except ValueError as refusal:
            outcomes.append(str(refusal))

    for _ in range(20):
        encoder = OpusEncoder(24_000)
        thread = threading.Thread(target=encode_until_closed, args=(encoder,))
        thread.start()
        encoder.close()
        thread.join(10)

    assert outcomes == ["the encoder is closed"] * 20


def test_thousands_of_encoders_leave_no_memory_behind():
    def churn(times):
        for turn in range(times):
            encoder = OpusEncoder(24_000)
            encoder.encode(bytes(960))
            if turn % 2:
                encoder.close()
        gc.collect()

    process = psutil.Process()
    churn(500)
    before = process.memory_info().rss
    churn(4_000)

    # Each state is 20 to 40 KiB: 4,000 forgotten ones would be over 80 MiB.
    assert process.memory_info().rss - before < 8 * 2**20


def test_state_is_carried_from_packet_to_packet(encoder):
    signal = tone(24_000)
    packets = [encoder.encode(pcm16(signal[i : i + 1_920])) for i in range(0, 23_040, 1_920)]

    played = decode(OPUS, packets)[312::2]

    assert snr_db(signal[2_000:22_000], played[2_000:]) > 20


def test_one_context_never_sounds_in_another():
    loud = OpusEncoder(24_000)
    for start in range(0, 9_600, 480):
        loud.encode(pcm16(tone(9_600, amplitude=0.9)[start : start + 480]))
    loud.close()

    quiet = OpusEncoder(24_000)
    packets = [quiet.encode(bytes(960)) for _ in range(5)]
    quiet.close()

    assert np.abs(decode(OPUS, packets)[: 48 * 60]).max() < 0.001


def test_the_bitrate_is_kept_about():
    signal = speech_like(24_000 * 4)

    def kbit_s(bitrate):
        encoder = OpusEncoder(24_000, bitrate=bitrate)
        pieces = [signal[i : i + 1_920] for i in range(0, 94_080, 1_920)]
        size = sum(len(encoder.encode(pcm16(piece))) for piece in pieces)
        encoder.close()
        return size * 8 / (len(pieces) * 80)

    assert 11 < kbit_s(16_000) < 20
    assert 24 < kbit_s(32_000) < 38
    assert kbit_s(64_000) > 45


def test_a_listener_at_8_khz_gets_no_band_he_cannot_hear():
    signal = (tone(30_000, 500) + tone(30_000, 6_000)) / 2
    encoder = OpusEncoder(24_000, bandwidth_rate=8_000)
    packets = [encoder.encode(pcm16(signal[i : i + 1_920])) for i in range(0, 28_800, 1_920)]
    encoder.close()

    spectrum = np.abs(np.fft.rfft(decode(OPUS, packets)[:48_000]))
    assert spectrum[5_900:6_100].max() < spectrum[400:600].max() / 100


def test_discontinuous_transmission_makes_silence_tiny():
    encoder = OpusEncoder(24_000, dtx=True)
    for start in range(0, 24_000, 480):
        encoder.encode(pcm16(speech_like(24_000)[start : start + 480]))
    sizes = [len(encoder.encode(bytes(960))) for _ in range(100)]
    encoder.close()

    assert np.median(sizes) <= 2


def test_error_correction_lets_a_lost_packet_be_heard():
    signal = speech_like(48_000)
    encoder = OpusEncoder(24_000, fec=True)
    packets = [encoder.encode(pcm16(signal[i : i + 480])) for i in range(0, 48_000, 480)]
    encoder.close()
    decoder = opuslib_next.Decoder(24_000, 1)
    gains = []
    for index, packet in enumerate(packets[:-1]):
        want = signal[index * 480 - 156 : index * 480 + 324]
        if index % 10 == 9 and np.abs(want).max() > 0.05:
            lost = np.frombuffer(decoder.decode(packets[index + 1], 480, decode_fec=True), "<i2")
            gains.append(snr_db(want, lost / 32768))
        else:
            decoder.decode(packet, 480)

    assert gains
    assert np.median(gains) > 3
