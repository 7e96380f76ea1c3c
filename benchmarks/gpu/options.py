"""What a run is told, and how that is read from a command line.

Knows: names, defaults, what is allowed. Does not know: what any of it does.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from streaming.config import CosyVoiceSettings, EngineSettings
from streaming.cosyvoice.folder import GENERATIONS
from streaming.cosyvoice.sizes import Generation
from streaming.cosyvoice.tiny import Size

Precision = Literal["fp32", "fp16", "bf16"]

IN_PROCESS = (1, 4, 16, 64, 128, 200, 256)
SERVED = (1, 16, 64, 128, 200)
MAX_BATCH = 256


@dataclass(frozen=True)
class Options:
    """One run."""

    device: Literal["cuda", "cpu"] = "cuda"
    size: Size = "full"
    generation: Generation = "cosyvoice3"
    precision: Precision = "bf16"
    window_s: float = 2.0
    contexts: tuple[int, ...] = ()
    """Empty: those of the mode."""
    seconds: float = 20.0
    """Of each case, starts included."""
    minutes: float = 8.0
    """No case begins that would end later than this."""
    folder: Path | None = None
    """Where the checkpoint and the voices are kept for the next run."""
    table: Path | None = None
    serve: bool = False
    in_place: bool = True
    compile: bool = False

    @property
    def about(self) -> dict[str, Any]:
        """What each of its lines begins with, beside the device and the number of contexts."""
        return {"window_s": self.window_s, "in_place": self.in_place, "compile": self.compile}

    @property
    def cases(self) -> tuple[int, ...]:
        """Numbers of contexts, ascending."""
        return tuple(sorted(self.contexts or (SERVED if self.serve else IN_PROCESS)))

    def engine(self, checkpoint: Path, voices_dir: Path) -> EngineSettings:
        """The engine as a server has it, with a slot for everybody."""
        return EngineSettings(
            runner="cosyvoice",
            model=str(checkpoint),
            device=self.device,
            precision=self.precision,
            slots=max(self.cases),
            voices_dir=str(voices_dir),
            cosyvoice=CosyVoiceSettings(
                flow_window_s=self.window_s,
                in_place=self.in_place,
                compile=self.compile,
                max_batch=MAX_BATCH,
            ),
        )


def parse(arguments: Sequence[str] | None = None) -> Options:
    """The options of a command line; ends the program with a message where it makes no sense."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gpu",
        description="First packets and RTF on this card: one JSON object a line for each case, "
        "then a sentence. The weights are random, of the published size.",
    )
    default = Options()
    add = parser.add_argument
    add("--device", choices=["cuda", "cpu"], default=default.device)
    add("--size", choices=get_args(Size), default=default.size, help="of the networks")
    add("--generation", choices=GENERATIONS, default=default.generation)
    add("--precision", choices=get_args(Precision), help="default: bf16, fp32 on a CPU")
    add(
        "--window-s",
        type=float,
        default=default.window_s,
        metavar="S",
        help="engine.cosyvoice.flow_window_s: how far the flow looks back; 0: to the beginning",
    )
    add("--contexts", type=_numbers, default=(), metavar="N,N", help="how many at once, by case")
    add("--seconds", type=float, default=default.seconds, metavar="S", help="of each case")
    add("--minutes", type=float, default=default.minutes, metavar="M", help="of all of them")
    add("--folder", type=Path, metavar="DIR", help="keep the random checkpoint there")
    add("--table", type=Path, metavar="FILE", help="write what steps cost, for the simulator")
    add("--no-in-place", dest="in_place", action="store_false", help="engine.cosyvoice.in_place")
    add("--compile", action="store_true", help="engine.cosyvoice.compile")
    add("--serve", action="store_true", help="start the server, and listen over WebSockets")
    given = vars(parser.parse_args(arguments))
    given["precision"] = given["precision"] or ("fp32" if given["device"] == "cpu" else "bf16")
    return Options(**given)


def _numbers(text: str) -> tuple[int, ...]:
    numbers = tuple(int(part) for part in text.split(","))
    if min(numbers) < 1:
        raise argparse.ArgumentTypeError(f"{text}: numbers of contexts are 1 or more")
    return numbers
