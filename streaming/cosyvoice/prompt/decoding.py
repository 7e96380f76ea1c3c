"""A file's samples at 24 kHz, no more of them than can be of use, and how many were cut off.

Nothing is decoded beyond the longest recording there may be, whatever the file holds or says that
it holds. Knows: libsndfile, soxr. Does not know: what a good recording is.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import soundfile
import soxr
from numpy.typing import NDArray

from streaming.audio.pcm import Float32
from streaming.cosyvoice.prompt import container
from streaming.cosyvoice.prompt.container import TAKEN, Kind
from streaming.errors import DamagedRecording, NotAudio, RecordingTooLong, UnusualRecording
from streaming.samples import SAMPLE_RATE

LONGEST_S = 30.0
"""The speech tokenizer takes no more."""

SPARE_S = 0.5
"""So much more is read: silence at the ends does not count, and codecs add some."""

LOWEST_RATE, HIGHEST_RATE = 8_000, 192_000
MOST_CHANNELS = 8
BLOCK_FRAMES = 16_384
SHORT_OF_PROMISE = 0.98
"""A file with less of what its header promises was cut off; encoders' own delays are less."""

FULL_SCALE = 0.999
FLAT = 1e-4
"""Neighbours this alike, in relation to themselves, are level."""
FLAT_SAMPLES = 4
"""So many level samples in a row at the top are no sound's own shape."""
TOP = 0.97
"""From here up to the peak is the top."""

_FORMATS = {"WAV", "WAVEX", "RF64", "FLAC", "MP3", "OGG"}
_FLOATS = {"FLOAT", "DOUBLE"}


@dataclass(frozen=True)
class Decoded:
    """A file's sound, each channel for itself."""

    channels: Float32
    """``(C, T)``, 24 kHz."""
    rate: int
    """Of the file."""
    cut_share: float
    """Share of the file's samples that lie on a flat top or beyond full scale."""


class Tops:
    """Counts samples on flat tops, over blocks, without keeping any of them."""

    def __init__(self, *, bounded: bool) -> None:
        """``bounded``: full scale is an end, as it is not for samples stored as floats."""
        self._bounded = bounded
        self._level: Counter[int] = Counter()
        self._over = 0
        self._total = 0
        self._peak = 0.0

    def push(self, block: Float32) -> None:
        """Take ``(T, C)`` more samples into account."""
        loud = np.abs(block)
        self._total += loud.size
        self._peak = max(self._peak, float(loud.max(initial=0.0)))
        if self._bounded:
            self._over += int(np.count_nonzero(loud >= FULL_SCALE))
        level = np.abs(np.diff(block, axis=0)) <= FLAT * loud[1:]
        runs = level[2:] & level[1:-1] & level[:-2]
        tops = loud[FLAT_SAMPLES - 1 :][runs]
        tops = tops[tops >= TOP * self._peak]
        steps, counts = np.unique(_step(tops), return_counts=True)
        self._level.update(dict(zip(steps.tolist(), counts.tolist(), strict=True)))

    @property
    def share(self) -> float:
        """Of all samples so far."""
        if self._peak == 0.0:
            return 0.0
        highest = int(_step(np.array([self._peak], np.float32))[0])
        flat = self._level[highest] + self._level[highest - 1]
        return max(flat, self._over) / self._total


def _step(values: Float32) -> NDArray[np.int64]:
    """On a scale of equal ratios, each ``TOP``."""
    steps: NDArray[np.int64] = np.floor(np.log(np.maximum(values, 1e-9)) / -np.log(TOP)).astype(
        np.int64
    )
    return steps


def decode(data: bytes, kind: Kind) -> Decoded:
    """The samples of a file of that kind.

    Raises:
        NotAudio: the decoder makes nothing of it.
        DamagedRecording: it ends too soon, or holds samples that are no numbers.
        UnusualRecording: rates and channels that no recording of a voice has.
        RecordingTooLong: it holds more than 30 s.
    """
    try:
        with soundfile.SoundFile(io.BytesIO(data)) as file:
            _check(file)
            promised = 0 if kind == "mp3" and not container.mp3_tells_length(data) else file.frames
            _check_length(promised / file.samplerate)
            return _read(file, promised)
    except soundfile.LibsndfileError as error:
        raise NotAudio(
            f"the file cannot be decoded: it is damaged, or not the {kind} that it begins like; "
            f"send {TAKEN}"
        ) from error


def _check(file: soundfile.SoundFile) -> None:
    if file.format not in _FORMATS:
        raise NotAudio(f"the file is {file.format}, which is not read here: send {TAKEN}")
    if not LOWEST_RATE <= file.samplerate <= HIGHEST_RATE:
        raise UnusualRecording(
            f"the file has {file.samplerate:,} samples a second; {LOWEST_RATE:,} to "
            f"{HIGHEST_RATE:,} are taken, and a voice is best recorded at 24,000 or more"
        )
    if not 1 <= file.channels <= MOST_CHANNELS:
        raise UnusualRecording(
            f"the file has {file.channels} channels; up to {MOST_CHANNELS} are taken"
        )


def _check_length(length_s: float) -> None:
    if length_s > LONGEST_S + SPARE_S:
        raise RecordingTooLong(
            f"the recording is longer than {LONGEST_S:g} s: send 1 to {LONGEST_S:g} s of it, with "
            "the transcript of just that part"
        )


def _read(file: soundfile.SoundFile, promised: int) -> Decoded:
    tops = Tops(bounded=file.subtype not in _FLOATS)
    stream = None
    if file.samplerate != SAMPLE_RATE:
        stream = soxr.ResampleStream(
            file.samplerate, SAMPLE_RATE, file.channels, dtype="float32", quality="VHQ"
        )
    parts: list[Float32] = []
    for block in _blocks(file, promised):
        tops.push(block)
        parts.append(block if stream is None else stream.resample_chunk(block))
    if stream is not None:
        nothing = np.zeros((0, file.channels), np.float32)
        parts.append(stream.resample_chunk(nothing, last=True))
    whole = np.concatenate(parts or [np.zeros((0, file.channels), np.float32)])
    return Decoded(np.ascontiguousarray(whole.T), file.samplerate, tops.share)


def _blocks(file: soundfile.SoundFile, promised: int) -> Iterator[Float32]:
    """The file a block ``(T, C)`` at a time, to its end or to the most that is read."""
    read = 0
    while len(block := _next_block(file)):
        read += len(block)
        _check_length(read / file.samplerate)
        if not np.isfinite(block).all():
            raise DamagedRecording("the file holds samples that are no numbers (NaN or infinite)")
        yield block
    if read < SHORT_OF_PROMISE * promised:
        raise DamagedRecording(
            f"the file is cut off: its header says {promised / file.samplerate:.1f} s, "
            f"{read / file.samplerate:.1f} s are there"
        )


def _next_block(file: soundfile.SoundFile) -> Float32:
    try:
        block: Float32 = file.read(BLOCK_FRAMES, dtype="float32", always_2d=True)
    except soundfile.LibsndfileError as error:
        raise DamagedRecording(
            "the file is damaged or cut off: only its beginning can be decoded"
        ) from error
    return block
