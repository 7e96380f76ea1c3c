"""What a key is given reaches the engine with each of its contexts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, cast
from unittest.mock import Mock

import pytest
from links import FakeLink

from server import requests
from server.access import Access, Identity
from server.connection import NativeAdapter
from server.encoding import EncoderPool
from server.metrics import Metrics
from server.ring import RingBudget
from server.services import Services, Terms
from server.session import Session
from server.settings import AccessSettings, Allowance, Settings
from server.speak import SpeakRequest, to_engine
from streaming.audio.format import AudioFormat
from streaming.clock import ManualClock
from streaming.engine.client import ContextRequest, EngineClient
from streaming.errors import TooManyContexts

GOLD = Identity("gold", allowance=Allowance(priority=5, contexts=2))
IRON = Identity("iron", allowance=Allowance(priority=-5))


class Engine:
    """Begins whatever it is asked to, and remembers it."""

    def __init__(self) -> None:
        self.asked: list[ContextRequest] = []
        self.info = None

    def check(self, request: ContextRequest) -> list[tuple[str, str]]:
        del request
        return []

    def voice_of(self, wanted: str | None, language: str, owner: str) -> str:
        del language, owner
        return wanted or "heart"

    def open(self, request: ContextRequest, sink: Any) -> Any:
        del sink
        self.asked.append(request)
        return Mock(active=True)


@pytest.fixture
async def services() -> AsyncIterator[Services]:
    settings, clock = Settings(), ManualClock()
    pool = EncoderPool(1)
    yield Services(
        engine=cast("EngineClient", Engine()),
        pool=pool,
        clock=clock,
        metrics=Metrics(),
        settings=settings,
        budget=RingBudget(settings.limits.resume_total_bytes),
        access=Access(AccessSettings(), settings.limits, clock),
    )
    pool.close()


def session_of(services: Services, identity: Identity) -> tuple[Session, FakeLink]:
    terms = Terms(identity, AudioFormat("pcm_s16le", 24_000, 80), 400)
    session = Session(services, terms, NativeAdapter("header"), lambda _: None)
    link = FakeLink()
    session.attach(link)
    return session, link


def priorities(services: Services) -> list[int]:
    return [request.priority for request in cast("Engine", services.engine).asked]


async def test_contexts_of_two_keys_are_ranked_differently(services: Services) -> None:
    for identity in (IRON, GOLD):
        session, _ = session_of(services, identity)
        session.handle(requests.Open(ctx="a"))
        session.handle(requests.Text(delta="Hello."))
    assert priorities(services) == [-5, -5, 5, 5]


async def test_a_context_may_ask_for_less_and_is_told_when_it_asks_for_too_much(
    services: Services,
) -> None:
    session, link = session_of(services, Identity("gold", allowance=Allowance(priority=5)))
    for ctx, asked in (("a", -3), ("b", 5), ("c", 8)):
        session.handle(requests.Open(ctx=ctx, priority=asked))
    assert priorities(services) == [-3, 5, 5]
    (warning,) = [each for each in link.texts if each["type"] == "warning"]
    assert (warning["code"], warning["option"], warning["ctx"]) == (
        "option_ignored",
        "priority",
        "c",
    )
    assert "5 at most" in warning["message"]


def test_a_plain_request_has_its_keys_priority() -> None:
    asked = SpeakRequest(text="Hello.")
    assert [to_engine(asked, identity).priority for identity in (GOLD, IRON)] == [5, -5]
    assert to_engine(asked, Identity("anonymous")).priority == 0


async def test_a_key_shares_its_contexts_among_its_sessions(services: Services) -> None:
    first, _ = session_of(services, GOLD)
    second, _ = session_of(services, GOLD)
    other, _ = session_of(services, IRON)
    first.handle(requests.Open(ctx="a"))
    second.handle(requests.Open(ctx="b"))
    with pytest.raises(TooManyContexts, match="its limit is 2"):
        second.handle(requests.Open(ctx="c"))
    other.handle(requests.Open(ctx="a"))
    second.handle(requests.Open(ctx="c", when="interrupt"))
    first.close("left")
    second.handle(requests.Open(ctx="d"))
    second.close("left")
    assert services.access.contexts["gold"] == 0


async def test_one_that_the_engine_refuses_is_not_counted(services: Services) -> None:
    def refuse(*_: Any) -> None:
        raise RuntimeError("refused")

    session, _ = session_of(services, GOLD)
    services.engine.open = refuse  # type: ignore[assignment,method-assign]
    with pytest.raises(RuntimeError):
        session.handle(requests.Open(ctx="a"))
    assert services.access.contexts["gold"] == 0
    assert session.active == 0
