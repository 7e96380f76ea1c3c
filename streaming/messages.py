"""What crosses a process boundary: plain data, encoded as msgpack.

Processes talk in a star around the server: it tells the front end text, the engine segments and
the prompt maker recordings; all answer with events. A message names a context by ``ctx``, a number
that the engine client gives out once and never again, so nothing late can reach a stranger.

Knows: the shape of the messages. Does not know: pipes, processes, sockets.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from streaming.segment import LexiconEntry, Reasoning, Segment, TextMode, Word


class Message(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """Base of everything that crosses; the class's name is its tag."""


class Voice(msgspec.Struct, frozen=True, kw_only=True):
    """One voice that can be asked for by ``id``."""

    id: str
    name: str
    languages: tuple[str, ...]
    """BCP 47 primary tags, for example ``("en",)``."""
    description: str = ""
    preview: bool = False
    lane: str = ""
    """Voices of one lane share what computes them, and so its capacity."""


PROBE_CTX = 0
"""No context: a front end that answers ``TextEnd`` for it with ``TextEnded`` is alive."""


# --- server to front end -------------------------------------------------------------------


class TextOpen(Message, frozen=True, kw_only=True):
    """A context begins: how its text is to be cut."""

    ctx: int
    language: str = "auto"
    text_mode: TextMode = "auto"
    max_delay_ms: int | None = None
    """Release whatever waits, at the best place, when this long has passed since it came."""
    max_segment_chars: int = 200
    min_segment_chars: int = 0
    """A sentence narrower than this waits for the next, but for the first of a context."""
    marks: tuple[str, ...] = ()
    """Control marks that the voice takes as they are written; all others are taken away."""
    voice: str = ""
    voice_languages: tuple[str, ...] = ()
    """What the voice speaks; empty where nobody knows."""
    lexicon: tuple[LexiconEntry, ...] = ()
    reasoning: Reasoning = "speak"


class TextAppend(Message, frozen=True, kw_only=True):
    """More of the context's text, of any length."""

    ctx: int
    delta: str


class TextFlush(Message, frozen=True, kw_only=True):
    """Release all that is pending, then answer with ``TextFlushed`` of this id."""

    ctx: int
    flush_id: str


class TextEnd(Message, frozen=True, kw_only=True):
    """No more text: release all that is pending, then ``TextEnded``."""

    ctx: int


class TextDrop(Message, frozen=True, kw_only=True):
    """Forget the context; nothing more is to be said of it."""

    ctx: int


# --- front end to server -------------------------------------------------------------------


class TextSegments(Message, frozen=True, kw_only=True):
    """Segments let go, in order."""

    ctx: int
    segments: tuple[Segment, ...]


class TextFlushed(Message, frozen=True, kw_only=True):
    """Everything before that flush has been let go."""

    ctx: int
    flush_id: str


class TextEnded(Message, frozen=True, kw_only=True):
    """Everything has been let go; ``segments`` is how many there were in all."""

    ctx: int
    segments: int


# --- server to engine ----------------------------------------------------------------------


class Open(Message, frozen=True, kw_only=True):
    """A context begins; its segments follow."""

    ctx: int
    voice: str
    language: str = "auto"
    speed: float = 1.0
    seed: int = 0
    instruct: str | None = None
    priority: int = 0
    """Higher goes first among contexts whose deadlines are alike; -10 to 10."""
    words: bool = False
    interleaved: bool = False
    """Its segments come in parts, and are spoken while they come."""
    start_in_ms: int = 0
    """How long until the listener can hear this context (those before it still play)."""


class Speak(Message, frozen=True, kw_only=True):
    """Make this segment's audio, after those before it; or it is more of the last one."""

    ctx: int
    segment: Segment


class PlaceMark(Message, frozen=True, kw_only=True):
    """Answer with ``Mark`` once the audio of all segments before this message is out."""

    ctx: int
    mark: str


class End(Message, frozen=True, kw_only=True):
    """No more segments: after the last one's audio comes ``Finished``."""

    ctx: int


class Cancel(Message, frozen=True, kw_only=True):
    """Nothing launched after this was read may include the context; answered by ``Released``."""

    ctx: int


class Park(Message, frozen=True, kw_only=True):
    """Its listener is away: keep the state, launch nothing, until ``Unpark`` or ``Cancel``."""

    ctx: int


class Unpark(Message, frozen=True, kw_only=True):
    """Its listener is back."""

    ctx: int


class Played(Message, frozen=True, kw_only=True):
    """How much of the context's audio the listener has had, in samples at 24 kHz."""

    ctx: int
    samples: int


class ForgetVoice(Message, frozen=True, kw_only=True):
    """A voice made of a recording was removed: keep nothing of it, no context begins with it."""

    voice: str


class StartIn(Message, frozen=True, kw_only=True):
    """The context's turn to be heard comes in so many ms (the one before it changed length)."""

    ctx: int
    ms: int


# --- engine to server ----------------------------------------------------------------------


