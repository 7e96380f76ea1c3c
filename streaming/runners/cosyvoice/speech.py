"""A loaded model at work: a segment's way through the stages.

A step is prepared in the engine's thread, computed where its stage is computed, and taken in the
engine's thread again. Knows: stages, voices. Does not know: how a segment begins
(``utterances.py``), settings of a server, when a model is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from streaming.config import EngineSettings
from streaming.costs import Costs
from streaming.cosyvoice.capture import give_back
from streaming.cosyvoice.sizes import FRAMES_PER_TOKEN
from streaming.engine.notes import note, note_error
from streaming.host import DEVICE_SHORT
from streaming.runners.base import Later, StepResult, Work
from streaming.runners.cosyvoice.card import Watch
from streaming.runners.cosyvoice.copies import Copies
from streaming.runners.cosyvoice.copy_log import NOTHING_KEPT, copy_log
from streaming.runners.cosyvoice.device import card_of
from streaming.runners.cosyvoice.flow_stage import FlowStage
from streaming.runners.cosyvoice.llm_stage import LlmStage
from streaming.runners.cosyvoice.lost import DeviceLost, lost
from streaming.runners.cosyvoice.models import Models
from streaming.runners.cosyvoice.parking import Parking
from streaming.runners.cosyvoice.rehearsal import Learned, Rehearsal
from streaming.runners.cosyvoice.rhythm import FLOW, LLM, RHYTHMS, VOCODER
from streaming.runners.cosyvoice.threads import FIRST, LAST, places
from streaming.runners.cosyvoice.utterance import Utterance
from streaming.runners.cosyvoice.utterances import Utterances
from streaming.runners.cosyvoice.vocoder_stage import VocoderStage
from streaming.runners.cosyvoice.voices import Voices
from streaming.segment import Segment
from streaming.steps import Stage, Want
from streaming.voices.files import VoiceFiles

PRIORITIES = {LLM: FIRST, FLOW: LAST, VOCODER: FIRST}
"""The flow's steps are long; what goes before and after them is short, and waited for."""


class _StageOf(Protocol):
    def step(self, rows: Sequence[Utterance]) -> Later: ...


