"""The engine's settings: plain data with the defaults; ``configs/*.toml`` explains each key.

Knows: names, defaults. Does not know: files, environment, flags (the server reads those).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from streaming.segment import LexiconEntry


class LexiconLine(LexiconEntry, frozen=True, kw_only=True):
    """How a text is said on this server; with ``voice``, by that voice alone."""

    voice: str = ""


@dataclass(frozen=True)
class TextSettings:
    """How text that is still arriving becomes segments."""

    workers: int = 1
    """Front-end processes; contexts are spread over them."""
    max_segment_chars: int = 200
    """A sentence longer than this is cut at its best place."""
    first_segment_min_chars: int = 40
    """The first clause is let go early when it has at least so many characters (CJK: double)."""
    idle_release_ms: int = 300
    """A sentence that looks finished is let go after so long without more text."""
    lexicon: tuple[LexiconLine, ...] = ()
    """How words are said; a voice's own entries win over those for all, a context's over both."""


@dataclass(frozen=True)
class PauseSettings:
    """Silence after a segment, by how it ends, in ms; leading silence is cut to ``lead_ms``."""

    lead_ms: int = 20
    paragraph_ms: int = 450
    sentence_ms: int = 250
    clause_ms: int = 120
    forced_ms: int = 40
    end_ms: int = 150


@dataclass(frozen=True)
class CosyVoiceSettings:
    """How the CosyVoice models are run."""

    flow_prompt_s: float = 3.0
    """The flow uses so much of a voice's recording, from its beginning."""
    first_hop_tokens: int = 0
    """The flow's first hop has so many speech tokens of 40 ms; the recording is cut to fit. Fewer
    are heard sooner; more last longer, until the second hop is there. 0: 8 on a GPU, else 22."""
    flow_window_s: float = 0.0
    """The flow looks back so far beside the recording; 0: to the beginning, which is exact."""
    max_batch: int = 64
    """Contexts that share a step, at most."""
    positions: int = 4096
    """Tokens of a segment, its voice's prompt and its speech together, at most."""
    flow_mib: int = 0
    """Memory for what the flow keeps, in MiB; 0: what is left of the budget."""
    host_mib: int = 4096
    """The host's memory, in MiB, for contexts that wait while the flow's is short, and for voices
    that nobody speaks with; 0: none."""
    gpu_memory_budget: float = 0.85
    """Of the device's free memory at the start, at most so much is taken."""
    streams: int = 4
    """CUDA streams: 1 for all stages, or 4, one a stage and one for copies."""
    profile: str | None = None
    """What steps cost on this card, as ``python -m benchmarks.gpu --table`` wrote it: where the
    scheduler and admission begin. None: with a rehearsal. They learn from the steps that run."""
    in_place: bool = True
    """Attention reads keys and values where they lie, on a GPU with Triton; False: they are copied
    side by side first."""
    compile: bool = False
    """Compile what lies between the networks' products, on a GPU: a longer start, then
    less time a step."""


@dataclass(frozen=True)
class EngineSettings:
    """The engine process and what it runs."""

    runner: Literal["auto", "embedded", "cosyvoice", "tone"] = "auto"
    """``auto``: ``cosyvoice`` where a model is named, else ``embedded``."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    precision: Literal["fp32", "fp16", "bf16"] = "fp32"
    model: str | None = None
    default_voice: str | None = None
    threads: int = 1
    """Threads that a model computes with on a CPU."""
    slots: int = 1024
    """Contexts active at once; one more is refused with ``overloaded``."""
    capacity: int = 0
    """Listeners served at once; 0: as many as can be served in time, by what steps cost."""
    queue: int = 0
    """Contexts that may wait for a place instead of being refused at once."""
    queue_ms: int = 2000
    """How long each may wait."""
    max_ahead_s: float = 6.0
    """A context further ahead of its listener than this waits."""
    host_reserve_mib: int = 128
    """With less of the host's memory free than this, in MiB, only a first listener is let in."""
    first_packet_target_ms: int = 150
    """The deadline of a context that has sent nothing yet: its text's arrival plus this."""
    unload_after_s: float = 0.0
    """A model that nobody has spoken with for so long gives its memory back; 0: never."""
    trace: str | None = None
    """A file to write every step to, for Perfetto."""
    allow_downloads: bool = False
    """Fetch the embedded voice's other voices from their public hub when first asked for."""
    voices_dir: str = "data/voices"
    """Where voices made of recordings are kept; relative to the working directory."""
    voices_per_key: int = 100
    """Voices that one key may have made; without keys, all users together."""
    voices_bytes: int = 1_073_741_824
    """What all stored voices together may take."""
    load_timeout_s: float = 600.0
    """How long loading and warming may take."""
    hang_timeout_s: float = 15.0
    """An engine without a sign of life for so long is killed and started again."""
    text: TextSettings = field(default_factory=TextSettings)
    pauses: PauseSettings = field(default_factory=PauseSettings)
    cosyvoice: CosyVoiceSettings = field(default_factory=CosyVoiceSettings)

    @property
    def kind(self) -> str:
        """The runner that is meant."""
        if self.runner != "auto":
            return self.runner
        return "embedded" if self.model is None else "cosyvoice"
