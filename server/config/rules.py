"""Which values make sense: the range of each setting, and what several must be to one another.

Knows: what is allowed and how to say it. Does not know: where a value came from, or what it does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from server.access.origins import origin_entry_fault
from server.config.keys import flat
from server.settings import ApiKey, Settings
from streaming.config import EngineSettings, LexiconLine

Fault = str | None
"""Looks at a value: returns what is allowed instead, or None where the value is good."""


@dataclass(frozen=True)
class Range:
    """Numbers from ``least`` to ``most``, both allowed."""

    least: float
    most: float

    def __call__(self, value: Any) -> Fault:
        """The range itself, where the value is outside it."""
        return None if self.least <= value <= self.most else str(self)

    def __str__(self) -> str:
        return f"{self.least} to {self.most}"


@dataclass(frozen=True)
class Either:
    """One of two numbers."""

    one: int
    other: int

    def __call__(self, value: Any) -> Fault:
        """Both, where the value is neither."""
        return None if value in {self.one, self.other} else str(self)

    def __str__(self) -> str:
        return f"{self.one} or {self.other}"


_GIB = 1 << 30
ALLOWANCE = {
    "priority": Range(-10, 10),
    "sessions": Range(0, 100_000),
    "contexts": Range(0, 100_000),
    "requests_per_minute": Range(0, 1_000_000),
}
"""What a key may be given."""

LEXICON_LINES = 500
"""The child processes are given them on their command line, which bounds them."""


def _host(value: str) -> Fault:
    good = re.fullmatch(r"[^\s/\[\]@?#]{1,255}", value) and value.count(":") != 1
    return None if good else "a host name or address, without brackets, port or path"


def _root_path(value: str) -> Fault:
    good = re.fullmatch(r"(/[A-Za-z0-9._~\-]+)*", value) and not re.search(r"/\.\.?(/|$)", value)
    return None if good else 'empty, or a path that begins with "/" and does not end with one'


def _optional_text(value: str | None) -> Fault:
    good = value is None or (value.strip() and value.isprintable())
    return None if good else "text that can be printed, or leave it out"


def _folder(value: str) -> Fault:
    return None if value.strip() and value.isprintable() else "a folder's path"


def _origins(value: Collection[str]) -> Fault:
    return next((fault for entry in value if (fault := origin_entry_fault(entry))), None)


def _api_keys(value: Collection[ApiKey]) -> Fault:
    for entry in value:
        if not re.fullmatch(r"[A-Za-z0-9_.\-]{1,64}", entry.name) or entry.name == "anonymous":
            return 'a key\'s name is 1 to 64 of A-Z a-z 0-9 _ . - and not "anonymous"'
        if not re.fullmatch(r"[!-~]{1,512}", entry.key):
            return f"the key of {entry.name} must be 1 to 512 ASCII characters without spaces"
        for name, allowed in ALLOWANCE.items():
            if fault := allowed(getattr(entry.allowance, name)):
                return f"{name} of the key {entry.name} must be {fault}"
    if len({entry.name for entry in value}) < len(value):
        return "two keys have the same name"
    if len({entry.key for entry in value}) < len(value):
        return "two names have the same key"
    return None


def _lexicon(value: Collection[LexiconLine]) -> Fault:
    for entry in value:
        if not entry.text.strip() or not (entry.say or entry.pinyin or entry.arpabet):
            return "entries with a text, and say, pinyin or arpabet"
    return None if len(value) <= LEXICON_LINES else f"at most {LEXICON_LINES} entries"


RULES: dict[str, Callable[[Any], Fault]] = {
    "listen.host": _host,
    "listen.port": Range(0, 65_535),
    "listen.root_path": _root_path,
    "listen.backlog": Range(1, 65_535),
    "access.api_keys": _api_keys,
    "access.allowed_origins": _origins,
    "access.token_ttl_max_s": Range(1, 86_400),
    "access.tokens_max": Range(1, 1_000_000),
    "access.requests_per_minute": Range(1, 1_000_000),
    "limits.message_bytes": Range(1_024, 67_108_864),
    "limits.text_chars": Range(1, 10_000_000),
    "limits.contexts": Range(1, 1_024),
    "limits.sessions": Range(1, 100_000),
    "limits.sessions_per_key": Range(0, 100_000),
    "limits.opens_per_minute": Range(1, 1_000_000),
    "limits.messages_per_s": Range(1, 1_000_000),
    "limits.idle_s": Range(0.1, 86_400),
    "limits.slow_consumer_s": Range(0.1, 600),
    "limits.resume_window_s": Range(0, 600),
    "limits.resume_bytes": Range(0, _GIB),
    "limits.resume_total_bytes": Range(0, 64 * _GIB),
    "limits.lead_ms_max": Range(0, 3_600_000),
    "limits.upload_bytes": Range(1_024, 33_554_432),
    "audio.opus_bitrate": Range(6_000, 256_000),
    "audio.opus_complexity": Range(0, 10),
    "audio.encoder_threads": Range(0, 64),
    "audio.lead_ms": Range(0, 3_600_000),
    "engine.model": _optional_text,
    "engine.default_voice": _optional_text,
    "engine.threads": Range(1, 256),
    "engine.slots": Range(1, 65_536),
    "engine.capacity": Range(0, 65_536),
    "engine.queue": Range(0, 65_536),
    "engine.queue_ms": Range(1, 600_000),
    "engine.max_ahead_s": Range(0.1, 3_600),
    "engine.host_reserve_mib": Range(0, 1_048_576),
    "engine.first_packet_target_ms": Range(1, 60_000),
    "engine.unload_after_s": Range(0, 604_800),
    "engine.trace": _optional_text,
    "engine.voices_dir": _folder,
    "engine.voices_per_key": Range(0, 100_000),
    "engine.voices_bytes": Range(0, 1_024 * _GIB),
    "engine.load_timeout_s": Range(1, 86_400),
    "engine.hang_timeout_s": Range(1, 3_600),
    "engine.text.workers": Range(1, 64),
    "engine.text.max_segment_chars": Range(20, 2_000),
    "engine.text.first_segment_min_chars": Range(1, 2_000),
    "engine.text.idle_release_ms": Range(0, 60_000),
    "engine.text.lexicon": _lexicon,
    "engine.pauses.lead_ms": Range(0, 1_000),
    "engine.pauses.paragraph_ms": Range(0, 10_000),
    "engine.pauses.sentence_ms": Range(0, 10_000),
    "engine.pauses.clause_ms": Range(0, 10_000),
    "engine.pauses.forced_ms": Range(0, 10_000),
    "engine.pauses.end_ms": Range(0, 10_000),
    "engine.cosyvoice.flow_prompt_s": Range(1, 30),
    "engine.cosyvoice.flow_window_s": Range(0, 600),
    "engine.cosyvoice.first_hop_tokens": Range(0, 22),
    "engine.cosyvoice.max_batch": Range(1, 1_024),
    "engine.cosyvoice.positions": Range(256, 32_768),
    "engine.cosyvoice.flow_mib": Range(0, 1_048_576),
    "engine.cosyvoice.host_mib": Range(0, 1_048_576),
    "engine.cosyvoice.gpu_memory_budget": Range(0.05, 0.85),
    "engine.cosyvoice.streams": Either(1, 4),
    "engine.cosyvoice.profile": _optional_text,
    "drain_s": Range(0, 3_600),
}
"""What each setting may be, beside its type; choices and booleans need no rule."""


@dataclass(frozen=True)
class Contradiction:
    """``name`` is not ``allowed``, because of what ``other`` is."""

    name: str
    allowed: str
    other: str


def contradiction(settings: Settings) -> Contradiction | None:
    """The first setting that does not go with another, or None."""
    return _of_runner(settings.engine) or _of_order(settings)


def _of_runner(engine: EngineSettings) -> Contradiction | None:
    rules = _COSYVOICE if engine.kind == "cosyvoice" else _ON_THE_CPU
    voice = "the embedded voice" if engine.kind == "embedded" else f"the {engine.kind} runner"
    for broken, name, allowed, other in rules:
        if broken(engine):
            return Contradiction(name, allowed.format(voice=voice), other)
    return None


_EngineRule = tuple[Callable[[EngineSettings], bool], str, str, str]

_COSYVOICE: tuple[_EngineRule, ...] = (
    (
        lambda it: it.model is None,
        "engine.model",
        "a checkpoint folder, as in --model models/cosyvoice3",
        "engine.runner",
    ),
    (
        lambda it: it.device == "cpu" and it.precision == "fp16",
        "engine.precision",
        "fp32 | bf16 on a CPU",
        "engine.device",
    ),
)

_ON_THE_CPU: tuple[_EngineRule, ...] = (
    (
        lambda it: it.device == "cuda",
        "engine.device",
        "auto | cpu, since {voice} runs on the CPU; a GPU is for CosyVoice, named by engine.model",
        "engine.runner",
    ),
    (
        lambda it: it.precision != "fp32",
        "engine.precision",
        "fp32, the only one in which {voice} computes",
        "engine.runner",
    ),
    (
        lambda it: it.model is not None,
        "engine.model",
        "nothing: leave it out, since {voice} takes no model",
        "engine.runner",
    ),
)


def _of_order(settings: Settings) -> Contradiction | None:
    values = flat(settings)
    for less, more, at_fault in _ORDERED:
        if values[less] > values[more]:
            other, bound = (more, "at most") if at_fault == less else (less, "at least")
            allowed = f"{bound} {other}, which is {values[other]}"
            return Contradiction(at_fault, allowed, other)
    return None


_ORDERED = (
    ("limits.resume_bytes", "limits.resume_total_bytes", "limits.resume_total_bytes"),
    ("audio.lead_ms", "limits.lead_ms_max", "audio.lead_ms"),
)
"""Settings of which the first must not be greater than the second, and the one an error names."""
