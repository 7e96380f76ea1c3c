"""The runner of CosyVoice: three stages, each a batch of contexts at any position.

A step is prepared in the engine's thread, computed where its stage is computed, and taken in the
engine's thread again. Knows: how a segment goes through the stages. Does not know: what is in them,
deadlines, pauses.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from streaming.config import EngineSettings
from streaming.costs import Costs
from streaming.cosyvoice.prompt.spelling import spell
from streaming.cosyvoice.sizes import FRAMES_PER_TOKEN
from streaming.cosyvoice.vocoder import MelStretch
from streaming.errors import SynthesisFailed
from streaming.messages import Ready, Segment
from streaming.runners.base import Later, StepResult, Work
from streaming.runners.cosyvoice.flow_stage import FlowStage
from streaming.runners.cosyvoice.llm_stage import LlmStage
from streaming.runners.cosyvoice.models import build
from streaming.runners.cosyvoice.progress import Progress
from streaming.runners.cosyvoice.prompts import Prompts
from streaming.runners.cosyvoice.rhythm import FLOW, LLM, RHYTHMS, VOCODER, second, stages
from streaming.runners.cosyvoice.threads import FIRST, LAST, places
from streaming.runners.cosyvoice.utterance import Utterance
from streaming.runners.cosyvoice.vocoder_stage import VocoderStage
from streaming.runners.cosyvoice.voices import LANGUAGES, Voices
from streaming.steps import Cost, Following, Want
from streaming.voices import catalog
from streaming.voices.files import VoiceFiles

PRIORS = {LLM: Cost(0.01, 0.0005), FLOW: Cost(0.004, 0.0002), VOCODER: Cost(0.005, 0.0002)}
"""Before anything ran: about a small card."""

PRIORITIES = {LLM: FIRST, FLOW: LAST, VOCODER: FIRST}
"""The flow's steps are long; what goes before and after them is short, and waited for."""

_WARM_UP = "Ready to speak. 你好。"


class _StageOf(Protocol):
    def step(self, rows: Sequence[Utterance]) -> Later: ...


def create(settings: EngineSettings) -> CosyVoiceRunner:
    """Not loaded yet."""
    return CosyVoiceRunner(settings)


