"""Between threads and asyncio: an event loop in a thread, a blocking iterable in a loop.

Knows: threads, and how each ends. Does not know: speech.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from typing import Any, Self, TypeVar

T = TypeVar("T")

_LAST_WORK_S = 5.0
"""How long what was interrupted may take to close its connection."""

Piece = str | Exception | None
"""Text, what reading it raised, or the end."""


class LoopThread:
    """An event loop in a thread, for as long as the ``with`` lasts."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="cosystream loop")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.run(_finish_tasks())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Its result; if the wait is interrupted, so is the work."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise


async def _finish_tasks() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    if tasks:
        await asyncio.wait(tasks, timeout=_LAST_WORK_S)


async def pieces_of(source: Iterable[str]) -> AsyncIterator[str]:
    """Iterate over what blocks, in a thread that nobody has to wait for.

    The next piece is only asked for when the one before it has been used. If the iteration is
    given up while ``source`` blocks, the thread ends when that returns.
    """
    loop = asyncio.get_running_loop()
    pieces: asyncio.Queue[Piece] = asyncio.Queue()
    turns: queue.SimpleQueue[bool] = queue.SimpleQueue()

    def give(piece: Piece) -> None:
        loop.call_soon_threadsafe(pieces.put_nowait, piece)

    threading.Thread(
        target=_hand_over, args=(source, turns, give), name="cosystream text", daemon=True
    ).start()
    try:
        while True:
            turns.put(True)
            piece = await pieces.get()
            if isinstance(piece, Exception):
                raise piece
            if piece is None:
                return
            yield piece
    finally:
        turns.put(False)


def _hand_over(
    source: Iterable[str], turns: queue.SimpleQueue[bool], give: Callable[[Piece], None]
) -> None:
    pieces = iter(source)
    while turns.get():
        piece = _next_piece(pieces)
        try:
            give(piece)
        except RuntimeError:  # the loop is closed: nobody listens any more
            return


def _next_piece(pieces: Any) -> Piece:
    try:
        return next(pieces, None)
    except Exception as error:  # noqa: BLE001 - the iterable is the caller's: so is its error
        return error
