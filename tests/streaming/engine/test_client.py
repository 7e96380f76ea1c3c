"""The client over real processes and the tone runner: what contexts do."""

import asyncio
import pathlib
import sys

import msgspec
import numpy as np
import pytest
import pytest_asyncio
from engines import Heard, alive, descriptors, listen, running, say, until

from streaming.clock import LoopClock
from streaming.config import EngineSettings
from streaming.engine.client import ContextRequest, EngineClient
from streaming.errors import (
    ContextEnded,
    EngineLoading,
    Internal,
    Overloaded,
    UnknownVoice,
    UnsupportedLanguage,
)
from streaming.messages import Audio, Failed, Finished, Mark, SegmentStarted, Skipped, Words
from streaming.runners.tone import frequency_hz

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def client():
    """One set of processes for all tests that leave them as they were."""
    async with running() as made:
        yield made


def loudest_hz(samples):
    """The frequency that stands out in a second of it."""
    window = samples[2_400 : 2_400 + 24_000]
    return np.abs(np.fft.rfft(window, 24_000)).argmax()


class TestAContext:
    async def test_speaks_and_ends_with_its_exact_length(self, client):
        heard = say(client, "Hello there. How are ", "you today?")
        finished = await heard.finished()
        assert isinstance(finished, Finished)
        assert finished.samples == len(heard.samples)
        assert finished.samples / 24_000 > 30 * 0.06
        assert heard.of(Audio)[-1].last

    async def test_hears_its_segments_with_the_audio_after_each(self, client):
        heard = say(client, "Hello there. How are you?", words=True)
        await heard.finished()
        kinds = [type(event) for event in heard.events]
        assert kinds[0] is SegmentStarted
        assert kinds.index(Words) < kinds.index(Audio)
        starts = heard.of(SegmentStarted)
        assert "".join(each.segment.source for each in starts) == "Hello there. How are you?"
        at = {event.position_samples for event in heard.of(Audio)}
        assert starts[0].position_samples == 0
        assert all(start.position_samples <= max(at) for start in starts)

    async def test_is_told_of_a_flush_once_and_after_its_audio(self, client):
        heard = say(client, "Wait for", end=False)
        heard.context.flush("a")
        await until(lambda: heard.of(Mark))
        assert [each.mark for each in heard.of(Mark)] == ["a"]
        assert heard.of(Audio)
        heard.context.append(" me.")
        heard.context.end()
        assert isinstance(await heard.finished(), Finished)

    @pytest.mark.parametrize("deltas", [[], [""], ["…"], ["🙂 🙂"], ["  \n "]])
    async def test_without_a_word_finishes_with_no_audio(self, client, deltas):
        heard = say(client, *deltas)
        finished = await heard.finished()
        assert isinstance(finished, Finished)
        assert finished.samples == 0
        assert not heard.of(Audio)

    async def test_of_punctuation_alone_is_told_that_it_was_skipped(self, client):
        heard = say(client, "Yes. ... 🙂")
        await heard.finished()
        assert heard.of(Audio)
        assert {each.reason for each in heard.of(Skipped)} <= {"it holds no word"}

    async def test_takes_no_text_after_its_end(self, client):
        heard = say(client, "Hello there.")
        for late in (heard.context.end, lambda: heard.context.append("x")):
            with pytest.raises(ContextEnded):
                late()
        with pytest.raises(ContextEnded):
            heard.context.flush("f")
        await heard.finished()

    async def test_that_is_over_ignores_every_verb(self, client):
        heard = say(client, "Hi.")
        await heard.finished()
        before = len(heard.events)
        over = heard.context
        for verb in (over.end, over.cancel, over.park, over.unpark):
            verb()
        over.append("more")
        over.flush("f")
        over.played(5)
        over.start_in(5)
        await say(client, "Another.").finished()
        assert len(heard.events) == before

    async def test_is_ended_by_a_fault_in_its_owner_and_by_nothing_else(self, client):
        def broken(event):
            calls.append(event)
            raise RuntimeError("the owner's fault")

        calls = []
        context = client.open(ContextRequest(), broken)
        context.append("Hello there.")
        context.end()
        heard = say(client, "Hello there.")
        assert isinstance(await heard.finished(), Finished)
        assert len(calls) == 1
        assert not context.active


