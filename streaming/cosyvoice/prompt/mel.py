"""Spectra of a recording in the forms that the networks were trained on.

Sources: Slaney's mel scale (Auditory Toolbox, 1998); Whisper's log-mel (Radford and others, 2022);
the 24 kHz mel frames of HiFi-GAN's family; Kaldi's filterbank. Knows: numpy, kaldi-native-fbank.
Does not know: files, networks.
"""

from __future__ import annotations

from functools import cache

import kaldi_native_fbank
import numpy as np
from numpy.typing import NDArray

from streaming.audio.pcm import Float32
from streaming.cosyvoice.sizes import FRAME_SAMPLES, MEL_BANDS, Generation
from streaming.samples import SAMPLE_RATE

Float64 = NDArray[np.float64]

NARROW_RATE = 16_000
"""What the speech tokenizer and the speaker network listen at."""

WHISPER_WINDOW, WHISPER_HOP, WHISPER_BANDS = 400, 160, 128
PROMPT_WINDOW = 1920
HIGHEST_HZ: dict[Generation, float] = {"cosyvoice2": 8000.0, "cosyvoice3": SAMPLE_RATE / 2}
KALDI_BANDS = 80

_LINEAR_HZ = 200.0 / 3.0
"""A mel, below 1 kHz; above, 27 mels are a factor of 6.4."""
_LOG_FROM_HZ = 1000.0
_LOG_STEP = np.log(6.4) / 27.0


def whisper_log_mel(samples: Float32) -> Float32:
    """``(128, T)`` of 16 kHz samples, 100 frames a second; at least 201 samples."""
    spectrum = _power(samples, WHISPER_WINDOW, WHISPER_HOP, WHISPER_WINDOW // 2)[:, :-1]
    mel = _filters(NARROW_RATE, WHISPER_WINDOW, WHISPER_BANDS, NARROW_RATE / 2) @ spectrum
    log = np.log10(np.maximum(mel, 1e-10))
    log = np.maximum(log, log.max() - 8.0)
    scaled: Float32 = ((log + 4.0) / 4.0).astype(np.float32)
    return scaled


def prompt_mel(samples: Float32, generation: Generation) -> Float32:
    """``(80, T)`` of 24 kHz samples, 50 frames a second; at least 721 samples."""
    power = _power(samples, PROMPT_WINDOW, FRAME_SAMPLES, (PROMPT_WINDOW - FRAME_SAMPLES) // 2)
    filters = _filters(SAMPLE_RATE, PROMPT_WINDOW, MEL_BANDS, HIGHEST_HZ[generation])
    mel = filters @ np.sqrt(power + 1e-9)
    return np.log(np.maximum(mel, 1e-5)).astype(np.float32)


def kaldi_filterbank(samples: Float32) -> Float32:
    """``(T, 80)`` of 16 kHz samples, 100 frames a second, without dither."""
    options = kaldi_native_fbank.FbankOptions()
    options.frame_opts.samp_freq = NARROW_RATE
    options.frame_opts.dither = 0.0
    options.mel_opts.num_bins = KALDI_BANDS
    bank = kaldi_native_fbank.OnlineFbank(options)
    bank.accept_waveform(NARROW_RATE, samples)
    bank.input_finished()
    frames = [bank.get_frame(index) for index in range(bank.num_frames_ready)]
    return np.stack(frames).astype(np.float32)


def _power(samples: Float32, window: int, hop: int, pad: int) -> Float64:
    """``(window // 2 + 1, T)``: the power spectrum under a periodic Hann window."""
    padded = np.pad(samples.astype(np.float64), pad, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, window)[::hop]
    hann = 0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(window) / window)
    spectrum = np.fft.rfft(frames * hann, axis=1)
    return (spectrum.real**2 + spectrum.imag**2).T


@cache
def _filters(rate: int, window: int, bands: int, highest_hz: float) -> Float64:
    """``(bands, window // 2 + 1)``: triangles of equal area, their corners equally far in mels."""
    bins_hz = np.arange(window // 2 + 1) * rate / window
    corners = _to_hz(np.linspace(0.0, _to_mel(highest_hz), bands + 2))
    widths = np.diff(corners)
    slopes = (bins_hz - corners[:, None]) / np.append(widths, 1.0)[:, None]
    rising = slopes[:-2]
    falling = (corners[2:, None] - bins_hz) / widths[1:, None]
    triangles = np.maximum(0.0, np.minimum(rising, falling))
    filters: Float64 = triangles * (2.0 / (corners[2:] - corners[:-2]))[:, None]
    return filters


def _to_mel(hz: float) -> float:
    if hz < _LOG_FROM_HZ:
        return hz / _LINEAR_HZ
    return float(_LOG_FROM_HZ / _LINEAR_HZ + np.log(hz / _LOG_FROM_HZ) / _LOG_STEP)


def _to_hz(mels: Float64) -> Float64:
    knee = _LOG_FROM_HZ / _LINEAR_HZ
    above = _LOG_FROM_HZ * np.exp(_LOG_STEP * (np.maximum(mels, knee) - knee))
    return np.where(mels < knee, mels * _LINEAR_HZ, above)
