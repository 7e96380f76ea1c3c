import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streaming.audio import pcm
from streaming.audio.joiner import SegmentJoiner
from streaming.config import PauseSettings
from tests.streaming.audio.sounds import speech_like, tone

PAUSES = PauseSettings()
LENGTHS_MS = {
    "paragraph": PAUSES.paragraph_ms,
    "sentence": PAUSES.sentence_ms,
    "clause": PAUSES.clause_ms,
    "forced": PAUSES.forced_ms,
    "end": PAUSES.end_ms,
}
FADE = 120


def silence(ms):
    return np.zeros(24 * ms, np.float32)


def ints(data):
    return np.frombuffer(data, "<i2").astype(int)


def cut_up(signal, sizes):
    at, pieces = 0, []
    while at < len(signal):
        size = sizes[len(pieces) % len(sizes)]
        pieces.append(signal[at : at + size])
        at += size
    return pieces


def join(clips, sizes=(10_000_000,), ending="sentence", final=True, told_late=False):
    """All bytes made of these clips, each cut into pieces: up to the end, or to one clip more."""
    joiner, out = SegmentJoiner(PAUSES), b""
    for clip in clips:
        out += joiner.begin(None if told_late else ending)
        out += b"".join(joiner.push(piece) for piece in cut_up(clip, sizes))
        out += joiner.end(ending if told_late else None)
    return ints(out + (joiner.finish() if final else joiner.begin(ending)))


def silent_ends(samples, above=33):
    """Samples before the first and after the last that is louder than -60 dBFS."""
    heard = np.flatnonzero(np.abs(samples) > above)
    return int(heard[0]), len(samples) - 1 - int(heard[-1])


def test_inside_a_segment_contiguous_pieces_join_bit_for_bit():
    signal = tone(24_000, 1_000, amplitude=1.0)

    joined = join([signal], sizes=[1_200])

    assert np.array_equal(joined[FADE : 24_000 - FADE], pcm.from_float(signal)[FADE:-FADE])
    assert len(joined) - 24_000 == 24 * PAUSES.end_ms


signals = st.builds(
    lambda lead, body, inner, more, tail, level: np.concatenate(
        [
            np.full(lead, level, np.float32),
            0.3 * np.ones(body, np.float32),
            np.full(inner, level, np.float32),
            0.2 * np.ones(more, np.float32),
            np.full(tail, level, np.float32),
        ]
    ),
    st.integers(0, 700),
    st.integers(0, 400),
    st.integers(0, 15_000),
    st.integers(0, 400),
    st.integers(0, 20_000),
    st.sampled_from([0.0, 0.0002, 0.0011, 0.0029]),
)


@settings(deadline=None)
@given(
    signals,
    st.lists(st.integers(1, 5_000), max_size=8).map(lambda sizes: [*sizes, 997]),
    st.sampled_from(sorted(LENGTHS_MS)),
    st.booleans(),
)
def test_however_a_clip_is_cut_the_output_is_the_same(signal, sizes, ending, final):
    whole = join([signal, signal], ending=ending, final=final)

    assert np.array_equal(join([signal, signal], sizes, ending, final), whole)
    assert np.array_equal(join([signal, signal], sizes, ending, final, told_late=True), whole)


def test_clips_that_begin_and_end_loud_ramp_from_and_to_zero():
    clip = np.full(4_800, 0.8, np.float32)

    joined = join([clip, clip])

    first = joined[: len(clip)]
    assert first[0] == first[-1] == 0
    assert (np.diff(first[:FADE]) >= 0).all()
    assert (np.diff(first[-FADE:]) <= 0).all()
    assert set(first[FADE:-FADE]) == {26_214}
    assert np.abs(np.diff(joined)).max() < 26_214 * 0.03


def test_no_step_at_a_border_is_larger_than_the_sounds_own():
    clip = speech_like(24_000)

    joined = join([clip] * 4, sizes=[1_000, 777, 1_234])

    assert np.abs(np.diff(joined)).max() <= np.abs(np.diff(pcm.from_float(clip).astype(int))).max()


