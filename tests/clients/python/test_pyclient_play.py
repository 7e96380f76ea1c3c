"""Playing: the loudspeaker is a fake, since no machine of ours has one."""

from __future__ import annotations

import asyncio
import io
import json
import threading

import pytest
from pyclient_command import command, start
from pyclient_fake import FakeServer, until

from cosystream.cli import play
from cosystream.cli.progress import Progress

FAKE_SOUNDDEVICE = '''
import json, os, threading, time

class PortAudioError(Exception):
    pass

def query_devices():
    return "0 Fake loudspeaker"

class RawOutputStream:
    """Asks for 20 ms every 2 ms; what it was given is written down at the end."""

    latency = 0.01

    def __init__(self, samplerate, channels, dtype, device, callback):
        if device == "Nowhere":
            raise ValueError("No output device matching 'Nowhere'")
        self.told = {"rate": samplerate, "channels": channels, "dtype": dtype, "device": device}
        self.size = samplerate // 50 * 2
        self.callback, self.active, self.heard = callback, False, bytearray()

    def start(self):
        self.active = True
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self):
        while self.active:
            out = bytearray(self.size)
            self.callback(memoryview(out), self.size // 2, None, None)
            self.heard += out
            time.sleep(0.002)

    def close(self, ignore_errors=True):
        if self.active:
            self.active = False
            self.thread.join()
            heard = bytes(self.heard).rstrip(b"\\0")
            with open(os.environ.get("HEARD", os.devnull), "w") as file:
                json.dump({**self.told, "heard": heard.hex()}, file)
'''


@pytest.fixture
def speaker(tmp_path, monkeypatch):
    """A folder with the fake package, and the file it writes."""
    modules = tmp_path / "modules"
    modules.mkdir()
    (modules / "sounddevice.py").write_text(FAKE_SOUNDDEVICE)
    monkeypatch.setenv("HEARD", str(tmp_path / "heard.json"))
    return modules


async def test_without_the_extra_the_command_names_it_and_does_not_fall_silent():
    outcome = await command("say", "Hi.", "--play", url="http://127.0.0.1:1")
    assert outcome.code == 2
    assert 'pip install "cosystream[play]"' in outcome.err


async def test_without_portaudio_the_command_says_how_to_get_it(tmp_path):
    (tmp_path / "sounddevice.py").write_text("raise OSError('PortAudio library not found')")
    outcome = await command("say", "Hi.", "--play", url="http://127.0.0.1:1", modules=tmp_path)
    assert outcome.code == 2
    assert "libportaudio2" in outcome.err


async def test_everything_is_played_to_its_end(speaker, tmp_path, tone_server):
    path = tmp_path / "x.wav"
    outcome = await command(
        "say", "Hello there.", "--play", "--out", str(path), "--output-device", "3",
        "--rate", "8000", url=tone_server.url, modules=speaker,
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    told = json.loads((tmp_path / "heard.json").read_text())
    assert (told["rate"], told["channels"], told["dtype"]) == (8000, 1, "int16")
    assert told["device"] == 3
    heard, written = bytes.fromhex(told["heard"]), path.read_bytes()[44:].strip(b"\0")
    assert heard.replace(bytes(320), b"").strip(b"\0")[:400] == written[:400]
    assert len(heard) >= len(written)


async def test_a_device_that_is_not_there_is_answered_with_those_that_are(speaker):
    outcome = await command(
        "say", "Hi.", "--play", "--output-device", "Nowhere", url="http://127.0.0.1:1",
        modules=speaker,
    )  # fmt: skip
    assert outcome.code == 2
    assert "Fake loudspeaker" in outcome.err


async def test_ctrl_c_silences_and_tells_how_much_was_heard(speaker):
    async def speak_and_wait(session, message):
        await session.speak(session.contexts[message["ctx"]])
        return True

    async with FakeServer(hooks={"end": speak_and_wait}) as server:
        process = await start("say", "Hi.", "--play", url=server.url, modules=speaker)
        await until(lambda: server.messages("end"))
        await asyncio.sleep(0.2)
        process.send_signal(2)
        await process.communicate()
        assert process.returncode == 130
        (cancel,) = server.messages("cancel")
        assert cancel["played_ms"] > 0


class Device:
    """Takes sound only when it is told to."""

    latency = 0.0

    def __init__(self) -> None:
        self.active = False
        self.fill = None

    def start(self) -> None:
        self.active = True

    def close(self, *, ignore_errors: bool) -> None:
        self.active = not ignore_errors

    def take(self, size: int) -> bytes:
        out = bytearray(size)
        thread = threading.Thread(target=self.fill, args=(memoryview(out), size // 2, None, None))
        thread.start()
        thread.join()
        return bytes(out)


@pytest.fixture
def device(monkeypatch):
    device = Device()

    def opened(_rate, _name, fill):
        device.fill = fill
        return device

    monkeypatch.setattr(play, "_open", opened)
    return device


async def test_a_late_packet_is_preceded_by_silence_and_nothing_is_lost(device):
    player = play.Player(24_000, None)
    player.write(b"ab")
    assert device.active
    assert device.take(4) == b"ab\0\0"
    player.write(b"cdef")
    assert device.take(2) == b"cd"
    draining = asyncio.create_task(player.drain())
    await asyncio.sleep(0)
    assert not draining.done()
    assert device.take(2) == b"ef"
    await asyncio.wait_for(draining, 1)
    assert player.played_ms == pytest.approx(3 / 24)
    player.stop()
    assert not device.active


async def test_a_device_that_stops_taking_sound_is_given_up(device, monkeypatch):
    monkeypatch.setattr(play, "_SPARE_S", 0.05)
    player = play.Player(24_000, None)
    player.write(bytes(480))
    assert device.active
    with pytest.raises(TimeoutError):
        await player.drain()


def test_the_progress_line_is_cut_to_the_terminal_and_taken_away(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    terminal = io.StringIO()
    progress = Progress(terminal, 100)
    progress.speaking("Some\nwords " * 20, 50)
    progress.audio(1234)
    line = terminal.getvalue().removeprefix("\r\x1b[K")
    assert line.startswith("[############............]   1.2 s  Some words")
    assert len(line) == 59
    progress.audio(1240)
    assert terminal.getvalue().endswith(line)
    progress.clear()
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_progress_of_text_without_a_known_end_has_no_bar():
    terminal = io.StringIO()
    Progress(terminal, None).audio(500)
    assert "[" not in terminal.getvalue().replace("\x1b[K", "")
