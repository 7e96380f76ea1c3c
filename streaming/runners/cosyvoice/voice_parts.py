"""What is kept of a voice for each network, and on which level it lies.

The flow's part belongs to a recording, the LLM's to a recording and its transcript. Each is on the
device, on the host, or has to be made of features. Knows: values and their bytes. Does not know:
who speaks, how much there may be.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, field

import torch

from streaming.cosyvoice.flow.base import FlowPrompt
from streaming.cosyvoice.flow.host import Away, HostMemory, OutOfHostMemory
from streaming.cosyvoice.flow.values import FlowVoice, VoiceHop
from streaming.cosyvoice.llm.cache import Kept
from streaming.cosyvoice.llm.decoder import Prefix
from streaming.cosyvoice.llm.script import Codes, LlmPrompt
from streaming.runners.cosyvoice.copy_log import NOTHING_KEPT, TO_DEVICE, TO_HOST, CopyLog
from streaming.runners.cosyvoice.prompts import Spoken
from streaming.runners.cosyvoice.rhythm import LLM

Beginning = tuple[LlmPrompt, bool]
"""A prompt, and whether text is interleaved with it."""

TOKEN_BYTES = 36
"""What a token takes on the host: a Python number and its place in a tuple."""


@dataclass
class Hits:
    """Where what was wanted was found."""

    device: int = 0
    host: int = 0
    misses: int = 0
    """It was on neither, so it had to be made."""


@dataclass(eq=False)
class FlowPart:
    """A recording in the flow: its prompt on the host, and where what was made of it lies."""

    key: str
    prompt: FlowPrompt
    stays: bool = False
    """Its features are never let go of: it came with the model."""
    voice: FlowVoice | None = None
    """What was made of it, where that is on the device."""
    away: FlowVoice | None = None
    """The same, where it is on the host."""
    making: VoiceHop | None = None
    """The same, where it is half made."""
    users: int = 0
    """Segments that speak with it now."""
    feature_bytes: int = field(init=False)
    """What ``prompt`` takes: the recording as the networks take it."""

    def __post_init__(self) -> None:
        numbers = self.prompt.mel.nbytes + self.prompt.embedding.nbytes
        self.feature_bytes = numbers + TOKEN_BYTES * len(self.prompt.tokens)

    @property
    def device_bytes(self) -> int:
        """What it holds on the device, half made or whole."""
        voice, making = self.voice, self.making
        if voice is not None:
            return voice.bytes
        return 0 if making is None else making.after.bytes

    @property
    def host_bytes(self) -> int:
        """What its pages hold on the host."""
        away = self.away
        return 0 if away is None else away.host_bytes

    @property
    def away_bytes(self) -> int:
        """How much would be copied to bring it back to the device."""
        away = self.away
        return 0 if away is None or away.on_host is None else away.on_host.away.copied_bytes

    @property
    def has_left(self) -> bool:
        """Whether nothing of it is in memory but its features."""
        return self.voice is None and self.away is None and self.making is None


class Prefixes(MutableMapping[Beginning, Prefix]):
    """The beginnings of a voice in the LLM. One that is away comes back when wanted.

    For the LLM's thread alone, but for counts.
    """

    def __init__(self, hits: Hits, copies: CopyLog = NOTHING_KEPT, voice: str = "") -> None:
        """``voice`` is the name under which ``copies`` is told of them."""
        self.device_bytes = 0
        self._hits = hits
        self._copies = copies
        self._voice = voice
        self._kept: dict[Beginning, Prefix] = {}
        self._away: dict[Beginning, _AwayPrefix] = {}

    @property
    def host_bytes(self) -> int:
        """What those that are away hold of the host."""
        return sum(each.away.bytes for each in list(self._away.values()))

    def to_host(self, host: HostMemory) -> int:
        """Let all leave the device, for good where the host has no room; how much that freed."""
        freed = 0
        for beginning, prefix in list(self._kept.items()):
            try:
                with self._copies.copying(LLM, TO_HOST, (self._voice,), prefix.bytes):
                    away = host.keep([prefix.kept.keys, prefix.kept.values])
                self._away[beginning] = _AwayPrefix(prefix.codes, prefix.kept.keys.device, away)
            except OutOfHostMemory:
                pass  # then it is gone, and made again with the next text's prompt
            del self._kept[beginning]
            freed += prefix.bytes
        self.device_bytes -= freed
        return freed

    def clear_host(self) -> int:
        """Give up those that are away; how many bytes of the host that freed."""
        freed = self.host_bytes
        self._away.clear()
        return freed

    def __getitem__(self, beginning: Beginning) -> Prefix:
        prefix = self._kept.get(beginning)
        if prefix is not None:
            self._hits.device += 1
            return prefix
        back = self._back(beginning)
        if back is None:
            self._hits.misses += 1
            raise KeyError(beginning)
        self._hits.host += 1
        return back

    def __setitem__(self, beginning: Beginning, prefix: Prefix) -> None:
        if beginning in self:
            del self[beginning]
        self._kept[beginning] = prefix
        self.device_bytes += prefix.bytes

    def __delitem__(self, beginning: Beginning) -> None:
        if self._away.pop(beginning, None) is None:
            self.device_bytes -= self._kept.pop(beginning).bytes

    def __contains__(self, beginning: object) -> bool:
        return beginning in self._kept or beginning in self._away

    def __iter__(self) -> Iterator[Beginning]:
        yield from self._away
        yield from self._kept

    def __len__(self) -> int:
        return len(self._away) + len(self._kept)

    def _back(self, beginning: Beginning) -> Prefix | None:
        away = self._away.get(beginning)
        if away is None:
            return None
        try:
            size = away.away.copied_bytes
            with self._copies.copying(LLM, TO_DEVICE, (self._voice,), size):
                prefix = away.back()
        except torch.OutOfMemoryError:  # without it the prompt is computed once more
            return None
        self[beginning] = prefix
        return prefix


@dataclass(frozen=True)
class _AwayPrefix:
    codes: Codes
    device: torch.device
    away: Away

    def back(self) -> Prefix:
        keys, values = (each.to(self.device, non_blocking=True) for each in self.away.copies)
        return Prefix(self.codes, Kept(keys, values))


@dataclass(eq=False)
class VoicePart:
    """A voice in the LLM."""

    key: str
    spoken: Spoken
    flow: FlowPart
    prefixes: Prefixes = field(default_factory=lambda: Prefixes(Hits()))