@pytest.mark.parametrize("lead_ms", [0, 5, 20, 240, 320, 1_000])
def test_leading_silence_is_at_most_20_ms(lead_ms):
    joined = join([np.concatenate([silence(lead_ms), tone(4_800, amplitude=0.8)])])

    assert silent_ends(joined)[0] <= 24 * min(lead_ms, 20) + FADE


@pytest.mark.parametrize("ending", sorted(LENGTHS_MS))
@pytest.mark.parametrize("tail_ms", [0, 10, 60, 300, 480])
def test_the_pause_is_that_of_the_ending_however_the_clip_ends(ending, tail_ms):
    clip = np.concatenate([np.full(4_800, 0.5, np.float32), silence(tail_ms)])

    joined = join([clip], ending=ending, final=False)

    assert silent_ends(joined)[1] == pytest.approx(24 * LENGTHS_MS[ending], abs=FADE)


@pytest.mark.parametrize("tail_ms", [0, 200, 400])
def test_a_cut_that_the_text_did_not_ask_for_is_hardly_heard(tail_ms):
    clip = np.concatenate([silence(320), np.full(4_800, 0.5, np.float32), silence(tail_ms)])

    joined = join([clip, clip], ending="forced")

    quiet = np.flatnonzero(np.abs(joined) > 33)
    longest = int(np.diff(quiet).max())
    assert 24 * 40 < longest <= 24 * 80


def test_the_last_segment_ends_soon_whatever_its_ending_was():
    clip = np.concatenate([tone(4_800), silence(500)])

    for ending in LENGTHS_MS:
        trailing = silent_ends(join([clip], ending=ending, final=True))[1]
        assert 24 * 100 < trailing <= 24 * 160


def test_a_sound_that_dies_away_is_not_cut():
    decay = np.exp(-np.arange(4_800) / 600).astype(np.float32)
    clip = np.concatenate([tone(2_400), tone(4_800) * decay, silence(300)])

    joined = join([clip], ending="forced", final=False)

    audible = np.flatnonzero(np.abs(clip) >= 0.01 * np.abs(clip).max())[-1]
    kept = pcm.from_float(clip)[FADE : audible + 24 * 25 - FADE]
    assert np.array_equal(joined[FADE : FADE + len(kept)], kept)


def test_a_soft_onset_is_not_cut():
    rise = np.linspace(0, 1, 4_800, dtype=np.float32) ** 2
    clip = np.concatenate([silence(300), tone(4_800, amplitude=0.3) * rise, tone(2_400)])

    joined = join([clip])

    onset = np.flatnonzero(np.abs(pcm.from_float(clip)) >= 33)[0]
    want = pcm.from_float(clip)[onset - 480 + FADE :]
    assert np.array_equal(joined[FADE : FADE + 4_000], want[:4_000])


def test_a_quiet_recording_is_spoken():
    voice = speech_like(24_000)
    quiet = voice / np.abs(voice).max() * 10 ** (-48 / 20)
    noise = np.random.default_rng(1).uniform(-1, 1, 48_000) * 10 ** (-70 / 20)
    clip = np.concatenate([np.zeros(9_600), quiet, np.zeros(14_400)]) + noise

    joined = join([clip.astype(np.float32)])

    assert np.square(joined.astype(float)).sum() > 0.95 * np.square(quiet * 32767).sum()


def test_inner_silence_passes_unchanged():
    clip = np.concatenate([tone(4_800), silence(900), tone(4_800)])

    joined = join([clip], sizes=[1_920])

    assert np.array_equal(joined[FADE : len(clip) - FADE], pcm.from_float(clip)[FADE:-FADE])


