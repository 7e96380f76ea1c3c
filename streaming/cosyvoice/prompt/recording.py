"""A stranger's file as a recording of a voice: mono, 24 kHz, trimmed, at a usual level; or why not.

Knows: what a voice can be made of. Does not know: containers, decoders, networks.
"""

from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np
import soundfile

from streaming.audio import pcm
from streaming.audio.pcm import Float32
from streaming.audio.wav import wav_file
from streaming.cosyvoice.prompt import container
from streaming.cosyvoice.prompt.decoding import LONGEST_S, Decoded, decode
from streaming.cosyvoice.prompt.loudness import find_speech
from streaming.errors import (
    ClippedRecording,
    NoSpeech,
    NotAudio,
    RecordingTooLong,
    RecordingTooShort,
    SilentRecording,
)
from streaming.samples import SAMPLE_RATE

SHORTEST_S = 1.0
ADVISED_S = 3.0
"""Shorter than this it works, less like the voice."""

ADVISED_RATE = 16_000

SILENCE = 1e-3
"""-60 dBFS: what stays below all through is no recording."""
FAINT = 0.03
"""-30 dBFS: lifted, with its noise."""
QUIETEST_PEAK, LOUDEST_PEAK = 0.3, 0.8
"""The voice speaks about as loud as its prompt, so prompts are brought between these."""

STEADY_DB = 3.0
"""Speech rises and falls by far more; a hum, a tone and noise do not."""

REFUSED_CUT_SHARE = 0.005
"""Of the samples: at this much the voice sounds torn, and what is made with it too."""
NOTICED_CUT_SHARE = 0.0005

ONE_SIDED = 0.4
"""Where the mean of the channels is so much weaker than the strongest, the others are not the
same voice: empty, of opposite sign, or something else."""


@dataclass(frozen=True)
class Recording:
    """Speech to make a voice of."""

    samples: Float32
    """Mono, 24 kHz, each an exact 16-bit value, so that ``wav`` holds just this."""
    warnings: tuple[str, ...] = ()

    @property
    def duration_s(self) -> float:
        """How long it is."""
        return len(self.samples) / SAMPLE_RATE

    @property
    def wav(self) -> bytes:
        """A whole WAVE file of it."""
        return wav_file(pcm.to_bytes(pcm.from_float(self.samples)))


def read(data: bytes) -> Recording:
    """The recording in a file of any name.

    Raises:
        BadRecording: no voice can be made of it; each reason has a class of its own.
    """
    kind = container.kind_of(data)
    warnings = container.check_whole(data, kind)
    decoded = decode(data, kind)
    _refuse_short(decoded)
    samples = _trimmed(_centred(mono(decoded.channels)))
    _refuse_clipped(decoded.cut_share)
    warnings += tuple(_advice(decoded, samples))
    return Recording(_levelled(samples), warnings)


def from_wav(wav: bytes) -> Float32:
    """The samples of a ``Recording.wav``, exactly.

    Raises:
        NotAudio: it is no such file.
    """
    try:
        samples, rate = soundfile.read(io.BytesIO(wav), dtype="int16")
    except soundfile.LibsndfileError as error:
        raise NotAudio("the stored recording is no WAVE file") from error
    if rate != SAMPLE_RATE or samples.ndim != 1:
        raise NotAudio(f"the stored recording is not mono at {SAMPLE_RATE} Hz")
    return pcm.to_float(samples)


def mono(channels: Float32) -> Float32:
    """One channel of several: their mean, or the strongest where the mean is not the voice."""
    mean: Float32 = channels.mean(axis=0, dtype=np.float32)
    strengths = np.sqrt(np.mean(channels.astype(np.float64) ** 2, axis=1))
    strength = np.sqrt(np.mean(mean.astype(np.float64) ** 2))
    strongest = int(np.argmax(strengths))
    return channels[strongest] if strength < ONE_SIDED * strengths[strongest] else mean


def _refuse_short(decoded: Decoded) -> None:
    length_s = decoded.channels.shape[1] / SAMPLE_RATE
    if length_s < SHORTEST_S:
        raise RecordingTooShort(f"the recording has {length_s:.1f} s; {_lengths()}")


def _centred(samples: Float32) -> Float32:
    """Without the constant that a bad sound card adds.

    Raises:
        SilentRecording: nothing is left.
    """
    constant = np.float32(samples.mean(dtype=np.float64))
    centred: Float32 = samples - constant if abs(constant) > SILENCE else samples
    if np.abs(centred).max() < SILENCE:
        raise SilentRecording(
            "the recording is silent: nothing in it is louder than -60 dB below full scale. Check "
            "that the right microphone was chosen and not muted"
        )
    return centred


def _trimmed(samples: Float32) -> Float32:
    speech = find_speech(samples)
    if speech.range_db < STEADY_DB:
        raise NoSpeech(
            "the recording is a steady sound: its loudness changes by "
            f"{speech.range_db:.1f} dB where speech changes by 10 and more"
        )
    kept_s, heard_s = (speech.end - speech.begin) / SAMPLE_RATE, speech.heard_samples / SAMPLE_RATE
    if kept_s < SHORTEST_S:
        raise RecordingTooShort(
            f"{heard_s:.1f} s of the recording are speech, the rest is silence; {_lengths()}"
        )
    if heard_s > LONGEST_S:
        raise RecordingTooLong(
            f"the recording has {heard_s:.1f} s; {_lengths()}, with the transcript of that part"
        )
    longest_samples = int(LONGEST_S * SAMPLE_RATE)
    return samples[speech.begin : min(speech.end, speech.begin + longest_samples)]


def _lengths() -> str:
    return f"send {SHORTEST_S:g} to {LONGEST_S:g} s, best 3 to 10"


def _refuse_clipped(share: float) -> None:
    if share > REFUSED_CUT_SHARE:
        raise ClippedRecording(
            f"{share:.1%} of the samples are cut off at the top: it was recorded too loud. Record "
            "it again with the level turned down; making the file quieter does not help"
        )


def _advice(decoded: Decoded, samples: Float32) -> list[str]:
    peak = float(np.abs(samples).max())
    advice = {
        f"recorded at {decoded.rate:,} samples a second: the voice will sound muffled; "
        f"{ADVISED_RATE:,} or more are better": decoded.rate < ADVISED_RATE,
        f"{len(samples) / SAMPLE_RATE:.1f} s of speech: the voice will be more like it with "
        f"{ADVISED_S:g} to 10 s": len(samples) < ADVISED_S * SAMPLE_RATE,
        "some of the loudest samples are cut off: recorded a little too loud": decoded.cut_share
        > NOTICED_CUT_SHARE,
        "recorded very quietly: it was made louder, and its noise with it": peak < FAINT,
    }
    return [sentence for sentence, holds in advice.items() if holds]


def _levelled(samples: Float32) -> Float32:
    """Within the usual peaks, and rounded to 16 bits."""
    peak = float(np.abs(samples).max())
    wanted = min(max(peak, QUIETEST_PEAK), LOUDEST_PEAK)
    return pcm.to_float(pcm.from_float(samples * np.float32(wanted / peak)))
