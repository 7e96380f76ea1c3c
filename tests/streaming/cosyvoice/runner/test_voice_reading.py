"""A voice that is deleted while its recording is listened to."""

import io
import wave

import numpy as np
import pytest

from streaming.cosyvoice.prompt.features import PromptFeatures
from streaming.errors import UnknownVoice
from streaming.runners.cosyvoice.voice_reading import VoiceReader
from streaming.voices.draft import VoiceDraft
from streaming.voices.files import VoiceFiles
from streaming.voices.store import VoiceLimits, VoiceStore


class Listener:
    """Hears the same in everything; a test may do something meanwhile."""

    model = "m1"

    def __init__(self):
        self.meanwhile = lambda: None

    def features(self, _samples):
        self.meanwhile()
        return PromptFeatures(
            (1, 2, 3), np.zeros((6, 80), np.float32), np.zeros(192, np.float32), self.model
        )

    def let_go(self):
        pass


@pytest.fixture
def store(tmp_path):
    return VoiceStore(VoiceFiles(tmp_path), VoiceLimits(9, 1 << 20))


@pytest.fixture
def listener():
    return Listener()


@pytest.fixture
def reader(store, listener):
    return VoiceReader(store.files, listener, ("en",), {})


def a_voice(store):
    wav = io.BytesIO()
    with wave.open(wav, "wb") as file:
        file.setparams((1, 2, 24_000, 0, "NONE", ""))
        file.writeframes(bytes(48_000))
    record, _ = store.add("", VoiceDraft("Ana", "Hi.", "yes"), wav.getvalue(), 1000, "", b"")
    return record.id


def files(store):
    return [path for path in store.files.root.rglob("*") if path.is_file()]


def test_what_was_heard_is_kept_for_the_next_time(store, reader):
    voice = a_voice(store)
    for _ in range(2):
        assert reader.read(voice).spoken.speech == (1, 2, 3)
    assert (reader.heard_count, reader.read_count) == (1, 1)


def test_it_can_be_spoken_with_and_nothing_of_it_stays_on_the_disk(store, listener, reader):
    voice = a_voice(store)
    listener.meanwhile = lambda: store.remove("", voice)
    assert reader.read(voice).spoken.speech == (1, 2, 3)
    assert files(store) == []
    with pytest.raises(UnknownVoice):
        reader.read(voice)
