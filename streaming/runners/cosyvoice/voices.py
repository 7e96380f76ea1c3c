"""The voices of a model, each kept whole: what LLM and flow need of it is made once.

A voice's parts are known by what they are made of, never by a name: the flow's by the recording,
the LLM's by recording and transcript. They lie on three levels, the device, the host and the disk,
and each holds a bounded number of bytes: what nobody speaks with goes down, the longest unused
first. Knows: which there are, who uses what. Does not know: contexts, steps.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

from streaming.cosyvoice.checkpoint import Speaker
from streaming.cosyvoice.flow.stream import Flow
from streaming.cosyvoice.prompt.frontend import PromptFrontEnd
from streaming.cosyvoice.sizes import Generation
from streaming.messages import Voice
from streaming.runners.cosyvoice.copy_log import NOTHING_KEPT, CopyLog
from streaming.runners.cosyvoice.memory import Share
from streaming.runners.cosyvoice.voice_levels import VoicePages, VoicePrefixes
from streaming.runners.cosyvoice.voice_parts import FlowPart, Hits, Prefixes, VoicePart
from streaming.runners.cosyvoice.voice_reading import VoiceReader
from streaming.voices.files import VoiceFiles

LANGUAGES: dict[Generation, tuple[str, ...]] = {
    "cosyvoice2": ("zh", "en", "ja", "ko"),
    "cosyvoice3": ("zh", "en", "ja", "ko", "de", "es", "fr", "it", "ru"),
}
"""What the models' authors say they speak, whatever the language of the recording."""


