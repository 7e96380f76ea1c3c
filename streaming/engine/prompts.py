"""A prompt maker as a process: a stranger's recordings in, prompts or reasons out.

It has one recording at a time, and a decoder that crashes or hangs on one takes nothing else along.
Knows: how it is asked and how it answers. Does not know: the parent's side, where prompts are kept.
"""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from streaming.config import EngineSettings
from streaming.cosyvoice.folder_errors import CheckpointError
from streaming.cosyvoice.prompt import recording
from streaming.cosyvoice.prompt.features import digest
from streaming.cosyvoice.prompt.frontend import PromptFiles, PromptFrontEnd
from streaming.engine.channel import Channel, take_standard_streams
from streaming.engine.notes import note_error
from streaming.engine.wire import to_prompts
from streaming.errors import CosystreamError, Internal
from streaming.messages import (
    Fatal,
    FromPrompts,
    PromptMade,
    PromptMake,
    PromptReady,
    PromptRefused,
    ToPrompts,
)

BACKGROUND = 10
"""How far it steps back for those who speak, where the system knows such a thing."""


def run_prompts(settings: EngineSettings) -> None:
    """Answer for ever; or say why not, and end."""
    channel: Channel[ToPrompts] = Channel(to_prompts(), *take_standard_streams())
    _silence_libraries()
    _step_back()
    try:
        maker = Maker(front_end(settings))
    except (CheckpointError, OSError, ValueError) as error:
        channel.send([Fatal(message=f"no voice can be made of a recording here: {error}")])
        channel.drain()
        sys.exit(1)
    channel.send([PromptReady(model=maker.model)])
    while True:
        for message in channel.receive(None):
            channel.send([maker.answer(message)])


def front_end(settings: EngineSettings) -> PromptFrontEnd | None:
    """That of the settings' checkpoint folder; none for tones, which need no networks.

    Raises:
        ValueError: they name none.
        CheckpointError: the folder does not hold what it takes.
        OSError: it cannot be read.
    """
    if settings.kind == "tone":
        return None
    if settings.model is None:
        raise ValueError("engine.model names no checkpoint folder")
    files = PromptFiles.find(Path(settings.model))
    return PromptFrontEnd(
        files.speech_tokenizer, files.campplus, files.generation, threads=settings.threads
    )


@dataclass(frozen=True)
class Maker:
    """Recordings to answers."""

    front_end: PromptFrontEnd | None
    """Without one a recording is read and checked, and has no features."""

    @property
    def model(self) -> str:
        """The networks' fingerprint; empty without networks."""
        return self.front_end.model if self.front_end else ""

    def answer(self, message: PromptMake) -> FromPrompts:
        """A prompt, or the reason why there is none; whatever went wrong, an answer."""
        try:
            return self._make(message)
        except CosystreamError as error:
            refusal = error
        except Exception as error:  # noqa: BLE001 - whatever a library raises ends one request
            note_error("prompt_not_made", error, request=message.request)
            refusal = Internal("no prompt could be made of the recording; the log says why")
        return PromptRefused(request=message.request, code=refusal.code, message=refusal.message)

    def _make(self, message: PromptMake) -> PromptMade:
        taken = recording.read(message.recording)
        features = self.front_end.features(taken.samples).to_bytes() if self.front_end else b""
        return PromptMade(
            request=message.request,
            digest=digest(taken.wav, self.model),
            wav=taken.wav,
            duration_ms=round(taken.duration_s * 1000),
            features=features,
            warnings=taken.warnings,
        )


def _silence_libraries() -> None:
    """Our own notes go on; what a decoder prints about each bad frame of a stranger's does not."""
    notes = os.dup(2)
    sys.stderr = os.fdopen(notes, "w", encoding="utf-8", buffering=1)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    os.close(null)


def _step_back() -> None:
    if sys.platform != "win32":
        with contextlib.suppress(PermissionError):  # then it runs as it is
            os.nice(BACKGROUND)
