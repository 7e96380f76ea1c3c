"""The runner of CosyVoice: a model that is loaded, rests on the disk when asked to, and comes back.

Knows: when the model is in memory. Does not know: what it does there (``speech``).
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Sequence

from streaming.config import EngineSettings
from streaming.costs import Costs
from streaming.cosyvoice.capture import give_back
from streaming.cosyvoice.sizes import Generation
from streaming.cosyvoice.special_tokens import MARKS
from streaming.messages import Ready
from streaming.runners.base import Copied, Later, StepResult, Work
from streaming.runners.cosyvoice.models import build
from streaming.runners.cosyvoice.profile import priors
from streaming.runners.cosyvoice.rehearsal import Learned
from streaming.runners.cosyvoice.rhythm import ROOM, second, stages
from streaming.runners.cosyvoice.speech import Speech
from streaming.runners.cosyvoice.utterance import Utterance
from streaming.runners.cosyvoice.voices import LANGUAGES
from streaming.segment import Segment
from streaming.steps import Following, Want
from streaming.voices import catalog

SHORTEST_CHARS = 20
"""Ten Chinese characters, or five English tokens: of less the model makes too much or too little,
so it is spoken with the sentence after it. A segment of 200 has 60 to 80 tokens, as the models'
authors cut them."""


_OPTIONS: dict[Generation, tuple[str, ...]] = {
    "cosyvoice2": ("speed", "seed", "instruct", "interleaved"),
    "cosyvoice3": ("speed", "seed", "instruct", "interleaved", "instruct_interleaved"),
}
"""Version 3 reads an instruction before all text; version 2 would begin to speak within it."""


def create(settings: EngineSettings) -> CosyVoiceRunner:
    """Not loaded yet."""
    return CosyVoiceRunner(settings)


class CosyVoiceRunner:
    """CosyVoice 2 or 3, as the checkpoint says."""

    def __init__(self, settings: EngineSettings) -> None:
        self._settings = settings
        self._speech: Speech | None = None
        self._loading = threading.Lock()
        self._default = settings.default_voice or ""
        profile = settings.cosyvoice.profile
        guessed = priors(profile, settings.cosyvoice.flow_window_s)
        self._learned = None if profile is None else Learned(guessed)
        self.stages = stages(settings.cosyvoice.max_batch, guessed)
        self._room = 1.0

    def load(self) -> None:
        """The networks, the default voice; then a rehearsal, which tells what steps cost.

        Raises:
            ValueError, CheckpointError: it cannot be had as the settings have it.
            UnknownVoice: the default voice is not there.
        """
        models = build(self._settings)
        self._room = ROOM[models.device.type]
        ahead = 2 if models.device.type == "cuda" else 1
        speech = Speech(models, self._settings)
        self._default = self._default or speech.voices.own[0].id
        catalog.find(speech.voices.own, self._default)
        speech.voices.load(self._default)
        self._learned = speech.warm_up(self._default, self.stages, self._learned)
        most = self._settings.cosyvoice.max_batch
        self.stages = stages(most, self._learned.costs, ahead=ahead)
        self._speech = speech

    def unload(self) -> None:
        """Give the device's memory back; the next voice that is wanted brings all back."""
        if self._speech is not None:
            self._speech.close()
            self._speech = None
            _collect()
            give_back(all_of_it=True)

    def ready(self, slots: int) -> Ready:
        """Named speakers and starter voices; as many contexts as memory was taken for."""
        speech = self._loaded()
        models = speech.models
        return Ready(
            runner=models.generation,
            device=models.device_name,
            voices=speech.voices.own,
            default_voice=self._default,
            slots=min(slots, models.decoder.cache.slots),
            options=_OPTIONS[models.generation],
            cloning=True,
            clone_languages=LANGUAGES[models.generation],
            voice_model=models.listener.model,
            marks=MARKS,
            min_segment_chars=SHORTEST_CHARS,
        )

    def has_voice(self, voice: str) -> bool:
        """Whether what its recording says is in memory, and the model with it."""
        return self._speech is not None and self._speech.voices.has(voice)

    def load_voice(self, voice: str) -> None:
        """Read it, or listen to its recording where this model has not yet."""
        with self._loading:
            if self._speech is None:
                self.load()
        self._loaded().voices.load(voice)

    def forget_voice(self, voice: str) -> None:
        """Purge what is kept of it."""
        if self._speech is not None:
            self._speech.voices.forget(voice)

    def begin(self, work: Work) -> Utterance:
        """Its text as ids, and nothing made.

        Raises:
            SynthesisFailed: there is nothing to say.
        """
        return self._loaded().begin(work)

    def grow(self, work: Work, part: Segment) -> None:
        """More text of a segment that comes in parts.

        Raises:
            OutOfPositions: it is more than the LLM has room for.
            SynthesisFailed: there is nothing to say.
        """
        self._loaded().grow(work, part)

    def wants(self, work: Work, costs: Costs) -> Sequence[Want]:
        """As its progress says; before its first hop, its voice."""
        return self._loaded().wants(work, costs)

    def step(self, stage: str, batch: Sequence[Work]) -> Sequence[StepResult] | Later:
        """One step of the stage for each."""
        return self._loaded().step(stage, batch)

    def release(self, state: Utterance) -> None:
        """Its slot, its pages, its voice."""
        self._loaded().release(state)

    def second(self, lane: str, contexts: int) -> Sequence[Following]:
        """All voices share the networks."""
        del lane
        return second(contexts, self._room)

    def figures(self) -> dict[str, float]:
        """Memory that is left, and how often a voice was there when it was wanted."""
        return {} if self._speech is None else self._speech.figures()

    def copied(self) -> Sequence[Copied]:
        """Samples, and what left the device or came back."""
        return () if self._speech is None else self._speech.copies.take()

    def _loaded(self) -> Speech:
        assert self._speech is not None, "contexts have a voice, and that is loaded with the model"
        return self._speech


def _collect() -> None:
    """A model refers to itself: only the collector lets go of it, and not where it was frozen."""
    frozen = gc.get_freeze_count() > 0
    gc.unfreeze()
    gc.collect()
    if frozen:
        gc.freeze()
