"""First packet and TTFA: from what completed the first segment, and from the first delta."""

from __future__ import annotations

from server.timing import FirstPacketTimer


def test_text_in_one_piece_counts_from_its_arrival() -> None:
    timer = FirstPacketTimer()
    timer.text(40, 10.0)
    timer.first_segment(40)
    timer.packet(10.025)
    assert timer.first_packet_ms == 25.0
    assert timer.first_delta_to_packet_ms == 25.0


def test_text_in_pieces_counts_from_the_one_that_completed_the_segment() -> None:
    timer = FirstPacketTimer()
    for number in range(10):
        timer.text((number + 1) * 5, float(number))
    timer.first_segment(23)
    timer.packet(5.5)
    assert timer.first_packet_ms == 1500.0
    assert timer.first_delta_to_packet_ms == 5500.0


def test_a_segment_that_a_flush_let_go_counts_from_the_flush() -> None:
    timer = FirstPacketTimer()
    timer.text(8, 1.0)
    timer.release(8, 3.0)
    timer.first_segment(8)
    timer.packet(3.02)
    assert timer.first_packet_ms == 20.0
    assert timer.first_delta_to_packet_ms == 2020.0


def test_a_release_after_more_text_did_not_complete_an_earlier_segment() -> None:
    timer = FirstPacketTimer()
    timer.text(20, 1.0)
    timer.text(50, 2.0)
    timer.release(50, 3.0)
    timer.first_segment(20)
    timer.packet(3.1)
    assert timer.first_packet_ms == 2100.0


def test_a_segment_that_a_delay_let_go_counts_from_its_text() -> None:
    timer = FirstPacketTimer()
    timer.text(12, 1.0)
    timer.first_segment(12)
    timer.packet(1.3)
    assert timer.first_packet_ms == 300.0


def test_only_the_first_segment_and_packet_count() -> None:
    timer = FirstPacketTimer()
    timer.text(10, 1.0)
    timer.first_segment(10)
    timer.packet(1.1)
    timer.text(30, 7.0)
    timer.release(30, 8.0)
    timer.first_segment(30)
    timer.packet(9.0)
    assert timer.first_packet_ms == 100.0


def test_ttfa_adds_the_silence_before_the_first_sound() -> None:
    timer = FirstPacketTimer()
    timer.text(10, 1.0)
    timer.first_segment(10)
    timer.audible(480)
    timer.audible(24_000)
    timer.packet(1.1)
    assert timer.ttfa_ms == 120.0


def test_without_audio_there_is_nothing_to_tell() -> None:
    timer = FirstPacketTimer()
    timer.text(3, 1.0)
    timer.release(3, 1.0)
    assert timer.first_packet_ms is None
    assert timer.first_delta_to_packet_ms is None
    assert timer.ttfa_ms is None


def test_silence_alone_has_a_first_packet_and_no_first_sound() -> None:
    timer = FirstPacketTimer()
    timer.text(3, 1.0)
    timer.first_segment(3)
    timer.packet(1.5)
    assert timer.first_packet_ms == 500.0
    assert timer.ttfa_ms is None


def test_flushing_again_and_again_keeps_nothing() -> None:
    timer = FirstPacketTimer()
    timer.text(3, 1.0)
    for number in range(1000):
        timer.release(3, 2.0 + number)
    assert len(timer._releases) == 1
    timer.first_segment(3)
    timer.packet(2.5)
    assert timer.first_packet_ms == 500.0
