"""Speed while streaming: as long as the whole divided by it, however the frames arrive."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import interpolate
from vocoder_streams import speech, streamed

from streaming.cosyvoice.vocoder import MelStretch

speeds = st.floats(0.5, 2.0) | st.sampled_from([0.5, 0.8, 1.0, 1.25, 1.5, 1.9, 2.0])


def pushed(mel, speed, hops):
    stretch, made, at = MelStretch(speed), [], 0
    for hop in [*hops, len(mel)]:
        last = at + hop >= len(mel)
        out, stretch = stretch.push(mel[at : at + hop], last=last)
        made.append(out)
        at += hop
        if last:
            break
    return torch.cat(made)


@settings(deadline=None, max_examples=60)
@given(speed=speeds, frames=st.integers(0, 80), hops=st.lists(st.integers(0, 12), max_size=20))
def test_any_cut_gives_the_whole(speed, frames, hops):
    mel = speech(frames)
    whole, _ = MelStretch(speed).push(mel, last=True)
    made = pushed(mel, speed, hops)
    assert made.shape == whole.shape == (max(int(frames / speed), min(1, frames)), 80)
    assert torch.allclose(made, whole, atol=1e-5)


@pytest.mark.parametrize(
    ("speed", "frames"), [(0.5, 30), (0.8, 40), (1.25, 50), (1.5, 60), (2.0, 44)]
)
def test_the_whole_is_the_official_interpolation(speed, frames):
    mel = speech(frames)
    made, _ = MelStretch(speed).push(mel, last=True)
    official = interpolate(mel.T[None], size=int(frames / speed), mode="linear")[0].T
    assert torch.allclose(made, official, atol=1e-5)


@pytest.mark.parametrize(("speed", "frames"), [(0.7, 40), (1.3, 60), (1.7, 50)])
def test_where_speed_does_not_divide_the_frames_lie_exactly_it_apart(speed, frames):
    mel = speech(frames)
    made, _ = MelStretch(speed).push(mel, last=True)
    factor = {"scale_factor": 1 / speed, "recompute_scale_factor": False}
    spaced = interpolate(mel.T[None], mode="linear", **factor)[0].T
    assert torch.allclose(made, spaced[: len(made)], atol=1e-4)
    official_apart = frames / len(made)
    assert 0 < (official_apart - speed) * len(made) < speed


def test_speed_one_gives_every_frame_at_once():
    mel = speech(10)
    made, _ = MelStretch(1.0).push(mel)
    assert torch.equal(made, mel)


@settings(deadline=None, max_examples=60)
@given(speed=speeds, frames=st.integers(1, 60))
def test_it_waits_for_one_frame_at_most(speed, frames):
    made, _ = MelStretch(speed).push(speech(frames))
    assert len(made) >= int((frames - 1) / speed)


@settings(deadline=None, max_examples=60)
@given(speed=speeds)
def test_it_holds_a_few_frames_however_long_the_stream(speed):
    stretch = MelStretch(speed)
    assert stretch.bytes == 0
    for _ in range(40):
        _, stretch = stretch.push(speech(7))
    assert stretch.held is not None
    assert stretch.bytes == stretch.held.untyped_storage().nbytes() <= 3 * 80 * 4


def test_a_state_is_a_value():
    _, stretch = MelStretch(1.3).push(speech(20))
    one, _ = stretch.push(speech(9), last=True)
    again, _ = stretch.push(speech(9), last=True)
    assert torch.equal(one, again)


@pytest.mark.parametrize("speed", [0.49, 2.01, 0.0, float("nan")])
def test_a_speed_out_of_range_is_refused(speed):
    with pytest.raises(ValueError, match=r"0\.5 to 2\.0"):
        MelStretch(speed)


@pytest.mark.parametrize("speed", [0.5, 0.9, 1.6])
def test_a_stretched_stream_is_the_stretched_whole(v3, speed):
    mel = speech(60)
    slow, _ = MelStretch(speed).push(mel, last=True)
    stretch, state, chunks = MelStretch(speed), v3.begin(), []
    for begin in range(0, 60, 13):
        last = begin + 13 >= 60
        frames, stretch = stretch.push(mel[begin : begin + 13], last=last)
        chunk, state = v3.step([(state, frames, last)])[0]
        chunks.append(chunk)
    assert float((torch.cat(chunks) - v3.whole(slow)).abs().max()) < 1e-4


def test_the_pitch_is_kept(v3):
    """The fundamental of a still sound is the same at any speed."""
    still = speech(1).expand(200, 80)
    slow, _ = MelStretch(0.5).push(still, last=True)
    assert len(slow) == 400
    one, other = (torch.cat(streamed(v3, mel, [200]))[24_000:72_000] for mel in (still, slow))
    peaks = [int(torch.fft.rfft(sound).abs()[1:].argmax()) for sound in (one, other)]
    assert abs(peaks[0] - peaks[1]) <= 1
