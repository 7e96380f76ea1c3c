"""``cosystream say``: text in, audio to a file, a pipe or a loudspeaker, figures at the end.

Knows: the order of things, and what an interruption leaves behind (a whole file). Does not know:
what fits together (``plan``), containers (``files``), devices (``play``).
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from cosystream.cli.lexicon import read_lexicon
from cosystream.cli.pipe import read_text
from cosystream.cli.plan import Plan, Terminals, make_plan
from cosystream.cli.play import Player
from cosystream.cli.progress import Progress
from cosystream.cli.usage import Usage
from cosystream.cli.words import WordsFile
from cosystream.client import Client
from cosystream.context import Context
from cosystream.errors import TimedOut
from cosystream.events import AudioFormat, ContextEvent, Done, Packet, SegmentEvent, Words
from cosystream.files import AudioFile, OpusFile, RawFile, WavFile
from cosystream.options import OpenOptions
from cosystream.threads import pieces_of

_LAST_WORD_S = 1.0
"""How long an interrupted command waits for the server to say ``cancelled``."""


def run(arguments: argparse.Namespace) -> None:
    """Speak. Raises Usage, CosystreamError or KeyboardInterrupt."""
    terminals = Terminals(*(_is_terminal(s) for s in (sys.stdin, sys.stdout, sys.stderr)))
    plan = make_plan(arguments, terminals)
    try:
        client = Client(
            arguments.url,
            api_key=arguments.api_key,
            token=arguments.token,
            codec=plan.codec,
            rate=arguments.rate,
            bitrate=arguments.bitrate,
            lead_ms=400 if plan.play else None,
            timeout_s=arguments.timeout,
        )
    except ValueError as wrong:
        raise Usage(str(wrong)) from wrong
    opening = _opening(arguments)
    try:
        asyncio.run(_say(client, plan, opening, arguments))
    except UnicodeDecodeError as wrong:
        raise Usage(f"standard input is not UTF-8 ({wrong})") from wrong


def _opening(arguments: argparse.Namespace) -> OpenOptions:
    return {
        "voice": arguments.voice,
        "speed": arguments.speed,
        "language": arguments.language,
        "seed": arguments.seed,
        "instruct": arguments.instruct,
        "timestamps": True if arguments.words else None,
        "text_mode": arguments.text_mode,
        "max_delay_ms": arguments.max_delay,
        "priority": arguments.priority,
        "lexicon": read_lexicon(arguments.lexicon, arguments.say_as),
        "reasoning": arguments.reasoning,
    }


async def _say(
    client: Client, plan: Plan, opening: OpenOptions, arguments: argparse.Namespace
) -> None:
    player = Player(arguments.rate or 24_000, arguments.output_device) if plan.play else None
    async with client, contextlib.AsyncExitStack() as stack:
        words = WordsFile(arguments.words, stack) if arguments.words else None
        context = await client.open(**opening)
        total_chars = None if plan.text is None else len(plan.text)
        listener = _Listener(
            target=Target(plan, client.ready.audio, stack),
            player=player,
            words=words,
            progress=Progress(sys.stderr, total_chars) if plan.progress else None,
        )
        if player is not None:
            stack.callback(player.stop)
        await _give_text(context, plan)
        try:
            await listener.listen(context, arguments.timeout)
        except asyncio.CancelledError:  # Ctrl-C
            await _interrupt(context, player)
            listener.finish()
            _report(context, plan, "interrupted")
            raise
        finally:
            listener.finish()
        if player is not None:
            await player.drain()
        _report(context, plan, "completed")


async def _give_text(context: Context, plan: Plan) -> None:
    if plan.text is None:
        context.feed(pieces_of(read_text(sys.stdin.fileno())))
        return
    try:
        await context.send(plan.text, end=True)
    except ValueError as wrong:
        raise Usage(str(wrong)) from wrong


async def _interrupt(context: Context, player: Player | None) -> None:
    if player is not None:
        player.stop()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_LAST_WORD_S):
            await context.cancel(player.played_ms if player else None)


class Target:
    """Where the audio goes: opened with the first packet, so that a refusal leaves no file."""

    def __init__(self, plan: Plan, audio: AudioFormat, stack: contextlib.AsyncExitStack) -> None:
        self._plan = plan
        self._audio = audio
        self._stack = stack
        self._file: AudioFile | None = None

    def write(self, payload: bytes) -> None:
        """The next packet."""
        if self._plan.container is None:
            return
        if self._file is None:
            self._file = self._open()
        self._file.write(payload)

    def finish(self, done: Done | None) -> None:
        """The end; a speech of no sound still makes a file, a broken-off one only if it began."""
        if self._file is None and done is not None and self._plan.container is not None:
            self._file = self._open()
        if self._file is not None:
            self._file.finish(done.samples if done else None)

    def _open(self) -> AudioFile:
        file: BinaryIO = sys.stdout.buffer
        if self._plan.out is not None and self._plan.out != "-":
            try:
                file = self._stack.enter_context(Path(self._plan.out).open("wb"))  # noqa: SIM115 - the stack closes it
            except OSError as wrong:
                raise Usage(f"cannot write {self._plan.out} ({wrong.strerror})") from wrong
        if self._plan.container == "opus":
            return OpusFile(file, self._audio)
        return (WavFile if self._plan.container == "wav" else RawFile)(file, self._audio)


@dataclass
class _Listener:
    target: Target
    player: Player | None
    words: WordsFile | None
    progress: Progress | None
    done: Done | None = None
    finished: bool = field(default=False)

    async def listen(self, context: Context, timeout_s: float) -> None:
        """Take everything to the end."""
        async for event in _with_patience(context, timeout_s):
            if isinstance(event, Packet):
                self.target.write(event.payload)
                if self.player is not None:
                    self.player.write(event.payload)
                if self.progress is not None:
                    self.progress.audio(event.pts_samples_48k / 48)
            elif isinstance(event, SegmentEvent):
                if self.progress is not None:
                    self.progress.speaking(event.text, event.char_end)
            elif isinstance(event, Words):
                if self.words is not None:
                    self.words.write(event)
            elif isinstance(event, Done):
                self.done = event

    def finish(self) -> None:
        """Make the file whole, whatever happened."""
        if self.finished:
            return
        self.finished = True
        if self.progress is not None:
            self.progress.clear()
        self.target.finish(self.done)


async def _with_patience(context: Context, timeout_s: float) -> AsyncIterator[ContextEvent]:
    """The events; silence counts only once all text was sent, since its writer may take long."""
    events = context.events()
    while True:
        all_sent = context.outbox.ended
        try:
            async with asyncio.timeout(timeout_s):
                event = await anext(events, None)
        except TimeoutError as late:
            if all_sent:
                raise TimedOut(
                    f"nothing came for {timeout_s:g} s; --timeout makes it wait longer"
                ) from late
            continue
        if event is None:
            return
        yield event


def _report(context: Context, plan: Plan, reason: str) -> None:
    stats = context.stats()
    if plan.stats == "json":
        line = json.dumps({**stats.as_dict(), "reason": reason})
        print(line, file=sys.stderr if plan.out == "-" else sys.stdout, flush=True)
    elif plan.stats == "text":
        figures = (
            f"{stats.audio_ms / 1000:.2f} s of audio",
            f"first packet {_ms(stats.first_packet_ms)}",
            f"first sound {_ms(stats.ttfa_ms)}",
            f"worst underrun {_ms(stats.worst_underrun_ms)}",
            f"{stats.packets} packets",
            "no RTF" if stats.rtf is None else f"RTF {stats.rtf:.3f}",
        )
        print(f"{reason}: {', '.join(figures)}", file=sys.stderr)


def _ms(value: float | None) -> str:
    return "none" if value is None else f"{value:.0f} ms"


def _is_terminal(stream: object) -> bool:
    isatty = getattr(stream, "isatty", None)  # None itself where there is no console
    return bool(isatty and isatty())
