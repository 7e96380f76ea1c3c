"""Voices made of recordings, as the engine's client keeps them: whose they are, what waits."""

import asyncio

import pytest

from streaming.config import EngineSettings
from streaming.engine.cloning import Asker, Cloning, VoiceDraft
from streaming.errors import (
    EngineLoading,
    Internal,
    InvalidValue,
    NotAllowed,
    SilentRecording,
    TooManyVoices,
    UnknownVoice,
    UnsupportedByEngine,
    UnsupportedLanguage,
)
from streaming.messages import End, ForgetVoice, Open, PromptMade, Ready, Voice

BUILT_IN = Voice(id="heart", name="Heart", languages=("en",))
ENGINE = Ready(
    runner="test",
    device="cpu",
    voices=(BUILT_IN,),
    default_voice="heart",
    slots=1,
    cloning=True,
    clone_languages=("en", "zh"),
    voice_model="m1",
)
DRAFT = VoiceDraft(name="Ana", transcript="Good morning to all of you.", consent="by mail")


class FakeMaker:
    """Makes prompts of any bytes, when it is let."""

    def __init__(self, model="m1"):
        self.model = model
        self.made = []
        self.go_on = asyncio.Event()
        self.go_on.set()
        self.error = None

    async def make(self, recording):
        self.made.append(recording)
        await self.go_on.wait()
        if self.error:
            raise self.error
        return PromptMade(
            request=1,
            digest="",
            wav=recording,
            duration_ms=3000,
            features=b"of " + self.model.encode(),
            warnings=("it is quiet",),
        )


class Bench:
    def __init__(self, root, engine=ENGINE, **settings):
        self.maker = FakeMaker()
        self.told = []
        self.engine = engine
        self.cloning = Cloning(
            EngineSettings(voices_dir=str(root), **settings),
            self.maker,
            self.told.append,
            engine=lambda: self.engine,
        )

    async def create(self, owner="shop", draft=DRAFT, recording=b"RIFF"):
        return await self.cloning.create(owner, draft, recording)

    def way(self, voice, owner="shop", wanted=lambda: True):
        passed, failed = [], []
        way = self.cloning.way(
            owner, voice, self.engine, passed.append, Asker(wanted, failed.append)
        )
        return way, passed, failed


@pytest.fixture
async def bench(tmp_path):
    bench = Bench(tmp_path)
    await bench.cloning.load()
    yield bench
    await bench.cloning.close()


class TestMaking:
    async def test_a_voice_is_seen_by_its_owner_beside_the_engines(self, bench):
        made = await bench.create()

        assert made.created
        assert made.warnings == ("it is quiet",)
        assert [voice.id for voice in bench.cloning.seen_by("shop", ENGINE).voices] == [
            "heart",
            made.record.id,
        ]
        assert made.voice.languages == ("en", "zh")
        assert bench.cloning.seen_by("phone", ENGINE).voices == (BUILT_IN,)
        assert bench.cloning.recording("shop", made.record.id).read_bytes() == b"RIFF"

    async def test_an_engine_that_cannot_clone_has_its_own_voices_alone(self, bench):
        await bench.create()
        bench.engine = Ready(
            runner="embedded", device="cpu", voices=(BUILT_IN,), default_voice="heart", slots=1
        )
        assert bench.cloning.seen_by("shop", bench.engine) == bench.engine
        with pytest.raises(UnsupportedByEngine, match="embedded"):
            await bench.create()

    async def test_before_the_engine_is_ready_nobody_knows(self, bench):
        bench.engine = None
        with pytest.raises(EngineLoading):
            await bench.create()

    async def test_a_refused_recording_is_no_voice(self, bench):
        bench.maker.error = SilentRecording("nothing is heard in it")
        with pytest.raises(SilentRecording):
            await bench.create()
        assert bench.cloning.records("shop") == []

    @pytest.mark.parametrize("transcript", ["", "   ", "。。。", "...", "x" * 1001])
    async def test_a_transcript_that_says_nothing_is_refused_before_any_work(
        self, bench, transcript
    ):
        with pytest.raises(InvalidValue, match="transcript"):
            await bench.create(draft=VoiceDraft("Ana", transcript, "yes"))
        assert bench.maker.made == []

    async def test_a_language_that_such_voices_do_not_speak_is_refused(self, bench):
        with pytest.raises(UnsupportedLanguage, match="en, zh"):
            await bench.create(draft=VoiceDraft("Ana", "Guten Tag.", "yes", "de"))

    async def test_a_transcript_that_cannot_be_the_recordings_is_doubted(self, bench):
        made = await bench.create(draft=VoiceDraft("Ana", "word " * 60, "yes"))
        assert "300" in made.warnings[-1] or "299" in made.warnings[-1]
        assert "3.0 s" in made.warnings[-1]

    async def test_there_is_no_room_for_more_than_is_allowed(self, tmp_path):
        bench = Bench(tmp_path, voices_per_key=1)
        await bench.create()
        with pytest.raises(TooManyVoices):
            await bench.cloning.require_room("shop")
        await bench.cloning.require_room("phone")
        await bench.cloning.close()

    async def test_features_of_another_model_are_never_taken(self, bench):
        bench.maker.model = "m2"
        with pytest.raises(Internal, match="m2"):
            await bench.create()
        assert bench.cloning.records("shop") == []


