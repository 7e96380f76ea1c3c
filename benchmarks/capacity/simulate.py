"""One run: a device, a policy and a load, for so many seconds of simulated time.

Knows: how the parts go together, and what is counted. Does not know: how a run is shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from benchmarks.capacity.device import Device
from benchmarks.capacity.policies import POLICIES
from benchmarks.capacity.runner import ModelledRunner
from benchmarks.capacity.traffic import Crowd, Load
from benchmarks.capacity.world import World
from streaming.admission import Admission
from streaming.config import EngineSettings
from streaming.engine.loop import Engine

HOST_S = 0.0003
"""What a turn of the loop costs the host."""

MAX_BATCH = 256
C100_S = 0.1
SETTLE_S = 30.0
"""After the last one came, for those who still listen."""


@dataclass(frozen=True)
class Row:
    """What was found."""

    device: str
    measured: bool
    policy: str
    arrivals: str
    offered_contexts: float
    admitted: int
    refused: int
    first_packet_ms: dict[str, float]
    c100: float
    device_use: float
    capacity: int


def simulate(device: Device, policy: str, load: Load, *, admit: bool = True) -> Row:
    """Run it; ``admit``: whether the door knows the capacity, else everyone comes in."""
    world = World(HOST_S)
    runner = ModelledRunner(device, world, max_batch=MAX_BATCH, seed=load.seed)
    settings = EngineSettings(slots=4096, capacity=0 if admit else 4096)
    door = Admission(settings.slots)
    crowd = Crowd(world, door, load)
    engine = Engine(runner, settings, world, world, POLICIES[policy]())
    engine.begin()
    crowd.start()
    while world.now() < load.seconds:
        engine.turn()
    busy_s = runner.busy_s
    while world.now() < load.seconds + SETTLE_S and len(world):
        engine.turn()
    return _row(device, policy, load, crowd, busy_s, door)


def _row(
    device: Device, policy: str, load: Load, crowd: Crowd, busy_s: float, door: Admission
) -> Row:
    heard = [each for each in crowd.tally.heard if each.first_s is not None]
    firsts = sorted(1000 * (each.first_s - each.asked_s) for each in heard if each.first_s)
    return Row(
        device=device.name,
        measured=device.measured,
        policy=policy,
        arrivals=load.arrivals,
        offered_contexts=load.offered,
        admitted=len(crowd.tally.heard),
        refused=crowd.tally.refused,
        first_packet_ms={f"p{share}": _quantile(firsts, share) for share in (50, 95, 99)},
        c100=_share(each.worst_s <= C100_S for each in heard),
        device_use=round(busy_s / load.seconds, 3),
        capacity=min(door.capacity.values(), default=0),
    )


def _share(good: Iterable[bool]) -> float:
    flags = list(good)
    return round(sum(flags) / len(flags), 4) if flags else 1.0


def _quantile(values: list[float], percent: int) -> float:
    if not values:
        return float("nan")
    return round(values[min(len(values) - 1, len(values) * percent // 100)], 1)


def plain(row: Row) -> dict[str, object]:
    """As JSON has it."""
    return asdict(row)
