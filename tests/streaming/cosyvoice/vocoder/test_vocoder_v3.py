"""Version 3: a stream is the whole, however it is cut and whoever it shares a batch with."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from vocoder_streams import SIZES, loudness, speech, streamed

from streaming.cosyvoice.sizes import FRAME_SAMPLES
from streaming.cosyvoice.vocoder import VocoderV3
from streaming.cosyvoice.vocoder.v3 import LOOKAHEAD_FRAMES

CLOSE = 1e-4
MEL = speech(64)


@pytest.fixture(scope="module")
def whole(v3):
    return v3.whole(MEL, seed=5)


def off(one, other):
    assert one.shape == other.shape
    return float((one - other).abs().max())


def test_an_utterance_is_as_long_as_its_mel_and_audible(whole):
    assert len(whole) == len(MEL) * FRAME_SAMPLES
    assert loudness(whole) > 0.01
    assert float(whole.abs().max()) <= SIZES.loudest


@settings(max_examples=10, deadline=None)
@given(hops=st.lists(st.integers(0, 30), min_size=1, max_size=12))
def test_any_cut_gives_the_whole(v3, whole, hops):
    assert off(torch.cat(streamed(v3, MEL, hops, seed=5)), whole) < CLOSE


def test_hops_of_every_length_side_by_side_give_the_whole(v3, whole):
    hops = range(1, 34)
    states = [v3.begin(5) for _ in hops]
    heard = [[] for _ in hops]
    for turn in range(len(MEL)):
        going = [row for row, hop in enumerate(hops) if turn * hop < len(MEL)]
        cuts = [(turn * hops[row], (turn + 1) * hops[row]) for row in going]
        rows = [
            (states[row], MEL[begin:end], end >= len(MEL))
            for row, (begin, end) in zip(going, cuts, strict=True)
        ]
        for row, (chunk, state) in zip(going, v3.step(rows), strict=True):
            heard[row].append(chunk)
            states[row] = state
    assert max(off(torch.cat(chunks), whole) for chunks in heard) < CLOSE


def test_a_minute_stays_exact(v3):
    minute = speech(3000)
    chunks = streamed(v3, minute, [8, 25] + [100] * 29)
    assert off(torch.cat(chunks), v3.whole(minute)) < CLOSE


def test_all_sounds_but_four_frames_and_eight_samples(v3):
    _, state = v3.step([(v3.begin(), MEL[:LOOKAHEAD_FRAMES], False)])[0]
    first, state = v3.step([(state, MEL[4:20], False)])[0]
    second, state = v3.step([(state, MEL[20:23], False)])[0]
    rest, state = v3.step([(state, MEL[:0], True)])[0]
    assert len(first) == 16 * FRAME_SAMPLES - 8
    assert len(second) == 3 * FRAME_SAMPLES
    assert len(rest) == 4 * FRAME_SAMPLES + 8
    assert state.ended


def test_what_is_shorter_than_the_lookahead_sounds_at_its_end(v3):
    for frames in range(1, 6):
        chunks = streamed(v3, MEL[:frames], [1] * frames)
        assert len(torch.cat(chunks)) == frames * FRAME_SAMPLES
        assert off(torch.cat(chunks), v3.whole(MEL[:frames])) < CLOSE


def test_an_utterance_without_frames_is_silent(v3):
    chunk, state = v3.step([(v3.begin(), MEL[:0], True)])[0]
    assert len(chunk) == 0
    assert state.ended


def test_no_border_has_a_larger_step_than_the_rest(v3):
    chunks = streamed(v3, MEL, [9, 16, 5, 25, 25, 10])
    steps = torch.cat(chunks).diff().abs()
    borders = torch.tensor([len(chunk) for chunk in chunks]).cumsum(0)[:-1] - 1
    inside = torch.ones_like(steps, dtype=torch.bool)
    inside[borders] = False
    assert len(borders) == 5
    assert float(steps[borders].max()) <= float(steps[inside].max())


def test_the_seed_makes_the_noise(v3, whole):
    assert off(v3.whole(MEL, seed=5), whole) == 0.0
    assert off(v3.whole(MEL, seed=6), whole) > 1e-3


def test_a_state_is_a_value(v3):
    _, state = v3.step([(v3.begin(), MEL[:30], False)])[0]
    before = [state.mel.clone(), state.carried.clone(), state.exact.clone()]
    one, _ = v3.step([(state, MEL[30:60], False)])[0]
    again, _ = v3.step([(state, MEL[30:60], False)])[0]
    assert torch.equal(one, again)
    for old, now in zip(before, (state.mel, state.carried, state.exact), strict=True):
        assert torch.equal(old, now)


def test_a_stream_holds_the_same_memory_however_long_it_is(v3):
    _, early = v3.step([(v3.begin(), MEL[:10], False)])[0]
    state = early
    for _ in range(5):
        _, state = v3.step([(state, MEL, False)])[0]
    assert state.bytes == early.bytes
    storages = (state.mel, state.carried, state.exact)
    assert sum(held.untyped_storage().nbytes() for held in storages) == state.bytes


def test_at_full_size_a_stream_holds_less_than_a_megabyte():
    with torch.device("meta"):
        vocoder = VocoderV3(type(SIZES)())
    vocoder.fuse()
    carried, exact = vocoder.blank_carried, vocoder.blank_exact
    assert 0.5e6 < carried.nbytes + exact.nbytes < 0.7e6


def test_an_ended_stream_takes_nothing_more(v3):
    _, state = v3.step([(v3.begin(), MEL, True)])[0]
    with pytest.raises(ValueError, match="ended"):
        v3.step([(state, MEL, False)])


def test_mel_of_another_shape_is_refused(v3):
    with pytest.raises(ValueError, match=r"\(frames, 80\), not \(80, 64\)"):
        v3.step([(v3.begin(), MEL.T, False)])


def test_streams_begin_once_the_weights_are_fused():
    with pytest.raises(RuntimeError, match="fuse"):
        VocoderV3(SIZES).begin()
