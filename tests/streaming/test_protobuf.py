"""Fields of protocol buffers, written and read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streaming.protobuf import content, fields, number


def read(message):
    return [(field, bytes(value)) for field, value, _ in fields(memoryview(message))]


def test_a_number_takes_seven_bits_a_byte():
    assert number(1, 150) == bytes([0x08, 0x96, 0x01])
    assert read(number(1, 150)) == [(1, bytes([0x96, 0x01]))]


@given(st.lists(st.tuples(st.integers(1, 1 << 20), st.binary(max_size=300))))
def test_contents_come_back_in_order(written):
    message = b"".join(content(field, value) for field, value in written)
    assert read(message) == written
    assert b"".join(raw for _, _, raw in fields(memoryview(message))) == message


def test_numbers_of_a_fixed_length_are_passed_over_whole():
    message = bytes([0x0D, 1, 2, 3, 4, 0x11, *range(8)]) + content(3, b"end")
    assert [field for field, _ in read(message)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("message", "told"),
    [(b"\x0b", "a field of the kind 3"), (b"\x08\x96", "ends in the middle of a number")],
)
def test_what_is_no_such_message_is_said(message, told):
    with pytest.raises(ValueError, match=told):
        read(message)