class CosyVoiceRunner:
    """CosyVoice 2 or 3, as the checkpoint says."""

    def __init__(self, settings: EngineSettings) -> None:
        self._settings = settings
        self._costs = Costs(PRIORS)
        self.stages = stages(settings.cosyvoice.max_batch, PRIORS, in_flight=1)

    def load(self) -> None:
        """The networks, the default voice; then one sentence, so that the first finds all warm.

        Raises:
            ValueError, CheckpointError: it cannot be had as the settings have it.
            UnknownVoice: the default voice is not there.
        """
        models = build(self._settings)
        on_gpu = models.device.type == "cuda"
        self._models = models
        self.stages = stages(
            self._settings.cosyvoice.max_batch, PRIORS, in_flight=2 if on_gpu else 1
        )
        where = places(models.device, PRIORITIES)
        self._llm = LlmStage(models.decoder, where[LLM])
        self._flow = FlowStage(models.flow, where[FLOW], self._settings.cosyvoice)
        self._vocoder = VocoderStage(models.vocoder, models.device, where[VOCODER])
        self._steps: dict[str, _StageOf] = {
            LLM: self._llm, FLOW: self._flow, VOCODER: self._vocoder,
        }  # fmt: skip
        self._rhythm = RHYTHMS[models.generation]
        self._prompts = Prompts(models.tokenizer, models.generation)
        self._voices = Voices(
            VoiceFiles(Path(self._settings.voices_dir)),
            models.listener,
            models.generation,
            models.speakers,
            models.voice_bytes,
        )
        self._default = self._settings.default_voice or self._voices.own[0].id
        catalog.find(self._voices.own, self._default)
        self.load_voice(self._default)
        self._warm_up()

    def ready(self, slots: int) -> Ready:
        """Named speakers and starter voices; as many contexts as memory was taken for."""
        models = self._models
        return Ready(
            runner=models.generation,
            device=models.device_name,
            voices=self._voices.own,
            default_voice=self._default,
            slots=min(slots, models.decoder.cache.slots),
            options=("speed", "seed", "instruct"),
            cloning=True,
            clone_languages=LANGUAGES[models.generation],
            voice_model=models.listener.model,
        )

    def has_voice(self, voice: str) -> bool:
        """Whether what its recording says is in memory."""
        return self._voices.has(voice)

    def load_voice(self, voice: str) -> None:
        """Read it, or listen to its recording where this model has not yet."""
        self._voices.load(voice)

    def forget_voice(self, voice: str) -> None:
        """Purge what is kept of it."""
        self._voices.forget(voice)

    def begin(self, work: Work) -> Utterance:
        """Its text as ids, and nothing made.

        Raises:
            SynthesisFailed: there is nothing to say.
        """
        text = self._ids(work.segment)
        if not text:
            raise SynthesisFailed(f"the model finds nothing to say in {work.segment.text[:80]!r}")
        voice = self._voices.take(work.voice)
        prompt = self._prompts.of(voice.spoken, work.instruct, work.segment.language, len(text))
        return Utterance(
            ctx=work.ctx,
            segment=work.segment.index,
            seed=work.seed,
            voice=voice,
            prompt=prompt,
            text=text,
            progress=Progress(
                self._rhythm,
                block_rest=self._rhythm.block_tokens,
                speed=work.speed,
                prefill_tokens=len(prompt.text) + len(text) + len(prompt.speech),
            ),
            stretch=MelStretch(work.speed),
            sound=self._models.vocoder.begin(_sound_seed(work)),
        )

    def wants(self, work: Work, costs: Costs) -> Sequence[Want]:
        """As its progress says; before its first hop, its voice."""
        self._costs = costs
        row: Utterance = work.state
        if self._flow.begin(row):
            return row.progress.wants(work.slack_s, costs)
        first = row.progress.block_rest
        frames = float(max(self._rhythm.block_tokens, len(row.voice.flow.prompt.tokens)))
        making = Want(FLOW, frames * FRAMES_PER_TOKEN, self._rhythm.render(first))
        llm = [want for want in row.progress.wants(work.slack_s, costs) if want.stage == LLM]
        return [*llm, making]

    def step(self, stage: str, batch: Sequence[Work]) -> Sequence[StepResult] | Later:
        """One step of the stage for each."""
        later = self._steps[stage].step([work.state for work in batch])
        return later.land(later.made.result()) if later.made.done() else later

    def release(self, state: Utterance) -> None:
        """Its slot, its pages, its voice."""
        self._llm.release(state)
        self._voices.give_back(state.voice)
        state.flow = state.hop = None

    def figures(self) -> dict[str, float]:
        """Memory that is left, and how often a voice was there when it was wanted."""
        models, voices = self._models, self._voices
        pool = models.flow.pool
        return {
            "llm_slots_free": models.decoder.free_slots,
            "flow_bytes_free": pool.free * pool.page_bytes,
            "voice_bytes": voices.device_bytes,
            "voice_hits": voices.hits.hits,
            "voice_misses": voices.hits.misses,
        }

    def second(self, lane: str, contexts: int) -> Sequence[Following]:
        """All voices share the networks."""
        del lane
        return second(contexts)

    def _ids(self, segment: Segment) -> tuple[int, ...]:
        spelled = spell(segment, self._models.generation)
        return tuple(self._models.tokenizer.encode(spelled.text, control=False))

    def _warm_up(self) -> None:
        segment = Segment(
            index=0, text=_WARM_UP, source=_WARM_UP, char_start=0, char_end=len(_WARM_UP),
            ending="end",
        )  # fmt: skip
        work = Work(ctx=0, segment=segment, voice=self._default, speed=1.0, seed=0)
        state = self.begin(work)
        work = Work(ctx=0, segment=segment, voice=self._default, speed=1.0, seed=0, state=state)
        done = False
        while not done:
            for want in self.wants(work, self._costs):
                results = self.step(want.stage, [work])
                if isinstance(results, Later):
                    results = results.land(results.made.result())
                (result,) = results
                if isinstance(result, Exception):
                    raise result
                done = done or result.done
        self.release(state)


def _sound_seed(work: Work) -> int:
    """The vocoder's noise is the segment's own."""
    return work.seed * 1_000_003 + work.segment.index
