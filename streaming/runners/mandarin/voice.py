"""The Mandarin voice as a runner of its own: a stretch of a clause a step, in a thread of its own.

A stretch takes hundreds of milliseconds where the English voices take tens, so the engine's loop
does not wait for it: the step is answered later, and others speak meanwhile. Knows: the script and
the model, and their failure modes. Does not know: contexts, the engine's loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from streaming.config import EngineSettings
from streaming.errors import CosystreamError, SynthesisFailed
from streaming.messages import Ready, Voice
from streaming.runners.base import Later, Made, OneStage, StepResult, Work
from streaming.runners.english import Foreign
from streaming.runners.mandarin.kokoro import Kokoro, Plan
from streaming.runners.mandarin.pieces import STRETCH_FRAMES, cut, fade, next_end
from streaming.runners.mandarin.script import Script
from streaming.runners.sanity import require_length, require_speech
from streaming.segment import Segment
from streaming.steps import Cost, Stage
from streaming.voices import catalog

MANDARIN = Voice(
    id="mandarin",
    name="Mandarin",
    languages=("zh", "en"),
    description="Mandarin, with English in it; a preview in a Japanese speaker's timbre",
    preview=True,
    lane="mandarin",
)

LONGEST_PHONEME_S = 0.4

_USUAL = "从这里到机场大约需要一个半小时。"
_WARM_UP = "你好，hello！"  # noqa: RUF001 - Chinese text is meant


@dataclass(frozen=True)
class _Rest:
    """What is still to be made of a segment.

    ``clauses`` are those not planned yet; of ``plan``, stretches up to frame ``begin`` are made.
    """

    clauses: tuple[str, ...]
    plan: Plan
    begin: int
    stretches: int
    expected_samples: int | None


class MandarinRunner(OneStage):
    """One voice; one stretch at a time, in a thread of its own."""

    units_per_s = 0.5
    """Stretches in a second of speech."""
    stages = (Stage("mandarin", prior=Cost(unit_s=0.6)),)

    def __init__(self, settings: EngineSettings, voices: Sequence[Voice] = (MANDARIN,)) -> None:
        """``voices``: all that the server has, to name those that can what this one cannot."""
        self._settings = settings
        self._voices = voices
        self._model: Kokoro | None = None
        self._script: Script | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="mandarin")

    def load(self) -> None:
        """The model and the dictionaries, warm. Raises what went wrong."""
        self.load_voice(MANDARIN.id)

    def ready(self, slots: int) -> Ready:
        """The one voice."""
        return Ready(
            runner="mandarin",
            device="cpu",
            voices=(MANDARIN,),
            default_voice=MANDARIN.id,
            slots=slots,
            options=("speed",),
        )

    def has_voice(self, voice: str) -> bool:
        """Whether the model is in memory."""
        return voice == MANDARIN.id and self._model is not None

    def load_voice(self, voice: str) -> None:
        """Read the model and the dictionaries, then speak a little.

        Raises:
            KeyError: it is not the Mandarin voice.
            ValueError: a file is not the one that was vetted.
        """
        if voice != MANDARIN.id:
            raise KeyError(voice)
        script = Script()
        model = Kokoro(self._settings.threads, _phonemes(script, _USUAL))
        plan = model.plan(_phonemes(script, _WARM_UP), 1.0)
        model.speak(plan, plan.begin, plan.begin + STRETCH_FRAMES[0])
        self._script, self._model = script, model

    def step(self, stage: str, batch: Sequence[Work]) -> Later:
        """The next stretch of each, later."""
        del stage
        return Later(self._thread.submit(self._steps, batch))

    def _steps(self, batch: Sequence[Work]) -> list[StepResult]:
        return [self._step(work) for work in batch]

    def _step(self, work: Work) -> Made | Exception:
        assert self._model is not None, "steps come after the voice is loaded"
        try:
            return self._stretch(self._model, work, work.state or self._begin(self._model, work))
        except CosystreamError as error:
            return error

    def _begin(self, model: Kokoro, work: Work) -> _Rest:
        clauses = self._clauses(work.segment)
        plan = _plan(model, work, clauses[0])
        return _Rest(clauses[1:], plan, plan.begin, 0, plan.samples if len(clauses) == 1 else None)

    def _clauses(self, segment: Segment) -> tuple[str, ...]:
        assert self._script is not None, "steps come after the voice is loaded"
        try:
            words = self._script.words(segment.text, segment.language, segment.pronunciations)
        except Foreign as foreign:
            what = f"{foreign.script} ({foreign.letters[:20]})"
            raise catalog.cannot_speak(self._voices, MANDARIN, what, foreign.language) from None
        if not words:
            raise SynthesisFailed(f"the voice finds nothing to say in {segment.text[:80]!r}")
        return cut(words, first=segment.index == 0)

    @staticmethod
    def _stretch(model: Kokoro, work: Work, rest: _Rest) -> Made:
        plan = rest.plan
        end = next_end(rest.begin, plan.end, rest.stretches)
        samples = model.speak(plan, rest.begin, end)
        require_speech(work, samples)
        samples = fade(samples, start=rest.begin == plan.begin, stop=end == plan.end)
        later = replace(rest, begin=end, stretches=rest.stretches + 1)
        if end == plan.end and rest.clauses:
            plan = _plan(model, work, rest.clauses[0])
            later = replace(later, clauses=rest.clauses[1:], plan=plan, begin=plan.begin)
        done = end == rest.plan.end and not rest.clauses
        return Made(samples, done, None if done else later, rest.expected_samples)


def _phonemes(script: Script, text: str) -> str:
    return " ".join(cut(script.words(text), first=False))


def _plan(model: Kokoro, work: Work, phonemes: str) -> Plan:
    plan = model.plan(phonemes, work.speed)
    require_length(work, plan.samples, len(phonemes), LONGEST_PHONEME_S)
    return plan
