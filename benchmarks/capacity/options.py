"""What a run is told, and how that is read from a command line.

Knows: names, defaults, what is allowed. Does not know: what any of it does.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from benchmarks.capacity.device import ESTIMATES, Device, measured
from benchmarks.capacity.policies import CHOICES, POLICIES
from benchmarks.capacity.runner import WINDOW_S
from benchmarks.capacity.traffic import Arrivals


@dataclass(frozen=True)
class Options:
    """Each device under each policy at each load."""

    devices: tuple[Device, ...]
    policies: tuple[str, ...]
    loads: tuple[float, ...]
    """Contexts that would speak at once, as shares of what the door takes the device to carry."""
    offered: tuple[float, ...]
    """The same in contexts; instead of ``loads`` where it is not empty."""
    arrivals: Arrivals
    barge_in: float
    seconds: float
    seed: int
    window_s: float
    door: bool
    processes: int
    json: bool
    plot: Path | None


def parse(arguments: Sequence[str] | None = None) -> Options:
    """From a command line; explains itself and exits where it is wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.capacity",
        description="How many sessions a card serves: the engine in simulated time.",
    )
    parser.add_argument(
        "--devices",
        default="H200",
        help=f"of {', '.join(ESTIMATES)} (nobody measured those), all of them, or files by "
        "python -m benchmarks.gpu --table; with commas",
    )
    parser.add_argument(
        "--policies",
        default=",".join(POLICIES),
        help=f"also ours without one of its choices: {', '.join(CHOICES)}",
    )
    parser.add_argument("--loads", default="0.5,0.8,1,1.5,2", help="shares of the capacity")
    parser.add_argument("--offered", default="", help="in contexts, instead of --loads")
    parser.add_argument("--arrivals", default="poisson", choices=get_args(Arrivals))
    parser.add_argument("--barge-in", default=0.3, type=float, help="share of contexts cancelled")
    parser.add_argument("--seconds", default=60.0, type=float, help="of traffic, simulated")
    parser.add_argument("--seed", default=1, type=int)
    parser.add_argument(
        "--window-s",
        default=WINDOW_S,
        type=float,
        help="engine.cosyvoice.flow_window_s: how far the flow looks back; 0: to the beginning",
    )
    parser.add_argument("--no-door", action="store_true", help="let everybody in")
    parser.add_argument("--processes", default=os.cpu_count() or 1, type=int)
    parser.add_argument("--json", action="store_true", help="the last line is one JSON object")
    parser.add_argument("--plot", type=Path, help="an SVG file to draw, one a device")
    return _checked(parser, parser.parse_args(arguments))


def _checked(parser: argparse.ArgumentParser, given: argparse.Namespace) -> Options:
    try:
        return Options(
            devices=tuple(_devices(given.devices)),
            policies=_policies(given.policies),
            loads=_numbers(given.loads),
            offered=_numbers(given.offered),
            arrivals=given.arrivals,
            barge_in=given.barge_in,
            seconds=given.seconds,
            seed=given.seed,
            window_s=given.window_s,
            door=not given.no_door,
            processes=given.processes,
            json=given.json,
            plot=given.plot,
        )
    except (OSError, ValueError) as error:
        parser.error(str(error))


def _devices(names: str) -> Iterator[Device]:
    known = {name.lower(): device for name, device in ESTIMATES.items()}
    for name in map(str.strip, names.split(",")):
        if name.lower() in known:
            yield known[name.lower()]
        elif name.lower() == "all":
            yield from ESTIMATES.values()
        elif Path(name).is_file():
            yield measured(Path(name))
        else:
            raise ValueError(f"--devices: {name!r} is none of {', '.join(ESTIMATES)}, and no file")


def _policies(names: str) -> tuple[str, ...]:
    asked = tuple(name.strip() for name in names.split(","))
    if unknown := [name for name in asked if name not in POLICIES | CHOICES]:
        known = ", ".join(POLICIES | CHOICES)
        raise ValueError(f"--policies: {unknown[0]!r} is none of {known}")
    return asked


def _numbers(text: str) -> tuple[float, ...]:
    numbers = tuple(float(each) for each in text.split(",") if each.strip())
    if any(number <= 0 for number in numbers):
        raise ValueError(f"loads are above 0, not {text!r}")
    return numbers
