"""A session's way to its client: one sequence, sent again after a loss, never stuck on a stall."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from links import FakeLink

from server.connection import NativeAdapter
from server.events import Flushed, Pong
from server.outbox import MAX_BUFFERED_BYTES, Outbox
from server.ring import RingBudget
from server.settings import LimitSettings
from streaming.audio.packetizer import Packet
from streaming.clock import ManualClock
from streaming.errors import SlowConsumer

SLOW_S = 10.0
PACKET = Packet(b"\xab" * 100, 3_840, 3_840, first=False, last=False, silence=False)


@dataclass
class Bench:
    """An outbox with what it was told, on a clock moved by hand."""

    framing: str = "header"
    limits: LimitSettings = field(default_factory=lambda: LimitSettings(slow_consumer_s=SLOW_S))
    clock: ManualClock = field(default_factory=ManualClock)
    budget: RingBudget = field(default_factory=lambda: RingBudget(1_000_000))
    writable: int = 0
    slow: list[SlowConsumer] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.outbox = Outbox(
            NativeAdapter(self.framing),
            self.limits,
            self.budget,
            self.clock,
            on_writable=self._count_writable,
            on_slow=self.slow.append,
        )
        self.link = FakeLink()

    def attached(self) -> Bench:
        self.outbox.attach(self.link)
        return self

    def _count_writable(self) -> None:
        self.writable += 1


def event(name: str = "f") -> Flushed:
    return Flushed(ctx="a", id=name, pts_ms=0)


def numbers(link: FakeLink) -> list[int]:
    """The sequence numbers on a link, in order."""
    texts = iter(link.texts)
    return [
        next(texts)["seq"] if data[:1] == b"{" else int.from_bytes(data[4:8], "big")
        for data in link.written
    ]


class TestTheSequence:
    def test_is_one_over_events_and_audio(self) -> None:
        bench = Bench().attached()
        bench.outbox.event(event())
        bench.outbox.packet(PACKET, sid=1)
        bench.outbox.packet(PACKET, sid=2)
        bench.outbox.event(event())
        assert numbers(bench.link) == [1, 2, 3, 4]

    def test_leaves_out_what_a_resume_need_not_repeat(self) -> None:
        bench = Bench().attached()
        bench.outbox.unsequenced(Pong(id=1))
        bench.outbox.event(event())
        assert bench.link.texts == [
            {"type": "pong", "id": 1},
            {"type": "flushed", "seq": 1, "ctx": "a", "id": "f", "pts_ms": 0},
        ]

    def test_tells_how_many_bytes_a_packet_took(self) -> None:
        assert Bench().attached().outbox.packet(PACKET, sid=1) == 116
        assert Bench("bare").attached().outbox.packet(PACKET, sid=1) == 100

    def test_counts_on_while_nobody_listens(self) -> None:
        bench = Bench()
        bench.outbox.event(event())
        bench.outbox.attach(bench.link)
        bench.outbox.event(event())
        assert numbers(bench.link) == [2]


class TestSendingAgain:
    def test_gives_everything_after_a_number_once(self) -> None:
        bench = Bench()
        for _ in range(3):
            bench.outbox.event(event())
            bench.outbox.packet(PACKET, sid=1)
        bench.attached()
        assert bench.outbox.can_resend_after(2)
        bench.outbox.resend_after(2)
        assert numbers(bench.link) == [3, 4, 5, 6]

    def test_marks_packets_and_changes_nothing_else(self) -> None:
        bench = Bench()
        bench.outbox.packet(PACKET, sid=1)
        bench.outbox.packet(PACKET, sid=1)
        bench.attached().outbox.resend_after(0)
        bench.outbox.packet(PACKET, sid=1)
        assert [data[1] for data in bench.link.binaries] == [16, 16, 0]
        assert {data[8:] for data in bench.link.binaries} == {bench.link.binaries[0][8:]}

    def test_leaves_packets_without_a_header_as_they_were(self) -> None:
        bench = Bench("bare")
        bench.outbox.packet(PACKET, sid=1)
        bench.attached().outbox.resend_after(0)
        assert bench.link.binaries == [PACKET.payload]

    def test_is_possible_only_for_what_is_kept(self) -> None:
        bench = Bench(limits=LimitSettings(resume_bytes=250))
        for _ in range(5):
            bench.outbox.packet(PACKET, sid=1)
        assert not bench.outbox.can_resend_after(2)
        assert bench.outbox.can_resend_after(3)

    def test_with_nobody_there_does_nothing(self) -> None:
        bench = Bench()
        bench.outbox.event(event())
        bench.outbox.resend_after(0)
        bench.attached().outbox.resend_after(0)
        assert numbers(bench.link) == [1]

    def test_is_over_when_the_session_is(self) -> None:
        bench = Bench()
        bench.outbox.packet(PACKET, sid=1)
        assert bench.budget.used_bytes > 0
        bench.outbox.forget()
        assert bench.budget.used_bytes == 0


class TestTheLink:
    def test_can_be_written_to_while_it_is_there_and_takes_data(self) -> None:
        bench = Bench()
        assert not bench.outbox.can_write
        bench.attached()
        assert bench.outbox.can_write
        bench.link.stall(1)
        assert not bench.outbox.can_write

    def test_that_takes_data_again_is_told_of(self) -> None:
        bench = Bench().attached()
        bench.link.stall(1)
        assert bench.writable == 0
        bench.link.drain()
        assert bench.writable == 1

    def test_that_was_left_is_neither_heard_nor_written_to(self) -> None:
        bench = Bench().attached()
        assert bench.outbox.detach() is bench.link
        assert bench.link.on_writable is None
        bench.outbox.event(event())
        assert bench.link.written == []
        assert bench.outbox.detach() is None


class TestAStall:
    def test_is_told_after_its_time_and_says_what_to_do(self) -> None:
        bench = Bench().attached()
        bench.link.stall(5_000)
        bench.clock.advance(SLOW_S - 0.1)
        assert bench.slow == []
        bench.clock.advance(0.2)
        assert [error.code for error in bench.slow] == ["slow_consumer"]
        assert "10 s" in bench.slow[0].message

    def test_that_ends_in_time_is_forgotten(self) -> None:
        bench = Bench().attached()
        bench.link.stall(5_000)
        bench.clock.advance(SLOW_S - 0.1)
        bench.link.drain()
        bench.clock.advance(60)
        assert bench.slow == []

    def test_of_a_slow_reader_that_still_takes_some_is_none(self) -> None:
        bench = Bench().attached()
        bench.link.stall(5_000)
        for left in (4_000, 3_000, 2_000):
            bench.link.buffered_bytes = left
            bench.clock.advance(SLOW_S)
        assert bench.slow == []
        bench.clock.advance(SLOW_S)
        assert len(bench.slow) == 1

    def test_is_not_held_against_a_connection_that_came_after(self) -> None:
        bench = Bench().attached()
        bench.link.stall(5_000)
        bench.clock.advance(SLOW_S / 2)
        bench.outbox.detach()
        bench.outbox.attach(FakeLink())
        bench.clock.advance(60)
        assert bench.slow == []

    def test_on_a_link_that_stalled_before_it_was_taken_up_is_told_too(self) -> None:
        bench = Bench()
        bench.link.can_write, bench.link.buffered_bytes = False, 5_000
        bench.attached()
        bench.clock.advance(SLOW_S + 0.1)
        assert len(bench.slow) == 1

    @pytest.mark.parametrize(("waiting", "times"), [(MAX_BUFFERED_BYTES, 0), (2**20 + 1, 1)])
    def test_answers_that_pile_up_unread_are_bounded(self, waiting: int, times: int) -> None:
        bench = Bench().attached()
        bench.link.buffered_bytes = waiting
        bench.outbox.unsequenced(Pong(id=1))
        assert len(bench.slow) == times

    def test_what_is_sent_again_at_once_is_not_held_against_the_client(self) -> None:
        bench = Bench().attached()
        bench.outbox.packet(PACKET, sid=1)
        bench.link.buffered_bytes = 3 * MAX_BUFFERED_BYTES
        bench.outbox.resend_after(0)
        bench.outbox.event(event())
        assert bench.slow == []
        bench.link.buffered_bytes = 4 * MAX_BUFFERED_BYTES + 1
        bench.outbox.event(event())
        assert len(bench.slow) == 1
