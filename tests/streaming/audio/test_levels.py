import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streaming.audio.levels import LevelMeter
from tests.streaming.audio.sounds import cut, pcm16, speech_like, tone


def levels(data, sizes=(1_920,)):
    meter = LevelMeter()
    return [v for piece in cut(data, sizes) for v in meter.push(piece)] + meter.finish()


def test_one_value_for_each_20_ms_and_one_for_the_rest():
    assert len(levels(bytes(2 * 480 * 5))) == 5
    assert len(levels(bytes(2 * (480 * 5 + 1)))) == 6


def test_nothing_gives_nothing():
    assert levels(b"") == []


def test_silence_is_a_shut_mouth_and_full_scale_an_open_one():
    assert set(levels(bytes(9_600))) == {0.0}
    assert set(levels(pcm16(tone(4_800, amplitude=1.0)))) == {1.0}


@pytest.mark.parametrize(("dbfs", "level"), [(-60, 0.0), (-35, 0.5), (-20, 0.8), (-10, 1.0)])
def test_it_is_linear_in_decibels(dbfs, level):
    amplitude = 10 ** (dbfs / 20) * 2**0.5

    assert levels(pcm16(tone(4_800, 500, amplitude)))[5] == pytest.approx(level, abs=0.01)


def test_speech_moves_the_mouth():
    values = levels(pcm16(speech_like(48_000)))

    assert min(values) < 0.1
    assert 0.5 < max(values) <= 1.0


@settings(deadline=None)
@given(st.lists(st.integers(1, 2_000), min_size=1, max_size=9))
def test_pieces_give_the_same_as_the_whole(sizes):
    data = pcm16(speech_like(4_999))

    assert levels(data, sizes) == levels(data, [4_999])


def test_each_context_begins_anew_after_finish():
    meter = LevelMeter()
    meter.push(pcm16(tone(100)))
    meter.finish()

    assert meter.push(bytes(960)) == [0.0]