class Speech:
    """Networks, voices and stages that belong together."""

    def __init__(self, models: Models, settings: EngineSettings) -> None:
        self.models = models
        self.copies = copy_log(models.device) if settings.trace else NOTHING_KEPT
        self.voices = Voices(
            VoiceFiles(Path(settings.voices_dir)),
            models.listener,
            models.generation,
            models.speakers,
            models.flow,
            models.share,
            self.copies,
        )
        streams = settings.cosyvoice.streams
        self._places = places(models.device, PRIORITIES, streams)
        self._llm = LlmStage(models.decoder, self._places[LLM])
        self._parking = Parking(models.flow, self._free_host, self.copies)
        self._flow = FlowStage(
            models.flow,
            self._places[FLOW],
            settings.cosyvoice,
            self._make_room,
            self._parking,
            self.copies,
        )
        copies = Copies(models.device, streams, self.copies)
        self._vocoder = VocoderStage(models.vocoder, models.device, self._places[VOCODER], copies)
        self._steps: dict[str, _StageOf] = {
            LLM: self._llm,
            FLOW: self._flow,
            VOCODER: self._vocoder,
        }
        self._watch = _watch(models, self._spare)
        self._rhythm = RHYTHMS[models.generation]
        self._max_batch = settings.cosyvoice.max_batch
        self._precision = settings.precision
        self._utterances = Utterances(models.tokenizer, models.generation, models.vocoder)
        self._lost: BaseException | None = None

    def begin(self, work: Work) -> Utterance:
        """Its text as ids, and nothing made.

        Raises:
            SynthesisFailed: there is nothing to say.
        """
        text = self._utterances.text_of(work)
        voice = self.voices.take(work.voice)
        try:
            row = self._utterances.begin(work, text, voice, self._rhythm)
            self._llm.grow(row)
        except BaseException:
            self.voices.give_back(voice)
            raise
        self._parking.add(work)
        return row

    def grow(self, work: Work, part: Segment) -> None:
        """More text of a segment, or that it is complete.

        Raises:
            OutOfPositions: it is more than the LLM has room for.
            SynthesisFailed: there is nothing to say.
        """
        row: Utterance = work.state
        self._utterances.grow(row, work, part)
        self._llm.grow(row)

    def wants(self, work: Work, costs: Costs) -> Sequence[Want]:
        """As its progress says; before its first hop, its voice."""
        row: Utterance = work.state
        begun = self._flow.begin(row)
        wants = row.progress.wants(work.slack_s, costs)
        work.starved = row.progress.llm_waits and not wants
        if begun:
            return wants
        first = row.progress.block_rest
        frames = float(max(self._rhythm.block_tokens, len(row.voice.flow.prompt.tokens)))
        making = Want(FLOW, frames * FRAMES_PER_TOKEN, self._rhythm.render(first))
        return [*(want for want in wants if want.stage == LLM), making]

    def step(self, stage: str, batch: Sequence[Work]) -> Sequence[StepResult] | Later:
        """One step of the stage for each.

        Raises:
            DeviceLost: no step can be computed any more.
        """
        self._look()
        later = self._steps[stage].step([work.state for work in batch])
        later.made.add_done_callback(self._notice)
        return later.land(later.made.result()) if later.made.done() else later

    def release(self, state: Utterance) -> None:
        """Its slot, its pages, its voice."""
        self._parking.drop(state)
        self._llm.release(state)
        state.flow = state.hop = None
        self.voices.give_back(state.voice)
        if self.voices.pages.too_many:
            self._aside(FLOW, self.voices.pages.trim)
        if self.voices.prefixes.too_many:
            self._aside(LLM, self.voices.prefixes.trim)

    def figures(self) -> dict[str, float]:
        """Memory that is left, and how often a voice was there when it was wanted.

        Raises:
            DeviceLost: as a step does.
        """
        self._look()
        models, voices = self.models, self.voices
        pool = models.flow.pool
        figures: dict[str, float] = {
            "llm_slots_free": models.decoder.free_slots,
            "flow_bytes_free": pool.free * pool.page_bytes,
            "flow_host_bytes": models.flow.host.used_bytes - voices.host_bytes,
            **voices.figures(),
        }
        if self._watch is not None:
            figures["device_free_bytes"] = self._watch.free_bytes()
            figures[DEVICE_SHORT] = float(self._watch.short)
        return figures

    def close(self) -> None:
        """End the threads of the stages, once nothing is under way."""
        for place in self._places.values():
            place.close()

    def warm_up(self, voice: str, stages: Sequence[Stage], known: Learned | None) -> Learned:
        """Make all ready for the first context; what steps cost.

        ``known``: what they cost, where that need not be found out: then no crowd is tried.
        """
        modes = self._warm_stages()
        rehearsal = Rehearsal(self, stages, voice)
        rehearsal.run(1 if known is not None else self.models.decoder.cache.slots)
        learned = known or rehearsal.learned
        self._rhythm = replace(self._rhythm, prefill_share=learned.prefill_share)
        models = self.models
        note(
            "ready_to_speak",
            generation=models.generation,
            device=card_of(models.device),
            precision=self._precision,
            **modes,
            costs={stage: str(cost) for stage, cost in learned.costs.items()},
        )
        return learned

    def _warm_stages(self) -> dict[str, str]:
        """How each stage's steps are launched, once what they need is there."""
        how = self.models.speed.how
        return {
            LLM: _mode(how, self._llm.warm(self._max_batch)),
            FLOW: _mode(how, self._flow.warm(self._max_batch)),
            VOCODER: _mode(how, self._vocoder.warm(self._max_batch)),
        }

    def _notice(self, made: Future[Any]) -> None:
        error = made.exception()
        if error is not None and lost(error):
            self._lost = error

    def _look(self) -> None:
        if self._lost is not None:
            raise DeviceLost(f"the device is lost: {self._lost}") from self._lost

    def _make_room(self) -> int:
        """First voices that nobody speaks with go, then a context that nobody waits for."""
        return self.voices.pages.free() or self._parking.make_room()

    def _free_host(self) -> int:
        """A context that nobody waits for needs the room: voices can be made again."""
        return self.voices.pages.free_host()

    def _spare(self) -> int:
        """Other programs need memory: what voices hold beside the flow's pages, and steps had.

        The pages stay taken, so a voice that left those would not make room for others.
        """
        freed = self.voices.prefixes.idle_bytes
        self._aside(LLM, self.voices.prefixes.leave)
        self._aside(FLOW, give_back)
        return freed

    def _aside(self, stage: str, work: Callable[[], None]) -> None:
        """Where that stage is computed, between its steps; nobody waits for it."""
        self._places[stage].run(work).add_done_callback(_tell_failure)


def _tell_failure(aside: Future[None]) -> None:
    error = aside.exception()
    if error is not None:
        note_error("voices_not_moved", error)


def _mode(how: str, shapes: int) -> str:
    return f"{how} ({shapes} shapes)" if shapes else how


def _watch(models: Models, spare: Callable[[], int]) -> Watch | None:
    if models.gauge is None:
        return None
    return Watch(models.gauge, models.share.reserve_bytes, spare)
