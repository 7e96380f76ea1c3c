"""The voices that contexts speak with: loaded beside everybody's steps, removed when nobody does.

Knows: which voice is wanted, loaded, to be removed. Does not know: who speaks with it, or how it is
loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from streaming.engine.notes import note_error
from streaming.errors import UnknownVoice
from streaming.runners.base import Runner
from streaming.voices.loader import Loaded, VoiceLoader


class Voices:
    """Those of one runner."""

    def __init__(self, runner: Runner, wake: Callable[[], None]) -> None:
        """``wake`` is called when a voice is loaded, or cannot be."""
        self._runner = runner
        self._loader = VoiceLoader(runner.load_voice, wake)
        self._removed: set[str] = set()
        """Voices that were removed while somebody spoke with them, or while they were loaded."""

    @property
    def busy(self) -> bool:
        """Whether any is being loaded."""
        return self._loader.busy

    def ready(self, voice: str) -> bool:
        """Whether it could be spoken with now; where not, it is being loaded from here on."""
        if self._runner.has_voice(voice):
            return True
        self._loader.want(voice)
        return False

    def remove(self, voice: str) -> None:
        """Its files are gone; who opened with it speaks to the end, then ``purge`` ends it."""
        self._removed.add(voice)

    def purge(self, voice: str, spoken_with: Iterable[str]) -> None:
        """Keep nothing of it, if it was removed and is not among those still ``spoken_with``."""
        if voice not in self._removed or self._loader.is_under_way(voice):
            return
        if voice not in spoken_with:
            self._removed.discard(voice)
            self._runner.forget_voice(voice)

    def loaded(self) -> Iterator[Loaded]:
        """What has come to its end since the last call.

        A voice that was removed meanwhile, but after its files were read, is as good as any.
        """
        for outcome in self._loader.finished():
            if outcome.error is None:
                yield outcome
            elif outcome.voice in self._removed:
                yield Loaded(outcome.voice, UnknownVoice(f"voice {outcome.voice!r} was removed"))
            else:
                if not isinstance(outcome.error, UnknownVoice):  # it may just have been deleted
                    note_error("voice_not_loaded", outcome.error, voice=outcome.voice)
                yield outcome