class Ready(Message, frozen=True, kw_only=True):
    """Warm: the first context will not wait for anything to load."""

    runner: str
    device: str
    voices: tuple[Voice, ...]
    default_voice: str
    slots: int
    """How many contexts can be active at once; one more is refused with ``overloaded``."""
    options: tuple[str, ...] = ()
    """Open's optional features that the runner honours, of ``speed``, ``seed``, ``instruct``,
    ``interleaved``, and ``instruct_interleaved`` for both at once."""
    cloning: bool = False
    """Whether voices can be made of recordings."""
    clone_languages: tuple[str, ...] = ()
    """What such voices speak, as ``Voice.languages``."""
    marks: tuple[str, ...] = ()
    """Marks within a text that its voices obey, such as ``[laughter]`` and ``<strong>``."""
    min_segment_chars: int = 0
    """What is shorter is spoken badly (CJK characters count 2); 0: nothing is."""
    max_segment_chars: int = 0
    """The most that a segment should have; 0: as the settings have it."""
    voice_model: str = ""
    """Fingerprint of the model whose features of a recording it reads; empty: it needs none."""


class Fatal(Message, frozen=True, kw_only=True):
    """The runner could not be loaded; the process ends after this. Starting again may not help."""

    message: str


class SegmentStarted(Message, frozen=True, kw_only=True):
    """The next audio of the context belongs to this segment."""

    ctx: int
    segment: Segment
    position_samples: int


class SegmentGrown(Message, frozen=True, kw_only=True):
    """The segment that sounds has more text, none of it heard before ``position_samples``."""

    ctx: int
    part: Segment
    position_samples: int


class Audio(Message, frozen=True, kw_only=True):
    """A chunk: 16-bit little-endian mono PCM at 24 kHz, starting at ``position_samples``."""

    ctx: int
    position_samples: int
    pcm: bytes
    last: bool = False
    """True on the context's final chunk where that is known when it leaves."""


class Words(Message, frozen=True, kw_only=True):
    """The words of one segment; ``source`` says whether a model or a rule of thumb timed them."""

    ctx: int
    items: tuple[Word, ...]
    source: Literal["align", "estimate"]
    provisional: bool = False
    """The segment's length is a guess so far; words of the same segment follow once it is known."""


class Mark(Message, frozen=True, kw_only=True):
    """Everything before that ``PlaceMark`` is out; audio so far, in samples."""

    ctx: int
    mark: str
    position_samples: int


class Skipped(Message, frozen=True, kw_only=True):
    """A segment had nothing that can be spoken (punctuation, emoji) and made no audio."""

    ctx: int
    segment: Segment
    reason: str


class Finished(Message, frozen=True, kw_only=True):
    """The context is complete, its slot free."""

    ctx: int
    samples: int
    compute_s: float


class Failed(Message, frozen=True, kw_only=True):
    """The context ends here, its slot free; audio before is good. ``code`` is one of errors.py."""

    ctx: int
    code: str
    message: str
    retryable: bool = False
    retry_after_ms: int | None = None


class Released(Message, frozen=True, kw_only=True):
    """The cancelled context's slot and memory are free; ``compute_s`` is what it cost in all."""

    ctx: int
    compute_s: float


class Stats(Message, frozen=True, kw_only=True):
    """Once a second, and the sign of life the supervisor waits for."""

    contexts: int
    parked: int
    queued_segments: int
    free_slots: int
    steps: int
    busy_s: float
    """Seconds spent in steps since the process began."""
    audio_s: float
    rss_mib: float
    capacity: dict[str, int] = {}
    """Listeners that each lane of voices can serve in time."""
    late: tuple[int, ...] = ()
    """Contexts whose listeners were kept waiting, since the last of these or now."""
    figures: dict[str, float] = {}
    """What the runner counts about itself, by name."""


# --- server to prompt maker ----------------------------------------------------------------


class PromptMake(Message, frozen=True, kw_only=True):
    """Make a prompt of a recording; answered by ``PromptMade`` or ``PromptRefused``."""

    request: int
    """The asker's number, never used twice."""
    recording: bytes
    """A file of a stranger's, in whatever format its own bytes say."""


# --- prompt maker to server ----------------------------------------------------------------


class PromptReady(Message, frozen=True, kw_only=True):
    """The process runs and has found its networks; it makes what was asked."""

    model: str
    """Fingerprint of what makes features: features of another model are not to be mixed in."""


class PromptMade(Message, frozen=True, kw_only=True):
    """A recording as the models take it."""

    request: int
    digest: str
    """Of ``wav`` and the model, in hex: the same recording sent again has the same one."""
    wav: bytes
    """A whole WAVE file, 24 kHz, mono, 16-bit: trimmed, with what is said left as it was."""
    duration_ms: int
    features: bytes
    """``streaming.cosyvoice.prompt.features.PromptFeatures.to_bytes``."""
    warnings: tuple[str, ...] = ()
    """What would make a better voice: sentences for the user."""


class PromptRefused(Message, frozen=True, kw_only=True):
    """No prompt comes of it. ``code`` is one of errors.py, most often a ``BadRecording``."""

    request: int
    code: str
    message: str


ToText = TextOpen | TextAppend | TextFlush | TextEnd | TextDrop
FromText = TextSegments | TextFlushed | TextEnded | Failed
ToEngine = Open | Speak | PlaceMark | End | Cancel | Park | Unpark | Played | StartIn | ForgetVoice
FromEngine = (
    Ready
    | Fatal
    | SegmentStarted
    | SegmentGrown
    | Audio
    | Words
    | Mark
    | Skipped
    | Finished
    | Failed
    | Released
    | Stats
)
ToPrompts = PromptMake
FromPrompts = PromptReady | Fatal | PromptMade | PromptRefused
ContextEvent = (
    SegmentStarted | SegmentGrown | Audio | Words | Mark | Skipped | Finished | Failed | Released
)
"""What a context's owner is told, in order."""
