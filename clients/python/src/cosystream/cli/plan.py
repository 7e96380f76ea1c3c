"""What ``say`` was asked, made whole: which codec, which container, where it goes.

Knows: what fits together, and says what does where it does not. Does not know: the server.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from cosystream.cli.usage import Usage
from cosystream.events import Codec

Container = Literal["wav", "opus", "raw"]
StatsShape = Literal["json", "text", "none"]

_CONTAINERS: dict[str, Container] = {
    ".wav": "wav",
    ".opus": "opus",
    ".ogg": "opus",
    ".raw": "raw",
    ".pcm": "raw",
}


@dataclass(frozen=True)
class Terminals:
    """Which of the standard streams a person sits at."""

    stdin: bool
    stdout: bool
    stderr: bool


@dataclass(frozen=True)
class Plan:
    """``out`` is a path, ``-`` for standard output, or None; ``text`` None means a pipe."""

    text: str | None
    out: str | None
    container: Container | None
    codec: Codec
    play: bool
    stats: StatsShape
    progress: bool


def make_plan(arguments: argparse.Namespace, terminals: Terminals) -> Plan:
    """Raises Usage where the arguments contradict each other or nothing would come of them."""
    text = None if arguments.text == "-" else arguments.text
    if text is None and terminals.stdin:
        raise Usage('nothing to say: give the text, as in `cosystream say "Hello."`, or pipe it in')
    play = arguments.play or _play_unasked(arguments, terminals)
    container, codec = _format(arguments.out, arguments.codec, play=play)
    if arguments.out == "-" and terminals.stdout:
        raise Usage("--out - would write audio to the terminal: pipe it on, or name a file")
    if arguments.output_device and not play:
        raise Usage("--output-device says where to play: add --play")
    return Plan(
        text=text,
        out=arguments.out,
        container=container,
        codec=codec,
        play=play,
        stats=arguments.stats or "text",
        progress=terminals.stderr and not arguments.no_progress,
    )


def _play_unasked(arguments: argparse.Namespace, terminals: Terminals) -> bool:
    """With no word of where to: play to someone at a terminal, measure for --stats, else ask."""
    if arguments.out or arguments.stats in {"json", "text"}:
        return False
    if terminals.stdout and find_spec("sounddevice") is not None:
        return True
    raise Usage(
        "where to? --out hello.wav writes a file, --out - a pipe, --play plays it"
        ' (after `pip install "cosystream[play]"`), --stats json only measures'
    )


def _format(out: str | None, codec: Codec | None, *, play: bool) -> tuple[Container | None, Codec]:
    container = _container(out, codec)
    chosen = codec or ("opus" if container == "opus" else "pcm_s16le")
    if play and chosen != "pcm_s16le":
        raise Usage(f"--play needs PCM and this is {chosen}: leave --codec out, write a .wav")
    if container == "opus" and chosen != "opus":
        raise Usage(f"{out} holds Opus and --codec says {chosen}: write a .wav or a .raw")
    if container in {"wav", "raw"} and chosen == "opus":
        raise Usage(f"{out} cannot hold Opus: write an .opus file, or leave --codec out")
    return container, chosen


def _container(out: str | None, codec: Codec | None) -> Container | None:
    if out is None:
        return None
    if out == "-" and codec is None:
        return "wav"
    if out == "-":
        return "opus" if codec == "opus" else "raw"
    suffix = Path(out).suffix.lower()
    if suffix not in _CONTAINERS:
        raise Usage(f"--out {out}: the name must end with one of {', '.join(_CONTAINERS)}")
    if not Path(out).parent.is_dir():
        raise Usage(f"--out {out}: there is no folder {Path(out).parent}")
    return _CONTAINERS[suffix]
