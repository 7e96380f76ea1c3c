"""The registry: limits, and who may go on with which session."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest
from links import FakeLink

from server.access import Access, Identity
from server.connection import NativeAdapter
from server.encoding import EncoderPool
from server.events import Flushed
from server.metrics import Metrics
from server.ring import RingBudget
from server.services import Services, Terms
from server.session import Session
from server.sessions import Sessions
from server.settings import AccessSettings, Allowance, ApiKey, LimitSettings, Settings
from streaming.audio.format import AudioFormat
from streaming.clock import ManualClock
from streaming.engine.client import EngineClient
from streaming.errors import (
    CosystreamError,
    GoingAway,
    ResumeUnknown,
    TooManySessions,
    Unauthorized,
)

ANNA, BEN = Identity("anna"), Identity("ben")
AUDIO = AudioFormat("pcm_s16le", 24_000, 80)
MakeSessions = Callable[..., Sessions]


@pytest.fixture
async def registry() -> AsyncIterator[MakeSessions]:
    """Registries without an engine: nothing here opens a context."""
    pools: list[EncoderPool] = []

    def make(**limits: Any) -> Sessions:
        settings = Settings(
            limits=LimitSettings(**limits),
            access=AccessSettings(api_keys=(ApiKey("anna", "a" * 32), ApiKey("ben", "b" * 32))),
        )
        clock = ManualClock()
        pools.append(EncoderPool(1))
        return Sessions(
            Services(
                engine=cast("EngineClient", SimpleNamespace(info=None)),
                pool=pools[-1],
                clock=clock,
                metrics=Metrics(),
                settings=settings,
                budget=RingBudget(settings.limits.resume_total_bytes),
                access=Access(settings.access, settings.limits, clock),
            )
        )

    yield make
    for pool in pools:
        pool.close()


def begin(sessions: Sessions, who: Identity = ANNA) -> tuple[Session, FakeLink]:
    session = sessions.begin(Terms(who, AUDIO, 400), NativeAdapter("header"))
    link = FakeLink()
    session.attach(link)
    return session, link


def clock_of(sessions: Sessions) -> ManualClock:
    assert isinstance(sessions.services.clock, ManualClock)
    return sessions.services.clock


class TestLimits:
    async def test_one_session_more_than_the_server_takes_is_told_when_to_come_back(
        self, registry: MakeSessions
    ) -> None:
        sessions = registry(sessions=2)
        first, _ = begin(sessions)
        begin(sessions, BEN)
        with pytest.raises(TooManySessions, match="limit is 2") as refused:
            begin(sessions)
        assert refused.value.retry_after_ms
        first.close("done with it")
        begin(sessions)
        assert len(sessions) == 2

    async def test_one_key_does_not_use_up_anothers(self, registry: MakeSessions) -> None:
        sessions = registry(sessions_per_key=1)
        begin(sessions, ANNA)
        with pytest.raises(TooManySessions, match="this key"):
            begin(sessions, ANNA)
        begin(sessions, BEN)

    async def test_one_key_may_have_more_than_others_or_less(self, registry: MakeSessions) -> None:
        sessions = registry(sessions_per_key=1, contexts=3)
        large = Identity("large", allowance=Allowance(sessions=2, contexts=2, priority=4))
        begin(sessions, large)
        begin(sessions, large)
        with pytest.raises(TooManySessions, match="2 sessions open"):
            begin(sessions, large)
        told = sessions.limits_told(large)
        assert [told[name] for name in ("sessions_per_key", "contexts", "priority")] == [2, 2, 4]
        told = sessions.limits_told(ANNA)
        assert [told[name] for name in ("sessions_per_key", "contexts", "priority")] == [1, 3, 0]

    async def test_a_parked_session_still_counts(self, registry: MakeSessions) -> None:
        sessions = registry(sessions_per_key=1)
        session, _ = begin(sessions)
        session.lost()
        assert sessions.parked == 1
        with pytest.raises(TooManySessions):
            begin(sessions)
        clock_of(sessions).advance(31)
        assert len(sessions) == 0
        begin(sessions)

    async def test_none_of_them_is_left_out_of_what_is_told(self, registry: MakeSessions) -> None:
        told = registry(contexts=3).limits_told(ANNA)
        assert told["contexts"] == 3
        assert set(told) >= {"message_bytes", "text_chars", "sessions", "resume_window_s"}

    async def test_names_and_tokens_are_never_given_twice(self, registry: MakeSessions) -> None:
        sessions = registry()
        begun = [begin(sessions)[0] for _ in range(50)]
        assert len({session.id for session in begun}) == 50
        assert len({session.resume_token for session in begun}) == 50


class TestFinding:
    async def test_with_name_and_token_it_is_found(self, registry: MakeSessions) -> None:
        sessions = registry()
        session, _ = begin(sessions)
        session.lost()
        assert sessions.find(session.id, session.resume_token, 0, ANNA) is session

    async def test_without_the_token_it_is_not_and_goes_on(self, registry: MakeSessions) -> None:
        sessions = registry()
        session, _ = begin(sessions)
        for token in ("", "guess", session.resume_token[:-1], "é" * 24):
            with pytest.raises(ResumeUnknown):
                sessions.find(session.id, token, 0, ANNA)
        assert not session.closed
        assert session.connected

    async def test_another_key_does_not_find_it(self, registry: MakeSessions) -> None:
        sessions = registry()
        session, _ = begin(sessions, ANNA)
        with pytest.raises(ResumeUnknown):
            sessions.find(session.id, session.resume_token, 0, BEN)

    async def test_a_name_that_is_none_is_shown_short(self, registry: MakeSessions) -> None:
        with pytest.raises(ResumeUnknown) as unknown:
            registry().find("s" * 500, "", 0, ANNA)
        assert len(unknown.value.message) < 200

    async def test_one_that_is_over_is_unknown(self, registry: MakeSessions) -> None:
        sessions = registry()
        session, _ = begin(sessions)
        session.close("client closed")
        with pytest.raises(ResumeUnknown):
            sessions.find(session.id, session.resume_token, 0, ANNA)

    async def test_one_that_forgot_what_is_asked_for_is_over(self, registry: MakeSessions) -> None:
        sessions = registry(resume_bytes=0)
        session, _ = begin(sessions)
        session._outbox.event(Flushed(ctx="a", id="", pts_ms=0))
        session.lost()
        with pytest.raises(ResumeUnknown, match="after 0"):
            sessions.find(session.id, session.resume_token, 0, ANNA)
        assert session.closed
        assert len(sessions) == 0

    async def test_that_one_does_not_leave_a_connection_behind(
        self, registry: MakeSessions
    ) -> None:
        sessions = registry()
        session, link = begin(sessions)
        with pytest.raises(ResumeUnknown):
            sessions.find(session.id, session.resume_token, 99, ANNA)
        assert link.closed == (4010, "resumed_elsewhere")
        assert len(sessions) == 0


class TestGoingOn:
    async def test_one_that_was_resumed_outlives_its_window(self, registry: MakeSessions) -> None:
        sessions = registry(resume_window_s=30, idle_s=300)
        session, _ = begin(sessions)
        for _ in range(3):
            session.lost()
            clock_of(sessions).advance(29)
            session.resume(FakeLink(), 0)
        clock_of(sessions).advance(200)
        assert session.connected
        clock_of(sessions).advance(101)
        assert session.closed

    async def test_one_that_has_ended_keeps_nothing_that_comes_later(
        self, registry: MakeSessions
    ) -> None:
        sessions = registry()
        session, _ = begin(sessions)
        session._outbox.event(Flushed(ctx="a", id="", pts_ms=0))
        assert sessions.services.budget.used_bytes > 0
        session.close("")
        session._outbox.event(Flushed(ctx="a", id="", pts_ms=0))
        assert sessions.services.budget.used_bytes == 0


class TestTokens:
    @staticmethod
    def _with_token(sessions: Sessions) -> Identity:
        access = sessions.services.access
        token, _ = access.mint(ANNA, ttl_s=60)
        return access.identify(None, token, None, "host", resuming=True)

    async def test_one_opens_one_session(self, registry: MakeSessions) -> None:
        sessions = registry()
        who = self._with_token(sessions)
        begin(sessions, who)
        with pytest.raises(Unauthorized):
            begin(sessions, who)
        assert len(sessions) == 1

    async def test_one_refused_for_lack_of_room_is_not_spent(self, registry: MakeSessions) -> None:
        sessions = registry(sessions=1)
        first, _ = begin(sessions)
        who = self._with_token(sessions)
        with pytest.raises(TooManySessions):
            begin(sessions, who)
        first.close("")
        begin(sessions, who)

    async def test_one_resumes_its_session_and_no_other(self, registry: MakeSessions) -> None:
        sessions = registry()
        mine, theirs = self._with_token(sessions), self._with_token(sessions)
        session, _ = begin(sessions, mine)
        other, _ = begin(sessions, theirs)
        session.lost()
        assert sessions.find(session.id, session.resume_token, 0, mine) is session
        with pytest.raises(Unauthorized):
            sessions.find(other.id, other.resume_token, 0, mine)


class TestDraining:
    async def test_nothing_new_is_begun_and_everybody_is_told_and_closed(
        self, registry: MakeSessions
    ) -> None:
        sessions = registry()
        _, link = begin(sessions)
        parked, _ = begin(sessions)
        parked.lost()
        await asyncio.wait_for(sessions.drain(20), 5)
        assert link.texts[-1] == {"type": "going_away", "deadline_ms": 20_000}
        assert link.closed == (1001, "the server is going away")
        assert len(sessions) == 0
        with pytest.raises(GoingAway):
            begin(sessions)

    async def test_who_comes_back_meanwhile_is_told_how_long_it_still_lasts(
        self, registry: MakeSessions
    ) -> None:
        sessions = registry()
        session, _ = begin(sessions)
        session.drain(20)
        session.lost()
        clock_of(sessions).advance(5)
        link = FakeLink()
        session.resume(link, 0)
        assert link.texts == [{"type": "going_away", "deadline_ms": 15_000}]


class TestEnding:
    async def test_a_failure_is_told_then_closed_with_its_code(
        self, registry: MakeSessions
    ) -> None:
        sessions = registry()
        session, link = begin(sessions)
        session.fail(CosystreamError("a fault"))
        assert link.texts[-1]["fatal"] is True
        assert link.closed == (1011, "internal")
        assert len(sessions) == 0

    async def test_an_idle_session_is_closed_with_4008(self, registry: MakeSessions) -> None:
        sessions = registry(idle_s=300)
        _, link = begin(sessions)
        clock_of(sessions).advance(299)
        assert link.closed is None
        clock_of(sessions).advance(2)
        assert link.closed == (4008, "idle_timeout")

    async def test_closing_twice_is_closing_once(self, registry: MakeSessions) -> None:
        sessions = registry()
        session, link = begin(sessions)
        assert session.close("a") is link
        assert session.close("b") is None
        session.lost()
        clock_of(sessions).advance(1_000)
        assert link.closed is None
