"""The voices of a model, each kept whole: what LLM and flow need of it is made once.

A voice's parts are known by what they are made of, never by a name: the flow's by the recording,
the LLM's by recording and transcript. What lies on the device is bounded, and what nobody speaks
with goes first; it is made again from features, which stay on the host, or are read from the disk.
Knows: where recordings and features lie, who uses what. Does not know: contexts, steps.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import torch

from streaming.cosyvoice.checkpoint import Speaker
from streaming.cosyvoice.flow.base import FlowPrompt
from streaming.cosyvoice.flow.values import FlowVoice, VoiceHop
from streaming.cosyvoice.llm.decoder import Prefix
from streaming.cosyvoice.llm.script import LlmPrompt
from streaming.cosyvoice.prompt import recording
from streaming.cosyvoice.prompt.features import PromptFeatures, UnreadableFeatures
from streaming.cosyvoice.prompt.frontend import PromptFrontEnd
from streaming.cosyvoice.sizes import MEL_BANDS, Generation
from streaming.errors import UnknownVoice
from streaming.messages import Voice
from streaming.runners.cosyvoice.prompts import Spoken
from streaming.text.speakable import guess_language
from streaming.voices.files import VoiceFiles, VoiceRecord, digest
from streaming.voices.starters import Starter, starters

LANGUAGES: dict[Generation, tuple[str, ...]] = {
    "cosyvoice2": ("zh", "en", "ja", "ko"),
    "cosyvoice3": ("zh", "en", "ja", "ko", "de", "es", "fr", "it", "ru"),
}
"""What the models' authors say they speak, whatever the language of the recording."""


@dataclass(eq=False)
class FlowPart:
    """A recording in the flow: its prompt on the host, and on the device what was made of it."""

    key: str
    prompt: FlowPrompt
    voice: FlowVoice | None = None
    making: VoiceHop | None = None
    users: int = 0
    """Segments that speak with it now."""


@dataclass(eq=False)
class VoicePart:
    """A voice in the LLM."""

    key: str
    spoken: Spoken
    flow: FlowPart
    prefixes: dict[LlmPrompt, Prefix] = field(default_factory=dict)


@dataclass
class Hits:
    """How often what was wanted was there."""

    hits: int = 0
    misses: int = 0


