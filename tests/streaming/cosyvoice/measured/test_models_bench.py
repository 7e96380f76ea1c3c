"""The measurements of the networks measure what they say; figures are those of tiny networks."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import numpy as np
import pytest
import torch

from benchmarks.models import __main__ as command
from benchmarks.models import batch, first, held, lockstep, stream, together
from benchmarks.models.lockstep import Task
from benchmarks.models.voices import prompt
from streaming.cosyvoice import tiny
from streaming.cosyvoice.sizes import TOKENS_PER_S
from streaming.errors import SynthesisFailed

SECONDS = 6
KEYS = {
    "exact_60_over_5", "windowed_60_over_5", "whole_over_one_pass", "llm_batch16_over_1",
    "context_bytes_per_s", "voice_bytes", "first_chunk_ms", "together",
}  # fmt: skip
TINY = tiny.sizes("cosyvoice3", "tiny")


@pytest.fixture(scope="module")
def networks(made):
    return stream.load(made.checkpoint, SECONDS)


class TestStream:
    def test_every_second_of_audio_has_its_cost(self, networks):
        found = stream.streamed(networks, None, rounds=1)
        assert len(found.flow_s) == len(found.vocoder_s) == SECONDS
        assert found.whole_s == pytest.approx(sum(found.flow_s + found.vocoder_s))
        assert found.growth == pytest.approx(found.cost_s(SECONDS) / found.cost_s(5))

    def test_the_least_of_some_rounds_counts(self):
        assert stream._least([[3.0, 1.0], [2.0, 4.0]]) == (2.0, 1.0)

    def test_an_exact_context_keeps_a_page_a_second_and_a_windowed_one_its_window(self, networks):
        page = stream.page_bytes(networks.network)
        exact = stream.streamed(networks, None, rounds=1)
        windowed = stream.streamed(networks, 2.0, rounds=1)
        assert exact.context_bytes == page * SECONDS  # of them one the prompt's last block
        assert windowed.context_bytes == page * (1 + 2)

    def test_hops_come_to_what_one_pass_does(self, networks):
        flow = networks.flow()
        state = flow.begin(flow.voice(networks.prompt))
        parts = []
        for begin in range(0, SECONDS * TOKENS_PER_S, TOKENS_PER_S):
            end = begin + TOKENS_PER_S
            last = end == len(networks.tokens)
            hop = flow.start(state, networks.tokens[begin : end if last else end + 3], last=last)
            while not hop.done:
                flow.euler([hop])
            parts.append(hop.mel)
            state = hop.state
        whole = networks.whole.one_pass(networks.prompt, networks.tokens, streaming=True)
        assert torch.allclose(torch.cat(parts), whole, atol=1e-4)

    def test_one_pass_is_timed_by_network(self, networks):
        flow_s, vocoder_s = stream.one_pass_s(networks)
        assert flow_s > 0 < vocoder_s


class TestHeld:
    def test_what_is_counted_is_what_the_runner_takes(self, runner, made):
        models = runner._loaded().models
        counted = held.counted(TINY, torch.float32)
        assert counted["flow_bytes_per_s"] == models.flow.pool.page_bytes
        assert held.position_bytes(TINY.llm, torch.float32) == (
            models.decoder.cache.bytes_per_position
        )
        before = runner.figures()["voice_bytes"]
        lockstep.speak(runner, [Task(together.TEXTS[0] * 2, made.voices[-1], seed=1)])
        voice = runner.figures()["voice_bytes"] - before
        transcript = runner._loaded().models.tokenizer.encode(
            "You are a helpful assistant.<|endofprompt|>This is how it sounds when I read aloud."
        )
        more = len(transcript) - held.PREFIX_TOKENS  # a tiny vocabulary has shorter tokens
        expected = counted["voice_bytes"] + more * held.position_bytes(TINY.llm, torch.float32)
        assert voice == expected

    def test_half_precision_halves_it(self):
        full, half = (held.counted(TINY, dtype) for dtype in (torch.float32, torch.bfloat16))
        assert full["context_bytes_per_s"] == 2 * half["context_bytes_per_s"]

    def test_version_2_is_counted_too(self):
        assert held.counted(tiny.sizes("cosyvoice2", "tiny"), torch.float32)["voice_bytes"] > 0


class TestLockstep:
    def test_together_all_say_what_each_says_alone(self, runner, made):
        found = together.measure(runner, made.voices[:2], texts=["One two.", "Three."], rounds=1)
        assert found["contexts"] == 2
        assert found["tokens_equal"]
        assert found["audio_apart"] < 1e-4
        assert min(found[stage] for stage in ("llm", "flow", "vocoder", "all", "wall")) > 0
        assert found["together"]["all"] < found["together"]["llm"]

    def test_what_each_way_took_is_told_in_seconds_and_in_audio_a_second(self, runner, made):
        found = together.measure(runner, made.voices[:2], texts=["One two.", "Three."], rounds=1)
        for way in ("alone", "together"):
            seconds = found[way]["seconds"]
            assert found[way]["wall"] == pytest.approx(found["audio_s"] / seconds["wall"], rel=0.1)
            stages = [seconds[stage] for stage in ("llm", "flow", "vocoder")]
            assert seconds["all"] == pytest.approx(sum(stages), abs=0.02)
            assert seconds["wall"] >= seconds["all"] - 0.02

    def test_different_tokens_are_told(self, runner, made):
        said = lockstep.speak(runner, [Task("One.", made.voices[0], seed=1)])
        other = lockstep.speak(runner, [Task("One.", made.voices[0], seed=2)])
        assert together._apart(said, other) == {"tokens_equal": False, "audio_apart": None}

    def test_nothing_is_held_afterwards(self, runner, made):
        lockstep.speak(runner, [Task("One.", made.voices[0], seed=1)])
        free = runner.figures()["llm_slots_free"]
        assert free == runner._loaded().models.decoder.cache.slots

    def test_what_a_step_raises_is_raised(self, runner, made, monkeypatch):
        monkeypatch.setattr(
            runner._loaded().models.decoder, "begin", lambda *_, **__: 1 / 0, raising=True
        )
        with pytest.raises(ZeroDivisionError):
            lockstep.speak(runner, [Task("One.", made.voices[0], seed=1)])


def test_the_first_chunks_parts_make_up_the_whole(runner, settings, made):
    found = first.measure(runner, settings, made.voices[0], text="One two three.", rounds=1)
    parts = [found[part] for part in (*first.PARTS, "engine")]
    assert min(parts) > 0
    assert sum(parts) == pytest.approx(found["total"], rel=0.01)


def test_a_context_that_fails_ends_the_measurement(runner, settings, made):
    with pytest.raises(SynthesisFailed, match="512 positions"):
        first.measure(runner, settings, made.voices[0], text="one " * 400, rounds=1)


class TestBatch:
    def test_a_step_of_many_makes_as_many_tokens(self):
        decoder = batch.decoder(TINY.llm, slots=4)
        found = batch.measure(decoder, (1, 4), steps=2, rounds=2, clock=time.perf_counter)
        for rows in (1, 4):
            rate = found[rows]["tokens_per_s"]
            assert rate == pytest.approx(1000 * rows / found[rows]["step_ms"], rel=0.05)
        assert decoder.free_slots == 4

    def test_the_random_model_gives_numbers(self):
        decoder = batch.decoder(TINY.llm, slots=1)
        row = batch._begun(decoder, 0)
        for _ in range(3):
            decoder.step([row])
        assert row.failure is None
        assert row.tokens


class TestCommand:
    @pytest.fixture(autouse=True)
    def _short(self, monkeypatch):
        threads = torch.get_num_threads()
        monkeypatch.setattr(stream, "ROUNDS", 1)
        monkeypatch.setattr(first, "SENTENCE", "One two three.")
        monkeypatch.setattr(first, "ROUNDS", 1)
        monkeypatch.setattr(together, "TEXTS", ("One.", "Two."))
        monkeypatch.setattr(together, "ROUNDS", 1)
        monkeypatch.setattr(batch, "STEPS", 2)
        monkeypatch.setattr(batch, "ROUNDS", 1)
        monkeypatch.setattr(command, "POSITIONS", 512)
        monkeypatch.setattr(command, "FLOW_MIB", dict.fromkeys(command.FLOW_MIB, 64))
        yield
        torch.set_num_threads(threads)

    def test_the_last_line_is_one_object_with_every_figure(self, capsys):
        command.main(["--json", "--size", "tiny", "--llm-size", "tiny", "--seconds", "5"])
        found = json.loads(capsys.readouterr().out.splitlines()[-1])
        assert found.keys() >= KEYS
        assert all(found[key] for key in KEYS)
        assert found["seconds"]["exact"]["5th"] > 0
        assert found["first_chunk_ms"]["new_voice"] > 0
        assert found["llm_on_all_cores"]["16"]["tokens_per_s"] > 0

    def test_a_table_for_people_has_a_line_a_figure(self):
        table = command._table({"exact_60_over_5": 2.5, "voice_bytes": 10})
        assert table.splitlines()[0].split() == ["exact_60_over_5", "2.5"]

    def test_the_run_says_with_what_it_was_made(self):
        run = command._run(replace(command.Options(), size="tiny"))
        assert run["size"] == "tiny"
        assert run["torch"] == torch.__version__


def test_voices_are_made_of_recordings_of_their_own(made):
    recordings = list((made.voices_dir / "audio").iterdir())
    assert len(recordings) >= len(set(made.voices)) == len(made.voices)


def test_prompts_differ_and_are_the_same_every_time():
    assert prompt(1, "").tokens == prompt(1, "").tokens != prompt(2, "").tokens
    assert np.array_equal(prompt(1, "").mel, prompt(1, "").mel)
