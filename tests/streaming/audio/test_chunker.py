import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streaming.audio.chunker import Chunker


@settings(deadline=None)
@given(st.lists(st.integers(0, 9_000), max_size=8))
def test_all_chunks_are_full_and_nothing_is_lost(sizes):
    data = bytes(i % 251 for i in range(2 * sum(sizes)))
    chunker, chunks, at = Chunker(), [], 0
    for size in sizes:
        chunks += chunker.push(data[at : at + 2 * size])
        at += 2 * size
    rest = chunker.finish()

    assert {len(chunk) for chunk in chunks} <= {3_840}
    assert len(rest) < 3_840
    assert b"".join(chunks) + rest == data


def test_a_full_chunk_does_not_wait():
    assert Chunker().push(bytes(3_840)) == [bytes(3_840)]


def test_finish_begins_anew():
    chunker = Chunker()
    chunker.push(b"ab")

    assert (chunker.finish(), chunker.finish()) == (b"ab", b"")


def test_half_a_sample_is_refused():
    with pytest.raises(ValueError, match="3 bytes"):
        Chunker().push(b"abc")
