"""A recording's samples to the features of a prompt.

Knows: which network hears what, and how their answers are cut to fit. Does not know: files of
recordings, processes.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import soxr

from streaming.audio.pcm import Float32
from streaming.cosyvoice import folder
from streaming.cosyvoice.folder_errors import MissingFile
from streaming.cosyvoice.llm.silence import SILENT_TOKENS
from streaming.cosyvoice.prompt import mel
from streaming.cosyvoice.prompt.features import PromptFeatures
from streaming.cosyvoice.prompt.networks import (
    Network,
    fingerprint,
    speaker_embedding,
    speech_tokens,
)
from streaming.cosyvoice.sizes import FRAMES_PER_TOKEN, Generation
from streaming.errors import NoSpeech
from streaming.samples import SAMPLE_RATE

MOST_SILENT = 0.9


@dataclass(frozen=True)
class PromptFiles:
    """The networks in a checkpoint folder that listen to recordings."""

    generation: Generation
    speech_tokenizer: Path
    campplus: Path

    @classmethod
    def find(cls, path: Path) -> PromptFiles:
        """Those of a checkpoint; what else it should hold is not asked for.

        Raises:
            CheckpointError: it is none, or lacks one of them.
        """
        layout = folder.find(path)
        for needed in (layout.speech_tokenizer, layout.campplus):
            if not needed.is_file():
                raise MissingFile(
                    f"{needed} is missing; {folder.advice(layout.generation, path)} fetches it"
                )
        return cls(layout.generation, layout.speech_tokenizer, layout.campplus)

    @property
    def fingerprint(self) -> str:
        """What tells features of these networks from features of others."""
        return fingerprint(self.generation, self.speech_tokenizer, self.campplus)


class PromptFrontEnd:
    """Makes features; the networks are loaded when the first are wanted."""

    def __init__(
        self,
        speech_tokenizer: Path,
        campplus: Path,
        generation: Generation,
        *,
        threads: int = 1,
    ) -> None:
        self._files = PromptFiles(generation, speech_tokenizer, campplus)
        self._threads = threads
        self._networks: tuple[Network, Network] | None = None
        self.model = self._files.fingerprint

    def features(self, samples: Float32) -> PromptFeatures:
        """Of 24 kHz mono, 1 to 30 s.

        Raises:
            NoSpeech: the tokenizer hears none.
            WrongNetwork: a file is not the network it should be.
        """
        tokenizer, campplus = self._load()
        narrow: Float32 = soxr.resample(samples, SAMPLE_RATE, mel.NARROW_RATE, quality="VHQ")
        tokens = speech_tokens(tokenizer, mel.whisper_log_mel(narrow))
        self._require_speech(tokens)
        frames = mel.prompt_mel(samples, self._files.generation).T
        tokens, frames = fit(tokens, frames)
        speaker = speaker_embedding(campplus, mel.kaldi_filterbank(narrow))
        return PromptFeatures(tokens, frames, speaker, self.model)

    def let_go(self) -> None:
        """Give the networks' memory back; they are loaded again when they are wanted again."""
        self._networks = None

    def _load(self) -> tuple[Network, Network]:
        if self._networks is None:
            files = self._files
            self._networks = (
                Network(files.speech_tokenizer, self._threads),
                Network(files.campplus, self._threads),
            )
        return self._networks

    def _require_speech(self, tokens: tuple[int, ...]) -> None:
        if not tokens:
            raise NoSpeech("the speech tokenizer finds no speech in the recording")
        silent = sum(token in SILENT_TOKENS for token in tokens) / len(tokens)
        if self._files.generation == "cosyvoice3" and silent > MOST_SILENT:
            raise NoSpeech(f"{silent:.0%} of the recording are silence to the speech tokenizer")


def fit(tokens: tuple[int, ...], frames: Float32) -> tuple[tuple[int, ...], Float32]:
    """Cut the longer of the two, so that ``frames`` ``(T, 80)`` are two a token."""
    length = min(len(tokens), len(frames) // FRAMES_PER_TOKEN)
    return tokens[:length], frames[: FRAMES_PER_TOKEN * length].copy()
