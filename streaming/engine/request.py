"""What one asks of the engine for a context, and whether it can be had.

Knows: voices, languages, options. Does not know: processes.
"""

from __future__ import annotations

from dataclasses import dataclass

from streaming.messages import Open, Ready, TextOpen, Voice
from streaming.segment import LexiconEntry, Reasoning, TextMode
from streaming.voices import catalog

_NEUTRAL_SPEED = 1.0
INTERLEAVED, WITH_INSTRUCTION = "interleaved", "instruct_interleaved"
"""Options by which a runner says that it takes text in mid-sentence, and that it can be told how to
speak that (``Ready.options``)."""


@dataclass(frozen=True)
class ContextRequest:
    """Everything a context can be asked to be."""

    voice: str | None = None
    language: str = "auto"
    speed: float = _NEUTRAL_SPEED
    seed: int = 0
    instruct: str | None = None
    words: bool = False
    text_mode: TextMode = "auto"
    max_delay_ms: int | None = None
    priority: int = 0
    start_in_ms: int = 0
    owner: str = ""
    """Whose voices it may speak with beside the engine's own."""
    listener: str = ""
    """Who hears it, one after another with others of that name; empty: nobody else."""
    instead_of: tuple[int, ...] = ()
    """Contexts that will be cancelled when this one is begun: it may have their place."""
    lexicon: tuple[LexiconEntry, ...] = ()
    reasoning: Reasoning = "speak"


def check(request: ContextRequest, engine: Ready) -> list[tuple[str, str]]:
    """The options that will be ignored, each with a sentence that says so.

    Raises:
        UnknownVoice, UnsupportedLanguage: nothing can be begun.
    """
    voice = catalog.find(engine.voices, voice_of(request.voice, request.language, engine))
    catalog.require_language(engine.voices, voice, request.language)
    asked = {
        "speed": request.speed != _NEUTRAL_SPEED,
        "instruct": request.instruct is not None,
    }
    told = f"voice {voice.id!r} of the {engine.runner} engine"
    ignored = [
        (option, f"{told} ignores {option!r}")
        for option, wanted in asked.items()
        if wanted and option not in engine.options
    ]
    if request.text_mode == INTERLEAVED and not interleaves(request, engine):
        able = " with an instruction" if INTERLEAVED in engine.options else ""
        told += f" takes no text in mid-sentence{able}: text_mode is 'auto', not 'interleaved'"
        ignored.append(("text_mode", told))
    return ignored


def interleaves(request: ContextRequest, engine: Ready) -> bool:
    """Whether its text is given to the model as it comes."""
    if request.text_mode != INTERLEAVED or INTERLEAVED not in engine.options:
        return False
    return request.instruct is None or WITH_INSTRUCTION in engine.options


def voice_of(wanted: str | None, language: str, engine: Ready) -> str:
    """The voice a context gets that asks for ``wanted``, or for none, in that language."""
    return catalog.meant(engine.voices, engine.default_voice, wanted, language)


def to_open(ctx: int, request: ContextRequest, voice: str, engine: Ready) -> Open:
    """The request as the engine is told of it."""
    return Open(
        ctx=ctx,
        voice=voice,
        language=request.language,
        speed=request.speed,
        seed=request.seed,
        instruct=request.instruct,
        priority=request.priority,
        words=request.words,
        interleaved=interleaves(request, engine),
        start_in_ms=request.start_in_ms,
    )


def to_text_open(
    ctx: int, request: ContextRequest, voice: Voice, engine: Ready, longest_chars: int
) -> TextOpen:
    """The request as its front end is told of it; segments as long as settings and engine allow."""
    refused = request.text_mode == INTERLEAVED and not interleaves(request, engine)
    return TextOpen(
        ctx=ctx,
        language=request.language,
        text_mode="auto" if refused else request.text_mode,
        max_delay_ms=request.max_delay_ms,
        max_segment_chars=min(longest_chars, engine.max_segment_chars or longest_chars),
        min_segment_chars=engine.min_segment_chars,
        marks=engine.marks,
        voice=voice.id,
        voice_languages=voice.languages,
        lexicon=request.lexicon,
        reasoning=request.reasoning,
    )
