"""What /metrics tells."""

import multiprocessing
import os
import re
import sys
import time
from pathlib import Path

import msgspec
import pytest
from prometheus_client.parser import text_string_to_metric_families

from server.metrics import Metrics
from server.process_stats import ProcessCollector, server_use, workers_use
from streaming.messages import Stats

PROJECT = Path(__file__).resolve().parents[2]
LINUX = sys.platform == "linux"


def samples(metrics):
    page, _ = metrics.render()
    return {
        (sample.name.removeprefix("cosystream_"), *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(page.decode())
        for sample in family.samples
    }


@pytest.fixture
def metrics():
    return Metrics()


def test_the_page_is_prometheus_text(metrics):
    page, content_type = metrics.render()
    assert content_type.startswith("text/plain; version=0.0.4")
    assert b"# HELP cosystream_first_packet_ms " in page


def test_two_servers_in_a_process_count_apart(metrics):
    other = Metrics()
    metrics.engine_restarted()
    assert samples(metrics)["engine_restarts_total",] == 1
    assert samples(other)["engine_restarts_total",] == 0


def test_latencies_fall_into_buckets_of_ms(metrics):
    metrics.first_packet(37)
    metrics.first_packet(180)
    metrics.first_sound(9000)
    seen = samples(metrics)
    assert seen["first_packet_ms_bucket", "40.0"] == 1
    assert seen["first_packet_ms_bucket", "200.0"] == 2
    assert seen["first_packet_ms_sum",] == 217
    assert seen["ttfa_ms_bucket", "5000.0"] == 0
    assert seen["ttfa_ms_bucket", "+Inf"] == 1


def test_c100_can_be_read_from_the_underruns(metrics):
    for underrun_ms in (0, 0, 80, 130):
        metrics.context_ended("done", underrun_ms)
    metrics.context_ended("error")
    seen = samples(metrics)
    assert seen["underrun_ms_bucket", "0.0"] == 2
    assert seen["underrun_ms_bucket", "100.0"] / seen["underrun_ms_count",] == 0.75
    assert seen["contexts_ended_total", "done"] == 4
    assert seen["contexts_ended_total", "error"] == 1
    assert seen["contexts_ended_total", "cancelled"] == 0


def test_real_time_factors(metrics):
    metrics.computed(0.004)
    assert samples(metrics)["rtf_bucket", "0.005"] == 1


def test_what_was_sent_and_accepted_adds_up(metrics):
    metrics.packet_sent(336, 0.08)
    metrics.packet_sent(300, 0.08)
    metrics.text_accepted(12)
    metrics.token_minted()
    seen = samples(metrics)
    assert seen["packets_total",] == 2
    assert seen["audio_bytes_total",] == 636
    assert seen["audio_seconds_total",] == pytest.approx(0.16)
    assert seen["characters_total",] == 12
    assert seen["tokens_total",] == 1


def test_errors_are_counted_by_code_and_no_client_can_invent_one(metrics):
    metrics.error("unknown_voice")
    metrics.error("no such code")
    seen = samples(metrics)
    assert seen["errors_total", "unknown_voice"] == 1
    assert seen["errors_total", "internal"] == 1
    assert seen["errors_total", "overloaded"] == 0
    assert not any("no such code" in key for key in seen)


def test_gauges_are_set_or_ask_when_they_are_read(metrics):
    sessions = ["a", "b"]
    metrics.sessions.set_function(lambda: len(sessions))
    metrics.engine_ready.set(1)
    assert samples(metrics)["sessions",] == 2
    sessions.clear()
    seen = samples(metrics)
    assert seen["sessions",] == 0
    assert seen["engine_ready",] == 1
    for name in ("parked_sessions", "contexts", "encoder_queue", "resume_bytes", "free_slots"):
        assert seen[name,] == 0


def test_the_engine_tells_of_itself(metrics):
    metrics.engine_stats(
        Stats(
            contexts=3,
            parked=1,
            queued_segments=7,
            free_slots=1021,
            steps=99,
            busy_s=1.5,
            audio_s=60,
            rss_mib=200,
            capacity={"": 90, "slow": 2},
            figures={"voice_hits": 7},
        )
    )
    seen = samples(metrics)
    assert seen["engine_contexts",] == 3
    assert seen["engine_parked",] == 1
    assert seen["engine_queued_segments",] == 7
    assert seen["free_slots",] == 1021
    assert seen["runner", "voice_hits"] == 7
    assert (seen["capacity", "all"], seen["capacity", "slow"]) == (90, 2)
    assert seen["engine_busy_seconds",] == 1.5


def test_figures_of_a_model_that_rests_are_gone(metrics):
    told = Stats(
        contexts=0, parked=0, queued_segments=0, free_slots=1, steps=0, busy_s=0, audio_s=0,
        rss_mib=0, figures={"voice_bytes": 7},
    )  # fmt: skip
    metrics.engine_stats(told)
    assert samples(metrics)["runner", "voice_bytes"] == 7
    metrics.engine_stats(msgspec.structs.replace(told, figures={}))
    assert ("runner", "voice_bytes") not in samples(metrics)


def test_every_metric_is_explained_in_the_docs(metrics):
    page, _ = metrics.render()
    names = set(re.findall(r"^# TYPE (\w+)", page.decode(), re.MULTILINE))
    text = (PROJECT / "docs" / "operations.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(cosystream_\w+)", text, re.MULTILINE)) == names


def busy(started, stop):
    block = bytearray(40 << 20)
    until = time.process_time() + 0.2
    while time.process_time() < until:
        block[0] += 1 if block[0] < 255 else -255
    started.set()
    stop.wait(30)


class TestProcesses:
    def test_elsewhere_nothing_is_reported(self, tmp_path):
        assert server_use(tmp_path) is None
        assert workers_use(tmp_path) is None
        assert [len(family.samples) for family in ProcessCollector(tmp_path).collect()] == [0, 0]

    if LINUX:

        def test_a_process_name_with_spaces_and_brackets_is_read(self, tmp_path):
            stat = tmp_path / str(os.getpid())
            stat.mkdir()
            fields = ["S", *["0"] * 10, "150", "50", "30", "10", *["0"] * 6, "25", "0"]
            (stat / "stat").write_text(f"7 (a b) c) {' '.join(fields)}\n", encoding="ascii")
            ticks_per_s, page_bytes = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
            assert server_use(tmp_path) == (200 / ticks_per_s, 25 * page_bytes)
            assert workers_use(tmp_path) == (40 / ticks_per_s, 0)

        def test_the_server_is_measured(self, metrics):
            seen = samples(metrics)
            assert seen["cpu_seconds_total", "server"] > 0
            assert seen["resident_memory_bytes", "server"] > 10 << 20

        def test_what_it_started_is_measured_apart_also_after_its_end(self):
            context = multiprocessing.get_context("spawn")
            started, stop = context.Event(), context.Event()
            before = workers_use()
            child = context.Process(target=busy, args=(started, stop))
            child.start()
            assert started.wait(30)
            during = workers_use()
            stop.set()
            child.join()
            assert during.cpu_s - before.cpu_s >= 0.15
            assert during.rss_bytes - before.rss_bytes > 40 << 20
            assert workers_use().cpu_s >= during.cpu_s
