"""The loop over the tone runner, in this process: what goes in, what comes out, step by step."""

import threading
from collections import deque

import numpy as np
import pytest
from making import segment

from streaming.clock import ManualClock
from streaming.config import EngineSettings
from streaming.engine.loop import Engine
from streaming.errors import UnsupportedLanguage
from streaming.messages import (
    Audio,
    Cancel,
    End,
    Failed,
    Finished,
    ForgetVoice,
    Mark,
    Open,
    Park,
    PlaceMark,
    Played,
    Released,
    SegmentStarted,
    Skipped,
    Speak,
    Stats,
    Unpark,
)
from streaming.runners.tone import ToneRunner
from streaming.steps import Following, Stage, Want
from streaming.voices.draft import VoiceDraft
from streaming.voices.files import VoiceFiles
from streaming.voices.store import VoiceLimits, VoiceStore


class Mailbox:
    """Hands the loop what a test puts in; a loop that would sleep finds nothing."""

    def __init__(self):
        self.inbox = deque()
        self.sent = []
        self.rests = []
        self.woken = threading.Event()

    def receive(self, timeout_s):
        self.rests.append(timeout_s)
        messages = list(self.inbox)
        self.inbox.clear()
        return messages

    def send(self, messages):
        self.sent += messages

    def wake(self):
        self.woken.set()


class CountingRunner(ToneRunner):
    """Keeps every batch it was given."""

    def __init__(self, settings):
        super().__init__(settings)
        self.batches = []

    def step(self, stage, batch):
        self.batches.append([work.ctx for work in batch])
        return super().step(stage, batch)


class Bench:
    """An engine on a bench: put messages in, let it turn, look at what it said."""

    def __init__(self, runner_type=CountingRunner, **settings):
        self.settings = EngineSettings(runner="tone", **settings)
        self.runner = runner_type(self.settings)
        self.mailbox = Mailbox()
        self.clock = ManualClock()
        self.engine = Engine(self.runner, self.settings, self.mailbox, self.clock)

    def turn(self, *messages, times=1):
        self.mailbox.inbox.extend(messages)
        self.mailbox.sent.clear()
        for _ in range(times):
            self.engine.turn()
        return [each for each in self.mailbox.sent if not isinstance(each, Stats)]

    def stats(self):
        self.clock.advance(1.0)
        self.turn()
        return next(each for each in self.mailbox.sent if isinstance(each, Stats))


def opened(ctx, *texts, voice="tone-a", end=True, **options):
    speaks = [
        Speak(ctx=ctx, segment=segment(text, index=index)) for index, text in enumerate(texts)
    ]
    return [Open(ctx=ctx, voice=voice, **options), *speaks, *([End(ctx=ctx)] if end else [])]


def kinds(events):
    return [type(event) for event in events]


