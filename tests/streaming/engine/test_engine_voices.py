"""The voices that contexts speak with, through the loop."""

import threading

from loop_bench import Bench, CountingRunner, kinds, opened
from making import segment

from streaming.messages import Cancel, End, Finished, ForgetVoice, Speak
from streaming.voices.draft import VoiceDraft
from streaming.voices.files import VoiceFiles
from streaming.voices.store import VoiceLimits, VoiceStore


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

    def test_a_voice_that_cannot_be_loaded_fails_those_who_wait_for_it(self, capsys):
        class Damaged(CountingRunner):
            def load_voice(self, voice):
                raise OSError(f"cannot read {voice}")

        bench = Bench(Damaged)
        events = bench.turn(*opened(1, "Hi.", voice="nobody"))
        assert bench.mailbox.woken.wait(10)
        (failed,) = events + bench.turn()
        assert failed.code == "synthesis_failed"
        assert "nobody" in failed.message
        assert "cannot read nobody" in capsys.readouterr().err

    def test_a_voice_that_is_stored_nowhere_is_told_as_such_to_its_context_alone(
        self, tmp_path, capsys
    ):
        bench = Bench(voices_dir=str(tmp_path))
        events = bench.turn(*opened(1, "Hi.", voice="v-aaaaaaaaaaaaaaaaaaaa"))
        assert bench.mailbox.woken.wait(10)
        (failed,) = events + bench.turn()
        assert (failed.code, failed.retryable) == ("unknown_voice", False)
        assert not capsys.readouterr().err, "it was deleted a moment ago, which is nobody's fault"


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

    def test_who_opened_before_it_was_removed_speaks_though_it_is_only_then_loaded(self, tmp_path):
        bench, record, store = self.bench(tmp_path)
        go_on, read = self.hold(bench, after_reading=True)
        bench.turn(*opened(1, "Hello there.", "Again.", voice=record.id))
        assert read.wait(10)

        store.remove("", record.id)
        bench.turn(ForgetVoice(voice=record.id))
        go_on.set()
        assert bench.mailbox.woken.wait(10)

        assert isinstance(bench.turn(times=30)[-1], Finished)
        assert not bench.runner.has_voice(record.id)

    def test_who_opened_hears_that_it_was_removed_where_its_files_went_before_they_were_read(
        self, tmp_path
    ):
        bench, record, store = self.bench(tmp_path)
        go_on, _ = self.hold(bench, after_reading=False)
        bench.turn(*opened(1, "Hi.", voice=record.id))

        store.remove("", record.id)
        bench.turn(ForgetVoice(voice=record.id))
        go_on.set()
        assert bench.mailbox.woken.wait(10)

        (failed,) = bench.turn()
        assert (failed.code, failed.retryable) == ("unknown_voice", False)
        assert failed.message == f"voice {record.id!r} was removed"

    def test_one_that_is_loaded_for_nobody_any_more_is_not_kept(self, tmp_path):
        bench, record, _ = self.bench(tmp_path)
        go_on, read = self.hold(bench, after_reading=True)
        bench.turn(*opened(1, "Hi.", voice=record.id))
        assert read.wait(10)

        bench.turn(ForgetVoice(voice=record.id), Cancel(ctx=1))
        go_on.set()
        assert bench.mailbox.woken.wait(10)

        assert bench.turn() == []
        assert not bench.runner.has_voice(record.id)

    def hold(self, bench, *, after_reading):
        """Voices are loaded when the event is set, having been read before it or after."""
        go_on, read, load = threading.Event(), threading.Event(), bench.runner.load_voice

        def slowly(voice):
            if after_reading:
                load(voice)
                read.set()
            assert go_on.wait(10)
            if not after_reading:
                load(voice)

        bench.engine._voices._loader._load = slowly
        return go_on, read
