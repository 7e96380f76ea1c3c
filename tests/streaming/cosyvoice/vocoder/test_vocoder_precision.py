"""Half precision: the body alone is in it, pitch, phase and transforms are not."""

import pytest
import torch
from vocoder_streams import filled, loudness, speech, streamed

from streaming.cosyvoice.vocoder import VocoderV2, VocoderV3

MEL = speech(60)
ERRORS = {torch.float16: 0.005, torch.bfloat16: 0.03}
"""Of the whole's loudness; about a fifth of it is seen at golden size."""


@pytest.mark.parametrize("dtype", ERRORS)
@pytest.mark.parametrize("kind", [VocoderV2, VocoderV3])
def test_half_precision_stays_within_its_error(kind, dtype):
    whole = filled(kind).whole(MEL)
    half = filled(kind, dtype)
    assert half.dtype is dtype
    error = half.whole(MEL) - whole
    assert half.whole(MEL).dtype is torch.float32
    assert loudness(error) < ERRORS[dtype] * loudness(whole)


@pytest.mark.parametrize("dtype", ERRORS)
def test_streamed_in_half_precision_version_3_is_its_own_whole(dtype):
    half = filled(VocoderV3, dtype)
    whole = half.whole(MEL)
    error = torch.cat(streamed(half, MEL, [9, 16, 25, 10])) - whole
    assert loudness(error) < ERRORS[dtype] * loudness(whole)


@pytest.mark.parametrize("dtype", ERRORS)
def test_pitch_phase_and_transforms_stay_exact(dtype):
    half = filled(VocoderV3, dtype)
    assert {value.dtype for value in half.f0_predictor.state_dict().values()} == {torch.float64}
    assert {value.dtype for value in half.m_source.state_dict().values()} == {torch.float32}
    assert {value.dtype for value in half.fourier.buffers()} == {torch.float32}
    assert half.begin().exact.dtype is torch.float64
    assert half.begin().carried.dtype is dtype
