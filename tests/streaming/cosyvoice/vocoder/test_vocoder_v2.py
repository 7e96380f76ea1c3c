"""Version 2: it sees both sides, so a stream comes close to the whole, and its borders are soft."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from vocoder_streams import loudness, speech, streamed

from streaming.cosyvoice.sizes import FRAME_SAMPLES
from streaming.cosyvoice.vocoder.v2 import (
    KEPT_FRAMES,
    OVERLAP_FRAMES,
    PITCH_REACH_FRAMES,
    VocoderV2,
    fades,
)

MEL = speech(150)
OVERLAP = OVERLAP_FRAMES * FRAME_SAMPLES


def test_an_utterance_in_one_piece_is_the_whole(v2):
    assert len(v2.whole(MEL)) == len(MEL) * FRAME_SAMPLES
    assert torch.equal(torch.cat(streamed(v2, MEL, [150])), v2.whole(MEL))


@settings(max_examples=10, deadline=None)
@given(hops=st.lists(st.integers(0, 60), min_size=1, max_size=8))
def test_any_cut_gives_a_stream_of_the_same_length(v2, hops):
    made = torch.cat(streamed(v2, MEL, hops))
    assert len(made) == len(MEL) * FRAME_SAMPLES
    assert bool(made.isfinite().all())


def test_all_sounds_but_eight_frames(v2):
    waiting, state = v2.step([(v2.begin(), MEL[: KEPT_FRAMES - 1], False)])[0]
    first, state = v2.step([(state, MEL[KEPT_FRAMES - 1 : 25], False)])[0]
    second, state = v2.step([(state, MEL[25:26], False)])[0]
    rest, state = v2.step([(state, MEL[:0], True)])[0]
    lengths = [len(chunk) / FRAME_SAMPLES for chunk in (waiting, first, second, rest)]
    assert lengths == [0, 25 - OVERLAP_FRAMES, 1, OVERLAP_FRAMES]
    assert state.ended


def test_a_stream_is_close_to_the_whole_and_closest_outside_the_fades(v2):
    whole = v2.whole(MEL)
    for hops in ([25] * 6, [16, 50, 50, 34], [100, 50]):
        chunks = streamed(v2, MEL, hops)
        error = torch.cat(chunks) - whole
        clear = [chunk_error[OVERLAP:] for chunk_error in error.split([len(c) for c in chunks])]
        assert loudness(error) < 0.25 * loudness(whole)
        assert loudness(torch.cat(clear)) < 0.03 * loudness(whole)


def test_the_source_goes_on_over_borders_as_if_there_were_none(v2, monkeypatch):
    heard = []

    def listen(self, mel, source, rows, run):
        heard.append(source[0])
        return decode(self, mel, source, rows, run)

    decode = VocoderV2.decode
    monkeypatch.setattr(VocoderV2, "decode", listen)
    v2.whole(MEL)
    whole = heard.pop()
    streamed(v2, MEL, [40, 25, 30, 55])
    unsure = PITCH_REACH_FRAMES * FRAME_SAMPLES + FRAME_SAMPLES // 2
    starts = [0, 30, 55, 85]
    for begin, source in zip(starts, heard, strict=True):
        sure = len(source) if source is heard[-1] else len(source) - unsure
        place = begin * FRAME_SAMPLES
        error = source[:sure] - whole[place : place + sure]
        assert float(error.abs().max()) < 1e-5


def test_no_border_has_a_larger_step_than_the_rest(v2):
    for hops in ([16] * 9 + [6], [10, 25, 50, 65], [30] * 5):
        chunks = streamed(v2, MEL, hops)
        steps = torch.cat(chunks).diff().abs()
        ends = torch.tensor([len(chunk) for chunk in chunks if len(chunk)]).cumsum(0)[:-1]
        fades_end = ends + OVERLAP_FRAMES * FRAME_SAMPLES
        borders = torch.cat([ends, fades_end[fades_end < len(steps)]]) - 1
        inside = torch.ones_like(steps, dtype=torch.bool)
        inside[borders] = False
        assert float(steps[borders].max()) <= float(steps[inside].max())


def test_the_fade_is_hammings_and_loses_and_adds_nothing():
    rising, falling = fades()
    assert len(rising) == OVERLAP_FRAMES * FRAME_SAMPLES
    assert torch.allclose(rising + falling, torch.ones_like(rising))
    assert torch.allclose(rising, falling.flip(0))
    hamming = torch.hamming_window(2 * len(rising), periodic=False)
    assert torch.allclose(rising / falling, hamming[: len(rising)] / hamming[len(rising) :])


def test_a_stream_holds_the_same_small_memory_however_long_it_is(v2):
    _, early = v2.step([(v2.begin(), MEL[:20], False)])[0]
    _, late = v2.step([(early, MEL, False)])[0]
    assert late.bytes == early.bytes < 30_000