class Voices:
    """All that can be spoken with. ``load`` may be called beside everything else."""

    def __init__(
        self,
        files: VoiceFiles,
        listener: PromptFrontEnd,
        generation: Generation,
        speakers: dict[str, Speaker],
        budget_bytes: int,
    ) -> None:
        self.hits = Hits()
        self._files = files
        self._listener = listener
        self._languages = LANGUAGES[generation]
        self._starters = {f"starter-{each.id}": each for each in starters()}
        self._speakers = speakers
        self._budget_bytes = budget_bytes
        self._by_id: dict[str, VoicePart] = {}
        self._parts: dict[str, VoicePart] = {}
        self._flows: OrderedDict[str, FlowPart] = OrderedDict()
        self._changing = threading.Lock()

    # --- which there are -------------------------------------------------------------------

    @property
    def own(self) -> tuple[Voice, ...]:
        """Those that come with the model, and those to begin with."""
        return tuple(self._own())

    def has(self, voice: str) -> bool:
        """Whether its features are in memory."""
        return voice in self._by_id

    def load(self, voice: str) -> None:
        """Read its features, or make them of its recording where this model has not yet.

        Raises:
            UnknownVoice: there is no such voice.
        """
        part = self._read(voice)
        self._listener.let_go()  # a gigabyte, for voices that are seldom new
        with self._changing:
            flow = self._flows.setdefault(part.flow.key, part.flow)
            part.flow = flow
            self._by_id[voice] = self._parts.setdefault(part.key, part)

    def forget(self, voice: str) -> None:
        """It was removed; who speaks with it may finish."""
        with self._changing:
            gone = self._by_id.pop(voice, None)
            kept = list(self._by_id.values())
            if gone is None or gone in kept:
                return
            self._parts.pop(gone.key, None)
            if all(part.flow is not gone.flow for part in kept):
                self._flows.pop(gone.flow.key, None)

    # --- speaking with one -----------------------------------------------------------------

    def take(self, voice: str) -> VoicePart:
        """The voice, for a segment; ``give_back`` it at the end."""
        part = self._by_id[voice]
        part.flow.users += 1
        with self._changing:
            if part.flow.key in self._flows:
                self._flows.move_to_end(part.flow.key)
        if part.flow.voice is None:
            self.hits.misses += 1
        else:
            self.hits.hits += 1
        return part

    def give_back(self, part: VoicePart) -> None:
        """A segment has ended."""
        part.flow.users -= 1
        self.make_room()

    def make_room(self) -> None:
        """Let go of what lies on the device beyond the budget, the longest unused first."""
        over = self.device_bytes - self._budget_bytes
        if over > 0:
            self._let_go_of(over)

    def let_go_of_idle(self) -> int:
        """Let go of all that nobody speaks with now; how many bytes that was."""
        return self._let_go_of(self.device_bytes)

    def _let_go_of(self, wanted_bytes: int) -> int:
        freed = 0
        with self._changing:
            idle = [flow for flow in self._flows.values() if not flow.users]
            for flow in idle:
                if freed >= wanted_bytes:
                    break
                freed += self._let_go(flow)
        return freed

    @property
    def device_bytes(self) -> int:
        """What all voices hold on the device."""
        flows = sum(flow.voice.bytes for flow in self._flows.values() if flow.voice)
        return flows + sum(
            prefix.bytes for part in list(self._parts.values()) for prefix in part.prefixes.values()
        )

    def _let_go(self, flow: FlowPart) -> int:
        freed = flow.voice.bytes if flow.voice else 0
        flow.voice = None
        for part in self._parts.values():
            if part.flow is flow:
                freed += sum(prefix.bytes for prefix in part.prefixes.values())
                part.prefixes.clear()
        return freed

    # --- reading one -----------------------------------------------------------------------

    def _own(self) -> Iterator[Voice]:
        for name, starter in self._starters.items():
            yield Voice(
                id=name,
                name=starter.name,
                languages=self._languages,
                description=starter.description,
            )
        for name in self._speakers:
            yield Voice(id=name, name=name, languages=self._languages, description="named speaker")

    def _read(self, voice: str) -> VoicePart:
        if voice in self._speakers:
            return _of_speaker(voice, self._speakers[voice])
        if voice in self._starters:
            starter = self._starters[voice]
            return _part(
                digest(starter.recording()),
                starter.transcript,
                starter.language,
                self._features_of_starter(starter),
            )
        try:
            record = self._files.record(voice)
            features = self._features(record.audio, self._files.audio(record.audio))
        except FileNotFoundError as error:
            raise UnknownVoice(f"no voice {voice!r} is stored") from error
        return _part(record.audio, record.transcript, _language(record), features)

    def _features(self, audio: str, wav: Path) -> PromptFeatures:
        """Of a stored recording: as they were kept, else made anew of what is clean already."""
        kept = self._kept(audio)
        if kept is not None:
            return kept
        features = self._listener.features(recording.from_wav(wav.read_bytes()))
        self._files.write_features(audio, self._listener.model, features.to_bytes())
        return features

    def _features_of_starter(self, starter: Starter) -> PromptFeatures:
        data = starter.recording()
        kept = self._kept(digest(data))
        if kept is not None:
            return kept
        return self._listener.features(recording.read(data).samples)

    def _kept(self, audio: str) -> PromptFeatures | None:
        try:
            data = self._files.features(audio, self._listener.model).read_bytes()
            return PromptFeatures.from_bytes(data)
        except (FileNotFoundError, UnreadableFeatures):
            return None


def _language(record: VoiceRecord) -> str:
    """What is spoken in the recording: as its owner said, else as its transcript's letters say."""
    if record.language != "auto":
        return record.language.replace("_", "-").split("-")[0].lower()
    return guess_language(record.transcript, "")


def _part(audio: str, transcript: str, language: str, features: PromptFeatures) -> VoicePart:
    prompt = FlowPrompt(
        features.tokens, torch.from_numpy(features.mel), torch.from_numpy(features.embedding)
    )
    spoken = Spoken(transcript=transcript, speech=features.tokens, language=language)
    return VoicePart(f"{audio}/{language}/{transcript}", spoken, FlowPart(audio, prompt))


def _of_speaker(name: str, speaker: Speaker) -> VoicePart:
    mel = torch.zeros(0, MEL_BANDS) if speaker.mel is None else speaker.mel
    speech = speaker.speech if speaker.mel is not None else ()
    prompt = FlowPrompt(speech, mel, speaker.embedding)
    key = f"speaker/{name}"
    return VoicePart(key, Spoken(text=speaker.text, speech=speech), FlowPart(key, prompt))
