import threading

from streaming.voices.loader import VoiceLoader


class Loads:
    """A load that takes until it is let go."""

    def __init__(self):
        self.go = threading.Event()
        self.woken = threading.Semaphore(0)
        self.loaded = []

    def load(self, voice):
        assert self.go.wait(10)
        self.loaded.append(voice)
        if voice == "broken":
            raise OSError("no such file")

    def settled(self, loader, count):
        assert all(self.woken.acquire(timeout=10) for _ in range(count))
        return loader.finished()


def test_a_voice_wanted_twice_is_loaded_once():
    loads = Loads()
    loader = VoiceLoader(loads.load, loads.woken.release)
    loader.want("a")
    loader.want("a")
    assert loader.finished() == []
    loads.go.set()
    (outcome,) = loads.settled(loader, 1)
    assert (outcome.voice, outcome.error) == ("a", None)
    assert loads.loaded == ["a"]


def test_a_load_that_fails_is_told_and_can_be_tried_again():
    loads = Loads()
    loads.go.set()
    loader = VoiceLoader(loads.load, loads.woken.release)
    loader.want("broken")
    (outcome,) = loads.settled(loader, 1)
    assert isinstance(outcome.error, OSError)
    loader.want("broken")
    assert len(loads.settled(loader, 1)) == 1
