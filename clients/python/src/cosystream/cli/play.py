"""PCM to a loudspeaker, through the optional package ``sounddevice``.

Knows: a buffer between two threads, and how much of it was heard. Does not know: the protocol.
"""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from cosystream.cli.usage import Usage
from cosystream.errors import MissingExtra

_SPARE_S = 5.0
"""A device that stops taking sound is given up this long after it should have been done."""


class Player:
    """16-bit mono PCM at ``rate``; silence where nothing has come in time."""

    def __init__(self, rate: int, device: str | None) -> None:
        self._rate = rate
        self._lock = threading.Lock()
        self._waiting = bytearray()
        self._played_bytes = 0
        self._loop = asyncio.get_running_loop()
        self._empty = asyncio.Event()
        self._empty.set()
        self._stream = _open(rate, device, self._fill)

    @property
    def played_ms(self) -> float:
        """How much has been handed to the device."""
        return self._played_bytes / 2 / self._rate * 1000

    def write(self, payload: bytes) -> None:
        """Play it after what waits; the first sound starts the device."""
        with self._lock:
            self._waiting += payload
        self._empty.clear()
        if not self._stream.active:
            self._stream.start()

    async def drain(self) -> None:
        """Wait until all of it has been heard, but not for a device that has stopped."""
        with self._lock:
            left_s = len(self._waiting) / 2 / self._rate
        async with asyncio.timeout(left_s + _SPARE_S):
            await self._empty.wait()
        await asyncio.sleep(float(self._stream.latency))

    def stop(self) -> None:
        """Fall silent at once, any number of times."""
        self._stream.close(ignore_errors=True)

    def _fill(self, out: Any, _frames: int, _time: Any, _status: Any) -> None:
        """Called by the device's thread."""
        wanted = len(out)
        with self._lock:
            piece = bytes(self._waiting[:wanted])
            del self._waiting[:wanted]
            if piece and not self._waiting:
                self._loop.call_soon_threadsafe(self._check_empty)
        self._played_bytes += len(piece)
        out[:] = piece.ljust(wanted, b"\0")

    def _check_empty(self) -> None:
        with self._lock:
            if not self._waiting:
                self._empty.set()


def _open(rate: int, device: str | None, fill: Any) -> Any:
    try:
        import sounddevice  # noqa: PLC0415 - an extra: only --play needs it
    except ImportError as missing:
        raise MissingExtra(
            'playing needs a package that is not installed: pip install "cosystream[play]"'
        ) from missing
    except OSError as missing:
        raise MissingExtra(
            f"playing needs the PortAudio library ({missing}); on Debian and Ubuntu:"
            " sudo apt install libportaudio2"
        ) from missing
    wanted: str | int | None = int(device) if device and device.isdecimal() else device
    try:
        return sounddevice.RawOutputStream(
            samplerate=rate, channels=1, dtype="int16", device=wanted, callback=fill
        )
    except (ValueError, sounddevice.PortAudioError) as wrong:
        listed = str(sounddevice.query_devices()) or "none at all"
        raise Usage(f"cannot play there ({wrong}); the devices are:\n{listed}") from wrong
