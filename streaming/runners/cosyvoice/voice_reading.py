"""A voice by its name: what its recording says, read from the disk or heard again.

Knows: where recordings and features lie, what came with the model. Does not know: who speaks, what
is kept in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import torch

from streaming.audio.pcm import Float32
from streaming.cosyvoice.checkpoint import Speaker
from streaming.cosyvoice.flow.base import FlowPrompt
from streaming.cosyvoice.prompt import recording
from streaming.cosyvoice.prompt.features import PromptFeatures, UnreadableFeatures
from streaming.cosyvoice.prompt.frontend import PromptFrontEnd
from streaming.cosyvoice.sizes import MEL_BANDS
from streaming.errors import UnknownVoice
from streaming.languages import primary
from streaming.messages import Voice
from streaming.runners.cosyvoice.prompts import Spoken
from streaming.runners.cosyvoice.voice_parts import FlowPart, VoicePart
from streaming.text.speakable import guess_language
from streaming.voices.files import VoiceFiles, VoiceRecord, digest
from streaming.voices.starters import Starter, starters


def own_voices(speakers: Iterable[str], languages: tuple[str, ...]) -> Iterator[Voice]:
    """Those to begin with, and those that come with the model, by its speakers' names."""
    for each in starters():
        yield Voice(
            id=f"starter-{each.id}",
            name=each.name,
            languages=languages,
            description=each.description,
        )
    for name in speakers:
        yield Voice(id=name, name=name, languages=languages, description="named speaker")


class VoiceReader:
    """Voices of one model."""

    def __init__(
        self,
        files: VoiceFiles,
        listener: PromptFrontEnd,
        languages: tuple[str, ...],
        speakers: Mapping[str, Speaker],
    ) -> None:
        self.read_count = 0
        """How often features were read from the disk."""
        self.heard_count = 0
        """How often a recording had to be listened to."""
        self._files = files
        self._listener = listener
        self._languages = languages
        self._starters = {f"starter-{each.id}": each for each in starters()}
        self._speakers = speakers

    def own(self) -> Iterator[Voice]:
        """Those that are there before anybody makes one."""
        return own_voices(self._speakers, self._languages)

    def is_there(self, voice: str) -> bool:
        """Whether it could be read again."""
        return voice in self._speakers or voice in self._starters or self._files.has(voice)

    def read(self, voice: str) -> VoicePart:
        """Its features as they were kept, or made of its recording where this model has none yet.

        Raises:
            UnknownVoice: there is no such voice.
        """
        if voice in self._speakers:
            return _of_speaker(voice, self._speakers[voice])
        try:
            if voice in self._starters:
                return self._of_starter(self._starters[voice])
            return self._of_record(self._files.record(voice))
        except FileNotFoundError as error:
            raise UnknownVoice(f"no voice {voice!r} is stored") from error
        finally:
            self._listener.let_go()  # a gigabyte, for voices that are seldom new

    def _of_record(self, record: VoiceRecord) -> VoicePart:
        features = self._kept(record.audio)
        if features is None:
            wav = self._files.audio(record.audio).read_bytes()
            features = self._heard(recording.from_wav(wav))
            self._keep(record, features)
        return _part(record.audio, record.transcript, _language(record), features)

    def _keep(self, record: VoiceRecord, features: PromptFeatures) -> None:
        model = self._listener.model
        self._files.write_features(record.audio, model, features.to_bytes())
        try:
            self._files.record(record.id)
        except FileNotFoundError:  # removed while it was listened to: nothing of it stays
            self._files.features(record.audio, model).unlink(missing_ok=True)

    def _of_starter(self, starter: Starter) -> VoicePart:
        data = starter.recording()
        features = self._kept(digest(data))
        if features is None:
            features = self._heard(recording.read(data).samples)
        part = _part(digest(data), starter.transcript, starter.language, features)
        part.flow.stays = True
        return part

    def _heard(self, samples: Float32) -> PromptFeatures:
        self.heard_count += 1
        return self._listener.features(samples)

    def _kept(self, audio: str) -> PromptFeatures | None:
        path = self._files.features(audio, self._listener.model)
        try:
            features = PromptFeatures.from_bytes(path.read_bytes())
        except (FileNotFoundError, UnreadableFeatures):
            return None
        self.read_count += 1
        return features


def _language(record: VoiceRecord) -> str:
    """What is spoken in the recording: as its owner said, else as its transcript's letters say."""
    if record.language != "auto":
        return primary(record.language)
    return guess_language(record.transcript, "")


def _part(audio: str, transcript: str, language: str, features: PromptFeatures) -> VoicePart:
    prompt = FlowPrompt(
        features.tokens, torch.from_numpy(features.mel), torch.from_numpy(features.embedding)
    )
    spoken = Spoken(transcript=transcript, speech=features.tokens, language=language)
    return VoicePart(f"{audio}/{language}/{transcript}", spoken, FlowPart(audio, prompt))


def _of_speaker(name: str, speaker: Speaker) -> VoicePart:
    mel = torch.zeros(0, MEL_BANDS) if speaker.mel is None else speaker.mel
    prompt = FlowPrompt(speaker.speech, mel, speaker.embedding)
    key = f"speaker/{name}"
    flow = FlowPart(key, prompt, stays=True)
    return VoicePart(key, Spoken(text=speaker.text, speech=speaker.speech), flow)
