import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import segment

from streaming.engine import wire
from streaming.messages import Cancel, End, Played, Speak, Stats, TextEnd, TextFlushed

MESSAGES = [Speak(ctx=1, segment=segment("Grüße 🙂")), End(ctx=1), Cancel(ctx=2)]


def test_a_batch_comes_out_as_it_went_in():
    assert wire.to_engine().feed(wire.encode(MESSAGES)) == MESSAGES


@given(st.lists(st.integers(1, 40), max_size=20))
def test_a_stream_cut_anywhere_gives_the_same_messages(cuts):
    stream = b"".join(wire.encode(MESSAGES) for _ in range(4))
    reader = wire.to_engine()
    heard, start = [], 0
    for cut in [*cuts, len(stream)]:
        heard += reader.feed(stream[start : start + cut])
        start += cut
    assert heard == MESSAGES * 4


def test_many_messages_become_batches_of_a_bounded_length():
    messages = [Played(ctx=1, samples=each) for each in range(2 * wire.MAX_BATCH_MESSAGES + 1)]
    frames = list(wire.encode_all(messages))
    assert len(frames) == 3
    assert wire.to_engine().feed(b"".join(frames)) == messages


def test_each_end_reads_what_is_meant_for_it():
    stats = Stats(
        contexts=0, parked=0, queued_segments=0, free_slots=1, steps=0, busy_s=0, audio_s=0,
        rss_mib=0,
    )  # fmt: skip
    assert wire.from_engine().feed(wire.encode([stats])) == [stats]
    assert wire.to_text().feed(wire.encode([TextEnd(ctx=1)])) == [TextEnd(ctx=1)]
    flushed = TextFlushed(ctx=1, flush_id="a")
    assert wire.from_text().feed(wire.encode([flushed])) == [flushed]


@pytest.mark.parametrize(
    "noise",
    [b"Traceback (most recent call last)", b"\x03\x00\x00\x00abc", wire.encode([TextEnd(ctx=1)])],
    ids=["text", "no msgpack", "another's message"],
)
def test_bytes_that_are_not_ours_are_told_apart(noise):
    with pytest.raises(wire.BrokenStream):
        wire.to_engine().feed(noise)