class TestAContext:
    def test_speaks_and_finishes_with_its_exact_length(self):
        events = Bench().turn(*opened(1, "Hello there.", "Again."), times=20)
        samples = sum(len(event.pcm) // 2 for event in events if isinstance(event, Audio))
        assert kinds(events)[0] is SegmentStarted
        assert isinstance(events[-1], Finished)
        assert events[-1].samples == samples > 0

    def test_without_a_word_is_skipped_and_finishes_with_nothing(self):
        events = Bench().turn(*opened(1, "…", "🙂"))
        assert kinds(events) == [Skipped, Skipped, Finished]
        assert events[-1].samples == 0

    def test_without_text_finishes_with_nothing(self):
        assert kinds(Bench().turn(*opened(1))) == [Finished]

    def test_answers_a_mark_after_the_audio_before_it(self):
        bench = Bench()
        mark = PlaceMark(ctx=1, mark="m")
        events = bench.turn(*opened(1, "Hi.", end=False), mark, times=10)
        assert kinds(events)[-1] is Mark
        audio = sum(len(event.pcm) // 2 for event in events if isinstance(event, Audio))
        # What is not sent yet is less than a chunk, and silence.
        assert audio <= events[-1].position_samples < audio + 1920

    def test_answers_a_mark_at_once_where_nothing_waits(self):
        bench = Bench()
        assert kinds(bench.turn(*opened(1, end=False), PlaceMark(ctx=1, mark="m"))) == [Mark]

    def test_that_ends_after_its_audio_still_gets_its_last_chunk(self):
        bench = Bench()
        before = bench.turn(*opened(1, "Hi.", end=False), times=10)
        after = bench.turn(End(ctx=1))
        assert kinds(after) == [Audio, Finished]
        total = sum(len(event.pcm) // 2 for event in before + after if isinstance(event, Audio))
        assert after[0].last
        assert total == after[1].samples

    def test_is_counted_with_what_it_cost(self):
        class Slow(ToneRunner):
            def step(self, stage, batch):
                bench.clock.advance(0.25)
                return super().step(stage, batch)

        bench = Bench(Slow)
        events = bench.turn(*opened(1, "ab"), times=3)
        assert events[-1].compute_s == pytest.approx(0.25)
        assert bench.stats().busy_s == pytest.approx(0.25)


class TestCancel:
    def test_read_with_the_text_means_that_nothing_is_launched(self):
        bench = Bench()
        events = bench.turn(*opened(1, "Hello."), Cancel(ctx=1), times=3)
        assert kinds(events) == [Released]
        assert bench.runner.batches == []

    def test_in_mid_utterance_ends_it_with_the_step_that_ran(self):
        bench = Bench()
        bench.turn(*opened(1, "Hello there, you."), times=2)
        assert kinds(bench.turn(Cancel(ctx=1), times=5)) == [Released]
        assert len(bench.runner.batches) == 2

    def test_of_one_leaves_the_others(self):
        bench = Bench()
        bench.turn(*opened(1, "Hello there."), *opened(2, "Hello there."))
        events = bench.turn(Cancel(ctx=1), times=20)
        assert {event.ctx for event in events if not isinstance(event, Released)} == {2}
        assert isinstance(events[-1], Finished)

    def test_of_what_is_gone_says_nothing(self):
        assert Bench().turn(Cancel(ctx=9), Played(ctx=9, samples=1)) == []


class TestFaults:
    def test_one_row_that_raises_fails_alone(self):
        bench = Bench()
        messages = [each for ctx in (1, 3) for each in opened(ctx, "Hello.")]
        events = bench.turn(*messages, *opened(2, "[[raise]]"), times=20)
        (failed,) = [event for event in events if isinstance(event, Failed)]
        assert (failed.ctx, failed.code, failed.retryable) == (2, "synthesis_failed", True)
        assert {event.ctx for event in events if isinstance(event, Finished)} == {1, 3}

    def test_an_error_of_ours_is_told_as_it_is(self):
        class Refusing(ToneRunner):
            def step(self, _stage, batch):
                return [UnsupportedLanguage("not this")] * len(batch)

        (failed,) = Bench(Refusing).turn(*opened(1, "Hello."))
        assert (failed.code, failed.message) == ("unsupported_language", "not this")
        assert not failed.retryable

    def test_samples_that_are_no_numbers_fail_their_context(self):
        events = Bench().turn(*opened(1, "[[nan]]"))
        assert [event.code for event in events] == ["synthesis_failed"]

    def test_audio_before_the_fault_stays_good(self):
        events = Bench().turn(*opened(1, "Hello.", "[[raise]]"), times=20)
        assert Audio in kinds(events)
        assert isinstance(events[-1], Failed)

    def test_a_slot_is_free_after_every_kind_of_end(self):
        bench = Bench(slots=10)
        bench.turn(*opened(1, "Hi."), *opened(2, "[[raise]]"), *opened(3, "Hello."), times=5)
        bench.turn(Cancel(ctx=3), times=20)
        assert bench.stats().free_slots == 10


class TestRunAhead:
    def test_stops_where_the_listener_is_far_behind(self):
        bench = Bench(max_ahead_s=2.0)
        events = bench.turn(*opened(1, "x" * 200, "x" * 200), times=100)
        made_s = sum(len(event.pcm) for event in events if isinstance(event, Audio)) / 48_000
        assert 2.0 <= made_s <= 2.2
        assert Audio in kinds(bench.turn(Played(ctx=1, samples=24_000), times=3))

    def test_a_parked_context_is_left_alone_until_it_is_not(self):
        bench = Bench()
        bench.turn(*opened(1, "Hello there."), times=2)
        assert bench.turn(Park(ctx=1), times=5) == []
        assert bench.stats().parked == 1
        assert Audio in kinds(bench.turn(Unpark(ctx=1)))

    def test_its_runner_is_told_who_must_wait_and_how_long_it_may(self):
        bench = Bench(max_ahead_s=2.0)
        bench.turn(*opened(1, "x" * 200), *opened(2, "x" * 200), times=100)
        works = {ctx: live.work for ctx, live in bench.engine._live.items()}
        assert [work.parked for work in works.values()] == [True, True]
        assert works[1].slack_s == pytest.approx(2.0, abs=0.3)
        bench.clock.advance(0.5)
        bench.turn(Played(ctx=1, samples=1200), Park(ctx=2))
        assert (works[1].parked, works[2].parked) == (True, True)
        assert works[2].slack_s == float("inf")
        bench.turn(Played(ctx=1, samples=36_000), Unpark(ctx=2))
        assert (works[1].parked, works[2].parked) == (False, True)

    def test_with_nothing_to_do_it_sleeps_until_its_next_sign_of_life(self):
        bench = Bench()
        bench.turn(times=2)
        assert bench.mailbox.rests[-1] == pytest.approx(1.0)

    def test_a_change_of_load_is_told_sooner(self):
        bench = Bench()
        bench.turn()
        bench.turn(*opened(1, end=False), times=2)
        assert bench.mailbox.rests[-1] == pytest.approx(0.1)

    def test_it_does_not_sleep_while_something_can_run(self):
        bench = Bench()
        bench.turn(*opened(1, "Hello there."), times=3)
        assert bench.mailbox.rests[-1] == 0


class TestVoices:
    def test_a_voice_is_loaded_beside_the_steps_of_others(self):
        loading = threading.Event()

        class Lazy(CountingRunner):
            def __init__(self, settings):
                super().__init__(settings)
                self.known = {"tone-a"}

            def has_voice(self, voice):
                return voice in self.known

            def load_voice(self, voice):
                assert loading.wait(10)
                self.known.add(voice)

        bench = Bench(Lazy)
        events = bench.turn(
            *opened(1, "Hi.", voice="tone-b"), *opened(2, "Hi.", voice="tone-a"), times=5
        )
        assert {event.ctx for event in events} == {2}
        loading.set()
        assert bench.mailbox.woken.wait(10)
        assert {event.ctx for event in bench.turn(times=5)} == {1}

    def test_a_voice_that_had_to_make_room_between_segments_is_loaded_again(self):
        loading = threading.Event()

        class Forgetful(CountingRunner):
            known = True

            def has_voice(self, _voice):
                return self.known

            def load_voice(self, _voice):
                assert loading.wait(10)
                self.known = True

        bench = Bench(Forgetful)
        bench.turn(*opened(1, "Hi.", end=False), times=20)
        bench.runner.known = False
        again = Speak(ctx=1, segment=segment("Again.", index=1))
        steps = len(bench.runner.batches)
        bench.turn(again, End(ctx=1), times=5)
        assert len(bench.runner.batches) == steps
        loading.set()
        assert bench.mailbox.woken.wait(10)
        assert kinds(bench.turn(times=20))[-1] is Finished

    def test_a_voice_that_cannot_be_loaded_fails_those_who_wait_for_it(self):
        class Damaged(CountingRunner):
            def load_voice(self, voice):
                raise OSError(f"cannot read {voice}")

        bench = Bench(Damaged)
        events = bench.turn(*opened(1, "Hi.", voice="nobody"))
        assert bench.mailbox.woken.wait(10)
        (failed,) = events + bench.turn()
        assert failed.code == "synthesis_failed"
        assert "nobody" in failed.message

    def test_a_voice_that_is_stored_nowhere_is_told_as_such(self, tmp_path):
        bench = Bench(voices_dir=str(tmp_path))
        events = bench.turn(*opened(1, "Hi.", voice="v-aaaaaaaaaaaaaaaaaaaa"))
        assert bench.mailbox.woken.wait(10)
        (failed,) = events + bench.turn()
        assert (failed.code, failed.retryable) == ("unknown_voice", False)


class TestRemovedVoices:
    def bench(self, tmp_path):
        files = VoiceFiles(tmp_path)
        store = VoiceStore(files, VoiceLimits(1, 1 << 20))
        store.load()
        draft = VoiceDraft("Ana", "Hello.", "yes")
        record, _ = store.add("", draft, b"RIFF", 3000, "", b"")
        return Bench(voices_dir=str(tmp_path)), record, store

    def test_a_context_that_has_begun_speaks_to_its_end(self, tmp_path):
        bench, record, store = self.bench(tmp_path)
        bench.turn(*opened(1, "Hello there.", "And all of you.", voice=record.id))
        assert bench.mailbox.woken.wait(10)
        bench.turn()

        store.remove("", record.id)
        events = bench.turn(ForgetVoice(voice=record.id))
        assert bench.runner.has_voice(record.id)
        events += bench.turn(times=30)

        assert isinstance(events[-1], Finished)
        assert not bench.runner.has_voice(record.id)

    def test_one_that_is_cancelled_lets_go_of_it(self, tmp_path):
        bench, record, _ = self.bench(tmp_path)
        bench.turn(*opened(1, "Hello there.", voice=record.id))
        assert bench.mailbox.woken.wait(10)
        bench.turn(ForgetVoice(voice=record.id))
        bench.turn(Cancel(ctx=1))
        assert not bench.runner.has_voice(record.id)

    def test_none_begins_with_it_any_more(self, tmp_path):
        bench, record, store = self.bench(tmp_path)
        bench.runner.load_voice(record.id)
        store.remove("", record.id)
        events = bench.turn(ForgetVoice(voice=record.id), *opened(1, "Hi.", voice=record.id))
        assert bench.mailbox.woken.wait(10)
        (failed,) = events + bench.turn()
        assert failed.code == "unknown_voice"

    def test_one_that_is_being_loaded_is_not_kept(self, tmp_path):
        bench, record, _ = self.bench(tmp_path)
        go_on, load = threading.Event(), bench.runner.load_voice

        def slowly(voice):
            assert go_on.wait(10)
            load(voice)

        bench.engine._voices._loader._load = slowly
        bench.turn(*opened(1, "Hi.", voice=record.id))

        bench.turn(ForgetVoice(voice=record.id))
        go_on.set()
        assert bench.mailbox.woken.wait(10)

        (failed,) = bench.turn()
        assert failed.code == "unknown_voice"
        assert not bench.runner.has_voice(record.id)


class TestBatches:
    def test_contexts_out_of_step_share_one(self):
        bench = Bench()
        bench.turn(*opened(1, "Hello there, you."), times=2)
        bench.turn(*opened(2, "Hello there, you."))
        assert sorted(bench.runner.batches[-1]) == [1, 2]

    def test_a_batch_makes_what_each_would_make_alone(self):
        def pcm(events, ctx):
            return b"".join(
                event.pcm for event in events if isinstance(event, Audio) and event.ctx == ctx
            )

        texts = {ctx: "Hello there." + "!" * ctx for ctx in range(1, 6)}
        messages = [each for ctx, text in texts.items() for each in opened(ctx, text, seed=ctx)]
        together = Bench().turn(*messages, times=30)
        for ctx, text in texts.items():
            alone = Bench().turn(*opened(ctx, text, seed=ctx), times=30)
            assert pcm(together, ctx) == pcm(alone, ctx) != b""

    def test_a_batch_that_fails_as_a_whole_is_run_again_row_by_row(self):
        class Moody(CountingRunner):
            def step(self, stage, batch):
                if len(batch) > 1:
                    raise RuntimeError("too many")
                return super().step(stage, batch)

        bench = Bench(Moody)
        events = bench.turn(*opened(1, "Hi."), *opened(2, "Hi."), times=10)
        assert {event.ctx for event in events if isinstance(event, Finished)} == {1, 2}

    def test_what_is_sent_is_numbers(self):
        (chunk, *_) = [e for e in Bench().turn(*opened(1, "Hello."), times=5) if type(e) is Audio]
        assert np.abs(np.frombuffer(chunk.pcm, "<i2")).max() > 1000


class TestRest:
    def test_a_model_that_nobody_uses_gives_its_memory_back_once_and_comes_back(self):
        class Heavy(CountingRunner):
            def __init__(self, settings):
                super().__init__(settings)
                self.known, self.unloads = {"tone-a"}, 0

            def has_voice(self, voice):
                return voice in self.known

            def load_voice(self, voice):
                self.known.add(voice)

            def unload(self):
                self.unloads += 1
                self.known.clear()

        bench = Bench(Heavy, unload_after_s=60.0)
        bench.turn(*opened(1, "Hi."), times=20)
        for _ in range(130):
            bench.stats()
        assert bench.runner.unloads == 1
        events = bench.turn(*opened(2, "Hi."))
        assert bench.mailbox.woken.wait(10)
        assert isinstance((events + bench.turn(times=20))[-1], Finished)

    def test_one_who_is_listened_to_keeps_it(self):
        class Kept(CountingRunner):
            def unload(self):
                raise AssertionError("somebody speaks")

        bench = Bench(Kept, unload_after_s=60.0)
        bench.turn(*opened(1, end=False))
        for _ in range(130):
            bench.stats()

    def test_every_step_can_be_traced(self, tmp_path):
        bench = Bench(trace=str(tmp_path / "trace.json"))
        bench.turn(*opened(1, "Hi."), *opened(2, "Hi."), times=20)
        bench.stats()
        bench.engine._trace.close()
        assert '"contexts":[1,2]' in (tmp_path / "trace.json").read_text(encoding="utf-8")


class TestStagesOfOneContext:
    def test_one_that_is_late_finishes_what_is_about_to_be_heard_before_it_begins_more(self):
        order = []

        class Staged(CountingRunner):
            """Always wants both: the first with work to follow that takes longer than it lasts."""

            stages = (Stage("llm"), Stage("vocoder"))

            def wants(self, _work, _costs):
                return [Want("llm", then=(Following("vocoder", 1e6),)), Want("vocoder")]

            def step(self, stage, batch):
                order.append(stage)
                return super().step(stage, batch)

        bench = Bench(Staged)
        bench.turn(*opened(1, "Hello there."), times=1)
        bench.clock.advance(5.0)
        bench.turn(times=2)
        assert order[0] == "vocoder"
