"""The command: a random checkpoint, voices, cases; a line each, then a sentence."""

from __future__ import annotations

import contextlib
import json
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

from benchmarks.gpu import cases, table, verdict
from benchmarks.gpu.options import Options, parse
from benchmarks.models import voices
from benchmarks.models.voices import Made
from benchmarks.models.watched import WatchedRunner
from streaming.config import EngineSettings
from streaming.runners.cosyvoice.device import PRECISIONS, choose, name_of


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status 2 where there is no such device, or no psutil for ``--serve``; 1: one failed."""
    options = parse(arguments)
    if options.serve and find_spec("psutil") is None:
        _say("--serve watches the server's processes with psutil, which `make setup-dev` installs")
        return 2
    until_s = time.monotonic() + 60 * options.minutes
    try:
        device, dtype = choose(options.engine(Path(), Path()))
    except ValueError as error:
        print(f"There is no GPU to measure: {error}.", file=sys.stderr)
        print("Without one: python -m benchmarks.gpu --device cpu --size tiny", file=sys.stderr)
        return 2
    device_name = name_of(device, dtype)
    if device.type == "cpu":
        torch.set_num_threads(EngineSettings().threads)  # as in the engine's process
    with _ended_in_order(), _folder(options) as folder:
        _say(f"making a random {options.generation} ({options.size}) on the disk")
        made = voices.make(
            folder,
            options.generation,
            options.size,
            voices=max(options.cases),
            dtype=PRECISIONS[options.precision],
        )
        found: list[dict[str, Any]] = []
        try:
            for case in _cases(options, made, device_name, until_s):
                print(json.dumps(case), flush=True)
                found.append(case)
        finally:  # also where it is stopped before its end
            print(verdict.sentence(found), flush=True)
    return 1 if any("failed" in case for case in found) else 0


def _cases(
    options: Options, made: Made, device_name: str, until_s: float
) -> Iterator[dict[str, Any]]:
    if options.serve:
        from benchmarks.gpu import serve  # noqa: PLC0415 - psutil, only for this

        _say("starting the server")
        yield from serve.run(options, made, device_name, until_s)
        return
    _say(f"loading it on {device_name}")
    runner = WatchedRunner(options.engine(made.checkpoint, made.voices_dir))
    runner.load()
    if options.table is not None:
        _say("what steps cost")
        table.write(options.table, runner, made.voices, max(options.cases))
    yield from cases.run(options, made, runner, until_s)


@contextlib.contextmanager
def _ended_in_order() -> Iterator[None]:
    """Whoever ends it after some time shall have the sentence, and no server left behind."""
    before = signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def _folder(options: Options) -> Iterator[Path]:
    if options.folder is not None:
        yield options.folder
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
