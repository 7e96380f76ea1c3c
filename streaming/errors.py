"""The tree of errors a user can meet, and the code each has on the wire.

Knows: codes, HTTP statuses, whether trying again can help. Does not know: any
protocol's shape of an error, or which WebSocket close code goes with it.
"""

from __future__ import annotations


class CosystreamError(Exception):
    """A fault that is told to the user.

    ``message`` says what was wrong, with the value, and what to do. ``ctx`` is filled in by
    whoever knows which context it belongs to; ``fatal`` means that context (or, without one,
    the connection) has ended.
    """

    code = "internal"
    status = 500
    retryable = False

    def __init__(self, message: str, *, retry_after_ms: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.retry_after_ms = retry_after_ms


class BadRequest(CosystreamError):
    """What was sent cannot be understood or is out of range."""

    code, status = "bad_request", 400


class BadJson(BadRequest):
    """A text message is not one JSON object."""

    code = "bad_json"


class UnknownType(BadRequest):
    """The message's ``type`` is none we know."""

    code = "unknown_type"


class InvalidValue(BadRequest):
    """A field is missing, of the wrong type or out of range; the message names it."""

    code = "invalid_value"


class BadSubprotocol(BadRequest):
    """The client offers subprotocols and none of them is ours (4000)."""

    code = "bad_subprotocol"


class BadState(BadRequest):
    """A well-formed message at a moment when it makes no sense (a second hello, say)."""

    code, status = "bad_state", 409


class UnknownVoice(BadRequest):
    """No voice of that name; the message lists those there are."""

    code, status = "unknown_voice", 404


class UnsupportedLanguage(BadRequest):
    """The voice cannot speak this text; the message names what can and how to add it."""

    code, status = "unsupported_language", 422


class UnsupportedByEngine(BadRequest):
    """The engine that runs cannot do this at all (cloning with the embedded voice, say)."""

    code, status = "unsupported_by_engine", 422


class BadRecording(BadRequest):
    """No voice can be made of this recording; the message says why and what to do."""

    code = "bad_recording"


class NotAudio(BadRecording):
    """The file is of no format that is read here, or of none at all; the message lists those."""

    code, status = "not_audio", 415


class DamagedRecording(BadRecording):
    """The file ends too soon, or holds samples that are no numbers."""

    code = "damaged_recording"


class UnusualRecording(BadRecording):
    """A sample rate or a number of channels that no recording of a voice has."""

    code = "unusual_recording"


class RecordingTooShort(BadRecording):
    """Less speech than the least that tells a voice."""

    code = "recording_too_short"


class RecordingTooLong(BadRecording):
    """More than the models take."""

    code = "recording_too_long"


class SilentRecording(BadRecording):
    """Nothing is heard in it, or nothing but a constant."""

    code = "silent_recording"


class ClippedRecording(BadRecording):
    """The loud parts are cut off: it was recorded too loud."""

    code = "clipped_recording"


class NoSpeech(BadRecording):
    """There is sound, but the speech tokenizer hears no speech in it."""

    code = "no_speech"


class UploadTooLarge(BadRequest):
    """More bytes than a recording may have; the message names the setting."""

    code, status = "upload_too_large", 413


class TooManyVoices(CosystreamError):
    """The key has as many voices as it may; one has to be deleted first."""

    code, status = "too_many_voices", 409


class StorageFull(CosystreamError):
    """All stored voices together take as much as they may, or as the disk holds."""

    code, status = "storage_full", 507


class UnknownContext(BadRequest):
    """No context of that id was opened in this session."""

    code, status = "unknown_context", 404


class ContextGone(BadRequest):
    """The context of that id has ended; its late text is dropped, and this says so."""

    code, status = "context_gone", 410


class ContextEnded(BadRequest):
    """Text or flush after ``end``: the context still speaks, but takes no more text."""

    code, status = "context_ended", 409


class ContextExists(BadRequest):
    """An ``open`` with the id of a context that is still active; that one goes on untouched."""

    code, status = "context_exists", 409


class TextTooLong(BadRequest):
    """A context's text would pass the limit; the delta is refused whole, the context goes on."""

    code, status = "text_too_long", 413


class TextGap(BadRequest):
    """A numbered delta skipped one: send again from the number the message names."""

    code, status, retryable = "text_gap", 409, True


class Unauthorized(CosystreamError):
    """No key, a wrong one, or a token that is spent or expired."""

    code, status = "unauthorized", 401


class ForbiddenOrigin(CosystreamError):
    """The web origin is not allowed; the message names the setting and the value to add."""

    code, status = "forbidden_origin", 403


class NotAllowed(CosystreamError):
    """The key or token may not do this (another voice, more characters)."""

    code, status = "not_allowed", 403


class TooManyContexts(CosystreamError):
    """The session has as many contexts as it may."""

    code, status, retryable = "too_many_contexts", 429, True


class TooManySessions(CosystreamError):
    """The server has as many sessions as it may."""

    code, status, retryable = "too_many_sessions", 503, True


class RateLimited(CosystreamError):
    """Too many requests in a time; ``retry_after_ms`` says when to come back."""

    code, status, retryable = "rate_limited", 429, True


class Overloaded(CosystreamError):
    """No capacity for one more context now."""

    code, status, retryable = "overloaded", 503, True


class DeviceFull(Overloaded):
    """The device's memory is full: the newest context gives way to the others."""


class ResumeUnknown(CosystreamError):
    """No such session here (expired, or another server's); a new one was begun."""

    code, status = "resume_unknown", 404


class ResumedElsewhere(CosystreamError):
    """The session went on over a newer connection; this one is closed (4010)."""

    code, status = "resumed_elsewhere", 409


class SlowConsumer(CosystreamError):
    """The socket took no data for too long; the connection is aborted (4009)."""

    code, status = "slow_consumer", 408


class IdleTimeout(CosystreamError):
    """Nothing was said or asked for too long (4008)."""

    code, status = "idle_timeout", 408


class GoingAway(CosystreamError):
    """The server drains and takes no new contexts."""

    code, status, retryable = "going_away", 503, True


class EngineLoading(CosystreamError):
    """The model is still loading; ``/readyz`` says when it is ready."""

    code, status, retryable = "engine_loading", 503, True


class EngineRestarted(CosystreamError):
    """The engine process died in mid-utterance and was started again: ask again."""

    code, status, retryable = "engine_restarted", 503, True


class SynthesisFailed(CosystreamError):
    """A step of this context raised; the others go on."""

    code, status, retryable = "synthesis_failed", 500, True


class Internal(CosystreamError):
    """A fault of ours; the log has it under the id the message names."""

    code, status = "internal", 500


def _subclasses(kind: type[CosystreamError]) -> list[type[CosystreamError]]:
    return [kind, *(leaf for child in kind.__subclasses__() for leaf in _subclasses(child))]


def by_code(code: str, message: str, retry_after_ms: int | None = None) -> CosystreamError:
    """The error of that wire code: how one that crossed a process boundary is raised again."""
    kind = next((k for k in _subclasses(CosystreamError) if k.code == code), Internal)
    return kind(message, retry_after_ms=retry_after_ms)