class TestRemoving:
    async def test_the_engine_is_told_when_all_is_gone(self, bench):
        voice = (await bench.create()).record.id
        await bench.cloning.remove("shop", voice)

        assert bench.told == [ForgetVoice(voice=voice)]
        assert bench.cloning.seen_by("shop", ENGINE).voices == (BUILT_IN,)
        with pytest.raises(UnknownVoice):
            bench.cloning.recording("shop", voice)

    async def test_nobody_removes_the_voice_of_another(self, bench):
        voice = (await bench.create()).record.id
        for owner in ("phone", ""):
            with pytest.raises(UnknownVoice):
                await bench.cloning.remove(owner, voice)
        assert bench.told == []

    async def test_the_engines_own_stay(self, bench):
        with pytest.raises(NotAllowed, match="heart"):
            await bench.cloning.remove("shop", "heart")


class TestAnotherModel:
    """The features on the disk are those of the model before."""

    @pytest.fixture
    async def voice(self, bench):
        made = await bench.create()
        bench.engine = Ready(**{**_fields(ENGINE), "voice_model": "m2"})
        bench.maker.model = "m2"
        bench.maker.made.clear()
        return made.record

    async def test_a_context_waits_until_the_voice_is_prepared(self, bench, voice):
        bench.maker.go_on.clear()
        way, passed, _ = bench.way(voice.id)
        way(Open(ctx=1, voice=voice.id))
        await asyncio.sleep(0.02)
        assert passed == []

        bench.maker.go_on.set()
        await _until(lambda: passed)
        way(End(ctx=1))

        assert passed == [Open(ctx=1, voice=voice.id), End(ctx=1)]
        assert bench.maker.made == [b"RIFF"]

    async def test_twenty_at_once_wait_for_the_same_work(self, bench, voice):
        ways = [bench.way(voice.id) for _ in range(20)]
        for ctx, (way, _, _) in enumerate(ways):
            way(Open(ctx=ctx, voice=voice.id))
        await _until(lambda: all(passed for _, passed, _ in ways))
        assert len(bench.maker.made) == 1

        later, passed, _ = bench.way(voice.id)
        later(Open(ctx=99, voice=voice.id))
        assert passed  # at once: it is prepared now

    async def test_where_it_cannot_be_prepared_all_are_told(self, bench, voice):
        bench.maker.error = SilentRecording("nothing is heard in it")
        ways = [bench.way(voice.id) for _ in range(2)]
        await _until(lambda: all(failed for _, _, failed in ways))
        assert [failed[0].code for _, _, failed in ways] == ["silent_recording"] * 2

    async def test_a_fault_of_ours_is_told_as_one(self, bench, voice):
        bench.maker.error = RuntimeError("broken")
        _, _, failed = bench.way(voice.id)
        await _until(lambda: failed)
        assert failed[0].code == "internal"

    async def test_the_engine_never_hears_of_a_context_that_is_gone(self, bench, voice):
        bench.maker.go_on.clear()
        way, passed, failed = bench.way(voice.id, wanted=lambda: False)
        way(Open(ctx=1, voice=voice.id))
        bench.maker.go_on.set()
        other, other_passed, _ = bench.way(voice.id)
        other(Open(ctx=2, voice=voice.id))
        await _until(lambda: other_passed)
        assert (passed, failed) == ([], [])

    async def test_who_waits_for_a_voice_that_is_removed_is_told_that_there_is_none(
        self, bench, voice
    ):
        removing = asyncio.create_task(bench.cloning.remove("shop", voice.id))
        await asyncio.sleep(0)  # its files are about to go, and it is listed still
        _, passed, failed = bench.way(voice.id)
        await removing
        await _until(lambda: failed)
        assert [error.code for error in failed] == ["unknown_voice"]
        assert passed == []

    @pytest.mark.usefixtures("voice")
    async def test_built_in_voices_never_wait(self, bench):
        way, passed, _ = bench.way("heart")
        way(Open(ctx=1, voice="heart"))
        assert passed


async def test_voices_outlive_a_restart(tmp_path):
    first = Bench(tmp_path)
    made = await first.create()
    await first.cloning.close()

    second = Bench(tmp_path)
    await second.cloning.load()

    assert second.cloning.records("shop") == [made.record]
    way, passed, _ = second.way(made.record.id)
    way(Open(ctx=1, voice=made.record.id))
    assert passed
    assert second.maker.made == []
    await second.cloning.close()


def _fields(ready):
    return {name: getattr(ready, name) for name in ready.__struct_fields__}


async def _until(condition):
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.005)
