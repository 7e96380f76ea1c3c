"""The load generator's figures, from moments and packets that are made up."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.load import report
from benchmarks.load.measure import Meter, Record
from benchmarks.load.options import Options, parse
from benchmarks.load.texts import TEXTS, deltas, text_for
from benchmarks.load.worker import Result

PCM = Options(codec="pcm_s16le")

FRAME = 3840
"""80 ms at 48 kHz."""


def spoken(arrivals_s, *, sent=((20, 10.0),)):
    meter = Meter()
    before = 0
    for chars, at_s in sent:
        meter.delta_sent(chars - before, at_s)
        before = chars
    for number, at_s in enumerate(arrivals_s):
        meter.packet(number * FRAME, FRAME, b"", at_s)
    return meter


def test_the_first_packet_counts_from_sending_the_text():
    record = spoken([10.05, 10.06]).record("done", now_s=11)
    assert record.first_packet_ms == pytest.approx(50)
    assert record.audio_ms == 160


def test_in_llm_mode_it_counts_from_the_delta_that_completed_the_first_segment():
    meter = spoken([10.7], sent=[(5, 10.0), (12, 10.2), (14, 10.4), (20, 10.6)])
    meter.first_segment(12)
    record = meter.record("done", now_s=11)
    assert record.first_packet_ms == pytest.approx(500)
    assert record.first_delta_ms == pytest.approx(700)


def test_a_segment_that_ends_inside_a_delta_was_completed_by_it():
    meter = spoken([10.7], sent=[(5, 10.0), (12, 10.2)])
    meter.first_segment(7)
    assert meter.record("done", now_s=11).first_packet_ms == pytest.approx(500)


def test_packets_that_come_early_or_in_time_are_no_underrun():
    assert spoken([10.0, 10.0, 10.16]).record("done", now_s=11).worst_underrun_ms == 0


def test_the_worst_underrun_is_how_late_the_latest_packet_was_for_its_listener():
    record = spoken([10.0, 10.09, 10.31, 10.26]).record("done", now_s=11)
    assert record.worst_underrun_ms == pytest.approx(150)


def test_a_hole_in_the_timestamps_is_seen():
    meter = spoken([10.0, 10.08])
    meter.packet(3 * FRAME, FRAME, b"", 10.2)
    assert meter.holes == 1


def test_a_context_without_audio_has_no_figures():
    record = spoken([]).record("failed", now_s=11, silent_since_s=9)
    assert record.first_packet_ms is None
    assert record.pause_ms is None
    assert record.audio_ms == 0


def test_a_pause_is_what_the_listener_waited_after_the_session_fell_silent():
    assert spoken([10.5]).record("done", now_s=11, silent_since_s=10.4).pause_ms == pytest.approx(
        100
    )


def test_cancelling_is_timed_from_the_request_to_its_answer():
    meter = spoken([10.0])
    meter.cancel_sent_s = 10.5
    assert meter.record("cancelled", now_s=10.52).cancel_ms == pytest.approx(20)
    assert meter.record("done", now_s=10.52).cancel_ms is None


def test_percentiles_are_values_that_were_measured():
    values = [float(value) for value in range(1, 101)]
    assert report.percentile(values, 50) == 50
    assert report.percentile(values, 95) == 95
    assert report.percentile(values, 99) == 99
    assert report.percentile([7.0], 99) == 7.0
    assert report.percentiles([]) == {"p50": None, "p95": None, "p99": None}


def record(first_packet_ms=50.0, underrun_ms=0.0, audio_ms=1000.0, outcome="done"):
    return Record(
        outcome=outcome,
        first_packet_ms=first_packet_ms,
        first_delta_ms=first_packet_ms,
        worst_underrun_ms=underrun_ms,
        audio_ms=audio_ms,
        server_first_packet_ms=None,
        pause_ms=None,
        cancel_ms=None,
        refused_ms=None,
        head=(b"\x00\x00" * 240 + b"\x00\x10" * 1680,),
    )


def result(*records, **errors):
    return Result(records=records, errors=Counter(errors), missed=0, pre_skip=0, wall_s=10.0)


def test_c100_is_the_share_of_contexts_that_were_never_more_than_100_ms_late():
    found = report.figures(
        PCM, result(*[record(underrun_ms=ms) for ms in (0.0, 100.0, 100.1, 900.0)])
    )
    assert found["c100"] == 0.5
    assert found["worst_underrun_ms"] == 900.0


def test_what_was_never_heard_is_no_context_but_its_error_counts():
    found = report.figures(PCM, result(record(), record(first_packet_ms=None), overloaded=1))
    assert found["contexts"] == 1
    assert found["errors"] == {"overloaded": 1}


def test_audio_is_counted_a_second_of_the_run():
    assert report.figures(PCM, result(record(), record()))["audio_s_per_s"] == 0.2


def test_the_first_audible_sample_follows_the_silence_before_it():
    found = report.figures(PCM, result(record()))
    assert found["ttfa_ms"]["p50"] == 60.0  # 10 ms of silence after 50


def test_packets_that_cannot_be_decoded_are_an_error_and_no_end():
    found = report.figures(Options(codec="opus"), result(record()))
    assert found["errors"] == {"undecodable": 1}
    assert found["contexts"] == 1


def test_a_run_in_which_nothing_was_heard_still_has_a_report_and_a_table():
    found = report.figures(Options(), result())
    found |= {"server": {"cpu_cores": None, "rss_mib": None}, "client": {"cpu_cores": 0.1}}
    found["capacity"] = {"before": {}, "after": {}}
    assert found["c100"] is None
    assert "C100" in report.table(found)


def test_results_of_several_processes_are_one():
    whole = report.merged([result(record(), no_packet=1), result(record(), record(), no_packet=2)])
    assert len(whole.records) == 3
    assert whole.errors == {"no_packet": 3}


def test_deltas_are_1_to_5_characters_and_the_same_every_time():
    text = TEXTS["paragraph"]
    pieces = list(deltas(text, 7))
    assert "".join(pieces) == text
    assert {len(piece) for piece in pieces[:-1]} == {1, 2, 3, 4, 5}
    assert pieces == list(deltas(text, 7)) != list(deltas(text, 8))


def test_every_session_goes_through_every_text():
    assert {text_for(5, context) for context in range(4)} == set(TEXTS.values())


@pytest.mark.parametrize(
    ("url", "stream"),
    [
        ("http://127.0.0.1:8000", "ws://127.0.0.1:8000/v1/stream"),
        ("http://127.0.0.1:8000/tts/", "ws://127.0.0.1:8000/tts/v1/stream"),
        ("wss://speech.test", "wss://speech.test/v1/stream"),
        ("ws://[::1]:9000/v1/stream", "ws://[::1]:9000/v1/stream"),
    ],
)
def test_any_form_of_the_servers_address_leads_to_the_stream(url, stream):
    assert Options(url=url).stream_url == stream


def test_only_loopback_counts_as_this_machine():
    assert Options(url="ws://[::1]:9000").local
    assert not Options(url="http://192.0.2.1:8000").local
    assert Options(url="https://speech.test").port == 443


@pytest.mark.parametrize(
    "arguments",
    [
        ["--sessions", "0"],
        ["--sessions", "many"],
        ["--seconds", "long"],
        ["--seconds", "-1"],
        ["--seconds", "inf"],
        ["--barge-in", "1.5"],
        ["--url", "ftp://127.0.0.1"],
        ["--codec", "mp3"],
    ],
)
def test_a_command_line_that_makes_no_sense_is_refused(arguments, capsys):
    with pytest.raises(SystemExit):
        parse(arguments)
    told = capsys.readouterr().err
    assert arguments[0] in told
    assert "invalid _" not in told  # no function's name


def test_the_command_line_fills_the_options():
    assert parse(["--sessions", "3", "--text-mode", "llm", "--burst", "--json"]) == Options(
        sessions=3, text_mode="llm", burst=True, json=True
    )
