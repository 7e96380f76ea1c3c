"""What ``/metrics`` tells: everything measured, in a registry of its own.

Gauges are attributes: ``set`` them, or give them a function to ask when they are read. Knows:
names, meanings and buckets (docs/operations.md explains each). Does not know: who measures.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.metrics_core import Metric

from server.process_stats import ProcessCollector
from streaming.errors import CosystreamError, Internal
from streaming.messages import Stats

Outcome = Literal["done", "cancelled", "error"]

_OUTCOMES: tuple[Outcome, ...] = ("done", "cancelled", "error")
_LATENCY_MS = (10, 20, 30, 40, 50, 75, 100, 150, 200, 300, 500, 750, 1000, 2000, 5000)
_UNDERRUN_MS = (0, 20, 50, 100, 200, 500, 1000, 2000, 5000)
_RTF = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2)


class Metrics:
    """All metrics of one server; each instance counts for itself."""

    def __init__(self) -> None:
        self._registry = _Registry()
        self._registry.register(ProcessCollector())
        self._first_packet_ms = self._histogram(
            "first_packet_ms", "From the text that completed a segment to its packet", _LATENCY_MS
        )
        self._ttfa_ms = self._histogram(
            "ttfa_ms", "From that text to the first audible sample", _LATENCY_MS
        )
        self._rtf = self._histogram("rtf", "Compute seconds a second of audio", _RTF)
        self._underrun_ms = self._histogram(
            "underrun_ms", "A context's worst lateness, played from its first packet", _UNDERRUN_MS
        )

        self.sessions = self._gauge("sessions", "Sessions with a connection")
        self.parked_sessions = self._gauge("parked_sessions", "Sessions waiting to be resumed")
        self.contexts = self._gauge("contexts", "Contexts begun and not ended")
        self.encoder_queue = self._gauge("encoder_queue", "Chunks waiting to be encoded")
        self.resume_bytes = self._gauge("resume_bytes", "Messages kept for resuming, in bytes")
        self.engine_ready = self._gauge("engine_ready", "1 while the engine is warm and alive")
        self.free_slots = self._gauge("free_slots", "Contexts the engine could still take")
        self._capacity = Gauge(
            "cosystream_capacity",
            "Listeners that can be served in time, by what computes their voices",
            ["lane"],
            registry=self._registry,
        )
        self._figures = Gauge(
            "cosystream_runner",
            "What the runner counts about itself",
            ["figure"],
            registry=self._registry,
        )
        self._engine_contexts = self._gauge("engine_contexts", "Contexts in the engine")
        self._engine_parked = self._gauge("engine_parked", "Contexts the engine lets wait")
        self._engine_queue = self._gauge("engine_queued_segments", "Segments not yet begun")
        self._engine_busy_s = self._gauge("engine_busy_seconds", "Time the engine spent in steps")

        self._contexts_ended = self._counter(
            "contexts_ended", "Contexts by how they ended", "outcome"
        )
        self._errors = self._counter("errors", "Errors told to clients, by code", "code")
        self._audio_s = self._counter("audio_seconds", "Audio sent")
        self._packets = self._counter("packets", "Packets sent")
        self._audio_bytes = self._counter("audio_bytes", "Bytes of packets sent, headers included")
        self._characters = self._counter("characters", "Characters of text accepted")
        self._restarts = self._counter("engine_restarts", "Times the engine was started again")
        self._tokens = self._counter("tokens", "Tokens made")
        self._codes = frozenset(_codes(CosystreamError))
        for outcome in _OUTCOMES:
            self._contexts_ended.labels(outcome)
        for code in sorted(self._codes):
            self._errors.labels(code)

    def context_ended(self, outcome: Outcome, underrun_ms: float | None = None) -> None:
        """A context is over; its worst underrun (0 for none) where it made any audio."""
        self._contexts_ended.labels(outcome).inc()
        if underrun_ms is not None:
            self._underrun_ms.observe(underrun_ms)

    def first_packet(self, first_packet_ms: float) -> None:
        """The first packet of a context has left."""
        self._first_packet_ms.observe(first_packet_ms)

    def first_sound(self, ttfa_ms: float) -> None:
        """The packet with a context's first audible sample has left."""
        self._ttfa_ms.observe(ttfa_ms)

    def computed(self, rtf: float) -> None:
        """A context is complete, at this cost."""
        self._rtf.observe(rtf)

    def packet_sent(self, size_bytes: int, audio_s: float) -> None:
        """A packet has been handed to a socket."""
        self._packets.inc()
        self._audio_bytes.inc(size_bytes)
        self._audio_s.inc(audio_s)

    def text_accepted(self, characters: int) -> None:
        """A delta was taken."""
        self._characters.inc(characters)

    def error(self, code: str) -> None:
        """A client was told of an error; a code that is none of ours counts as ``internal``."""
        self._errors.labels(code if code in self._codes else Internal.code).inc()

    def engine_restarted(self) -> None:
        """The engine died and was started again."""
        self._restarts.inc()

    def token_minted(self) -> None:
        """A token was made."""
        self._tokens.inc()

    def engine_stats(self, stats: Stats) -> None:
        """What the engine says of itself once a second."""
        self._engine_contexts.set(stats.contexts)
        self._engine_parked.set(stats.parked)
        self._engine_queue.set(stats.queued_segments)
        self._engine_busy_s.set(stats.busy_s)
        self.free_slots.set(stats.free_slots)
        for lane, listeners in stats.capacity.items():
            self._capacity.labels(lane or "all").set(listeners)
        self._figures.clear()  # a model that rests tells none
        for name, value in stats.figures.items():
            self._figures.labels(name).set(value)

    def render(self) -> tuple[bytes, str]:
        """The page for Prometheus and its content type."""
        return generate_latest(self._registry), CONTENT_TYPE_PLAIN_0_0_4

    def _histogram(self, name: str, help_: str, buckets: tuple[float, ...]) -> Histogram:
        return Histogram(f"cosystream_{name}", help_, buckets=buckets, registry=self._registry)

    def _gauge(self, name: str, help_: str) -> Gauge:
        return Gauge(f"cosystream_{name}", help_, registry=self._registry)

    def _counter(self, name: str, help_: str, *labels: str) -> Counter:
        return Counter(f"cosystream_{name}", help_, labels, registry=self._registry)


class _Registry(CollectorRegistry):
    """Leaves out when each series was created, a second line for every counter."""

    def collect(self) -> Iterator[Metric]:
        for metric in super().collect():
            metric.samples = [s for s in metric.samples if not s.name.endswith("_created")]
            yield metric


def _codes(kind: type[CosystreamError]) -> set[str]:
    return {kind.code}.union(*(_codes(child) for child in kind.__subclasses__()))