class TestManyContexts:
    async def test_do_not_mix(self, client):
        tones = [(voice, seed) for voice in ("tone-a", "tone-b") for seed in range(8)]
        all_heard = [
            say(client, "This one is its own tone alone.", voice=voice, seed=seed)
            for voice, seed in tones
        ]
        for (voice, seed), heard in zip(tones, all_heard, strict=True):
            await heard.finished()
            assert loudest_hz(heard.samples) == frequency_hz(voice, seed)

    async def test_sound_together_as_they_do_alone(self, client):
        texts = [f"Number {index} speaks. " * 3 for index in range(6)]
        together = [say(client, text, seed=seed) for seed, text in enumerate(texts)]
        for heard in together:
            await heard.finished()
        for seed, text in enumerate(texts):
            alone = say(client, text, seed=seed)
            await alone.finished()
            assert alone.pcm == together[seed].pcm

    async def test_one_of_5000_characters_does_not_hold_up_one_of_two_words(self, client):
        book = say(client, "It was a dark and stormy night, as they say. " * 112)
        await book.speaks()
        began_s = asyncio.get_running_loop().time()
        short = say(client, "Hello there.")
        await short.speaks()
        waited_s = asyncio.get_running_loop().time() - began_s
        assert isinstance(await short.finished(), Finished)
        assert not book.over.is_set()
        assert waited_s < 10  # all of the other takes minutes
        book.context.cancel()

    async def test_fifty_in_turn_leave_nothing_behind(self):
        async with running(slots=5) as client:
            for _ in range(50):
                assert isinstance(await say(client, "Hi.").finished(), Finished)
            assert client._contexts == {}
            await until(lambda: client.stats.contexts == 0)


class TestCancel:
    async def test_silences_at_once(self, client):
        heard = say(client, "Hello there, this goes on for a while. " * 20)
        await heard.speaks()
        heard.context.cancel()
        before = len(heard.events)
        await say(client, "Another.").finished()
        assert len(heard.events) == before

    async def test_and_a_new_one_in_the_same_breath_with_a_single_slot(self):
        async with running(slots=1) as client:
            for jitter in range(20):
                first = say(client, "Hello there, how are you?")
                await asyncio.sleep(jitter * 0.001)
                first.context.cancel()
                second = say(client, "Still here.")
                assert isinstance(await second.finished(), Finished)
                assert second.of(Audio)[0].position_samples == 0

    async def test_storms_leave_every_slot_free(self):
        async with running(slots=300) as client:
            for _ in range(5):
                storm = [say(client, "Hello there. " * 5, end=False) for _ in range(100)]
                await storm[50].speaks()
                for heard in storm:
                    heard.context.cancel()
                counts = [len(heard.events) for heard in storm]
            assert isinstance(await say(client, "Hi.").finished(), Finished)
            assert [len(heard.events) for heard in storm] == counts
            await until(lambda: client.stats.contexts == 0)
            assert client.stats.free_slots == 300
            assert client._entrance.free == 300


class TestHoldingBack:
    async def test_a_parked_context_takes_no_step(self, client):
        heard = say(client, "Hello there, this goes on for a while.")
        heard.context.park()
        await until(lambda: client.stats.parked == 1)
        steps = client.stats.steps
        told = client.stats
        await until(lambda: client.stats is not told)
        assert client.stats.steps == steps
        heard.context.unpark()
        assert isinstance(await heard.finished(), Finished)

    async def test_a_listener_who_reports_nothing_bounds_what_is_made(self):
        async with running(max_ahead_s=1.0) as client:
            heard = say(client, "Hello there, this goes on for a while. " * 20)
            told = client.stats
            await until(lambda: len(heard.samples) > 23_000)
            await until(lambda: client.stats is not told)
            assert len(heard.samples) / 24_000 < 1.0 + 0.16 + 0.08
            await listen(heard)
            assert isinstance(heard.last, Finished)


class TestRefusals:
    async def test_before_it_is_ready(self):
        client = EngineClient(EngineSettings(runner="tone"))
        assert (client.ready, client.reason) == (False, "not started")
        for refused in (
            lambda: client.check(ContextRequest()),
            lambda: client.open(ContextRequest(), Heard()),
            client.cloning.require,
        ):
            with pytest.raises(EngineLoading):
                refused()

    async def test_while_it_loads(self):
        async with running(ready=False) as client:
            assert (client.ready, client.reason) == (False, "loading")
            with pytest.raises(EngineLoading, match="loading"):
                client.open(ContextRequest(), Heard())
            with pytest.raises(EngineLoading, match=r"0\.001 s"):
                await client.wait_ready(0.001)

    async def test_an_unknown_voice(self, client):
        with pytest.raises(UnknownVoice, match="tone-a, tone-b"):
            client.open(ContextRequest(voice="nobody"), Heard())
        assert client._entrance.free == client._entrance._door.slots

    async def test_more_contexts_than_slots(self):
        async with running(slots=2) as client:
            first, _ = say(client, end=False), say(client, end=False)
            with pytest.raises(Overloaded):
                client.open(ContextRequest(), Heard())
            first.context.cancel()
            assert isinstance(await say(client, "Hi.").finished(), Finished)

    async def test_more_listeners_than_can_be_served_and_a_listener_of_several_contexts(self):
        async with running(capacity=1) as client:
            await until(lambda: client.stats is not None)
            first = say(client, end=False, listener="a")
            say(client, end=False, listener="a")
            with pytest.raises(Overloaded, match="1 listener is"):
                client.open(ContextRequest(listener="b"), Heard())
            first.context.cancel()

    async def test_who_may_wait_is_served_when_a_place_is_free(self):
        async with running(slots=1, queue=1) as client:
            first, second = say(client, end=False), say(client, "Hi.")
            with pytest.raises(Overloaded):
                client.open(ContextRequest(), Heard())
            await asyncio.sleep(0.2)
            assert second.events == []
            first.context.cancel()
            assert isinstance(await second.finished(), Finished)
            assert len(second.samples)

    async def test_who_has_waited_too_long_is_told_so(self):
        async with running(slots=1, queue=1, queue_ms=100) as client:
            say(client, end=False)
            failed = await say(client, "Hi.").finished()
            assert (failed.code, failed.retryable) == ("overloaded", True)
            assert failed.retry_after_ms > 0

    async def test_who_waits_may_change_their_mind(self):
        async with running(slots=1, queue=1) as client:
            first, second = say(client, end=False), say(client, "Hi.")
            second.context.cancel()
            third = say(client, "Hi.")
            first.context.cancel()
            assert isinstance(await third.finished(), Finished)
            assert second.events == []

    async def test_an_option_that_would_be_ignored_is_named(self, client):
        ignored = client.check(ContextRequest(instruct="cheerfully", speed=1.5))
        assert [option for option, _ in ignored] == ["instruct"]
        assert "instruct" in ignored[0][1]
        assert client.check(ContextRequest()) == []

    async def test_a_runner_that_cannot_be_loaded_is_not_tried_again(self):
        async with running(model="no-such", ready=False) as client:
            with pytest.raises(Internal, match="no-such"):
                await client.wait_ready(20)
            assert client.reason.startswith("failed: ")
            assert client.restarts == 0
            with pytest.raises(EngineLoading, match="no-such"):
                client.open(ContextRequest(), Heard())