class TestHeldBack:
    def test_5_ms_of_sound(self):
        joiner = SegmentJoiner(PAUSES)
        joiner.begin("sentence")
        out = 0
        for piece in cut_up(tone(24_000), [960]):
            out += 960
            given_out = len(joiner.push(piece)) // 2
            out -= given_out
            assert out == FADE

    def test_the_first_sound_never_waits(self):
        joiner = SegmentJoiner(PAUSES)
        joiner.begin("sentence")
        joiner.push(silence(300))

        first = ints(joiner.push(np.full(1_920, 0.3, np.float32)))

        assert len(first) == 480 + 1_920 - FADE

    def test_the_silence_that_the_pause_needs_does_not_wait(self):
        joiner = SegmentJoiner(PAUSES)
        joiner.begin("sentence")
        joiner.push(tone(2_400))

        pushed = joiner.push(silence(PAUSES.end_ms))

        assert len(pushed) // 2 >= 24 * PAUSES.end_ms - FADE

    def test_of_longer_silence_no_more_than_the_longest_pause(self):
        joiner = SegmentJoiner(PAUSES)
        joiner.begin("sentence")
        out = len(joiner.push(tone(2_400)))
        for _ in range(100):
            out += len(joiner.push(silence(50)))

        assert 2_400 + 24 * 50 * 100 - out // 2 == 24 * PAUSES.paragraph_ms


class TestOddSegments:
    def test_one_with_a_very_long_silence_at_its_end_loses_as_much_as_may_be_held(self):
        clip = np.concatenate([tone(4_800), silence(2_000)])

        joined = join([clip], sizes=[1_920], final=False)

        held_ms = PAUSES.paragraph_ms
        assert silent_ends(joined)[1] == pytest.approx(24 * (2_000 - held_ms), abs=2 * FADE)

    def test_one_without_any_sample_is_not_heard(self):
        joiner = SegmentJoiner(PAUSES)
        joiner.begin("sentence")
        joiner.push(np.zeros(0, np.float32))

        assert joiner.end() == b""

    def test_one_without_an_audible_sample_is_its_pause(self):
        assert join([silence(700)], final=False).tolist() == [0] * 24 * PAUSES.sentence_ms

    @pytest.mark.parametrize("length", [1, 2, 50, 119, 120, 121, 239, 240])
    def test_one_shorter_than_its_fades_still_ends_at_zero(self, length):
        joined = join([np.full(length, 0.8, np.float32)])

        assert len(joined) == length + 24 * PAUSES.end_ms
        assert joined[0] == joined[length - 1] == 0

    def test_no_pause_at_all_can_be_asked_for(self):
        joiner = SegmentJoiner(PauseSettings(0, 0, 0, 0, 0, 0))
        joiner.begin("sentence")

        out = joiner.push(np.full(4_800, 0.5, np.float32)) + joiner.end()

        assert len(out) == 2 * 4_800

    def test_a_fault_of_the_model_is_no_bang(self):
        clip = tone(4_800)
        clip[2_000:2_010] = np.nan

        assert not join([clip])[2_000:2_010].any()


def test_calls_out_of_order_are_refused():
    joiner = SegmentJoiner(PAUSES)

    with pytest.raises(ValueError, match="begun"):
        joiner.push(silence(1))
    with pytest.raises(ValueError, match="begun"):
        joiner.end()
    joiner.begin("end")
    with pytest.raises(ValueError, match="has not ended"):
        joiner.begin("end")
    with pytest.raises(ValueError, match="has not ended"):
        joiner.finish()


@pytest.mark.parametrize("ending", ["forced", "clause", "sentence", "paragraph"])
def test_what_leaves_at_once_is_common_to_both_ways_of_going_on(ending):
    alone, followed = (
        join([tone(4_800)], ending=ending),
        join([tone(4_800)], ending=ending, final=False),
    )
    common = min(len(alone), len(followed))

    assert np.array_equal(alone[:common], followed[:common])
    assert len(alone) == 4_800 + 24 * PAUSES.end_ms
    assert len(followed) == 4_800 + 24 * getattr(PAUSES, f"{ending}_ms")
