import struct

import av
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streaming.audio.ogg import OggWriter, checksum
from streaming.audio.ogg_opus import OggOpusStream
from tests.streaming.audio.sounds import cut, decode_file, pcm16, speech_like, tone


def stream(data, sizes=(1_920,), serial=1, **options):
    opus = OggOpusStream(serial=serial, **options)
    pieces = [opus.push(piece) for piece in cut(data, sizes)]
    return b"".join(pieces) + opus.finish()


def pages(data):
    """(flags, granule, serial, sequence, packets) of each page; checksums checked bit by bit."""
    while data:
        magic, version, flags, granule, serial, sequence, crc, count = struct.unpack_from(
            "<4sBBqIIIB", data
        )
        assert (magic, version) == (b"OggS", 0)
        lacing = data[27 : 27 + count]
        size = 27 + count + sum(lacing)
        assert crc == slow_crc(data[:22] + bytes(4) + data[26:size])
        yield flags, granule, serial, sequence, unlace(lacing, data[27 + count : size])
        data = data[size:]


def unlace(lacing, body):
    packets, at, size = [], 0, 0
    for value in lacing:
        size += value
        if value < 255:
            packets.append(body[at : at + size])
            at, size = at + size, 0
    assert size == 0
    return packets


def slow_crc(data):
    register = 0
    for byte in data:
        register ^= byte << 24
        for _ in range(8):
            register = (register << 1) ^ (0x104C11DB7 if register & 0x80000000 else 0)
    return register


@given(st.binary(max_size=300))
def test_the_quick_checksum_is_the_slow_one(data):
    assert checksum(data) == slow_crc(data)


def test_the_headers_are_as_the_standard_wants_them():
    head, tags, *_ = pages(stream(pcm16(tone(4_800)), serial=0xDEADBEEF))

    assert head[:4] == (2, 0, 0xDEADBEEF, 0)
    assert head[4] == [b"OpusHead" + struct.pack("<BBHIhB", 1, 1, 312, 24_000, 0, 0)]
    assert tags[:4] == (0, 0, 0xDEADBEEF, 1)
    assert tags[4] == [b"OpusTags" + struct.pack("<I10sI", 10, b"cosystream", 0)]


def test_pages_are_numbered_and_only_the_last_ends():
    made = list(pages(stream(pcm16(speech_like(24_000)))))

    assert [page[3] for page in made] == list(range(len(made)))
    assert [page[0] for page in made] == [2, *[0] * (len(made) - 2), 4]


def test_granules_count_what_was_decoded():
    made = list(pages(stream(pcm16(speech_like(24_000)))))

    total = 0
    for _, granule, _, _, packets in made[2:-1]:
        total += 960 * len(packets)
        assert granule == total
    assert made[-1][1] == 312 + 48_000 <= total + 960 * len(made[-1][4])


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 9_000))
def test_the_duration_is_exact_to_the_sample(samples):
    sound, rate = decode_file(stream(pcm16(tone(samples))))

    assert (len(sound), rate) == (2 * samples, 48_000)


def test_each_push_leaves_as_a_page():
    opus = OggOpusStream()
    opus.push(pcm16(tone(1_920)))

    made = list(pages(opus.push(pcm16(tone(1_920)))))
    opus.close()

    assert [len(page[4]) for page in made] == [4]


def test_a_page_is_never_longer_than_a_second_nor_overfull():
    loud = OggOpusStream(bitrate=256_000)
    made = [*pages(loud.push(pcm16(speech_like(24_000 * 4)))), *pages(loud.finish())]

    assert max(len(page[4]) for page in made) * 20 <= 1_000


def test_packets_of_every_size_lace():
    sizes = [0, 1, 254, 255, 256, 510, 1_275]
    packets = [bytes([7]) * size for size in sizes]

    (page,) = pages(OggWriter(1).page(packets, 5))

    assert page[4] == packets


def test_too_much_for_a_page_is_refused():
    with pytest.raises(ValueError, match="at most 255"):
        OggWriter(1).page([bytes(255 * 255)], 0)


def test_no_audio_is_an_empty_stream_that_ends():
    made = list(pages(stream(b"")))

    assert [page[0] for page in made] == [2, 0, 4]
    assert made[-1][4] == []


def test_two_streams_one_after_the_other_are_a_file_too():
    first, second = (stream(pcm16(tone(4_800)), serial=serial) for serial in (1, 2))

    sound, _ = decode_file(first + second)

    assert len(sound) >= 2 * 9_600


def test_the_encoder_is_freed_at_the_end():
    opus = OggOpusStream()
    opus.finish()

    with pytest.raises(ValueError, match="ended"):
        opus.push(bytes(2))
    opus.close()


def test_serials_differ_by_themselves():
    def serial():
        opus = OggOpusStream()
        return next(iter(pages(opus.push(bytes(2)) + opus.finish())))[2]

    assert serial() != serial()


def test_a_player_finds_sound_in_the_first_80_ms(tmp_path):
    opus = OggOpusStream()
    begun = tmp_path / "begun.opus"
    begun.write_bytes(opus.push(pcm16(tone(1_920))))
    opus.close()

    with av.open(str(begun)) as container:
        assert sum(frame.samples for frame in container.decode(audio=0)) == 3_840 - 312