class TestTheEmbeddedVoice:
    async def test_speaks_english_and_refuses_what_it_cannot(self):
        async with running(runner="embedded") as client:
            heard = say(client, "Hello there, everyone.")
            assert isinstance(await heard.finished(), Finished)
            assert np.abs(heard.samples).max() > 2_000
            with pytest.raises(UnsupportedLanguage, match="heart"):
                client.check(ContextRequest(language="ja-JP"))
            chinese = say(client, "Hello there, my friend. 你好世界。")
            failed = await chinese.finished()
            assert isinstance(failed, Failed)
            assert failed.code == "unsupported_language"

    async def test_sounds_the_same_whatever_else_is_spoken(self):
        async with running(runner="embedded") as client:
            text = "The same words, and the same voice."
            alone = say(client, text, seed=3)
            await alone.finished()
            crowd = [say(client, f"Somebody else, number {each}.", seed=each) for each in range(5)]
            amid = say(client, text, seed=3)
            await amid.finished()
            for heard in crowd:
                await heard.finished()
            assert amid.pcm == alone.pcm


class TestTheLoop:
    @pytest.mark.skipif(sys.platform == "win32", reason="uvloop has no Windows")
    @pytest.mark.filterwarnings("ignore:.*is marked with '@pytest.mark.asyncio'")
    def test_it_runs_on_uvloop(self):
        import uvloop  # noqa: PLC0415 - not on Windows

        async def speak():
            async with running() as client:
                return await say(client, "Hello there.").finished()

        assert isinstance(uvloop.run(speak()), Finished)

    async def test_its_clock_can_be_handed_in(self):
        client = EngineClient(EngineSettings(runner="tone"), LoopClock())
        await client.start()
        await client.wait_ready(20)
        await client.close()

    @pytest.mark.skipif(
        not pathlib.Path("/proc/self/fd").is_dir(), reason="counts descriptors in /proc"
    )
    async def test_closing_leaves_no_descriptor_and_no_process(self):
        async with running() as first:
            await say(first, "Hi.").finished()
        before = descriptors()
        for _ in range(3):
            async with running(workers=2) as client:
                pids = [client.engine_pid, *client.text_pids]
                say(client, "Hello there. " * 30)
            assert not any(alive(pid) for pid in pids)
        assert descriptors() == before


class TestASlot:
    @pytest.mark.asyncio(loop_scope="function")
    async def test_of_who_was_cancelled_is_had_by_the_next_once_the_engine_let_go_of_it(self):
        async with running(slots=1) as client:
            for seed in range(20):
                heard = say(client, "A sentence that is long enough to be cancelled in.", seed=seed)
                if seed % 2:
                    await heard.speaks()
                heard.context.cancel()
            last = say(client, "The last one.")
            assert isinstance(await last.finished(), Finished)
            with pytest.raises(Overloaded):
                [say(client, "One too many.") for _ in range(2)]

    @pytest.mark.asyncio(loop_scope="function")
    async def test_is_handed_to_the_context_that_takes_the_place_of_another(self):
        async with running(slots=1) as client:
            first = say(client, "This one is interrupted. " * 10)
            await first.speaks()
            second = say(client, "By this one.", instead_of=(first.context.ctx,))
            first.context.cancel()
            assert isinstance(await second.finished(), Finished)

    @pytest.mark.asyncio(loop_scope="function")
    async def test_is_one_of_those_that_the_engine_has_memory_for(self):
        async with running(slots=8) as client:
            client._from_engine([msgspec.structs.replace(client.info, slots=1)])
            say(client, "This one has it.", end=False)
            with pytest.raises(Overloaded, match="the one context"):
                say(client, "This one has none.")