class Voices:
    """All that can be spoken with. ``load`` may be called beside everything else."""

    def __init__(
        self,
        files: VoiceFiles,
        listener: PromptFrontEnd,
        generation: Generation,
        speakers: dict[str, Speaker],
        flow: Flow,
        share: Share,
        copies: CopyLog = NOTHING_KEPT,
    ) -> None:
        self._reader = VoiceReader(files, listener, LANGUAGES[generation], speakers)
        self._features_bytes = share.features_bytes
        self.features_bytes = 0
        """What is in memory of what recordings say to the networks."""
        self._by_id: dict[str, VoicePart] = {}
        self._parts: OrderedDict[str, VoicePart] = OrderedDict()
        self._flows: OrderedDict[str, FlowPart] = OrderedDict()
        """In ``_parts`` and here, the longest unused come first."""
        self._changing = threading.Lock()
        self._hits = Hits()
        self._copies = copies
        self._prefix_hits = Hits()
        self.pages = VoicePages(flow, self._idle_flows, self._changing, share.voice_bytes, copies)
        self.prefixes = VoicePrefixes(
            flow, self._idle_parts, share.prefix_bytes, share.prefix_host_bytes
        )

    # --- which there are -------------------------------------------------------------------

    @property
    def own(self) -> tuple[Voice, ...]:
        """Those that come with the model, and those to begin with."""
        return tuple(self._reader.own())

    def has(self, voice: str) -> bool:
        """Whether its features are in memory; somebody is about to speak with it."""
        with self._changing:
            part = self._by_id.get(voice)
            if part is None:
                return False
            self._touch(part)
        return True

    def load(self, voice: str) -> None:
        """Read its features, or make them of its recording where this model has not yet.

        Raises:
            UnknownVoice: there is no such voice.
        """
        part = self._reader.read(voice)
        part.prefixes = Prefixes(self._prefix_hits, self._copies, part.key)
        with self._changing:
            flow = self._flows.setdefault(part.flow.key, part.flow)
            if flow is part.flow:
                self.features_bytes += flow.feature_bytes
            flow.stays |= part.flow.stays
            part.flow = flow
            self._by_id[voice] = self._parts.setdefault(part.key, part)
            self._touch(self._by_id[voice])
            self._trim_features(but=flow)

    def forget(self, voice: str) -> None:
        """It was removed; who speaks with it may finish."""
        with self._changing:
            gone = self._by_id.pop(voice, None)
            kept = list(self._by_id.values())
            if gone is None or gone in kept:
                return
            self._parts.pop(gone.key, None)
            if all(part.flow is not gone.flow for part in kept):
                self._let_go(gone.flow)

    # --- speaking with one -----------------------------------------------------------------

    def take(self, voice: str) -> VoicePart:
        """The voice, for a segment; ``give_back`` it at the end.

        Raises:
            UnknownVoice: it was removed, and fell out of memory before that.
        """
        while (part := self._claim(voice)) is None:
            self.load(voice)  # others took its place since it was loaded for this context
        return part

    def give_back(self, part: VoicePart) -> None:
        """A segment has ended."""
        with self._changing:
            part.flow.users -= 1
            self._touch(part)
            self._trim_features()

    # --- how much that is ------------------------------------------------------------------

    @property
    def device_bytes(self) -> int:
        """What all voices hold on the device."""
        flows, parts = self._all()
        pages = sum(flow.device_bytes for flow in flows)
        return pages + sum(part.prefixes.device_bytes for part in parts)

    @property
    def host_bytes(self) -> int:
        """What left the device and is kept on the host."""
        flows, parts = self._all()
        pages = sum(flow.host_bytes for flow in flows)
        return pages + sum(part.prefixes.host_bytes for part in parts)

    def figures(self) -> dict[str, float]:
        """Bytes on each level, and where what was wanted was found."""
        return {
            "voice_bytes": self.device_bytes,
            "voice_host_bytes": self.host_bytes,
            "voice_features_bytes": self.features_bytes,
            "voice_hits": self._hits.device,
            "voice_host_hits": self._hits.host,
            "voice_misses": self._hits.misses,
            "voice_features_read": self._reader.read_count,
            "voice_features_made": self._reader.heard_count,
            "prefix_hits": self._prefix_hits.device,
            "prefix_host_hits": self._prefix_hits.host,
            "prefix_misses": self._prefix_hits.misses,
        }

    # --- within ----------------------------------------------------------------------------

    def _claim(self, voice: str) -> VoicePart | None:
        with self._changing:
            part = self._by_id.get(voice)
            if part is None:
                return None
            flow = part.flow
            flow.users += 1
            self._touch(part)
            if flow.voice is not None:
                self._hits.device += 1
            elif flow.away is not None:
                self._hits.host += 1
            else:
                self._hits.misses += 1
        return part

    def _trim_features(self, but: FlowPart | None = None) -> None:
        """Let go of features, of voices of which nothing else is in memory, to keep to the budget.

        Only where the disk still has them: a voice that was removed stays, for whoever speaks with
        it, until it is forgotten. ``but`` is one that was just loaded.
        """
        over = self.features_bytes - self._features_bytes
        if over <= 0:
            return
        gone: set[FlowPart] = set()
        for flow in self._flows.values():
            if over <= 0:
                break
            idle = flow.has_left and not (flow.users or flow.stays or flow is but)
            if idle and self._could_be_read_again(flow):
                over -= flow.feature_bytes
                gone.add(flow)
        if gone:
            self._drop(gone)

    def _could_be_read_again(self, flow: FlowPart) -> bool:
        named = (voice for voice, part in self._by_id.items() if part.flow is flow)
        return all(map(self._reader.is_there, named))

    def _drop(self, gone: set[FlowPart]) -> None:
        for flow in gone:
            self._let_go(flow)
        for voice, part in list(self._by_id.items()):
            if part.flow in gone:
                del self._by_id[voice]
                self._parts.pop(part.key, None)

    def _let_go(self, flow: FlowPart) -> None:
        if self._flows.pop(flow.key, None) is not None:
            self.features_bytes -= flow.feature_bytes

    def _idle_flows(self) -> list[FlowPart]:
        with self._changing:
            return [flow for flow in self._flows.values() if not flow.users]

    def _idle_parts(self) -> list[VoicePart]:
        with self._changing:
            return [part for part in self._parts.values() if not part.flow.users]

    def _touch(self, part: VoicePart) -> None:
        """Somebody speaks with it, or is about to."""
        if self._parts.get(part.key) is part:  # else it was forgotten
            self._parts.move_to_end(part.key)
            self._flows.move_to_end(part.flow.key)

    def _all(self) -> tuple[list[FlowPart], list[VoicePart]]:
        with self._changing:
            return list(self._flows.values()), list(self._parts.values())
