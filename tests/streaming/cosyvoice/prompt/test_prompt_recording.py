"""Which recordings a voice can be made of, and what is said of those that are refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from prompt_sounds import RATE, file_of, noise, speech, speech_of

from streaming.audio import pcm
from streaming.cosyvoice.prompt import recording
from streaming.errors import (
    BadRecording,
    ClippedRecording,
    DamagedRecording,
    NoSpeech,
    NotAudio,
    RecordingTooLong,
    RecordingTooShort,
    SilentRecording,
    UnusualRecording,
)

WAV_KINDS = (
    "PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE", "ULAW", "ALAW", "IMA_ADPCM",
)  # fmt: skip
OTHER_KINDS = (("FLAC", "PCM_16"), ("FLAC", "PCM_24"), ("MP3", None), ("OGG", "VORBIS"))


def likeness(samples):
    """How much of the speech is in it, 0 to 1, wherever it begins."""
    wanted = speech()[RATE : RATE * 3] - speech()[RATE : RATE * 3].mean()
    size = 2 ** int(np.ceil(np.log2(len(samples) + len(wanted))))
    spectrum = np.fft.rfft(samples, size) * np.conj(np.fft.rfft(wanted, size))
    best = int(np.argmax(np.abs(np.fft.irfft(spectrum))[: len(samples) - len(wanted)]))
    found = samples[best : best + len(wanted)]
    return abs(float(np.corrcoef(found, wanted)[0, 1]))


class TestFormats:
    @pytest.mark.parametrize("subtype", WAV_KINDS)
    def test_wav_of_any_kind_is_heard(self, subtype):
        made = recording.read(file_of(speech(), "WAV", subtype, 44_100))
        assert made.duration_s == pytest.approx(7.04, abs=0.06)
        assert likeness(made.samples) > 0.98

    @pytest.mark.parametrize(("kind", "subtype"), OTHER_KINDS)
    def test_flac_mp3_and_ogg_are_heard(self, kind, subtype):
        made = recording.read(file_of(speech(), kind, subtype, 44_100))
        assert made.duration_s == pytest.approx(7.04, abs=0.06)
        assert likeness(made.samples) > 0.98

    def test_opus_is_heard(self):
        assert likeness(recording.read(file_of(speech(), "OGG", "OPUS", 48_000)).samples) > 0.98

    @pytest.mark.parametrize(
        "rate", [8000, 11_025, 16_000, 22_050, 32_000, 48_000, 96_000, 192_000]
    )
    def test_any_sensible_rate_is_heard(self, rate):
        made = recording.read(file_of(speech(), rate=rate))
        assert made.duration_s == pytest.approx(7.04, abs=0.02)
        assert likeness(made.samples) > 0.98

    @pytest.mark.parametrize("rate", [4000, 384_000])
    def test_a_rate_that_no_voice_is_recorded_at_is_refused(self, rate):
        with pytest.raises(UnusualRecording, match=f"{rate:,} samples a second"):
            recording.read(file_of(speech(), rate=rate))

    def test_telephone_speech_comes_with_a_warning(self):
        made = recording.read(file_of(speech(), "WAV", "ULAW", 8000))
        assert any("8,000 samples a second" in warning for warning in made.warnings)

    def test_an_mp3_with_a_cover_is_heard(self):
        cover = b"APIC" + (4000).to_bytes(4) + b"\0\0" + b"\xff\xfb\x90\x64" * 1000
        size = bytes(len(cover) >> shift & 0x7F for shift in (21, 14, 7, 0))
        tagged = b"ID3\x03\0\0" + size + cover + file_of(np.stack([speech()] * 2, 1), "MP3")
        assert likeness(recording.read(tagged).samples) > 0.98

    @pytest.mark.parametrize(
        ("data", "words"),
        [
            (b"", "empty"),
            (b"hello " * 500, "no audio"),
            (bytes(5000), "no audio"),
            (b"\x1aE\xdf\xa3" + bytes(500), "webm"),
            (b"\0\0\0 ftypM4A " + bytes(500), "m4a"),
            (b"FORM\0\0\0\0AIFF" + bytes(500), "aiff"),
            (b"\xff\xfb\x90\x00" + bytes(range(256)) * 40, "mp3"),
            (b"fLaC" + bytes(500), "flac"),
            (b"OggS" + bytes(500), "ogg"),
            (b"RIFF\xff\0\0\0WAVEdata\x08\0\0\0abcdefgh", "wav"),
        ],
    )
    def test_what_is_no_such_file_is_refused_with_what_would_be(self, data, words):
        with pytest.raises(NotAudio, match=words) as refusal:
            recording.read(data)
        assert "wav, flac, mp3" in refusal.value.message

    @given(data=st.data())
    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    def test_a_file_with_wrong_bytes_is_read_or_refused(self, data):
        kind, subtype = data.draw(st.sampled_from([("WAV", "PCM_16"), *OTHER_KINDS]))
        broken = bytearray(file_of(speech()[: RATE * 2], kind, subtype))
        for _ in range(data.draw(st.integers(1, 8))):
            place = data.draw(st.one_of(st.integers(0, 100), st.integers(0, len(broken) - 1)))
            broken[place] = data.draw(st.integers(0, 255))
        try:
            made = recording.read(bytes(broken))
        except BadRecording:
            return
        assert np.isfinite(made.samples).all()


class TestWholeness:
    @pytest.mark.parametrize(("kind", "subtype"), [("WAV", "PCM_16"), *OTHER_KINDS])
    @pytest.mark.parametrize("share", [0.5, 0.9])
    def test_a_file_that_was_cut_off_is_refused(self, kind, subtype, share):
        whole = file_of(speech(), kind, subtype)
        with pytest.raises(DamagedRecording, match="cut off"):
            recording.read(whole[: int(share * len(whole))])

    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    def test_samples_that_are_no_numbers_are_refused(self, bad):
        samples = speech().copy()
        samples[5000] = bad
        with pytest.raises(DamagedRecording, match="no numbers"):
            recording.read(file_of(samples, "WAV", "FLOAT"))

    def test_floats_beyond_full_scale_are_only_loud(self):
        made = recording.read(file_of(speech() * 32_768, "WAV", "FLOAT"))
        assert likeness(made.samples) > 0.98
        assert made.warnings == ()


class TestLength:
    @pytest.mark.parametrize("length_s", [1.0, 2.9, 3.0, 10.0, 29.9, 30.0])
    def test_from_one_second_to_thirty_is_taken(self, length_s):
        made = recording.read(file_of(speech_of(length_s)))
        assert made.duration_s == pytest.approx(length_s, abs=0.15)

    @pytest.mark.parametrize("length_s", [0.0, 0.3, 0.9])
    def test_less_is_refused(self, length_s):
        with pytest.raises(RecordingTooShort, match="send 1 to 30 s"):
            recording.read(file_of(speech_of(length_s)))

    def test_a_word_in_a_long_silence_is_too_short(self):
        word = speech_of(0.3)
        padded = np.concatenate([np.zeros(RATE * 4), word, np.zeros(RATE * 4)])
        with pytest.raises(RecordingTooShort, match="the rest is silence"):
            recording.read(file_of(padded.astype(np.float32)))

    @pytest.mark.parametrize("length_s", [30.1, 31.0, 40.0])
    def test_more_is_refused(self, length_s):
        with pytest.raises(RecordingTooLong, match="30 s"):
            recording.read(file_of(speech_of(length_s)))

    def test_thirty_seconds_between_silences_are_taken(self):
        padded = np.concatenate([np.zeros(5000), speech_of(29.9), np.zeros(5000)])
        assert recording.read(file_of(padded.astype(np.float32))).duration_s <= 30.0

    def test_little_speech_comes_with_advice(self):
        warnings = recording.read(file_of(speech_of(2.0))).warnings
        assert any("3 to 10" in warning for warning in warnings)


class TestLoudness:
    @pytest.mark.parametrize(
        "samples",
        [np.zeros(RATE * 4), np.full(RATE * 4, 0.3), noise(4, 1e-4)],
        ids=["zeros", "a constant", "faint noise"],
    )
    def test_silence_is_refused(self, samples):
        with pytest.raises(SilentRecording, match="microphone"):
            recording.read(file_of(samples.astype(np.float32)))

    @pytest.mark.parametrize(
        "samples",
        [noise(4, 0.1), 0.5 * np.sin(np.arange(RATE * 4) * 0.06)],
        ids=["noise", "a tone"],
    )
    def test_a_steady_sound_is_no_speech(self, samples):
        with pytest.raises(NoSpeech, match="steady"):
            recording.read(file_of(samples.astype(np.float32)))

    def test_a_quiet_recording_is_lifted_and_keeps_its_words(self):
        said = speech_of(8.0)
        quiet = said / np.abs(said).max() * 10 ** (-48 / 20) + noise(8.0, 10 ** (-82 / 20))
        made = recording.read(file_of(quiet, "WAV", "PCM_24", 48_000))
        assert made.duration_s == pytest.approx(8.0, abs=0.2)
        assert np.abs(made.samples).max() == pytest.approx(recording.QUIETEST_PEAK, abs=0.01)
        assert any("very quietly" in warning for warning in made.warnings)

    def test_a_loud_one_is_lowered(self):
        loud = speech() / np.abs(speech()).max() * 0.99
        made = recording.read(file_of(loud))
        assert np.abs(made.samples).max() == pytest.approx(recording.LOUDEST_PEAK, abs=0.01)
        assert made.warnings == ()

    def test_a_constant_under_the_speech_is_taken_away(self):
        made = recording.read(file_of(speech() * 0.5 + 0.3))
        assert abs(made.samples.mean()) < 1e-3
        assert likeness(made.samples) > 0.98

    @pytest.mark.parametrize(
        ("kind", "lowered"), [("WAV", 1.0), ("WAV", 0.5), ("FLAC", 0.5), ("MP3", 1.0)]
    )
    def test_flat_tops_are_refused_even_where_the_file_was_made_quieter(self, kind, lowered):
        torn = np.clip(speech() / np.abs(speech()).max() * 5, -1, 1) * lowered
        with pytest.raises(ClippedRecording, match="recorded too loud"):
            recording.read(file_of(torn, kind))

    def test_a_few_flat_tops_are_only_remarked(self):
        torn = np.clip(speech() / np.abs(speech()).max() * 2, -1, 1)
        assert any("cut off" in warning for warning in recording.read(file_of(torn)).warnings)


class TestChannels:
    @pytest.mark.parametrize("count", [2, 6, 8])
    def test_several_become_one(self, count):
        made = recording.read(file_of(np.stack([speech()] * count, 1)))
        assert likeness(made.samples) > 0.99

    def test_a_voice_in_one_of_eight_is_as_loud_as_alone(self):
        silent = np.zeros_like(speech())
        made = recording.read(file_of(np.stack([*[silent] * 7, speech()], 1)))
        assert np.abs(made.samples).max() == pytest.approx(np.abs(speech()).max(), abs=0.01)

    def test_channels_of_opposite_sign_do_not_silence_each_other(self):
        made = recording.read(file_of(np.stack([speech(), -speech()], 1)))
        assert likeness(made.samples) > 0.99

    def test_more_than_eight_are_refused(self):
        with pytest.raises(UnusualRecording, match="9 channels"):
            recording.read(file_of(np.stack([speech()] * 9, 1)))


class TestWhatComesOut:
    def test_silence_at_both_ends_goes_and_a_little_stays(self):
        padded = np.concatenate([np.zeros(RATE * 3), speech(), np.zeros(RATE * 5)])
        made = recording.read(file_of((padded + noise(15.04, 1e-4)[: len(padded)]).astype("f4")))
        assert len(speech()) / RATE <= made.duration_s <= len(speech()) / RATE + 0.4

    def test_the_wav_holds_just_the_samples(self):
        made = recording.read(file_of(speech(), "MP3"))
        assert np.array_equal(recording.from_wav(made.wav), made.samples)
        assert np.array_equal(pcm.to_float(pcm.from_float(made.samples)), made.samples)

    def test_the_same_file_gives_the_same_wav_and_so_does_a_lossless_copy(self):
        wav, flac = file_of(speech(), "WAV"), file_of(speech(), "FLAC")
        assert recording.read(wav).wav == recording.read(wav).wav == recording.read(flac).wav

    @pytest.mark.parametrize("stored", [b"", file_of(speech(), rate=16_000)])
    def test_what_is_no_stored_wav_is_not_taken_for_one(self, stored):
        with pytest.raises(NotAudio, match="stored recording"):
            recording.from_wav(stored)
