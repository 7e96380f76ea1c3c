"""The measurements for a card, with tiny networks on the CPU: a smoke test, and what is pure."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections import Counter
from dataclasses import replace

import pytest
import torch

from benchmarks.capacity.device import measured
from benchmarks.gpu import cases, serve, table, verdict
from benchmarks.gpu.__main__ import main
from benchmarks.gpu.crowd import Crowd, Heard, Tally
from benchmarks.gpu.options import IN_PROCESS, SERVED, Options, parse
from benchmarks.models.desk import Desk, segments
from benchmarks.models.watched import Took
from server.config import load
from streaming.messages import Audio, Cancel, Failed, Finished, Open, Released, Speak
from streaming.steps import Cost

SECOND = bytes(2 * 24_000)
TINY = Options(device="cpu", size="tiny", precision="fp32", contexts=(1, 2), seconds=2.0)


class TestDesk:
    def test_messages_are_given_once_and_in_order(self):
        desk = Desk()
        desk.tell(Cancel(ctx=1))
        desk.tell(Cancel(ctx=2))
        assert [each.ctx for each in desk.receive(None)] == [1, 2]
        assert desk.receive(0.0) == []

    def test_calls_are_made_when_they_are_due_the_earliest_first(self):
        desk, called = Desk(), []
        now_s = desk.now()
        desk.at(now_s + 0.02, lambda: called.append(2))
        desk.at(now_s + 0.01, lambda: called.append(1))
        desk.at(now_s + 60.0, lambda: called.append(3))
        while len(called) < 2:
            desk.receive(0.05)
        assert called == [1, 2]

    def test_a_call_that_tells_something_ends_the_wait(self):
        desk = Desk()
        desk.at(desk.now() + 0.01, lambda: desk.tell(Cancel(ctx=7)))
        assert desk.receive(None) == [Cancel(ctx=7)]

    def test_another_thread_can_end_the_wait(self):
        desk = Desk()
        threading.Timer(0.01, desk.wake).start()
        assert desk.receive(30.0) == []

    def test_a_wait_has_an_end(self):
        desk = Desk()
        began_s = desk.now()
        assert desk.receive(0.01) == []
        assert desk.now() - began_s >= 0.01

    def test_what_was_cleared_is_not_called(self):
        desk, called = Desk(), []
        desk.at(desk.now(), lambda: called.append(1))
        desk.clear()
        desk.receive(0.0)
        assert called == []


def test_a_text_is_cut_after_its_sentences():
    made = segments("One. Two three? Four")
    assert [each.text for each in made] == ["One.", "Two three?", "Four"]
    assert [each.index for each in made] == [0, 1, 2]
    assert made[1].char_start == 5


class TestHeard:
    def test_the_first_chunk_starts_the_play(self):
        heard = Heard(0, asked_s=1.0, voice_is_new=False)
        heard.take(24_000, now_s=1.5)
        assert (heard.first_s, heard.dry_s, heard.worst_s) == (1.5, 2.5, 0.0)

    def test_a_late_chunk_is_a_silence_and_an_early_one_none(self):
        heard = Heard(0, asked_s=0.0, voice_is_new=False)
        heard.take(24_000, now_s=0.0)
        heard.take(24_000, now_s=1.25)
        heard.take(24_000, now_s=1.3)
        assert heard.worst_s == 0.25
        assert heard.dry_s == 3.25

    def test_what_was_played_is_never_more_than_what_came(self):
        heard = Heard(0, asked_s=0.0, voice_is_new=False)
        heard.take(24_000, now_s=0.0)
        assert heard.played(0.5) == 12_000
        assert heard.played(9.0) == 24_000


class TestCrowd:
    @pytest.fixture
    def desk(self):
        return Desk()

    @pytest.fixture
    def crowd(self, desk):
        crowd = Crowd(desk, ["anna", "ben"], {"ben"}, first_ctx=5)
        crowd.start(2, ramp_s=0.0)
        return crowd

    def test_each_listener_speaks_with_its_own_voice(self, desk, crowd):
        told = desk.receive(0.0)
        opened = [each for each in told if isinstance(each, Open)]
        assert [(each.ctx, each.voice) for each in opened] == [(5, "anna"), (6, "ben")]
        assert sum(isinstance(each, Speak) for each in told) >= 2
        assert [each.voice_is_new for each in crowd.tally.heard] == [True, False]

    def test_who_has_heard_all_speaks_again_and_the_voice_is_known(self, desk, crowd):
        desk.receive(0.0)
        desk.send([Audio(ctx=5, position_samples=0, pcm=bytes(960))])
        desk.send([Finished(ctx=5, samples=480, compute_s=0.25)])
        again = [each for each in desk.receive(1.0) if isinstance(each, Open)]
        assert [(each.ctx, each.voice) for each in again] == [(7, "anna")]
        assert crowd.tally.compute_s == 0.25
        assert not crowd.tally.heard[-1].voice_is_new

    def test_a_failure_is_counted_and_the_listener_tries_again_later(self, desk, crowd):
        desk.receive(0.0)
        desk.send([Failed(ctx=5, code="overloaded", message="full", retryable=True)])
        assert desk.receive(0.0) == []
        assert crowd.tally.errors == Counter(overloaded=1)
        assert crowd.next_ctx == 7

    def test_at_the_end_all_are_cancelled_and_waited_for(self, desk, crowd):
        desk.receive(0.0)
        crowd.leave()
        assert desk.receive(0.0) == [Cancel(ctx=5), Cancel(ctx=6)]
        assert not crowd.gone
        desk.send([Released(ctx=5, compute_s=0.5), Released(ctx=6, compute_s=0.5)])
        assert crowd.gone
        assert crowd.tally.compute_s == 1.0

    def test_who_waits_in_silence_at_the_end_has_a_gap(self, desk, crowd, monkeypatch):
        desk.receive(0.0)
        desk.send([Audio(ctx=5, position_samples=0, pcm=SECOND)])
        later_s = desk.now() + 3.0
        monkeypatch.setattr(desk, "now", lambda: later_s)
        crowd.leave()
        assert crowd.tally.heard[0].worst_s == pytest.approx(2.0, abs=0.1)


class TestFigures:
    def heard(self, first_ms, *, new=False, worst_s=0.0, samples=24_000):
        return Heard(0, 10.0, new, first_s=10.0 + first_ms / 1000, worst_s=worst_s, samples=samples)

    def test_new_voices_are_told_apart(self):
        found = cases.figures(Tally([self.heard(100), self.heard(900, new=True)]), took_s=2.0)
        assert found["first_packet_ms"]["p99"] == pytest.approx(100)
        assert found["first_packet_new_voice_ms"]["p50"] == pytest.approx(900)
        assert found["audio_s_per_s"] == 1.0

    def test_c100_is_the_share_with_gaps_of_100_ms_at_most(self):
        heard = [self.heard(100, worst_s=0.1), self.heard(100, worst_s=0.2)]
        found = cases.figures(Tally(heard, compute_s=1.0), took_s=2.0)
        assert (found["c100"], found["worst_underrun_ms"], found["rtf"]) == (0.5, 200.0, 0.5)

    def test_a_case_in_which_nobody_heard_anything_has_no_figures(self):
        found = cases.figures(Tally([Heard(0, 0.0, voice_is_new=True)]), took_s=2.0)
        assert (found["heard"], found["c100"], found["rtf"]) == (0, None, None)


class TestVerdict:
    def case(self, contexts, p99, c100=1.0, errors=()):
        first = {"p50": p99 / 2, "p95": p99, "p99": p99}
        about = {"device": "this card", "contexts": contexts}
        return about | {"first_packet_ms": first, "c100": c100, "errors": dict(errors)}

    def test_the_most_contexts_that_are_soon_heard_without_gaps(self):
        said = verdict.sentence([self.case(1, 50), self.case(16, 180), self.case(64, 300)])
        assert said == (
            "this card: 16 contexts at once, first packet 90 ms (median), 180 ms (99 %), "
            "without gaps."
        )

    @pytest.mark.parametrize("bad", [{"c100": 0.99}, {"errors": {"overloaded": 1}}])
    def test_gaps_and_errors_do_not_count_as_good(self, bad):
        said = verdict.sentence([self.case(1, 50), self.case(2, 60, **bad)])
        assert said.startswith("this card: 1 context at once")

    def test_where_none_is_good_it_says_so(self):
        assert "not what we promise" in verdict.sentence([self.case(1, 500, 0.5)])

    def test_cases_that_were_left_out_are_none(self):
        left_out = {"device": "this card", "contexts": 256, "left_out": "no time is left"}
        assert "Nothing was heard" in verdict.sentence([left_out])
        assert "1 context at once" in verdict.sentence([self.case(1, 50), left_out])


class TestTable:
    def steps(self, *given):
        return [Took("flow", "flow", 1, units, seconds) for units, seconds in given]

    def looking(self, cost, *given):
        return [Took("", "", 1, units, cost.of(units, looks), looks) for units, looks in given]

    def test_steps_on_a_line_give_the_line(self):
        cost = table.line(self.steps((10, 0.3), (20, 0.4), (40, 0.6)))
        assert (cost.base_s, cost.unit_s) == (pytest.approx(0.2), pytest.approx(0.01))

    def test_one_that_was_slow_once_is_not_believed(self):
        cost = table.line(self.steps((10, 0.3), (10, 9.0), (10, 0.3), (20, 0.4), (40, 0.6)))
        assert cost.base_s == pytest.approx(0.2)

    def test_neither_base_nor_slope_is_negative(self):
        assert table.line(self.steps((10, 0.1), (40, 0.5))).base_s == 0.0
        assert table.line(self.steps((10, 0.5), (40, 0.4))).unit_s == 0.0

    def test_one_size_is_all_slope(self):
        assert table.line(self.steps((10, 0.1))) == Cost(0.0, pytest.approx(0.01))

    def test_steps_of_every_size_and_length_tell_what_looking_back_costs(self):
        cost = Cost(0.2, 0.01, 0.0001)
        given = [(size, size * length) for size in (1, 4, 16) for length in (100, 300, 900)]
        found = table.line(self.looking(cost, *given))
        assert found.base_s == pytest.approx(cost.base_s)
        assert found.unit_s == pytest.approx(cost.unit_s)
        assert found.look_s == pytest.approx(cost.look_s)

    def test_lengths_that_are_alike_tell_nothing(self):
        given = [(size, size * length) for size in (1, 4, 16) for length in (300, 310, 400)]
        found = table.line(self.looking(Cost(0.2, 0.01, 0.0001), *given))
        assert found.look_s == 0.0
        assert found.unit_s > 0.01

    def test_the_simulator_reads_what_was_measured(self, runner, made, tmp_path, monkeypatch):
        monkeypatch.setattr(table, "TEXT", "One two three.")
        file = tmp_path / "table.json"
        costs = table.write(file, runner, made.voices, most=2)
        device = measured(file)
        assert device.measured
        assert device.costs == costs
        assert device.name == "cpu, fp32"

    def test_steps_are_measured_at_several_lengths(self, runner, made, tmp_path, monkeypatch):
        monkeypatch.setattr(table, "TEXT", "One two three.")
        file = tmp_path / "table.json"
        table.write(file, runner, made.voices, most=1)
        lengths = json.loads(file.read_text(encoding="utf-8"))["looked_back"]
        assert 0 < 1.5 * lengths["llm"][0] < lengths["llm"][1]
        assert 100 <= lengths["flow"][0] < lengths["flow"][1]  # at least the recording, its own
        assert lengths["vocoder"] == [0.0, 0.0]


class TestOptions:
    def test_a_card_runs_in_half_precision_and_a_cpu_in_full(self):
        assert parse([]).precision == "bf16"
        assert parse(["--device", "cpu"]).precision == "fp32"

    def test_the_cases_are_those_of_the_mode_or_those_asked_for(self):
        assert parse([]).cases == IN_PROCESS
        assert parse(["--serve"]).cases == SERVED
        assert parse(["--contexts", "4,1"]).cases == (1, 4)

    def test_no_contexts_at_all_make_no_case(self, capsys):
        with pytest.raises(SystemExit):
            parse(["--contexts", "0"])
        assert "1 or more" in capsys.readouterr().err

    def test_the_server_is_told_what_the_engine_is_told(self, made):
        options = replace(TINY, window_s=3.0)
        environment = serve.environment(options, made, port=4242)
        found = load([], environment)
        expected = options.engine(made.checkpoint, made.voices_dir)
        assert found.engine == replace(expected, load_timeout_s=serve.READY_S)
        assert found.listen.port == 4242


class TestCommand:
    def test_without_a_gpu_it_says_so_and_what_can_be_done(self, monkeypatch, capsys):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
        assert main([]) == 2
        told = capsys.readouterr().err
        assert "There is no GPU to measure" in told
        assert "--device cpu --size tiny" in told

    def test_what_the_server_is_watched_with_is_asked_for_before_anything_is_made(
        self, monkeypatch, capsys
    ):
        monkeypatch.setattr("benchmarks.gpu.__main__.find_spec", {}.get)
        assert main(["--serve", "--device", "cpu", "--size", "tiny"]) == 2
        assert "make setup-dev" in capsys.readouterr().err

    def test_a_line_a_case_and_a_sentence(self, made, capsys):
        arguments = ["--device", "cpu", "--size", "tiny", "--contexts", "1,5", "--seconds", "2"]
        threads = torch.get_num_threads()
        began_s = time.monotonic()
        assert main([*arguments, "--folder", str(made.checkpoint.parent), "--minutes", "0.1"]) == 0
        torch.set_num_threads(threads)
        assert time.monotonic() - began_s < 60
        *lines, sentence = capsys.readouterr().out.splitlines()
        first = json.loads(lines[0])
        assert first["contexts"] == 1
        assert sentence.endswith(".")

    def test_the_server_is_measured_over_websockets(self, made):
        found = list(
            serve.run(replace(TINY, contexts=(2,), seconds=3.0), made, "cpu", time.monotonic() + 60)
        )
        (case,) = found
        assert case["heard"] >= 1
        assert case["first_packet_ms"]["p50"] > 0

    def test_a_server_that_cannot_start_is_told_with_its_log(self, made):
        broken = replace(made, checkpoint=made.voices_dir)
        with pytest.raises(RuntimeError, match="did not get ready"):
            list(serve.run(TINY, broken, "cpu", time.monotonic() + 60))

    def test_a_case_that_fails_is_a_line_and_those_before_it_are_told(
        self, made, monkeypatch, capsys
    ):
        def case(_engine, _desk, _crowd, count, _seconds):
            if count > 1:
                raise TimeoutError("contexts were not let go of")
            return 1.0

        monkeypatch.setattr(cases, "_case", case)
        monkeypatch.setattr(cases, "HOPELESS", 0.0)
        arguments = ["--device", "cpu", "--size", "tiny", "--contexts", "1,2,4"]
        assert main([*arguments, "--folder", str(made.checkpoint.parent)]) == 1
        *lines, sentence = capsys.readouterr().out.splitlines()
        assert [json.loads(line).get("failed") for line in lines] == [
            None,
            "TimeoutError: contexts were not let go of",
        ]
        assert sentence.endswith("With 2 it failed: TimeoutError: contexts were not let go of.")

    def test_after_a_case_without_hope_the_larger_ones_are_left_out(
        self, made, runner, monkeypatch
    ):
        monkeypatch.setattr(cases, "_case", lambda *_: 1.0)
        options = replace(TINY, contexts=(1, 2, 4))
        found = list(cases.run(options, made, runner, until_s=time.monotonic() + 60))
        assert [case.get("left_out") for case in found] == [
            None,
            "1 were too many already",
            "1 were too many already",
        ]

    def test_who_is_ended_before_the_end_says_what_was_found(self, made, monkeypatch, capsys):
        def stopped(*_):
            yield {"device": "this card", "contexts": 1, "left_out": "no time is left"}
            signal.raise_signal(signal.SIGTERM)

        monkeypatch.setattr(cases, "run", stopped)
        arguments = ["--device", "cpu", "--size", "tiny", "--contexts", "1"]
        before = signal.getsignal(signal.SIGTERM)
        with pytest.raises(SystemExit) as ended:
            main([*arguments, "--folder", str(made.checkpoint.parent)])
        assert signal.getsignal(signal.SIGTERM) is before
        assert ended.value.code == 128 + signal.SIGTERM
        line, sentence = capsys.readouterr().out.splitlines()
        assert json.loads(line)["contexts"] == 1
        assert sentence.startswith("Nothing was heard")

    def test_a_server_that_dies_fails_its_case_and_the_others_are_tried(self, made, monkeypatch):
        tried = []

        def case(_options, _made, _url, count):
            tried.append(count)
            raise ConnectionError("nobody answers")

        monkeypatch.setattr(serve, "_case", case)
        monkeypatch.setattr(serve, "_speak_with_each", lambda *_: None)
        options = replace(TINY, contexts=(1, 2))
        found = list(serve.run(options, made, "cpu", time.monotonic() + 60))
        assert tried == [1, 2]
        assert [case["failed"] for case in found] == ["ConnectionError: nobody answers"] * 2

    def test_no_case_begins_that_would_end_too_late(self, made, runner):
        found = list(cases.run(TINY, made, runner, until_s=0.0))
        assert [case["left_out"] for case in found] == ["no time is left"] * 2

    def test_more_contexts_than_memory_has_room_for_are_left_out(self, made, runner):
        options = replace(TINY, contexts=(1000,))
        (case,) = cases.run(options, made, runner, until_s=time.monotonic() + 60)
        assert "room for" in case["left_out"]
