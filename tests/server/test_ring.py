"""What is kept for a resume: the newest, within three limits."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from server.ring import ResumeRing, RingBudget, Sent

SECOND = 48_000


def ring(
    audio_s: float = 30.0, limit_bytes: int = 1_000, budget: RingBudget | None = None
) -> ResumeRing:
    return ResumeRing(audio_s, limit_bytes, budget or RingBudget(1_000_000))


def add(to: ResumeRing, count: int = 1, *, size: int = 10, samples: int = 0) -> None:
    for _ in range(count):
        to.add(Sent(to.last_seq + 1, b"x" * size, binary=samples > 0, samples_48k=samples))


def seqs(of: ResumeRing, after: int = 0) -> list[int]:
    return [sent.seq for sent in of.after(after)]


def test_everything_within_the_limits_can_be_had_again_in_order() -> None:
    kept = ring()
    add(kept, 5)
    assert kept.can_resume_after(0)
    assert seqs(kept) == [1, 2, 3, 4, 5]
    assert seqs(kept, after=3) == [4, 5]


def test_a_client_that_has_everything_can_resume_and_gets_nothing() -> None:
    kept = ring()
    assert kept.can_resume_after(0)
    add(kept, 3)
    assert kept.can_resume_after(3)
    assert seqs(kept, after=3) == []


def test_numbers_never_given_cannot_be_resumed_after() -> None:
    kept = ring()
    add(kept, 3)
    assert not kept.can_resume_after(4)
    assert not kept.can_resume_after(-1)


def test_past_the_length_of_audio_the_oldest_go() -> None:
    kept = ring(audio_s=2.0)
    add(kept, 5, samples=SECOND)
    assert seqs(kept) == [4, 5]
    assert kept.can_resume_after(3)
    assert not kept.can_resume_after(2)


def test_events_count_as_no_audio() -> None:
    kept = ring(audio_s=0.0)
    add(kept, 5)
    assert seqs(kept) == [1, 2, 3, 4, 5]


def test_past_the_size_the_oldest_go() -> None:
    kept = ring(limit_bytes=25)
    add(kept, 4, size=10)
    assert seqs(kept) == [3, 4]
    assert kept.bytes == 20


def test_one_message_larger_than_the_limit_is_not_kept_but_its_number_is_known() -> None:
    kept = ring(limit_bytes=25)
    add(kept, 2)
    add(kept, 1, size=26)
    assert seqs(kept) == []
    assert kept.bytes == 0
    assert kept.can_resume_after(3)
    assert not kept.can_resume_after(2)


def test_past_the_shared_size_whoever_sends_gives_up_its_own_oldest() -> None:
    budget = RingBudget(60)
    quiet, busy = ring(budget=budget), ring(budget=budget)
    add(quiet, 3)
    add(busy, 10)
    assert seqs(quiet) == [1, 2, 3]
    assert seqs(busy) == [8, 9, 10]
    assert budget.used_bytes == 60


def test_one_that_is_closed_gives_its_share_back_and_takes_none() -> None:
    budget = RingBudget(60)
    one, two = ring(budget=budget), ring(budget=budget)
    add(one, 3)
    one.close()
    assert budget.used_bytes == 0
    add(two, 6)
    assert seqs(two) == [1, 2, 3, 4, 5, 6]


def test_adding_while_reading_does_not_disturb_the_reader() -> None:
    kept = ring()
    add(kept, 3)
    reading = kept.after(0)
    next(reading)
    add(kept, 3)
    assert [sent.seq for sent in reading] == [2, 3]


@given(
    st.integers(0, 200),
    st.integers(0, 300),
    st.lists(st.tuples(st.integers(0, 120), st.sampled_from([0, 960, 3_840])), max_size=50),
)
def test_what_can_be_resumed_is_whole_and_within_every_limit(
    limit_bytes: int, shared_bytes: int, messages: list[tuple[int, int]]
) -> None:
    budget = RingBudget(shared_bytes)
    kept = ring(audio_s=0.5, limit_bytes=limit_bytes, budget=budget)
    for seq, (size, samples) in enumerate(messages, 1):
        kept.add(Sent(seq, b"x" * size, binary=samples > 0, samples_48k=samples))
    assert kept.bytes == budget.used_bytes == sum(len(sent.data) for sent in kept.after(0))
    assert kept.bytes <= min(limit_bytes, shared_bytes)
    assert sum(sent.samples_48k for sent in kept.after(0)) <= SECOND // 2
    for seq in range(len(messages) + 1):
        whole = list(range(seq + 1, len(messages) + 1))
        assert kept.can_resume_after(seq) == (seqs(kept, after=seq) == whole)
