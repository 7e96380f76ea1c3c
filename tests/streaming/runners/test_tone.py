import numpy as np
import pytest
from making import segment

from streaming.config import EngineSettings
from streaming.errors import UnknownVoice
from streaming.runners.base import Work
from streaming.runners.registry import create
from streaming.runners.tone import (
    STEP_SAMPLES,
    ToneRunner,
    clone_hz,
    frequency_hz,
    length_samples,
)
from streaming.voices.draft import VoiceDraft
from streaming.voices.files import VoiceFiles
from streaming.voices.store import VoiceLimits, VoiceStore

RUNNER = ToneRunner(EngineSettings(runner="tone"))


def work(text="Hello there.", *, seed=0, speed=1.0, voice="tone-a", state=None):
    return Work(ctx=1, segment=segment(text), voice=voice, speed=speed, seed=seed, state=state)


def whole(**kwargs):
    pieces, state, done = [], None, False
    while not done:
        (made,) = RUNNER.step("speech", [work(state=state, **kwargs)])
        pieces.append(made.samples)
        state, done = made.state, made.done
    return np.concatenate(pieces)


def heard_hz(samples):
    return np.abs(np.fft.rfft(samples, 24_000)).argmax()


def test_speech_is_as_long_as_the_text_would_be():
    assert len(whole(text="x" * 10)) == length_samples("x" * 10, 1.0) == 14_400
    assert len(whole(text="x" * 10, speed=2.0)) == 7_200


def test_a_step_is_160_ms():
    (made,) = RUNNER.step("speech", [work("x" * 10)])
    assert len(made.samples) == STEP_SAMPLES
    assert not made.done
    assert made.expected_samples == 14_400


@pytest.mark.parametrize("voice", ["tone-a", "tone-b"])
@pytest.mark.parametrize("seed", [0, 7, 49])
def test_a_seed_and_a_voice_are_heard_as_their_own_tone(voice, seed):
    assert heard_hz(whole(voice=voice, seed=seed)) == frequency_hz(voice, seed)


def test_no_two_of_fifty_seeds_and_two_voices_sound_alike():
    tones = {frequency_hz(voice, seed) for voice in ("tone-a", "tone-b") for seed in range(50)}
    assert len(tones) == 100


def test_steps_join_without_a_seam():
    assert np.abs(np.diff(whole(text="x" * 20))).max() < 0.01


def test_a_fault_in_the_text_is_committed():
    with pytest.raises(RuntimeError):
        RUNNER.step("speech", [work("[[raise]]")])


def test_it_is_found_by_its_name():
    assert isinstance(create(EngineSettings(runner="tone")), ToneRunner)


def test_a_model_it_would_not_use_is_refused():
    with pytest.raises(ValueError, match=r"engine\.model"):
        ToneRunner(EngineSettings(runner="tone", model="x"))


def test_a_default_voice_that_is_not_there_is_refused():
    with pytest.raises(UnknownVoice, match="tone-a, tone-b"):
        ToneRunner(EngineSettings(runner="tone", default_voice="heart")).load()


def test_a_recording_is_heard_as_a_tone_of_its_own(tmp_path):
    store = VoiceStore(VoiceFiles(tmp_path), VoiceLimits(9, 1 << 20))
    store.load()
    draft = VoiceDraft("Ana", "Hello.", "yes")
    records = [store.add("", draft, wav, 3000, "", b"")[0] for wav in (b"RIFF1", b"RIFF2")]
    runner = create(EngineSettings(runner="tone", voices_dir=str(tmp_path)))
    heard = []
    for record in records:
        assert not runner.has_voice(record.id)
        runner.load_voice(record.id)
        (made,) = runner.step("speech", [work("x" * 100, voice=record.id, seed=3)])
        heard.append(np.abs(np.fft.rfft(made.samples, 24_000)).argmax())
    assert heard == [clone_hz(record.audio, 3) for record in records]
    assert len(set(heard)) == 2
    assert min(heard) > max(frequency_hz(name, 49) for name in ("tone-a", "tone-b"))


def test_a_removed_voice_is_forgotten_and_its_own_are_not(tmp_path):
    runner = create(EngineSettings(runner="tone", voices_dir=str(tmp_path)))
    runner.forget_voice("tone-a")
    runner.forget_voice("v-aaaaaaaaaaaaaaaaaaaa")
    assert runner.has_voice("tone-a")
    with pytest.raises(UnknownVoice):
        runner.load_voice("v-aaaaaaaaaaaaaaaaaaaa")
