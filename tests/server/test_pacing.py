"""The play clock: never ahead by more than the lead, honest about when the listener ran dry."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.pacing import DRY_GRACE_S, REPORT_FRESH_S, PlayClock

PACKET = 3_840
"""80 ms at 48 kHz."""


def sent_for(seconds: float, *, clock: PlayClock, from_s: float = 0.0) -> float:
    """Send packets when they are due until so much time has passed; when that was."""
    now_s = from_s
    while now_s <= from_s + seconds:
        clock.on_sent(PACKET, now_s)
        now_s = max(now_s, clock.due_s(now_s))
    return now_s


class TestTheLead:
    def test_the_first_packet_is_due_at_once(self) -> None:
        assert PlayClock(400).due_s(12.5) == 12.5

    def test_it_is_filled_at_once_and_then_kept(self) -> None:
        clock = PlayClock(400)
        for _ in range(6):
            assert clock.due_s(7.0) <= 7.0
            clock.on_sent(PACKET, 7.0)
        assert clock.due_s(7.0) == pytest.approx(7.08)

    def test_a_lead_of_zero_is_real_time(self) -> None:
        clock = PlayClock(0)
        clock.on_sent(PACKET, 1.0)
        assert clock.due_s(1.0) == pytest.approx(1.08)

    @pytest.mark.parametrize("now_s", [0.0, 1000.0])
    def test_without_one_everything_is_due_and_counts_as_heard(self, now_s: float) -> None:
        clock = PlayClock(None)
        for _ in range(1000):
            assert clock.due_s(now_s) == now_s
            assert clock.on_sent(PACKET, now_s) == 0.0
        assert clock.position(now_s) == clock.sent == 1000 * PACKET

    @given(
        st.integers(0, 2_000),
        st.lists(st.sampled_from([960, 1_920, 2_880, 3_840]), min_size=1, max_size=60),
        st.lists(st.floats(0, 0.3), max_size=60),
    )
    def test_no_packet_that_waits_until_it_is_due_starts_further_ahead(
        self, lead_ms: int, packets: list[int], delays_s: list[float]
    ) -> None:
        clock = PlayClock(lead_ms)
        now_s = 0.0
        for number, samples in enumerate(packets):
            now_s = max(now_s, clock.due_s(now_s))
            now_s += delays_s[number] if number < len(delays_s) else 0.0
            clock.on_sent(samples, now_s)
            ahead = clock.sent - samples - clock.position(now_s)
            assert ahead <= lead_ms * 48 + 1

    @given(st.integers(0, 500), st.floats(0.0, 20.0))
    def test_what_is_sent_when_due_never_lets_the_listener_run_dry(
        self, lead_ms: int, seconds: float
    ) -> None:
        clock = PlayClock(lead_ms)
        now_s = 0.0
        while now_s <= seconds:
            assert clock.on_sent(PACKET, now_s) < 1e-6
            now_s = max(now_s, clock.due_s(now_s))


class TestAListenerThatRanDry:
    def test_is_told_by_how_much(self) -> None:
        clock = PlayClock(400)
        clock.on_sent(PACKET, 0.0)
        assert clock.on_sent(PACKET, 0.58) == pytest.approx(0.5)

    def test_hears_on_from_the_late_packet(self) -> None:
        clock = PlayClock(400)
        clock.on_sent(PACKET, 0.0)
        clock.on_sent(PACKET, 5.0)
        assert clock.position(5.0) == PACKET
        assert clock.position(5.04) == PACKET + PACKET // 2

    def test_by_less_than_its_own_buffer_lost_no_time(self) -> None:
        clock = PlayClock(400)
        clock.on_sent(PACKET, 0.0)
        late_s = clock.on_sent(PACKET, 0.08 + DRY_GRACE_S / 2)
        assert 0 < late_s < DRY_GRACE_S
        assert clock.position(0.2) == 2 * PACKET

    def test_makes_up_nothing_the_lead_is_what_it_was(self) -> None:
        clock = PlayClock(240)
        sent_for(1.0, clock=clock)
        clock.on_sent(PACKET, 60.0)
        for _ in range(3):
            assert clock.due_s(60.0) <= 60.0 + 1e-9
            clock.on_sent(PACKET, 60.0)
        assert clock.due_s(60.0) > 60.0

    def test_has_heard_no_more_than_was_sent(self) -> None:
        clock = PlayClock(400)
        clock.on_sent(PACKET, 0.0)
        assert clock.position(1000.0) == PACKET


class TestAReport:
    def test_puts_the_position_right(self) -> None:
        clock = PlayClock(400)
        sent_for(1.0, clock=clock)
        clock.on_report(PACKET, 1.0)
        assert clock.position(1.0) == PACKET
        assert clock.position(1.5) == PACKET + 24_000

    def test_of_a_stall_puts_off_what_is_due(self) -> None:
        clock = PlayClock(400)
        now_s = sent_for(1.0, clock=clock)
        before_s = clock.due_s(now_s)
        clock.on_report(clock.position(now_s) - 24_000, now_s)
        assert clock.due_s(now_s) == pytest.approx(before_s + 0.5, abs=0.001)

    def test_of_more_than_was_sent_is_cut(self) -> None:
        clock = PlayClock(400)
        clock.on_sent(PACKET, 0.0)
        clock.on_report(10 * PACKET, 0.01)
        assert clock.position(0.01) == PACKET

    def test_of_less_than_nothing_is_nothing(self) -> None:
        clock = PlayClock(400)
        clock.on_sent(PACKET, 0.0)
        clock.on_report(-5, 0.01)
        assert clock.position(0.01) == 0

    def test_is_what_the_position_rests_on_for_two_seconds(self) -> None:
        clock = PlayClock(400)
        clock.on_sent(PACKET, 0.0)
        assert not clock.reported(0.0)
        clock.on_report(0, 1.0)
        assert clock.reported(1.0 + REPORT_FRESH_S)
        assert not clock.reported(1.01 + REPORT_FRESH_S)


class TestALostConnection:
    def test_stops_the_clock(self) -> None:
        clock = PlayClock(1_000)
        sent_for(0.5, clock=clock)
        clock.pause(0.5)
        assert clock.position(0.5) == clock.position(99.0) == 24_000

    def test_lost_twice_is_lost_once(self) -> None:
        clock = PlayClock(1_000)
        sent_for(0.5, clock=clock)
        clock.pause(0.5)
        clock.pause(40.0)
        assert clock.position(40.0) == 24_000

    def test_costs_no_audio_when_it_is_back(self) -> None:
        clock = PlayClock(1_000)
        sent_for(0.5, clock=clock)
        due_in_s = clock.due_s(0.5) - 0.5
        clock.pause(0.5)
        clock.resume(30.0)
        assert clock.position(30.0) == 24_000
        assert clock.position(30.25) == 36_000
        assert clock.due_s(30.0) == pytest.approx(30.0 + due_in_s)

    def test_before_any_audio_leaves_the_first_packet_due(self) -> None:
        clock = PlayClock(400)
        clock.pause(1.0)
        clock.resume(2.0)
        assert clock.due_s(2.0) == 2.0
        assert clock.on_sent(PACKET, 5.0) == 0.0


class TestCancelledAudio:
    def test_that_was_not_heard_makes_room_at_once(self) -> None:
        clock = PlayClock(400)
        now_s = sent_for(1.0, clock=clock)
        heard = clock.position(now_s)
        clock.forget_unheard(clock.sent - heard)
        assert clock.sent == heard
        assert clock.due_s(now_s) <= now_s

    def test_the_next_context_is_heard_from_there(self) -> None:
        clock = PlayClock(400)
        now_s = sent_for(1.0, clock=clock)
        heard = clock.position(now_s)
        clock.forget_unheard(clock.sent - heard)
        clock.on_sent(PACKET, now_s)
        assert clock.position(now_s) == heard
        assert clock.position(now_s + 0.04) == pytest.approx(heard + PACKET // 2, abs=1)

    def test_can_be_no_more_than_was_not_heard(self) -> None:
        clock = PlayClock(400)
        clock.on_sent(PACKET, 0.0)
        clock.on_report(PACKET, 0.08)
        clock.forget_unheard(10 * PACKET)
        assert clock.sent == PACKET


@dataclass(frozen=True)
class Step:
    what: str
    samples: int
    wait_s: float


STEPS = st.builds(
    Step,
    st.sampled_from(["send", "report", "pause", "resume", "forget"]),
    st.integers(-100_000, 400_000),
    st.floats(0, 3),
)


@given(st.one_of(st.none(), st.integers(0, 1_000)), st.lists(STEPS, max_size=40))
def test_whatever_happens_no_more_was_heard_than_sent_and_nothing_less_than_nothing(
    lead_ms: int | None, steps: list[Step]
) -> None:
    clock = PlayClock(lead_ms)
    now_s = 0.0
    for step in steps:
        now_s += step.wait_s
        if step.what == "send":
            assert clock.on_sent(abs(step.samples), now_s) >= 0.0
        elif step.what == "report":
            clock.on_report(step.samples, now_s)
        elif step.what == "pause":
            clock.pause(now_s)
        elif step.what == "resume":
            clock.resume(now_s)
        else:
            clock.forget_unheard(max(0, clock.sent - clock.position(now_s)))
        assert 0 <= clock.position(now_s) <= clock.sent
        assert clock.position(now_s) <= clock.position(now_s + 1.0)
