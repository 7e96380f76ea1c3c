import pytest

from streaming.audio.format import AudioFormat
from streaming.errors import InvalidValue


def test_the_usual_one_is_a_chunk_a_packet():
    audio = AudioFormat("opus", 24_000, 80)

    assert (audio.packet_48k, audio.pre_skip_48k) == (3_840, 312)


@pytest.mark.parametrize("codec", ["pcm_s16le", "mulaw", "alaw"])
def test_only_opus_has_something_to_skip(codec):
    assert AudioFormat(codec, 8_000, 20).pre_skip_48k == 0


@pytest.mark.parametrize("rate", [8_000, 16_000, 24_000, 48_000])
@pytest.mark.parametrize("frame_ms", [20, 40, 60, 80])
def test_every_rate_and_length_holds_whole_samples(rate, frame_ms):
    audio = AudioFormat("pcm_s16le", rate, frame_ms)

    assert audio.packet_48k * rate % 48_000 == 0
    assert audio.packet_48k * 1000 == 48_000 * frame_ms


@pytest.mark.parametrize("frame_ms", [2.5, 25, 0, -1, "20", 1000, 20.0, True, None])
def test_a_frame_length_that_is_not_allowed_is_named_with_those_that_are(frame_ms):
    with pytest.raises(InvalidValue) as told:
        AudioFormat("opus", 24_000, frame_ms)

    assert told.value.message == f"audio.frame_ms is {frame_ms!r}; allowed: 20, 40, 60, 80"


@pytest.mark.parametrize(
    ("field", "value", "allowed"),
    [
        ("codec", "flac", "opus, pcm_s16le, mulaw, alaw"),
        ("codec", ["opus"], "opus, pcm_s16le, mulaw, alaw"),
        ("rate", 44_100, "8000, 16000, 24000, 48000"),
        ("rate", 22_050, "8000, 16000, 24000, 48000"),
        ("rate", 24_000.0, "8000, 16000, 24000, 48000"),
        ("bitrate", 5_999, "6000 to 256000"),
        ("bitrate", 256_001, "6000 to 256000"),
        ("bitrate", 1e308, "6000 to 256000"),
        ("fec", 1, "False, True"),
        ("dtx", "yes", "False, True"),
        ("complexity", 11, "0 to 10"),
        ("complexity", -1, "0 to 10"),
    ],
)
def test_each_field_says_what_it_takes(field, value, allowed):
    fields = {"codec": "opus", "rate": 24_000, "frame_ms": 80} | {field: value}

    with pytest.raises(InvalidValue) as told:
        AudioFormat(**fields)

    assert told.value.message == f"audio.{field} is {value!r}; allowed: {allowed}"


def test_the_extremes_are_allowed():
    AudioFormat("opus", 8_000, 20, bitrate=6_000, complexity=0)
    AudioFormat("opus", 48_000, 80, bitrate=256_000, complexity=10, fec=True, dtx=True)
