"""The embedded voice: hibari, English, in its wheel; nothing to download, any CPU.

One step is one piece of a segment, nearly always the whole of it: 7 to 90 ms. What a piece sounds
like depends on its text, the context's seed and its place alone, never on what else runs. Knows:
hibari, and its failure modes, which end here as errors of ours. Does not know: contexts, pauses.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from hibari import Hibari
from hibari.g2p import G2P
from hibari.voices import DEFAULT, VOICES, voice_path

from streaming.config import EngineSettings
from streaming.errors import CosystreamError, SynthesisFailed
from streaming.messages import Ready, Voice
from streaming.runners.base import SPEECH, Made, OneStage, Samples, StepResult, Work
from streaming.runners.english import Foreign, prepare_segment
from streaming.runners.pieces import join_piece, split_phonemes
from streaming.runners.sanity import require_length, require_speech
from streaming.segment import Segment
from streaming.steps import Cost, Stage
from streaming.voices import catalog

LONGEST_PHONEME_S = 0.3
"""Speech takes about 0.06 s a phoneme; far beyond that the model has lost its way."""

_WARM_UP = ("Ready.", "This is a sentence of the usual length, to warm up 2 times.", "Zyxgor?")


@dataclass(frozen=True)
class _Rest:
    """Phonemes of a segment still to be spoken, and how many pieces were."""

    pieces: tuple[str, ...]
    spoken: int


class EmbeddedRunner(OneStage):
    """hibari's voices, one context a step: its steps are too short to gain by batching."""

    stages = (Stage(SPEECH, prior=Cost(unit_s=0.0003)),)
    units_per_s = 15.0
    """Characters of English in a second of speech."""
    usual_units = 60.0
    """Of a sentence, which is a step."""
    room = 1.6
    """As measured at twice the capacity on two cores: with 1.25 four in a hundred had a gap."""

    def __init__(self, settings: EngineSettings, others: Sequence[Voice] = ()) -> None:
        """``others``: voices that are not its own, to name those that can what its own cannot."""
        _refuse(settings)
        self._settings = settings
        self._default = settings.default_voice or DEFAULT
        self._voices = _voices(download=settings.allow_downloads)
        self.known_voices = (*self._voices, *others)
        self._models: dict[str, Any] = {}
        self._g2p: dict[bool, Any] = {}

    def load(self) -> None:
        """The default voice, warm.

        Raises:
            UnknownVoice: the settings name one that is not there.
        """
        catalog.find(self.known_voices, self._default)
        self.load_voice(self._default)

    def ready(self, slots: int) -> Ready:
        """The voices on disk; all that there are where downloads are allowed."""
        return Ready(
            runner="embedded",
            device="cpu",
            voices=self._voices,
            default_voice=self._default,
            slots=slots,
            options=("speed", "seed"),
        )

    def step_units(self, segment: Segment) -> float:
        """Its characters."""
        return float(len(segment.text))

    def has_voice(self, voice: str) -> bool:
        """Whether its model is in memory."""
        return voice in self._models

    def load_voice(self, voice: str) -> None:
        """Read its model and its pronunciation side by side, then speak a little.

        Raises:
            FileNotFoundError: it is not on disk and may not be downloaded.
            RuntimeError: it could not be downloaded.
        """
        path = voice_path(voice, download_missing=self._settings.allow_downloads)
        with ThreadPoolExecutor(max_workers=1) as pool:
            g2p = pool.submit(self._pronunciation, VOICES[voice]["british"])
            model = Hibari(voice, model=path, threads=self._settings.threads)
            model._g2p = g2p.result()  # noqa: SLF001 - its constructor takes one only beforehand
        for text in _WARM_UP:
            model(text, seed=0)
        self._models[voice] = model

    def step(self, stage: str, batch: Sequence[Work]) -> list[StepResult]:
        """The next piece of each."""
        del stage
        return [self._step(work) for work in batch]

    def _step(self, work: Work) -> Made | Exception:
        model = self._models[work.voice]
        try:
            rest = work.state or _Rest(self._phonemes(model, work), 0)
            samples = _speak(model, work, rest)
        except CosystreamError as error:
            return error
        pieces = rest.pieces[1:]
        joined = join_piece(samples, first=rest.spoken == 0, last=not pieces)
        return Made(joined, done=not pieces, state=_Rest(pieces, rest.spoken + 1))

    def _pronunciation(self, british: bool) -> Any:
        if british not in self._g2p:
            self._g2p[british] = G2P(british=british)
        return self._g2p[british]

    def _phonemes(self, model: Any, work: Work) -> tuple[str, ...]:
        try:
            text = prepare_segment(
                work.segment, frozenset(model.g2p.oov.cin), british=model.g2p.british
            )
        except Foreign as foreign:
            voice = catalog.find(self._voices, work.voice)
            what = f"{foreign.script} ({foreign.letters[:20]})"
            raise catalog.cannot_speak(self.known_voices, voice, what, foreign.language) from None
        phonemes = model.g2p(text)
        if not any(char.isalpha() for char in phonemes):
            raise SynthesisFailed(f"the voice finds nothing to say in {work.segment.text[:80]!r}")
        return split_phonemes(phonemes)


def _speak(model: Any, work: Work, rest: _Rest) -> Samples:
    piece = rest.pieces[0]
    samples: Samples = model.from_ids(model.ids(piece), work.speed, _noise(work, rest.spoken))
    require_length(work, len(samples), len(piece), LONGEST_PHONEME_S)
    require_speech(work, samples)
    return samples


def _noise(work: Work, piece: int) -> np.random.Generator:
    """A source of noise of this piece's own: the same whatever else is spoken."""
    segment = work.segment
    key = f"{work.seed}/{segment.index}/{piece}/{segment.text}".encode()
    return np.random.default_rng(int.from_bytes(hashlib.blake2b(key, digest_size=16).digest()))


def _voices(*, download: bool) -> tuple[Voice, ...]:
    return tuple(
        Voice(
            id=name,
            name=name.capitalize(),
            languages=("en",),
            description=f"{about['accent']} English, {about['gender']}",
        )
        for name, about in VOICES.items()
        if download or _on_disk(name)
    )


def _on_disk(name: str) -> bool:
    try:
        voice_path(name, download_missing=False)
    except FileNotFoundError:
        return False
    return True


def _refuse(settings: EngineSettings) -> None:
    """Say no to what the embedded voice would otherwise silently not do."""
    if settings.device == "cuda":
        raise ValueError("engine.device is 'cuda', but the embedded voice runs on the CPU alone")
    if settings.precision != "fp32":
        raise ValueError(
            f"engine.precision is {settings.precision!r}, but the embedded voice has one of its own"
        )
    if settings.model is not None:
        raise ValueError(
            f"engine.model is {settings.model!r}, but the embedded voice brings its own"
        )
