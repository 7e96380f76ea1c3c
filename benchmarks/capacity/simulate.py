"""One run: a device, a policy and a load, for so many seconds of simulated time.

Knows: how the parts go together, and what is counted. Does not know: how a run is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from benchmarks.capacity.device import Device
from benchmarks.capacity.policies import CHOICES, POLICIES
from benchmarks.capacity.runner import AHEAD, WINDOW_S, ModelledRunner
from benchmarks.capacity.sound import CountedTrack
from benchmarks.capacity.traffic import Crowd, Heard, Load, sessions
from benchmarks.capacity.world import World
from streaming.admission import Admission
from streaming.capacity import capacity
from streaming.config import EngineSettings
from streaming.costs import Costs
from streaming.engine.loop import Engine
from streaming.runners.cosyvoice.rhythm import second
from streaming.scheduler import Deadlines

HOST_S = 0.0001
"""What a turn of the loop costs the host, beside its rows."""

MAX_BATCH = 256
SLOTS = 4096
C100_S = 0.1
RAMP_S = 10.0
"""Before this nothing is counted: the first come into an empty house."""

SETTLE_S = 30.0
"""After the last one came, for those who still listen."""


@dataclass(frozen=True)
class Run:
    """What to simulate."""

    device: Device
    policy: str
    load: Load
    door: bool = True
    """Whether there is one that knows the capacity; else everyone comes in."""
    window_s: float = WINDOW_S
    """How far the flow looks back; 0: to the beginning, exactly."""


@dataclass(frozen=True)
class Row:
    """What was found."""

    device: str
    policy: str
    window_s: float
    offered_contexts: float
    admitted: int
    refused: int
    first_packet_ms: dict[str, float | None]
    c100: float
    device_use: float
    sessions: int | None = None
    """That many conversations were held."""


def capacity_of(device: Device, window_s: float = WINDOW_S) -> int:
    """How many contexts the door lets in on that device, with a slot for each."""
    return capacity(second, Costs(device.priors(window_s)), SLOTS)


def simulate(run: Run, settings: EngineSettings | None = None) -> Row:
    """Run it; ``settings``: the engine's, where they are not the defaults."""
    world = World(HOST_S)
    load = replace(run.load, counted_from_s=RAMP_S, seconds=RAMP_S + run.load.seconds)
    policy = (POLICIES | CHOICES)[run.policy]()
    ahead = AHEAD if isinstance(policy, Deadlines) else 1  # the others fare better so
    runner = ModelledRunner(
        run.device,
        world,
        max_batch=MAX_BATCH,
        ahead=ahead,
        window_s=run.window_s,
        seed=load.seed,
    )
    settings = settings or EngineSettings(slots=SLOTS, capacity=0 if run.door else SLOTS)
    crowd = Crowd(world, Admission(settings.slots), load, learns=run.door)
    engine = Engine(runner, settings, world, world, policy, track=CountedTrack)
    engine.begin()
    crowd.start()
    busy_s = [0.0, 0.0]
    for index, until_s in enumerate((RAMP_S, load.seconds)):
        while world.now() < until_s:
            engine.turn()
        busy_s[index] = runner.device.busy_s
    while world.now() < load.seconds + SETTLE_S and len(world):
        engine.turn()
    return _row(run, crowd, (busy_s[1] - busy_s[0]) / run.load.seconds)


def _row(run: Run, crowd: Crowd, device_use: float) -> Row:
    heard = crowd.tally.heard
    firsts = sorted(1000 * (each.first_s - each.asked_s) for each in heard if each.first_s)
    return Row(
        device=run.device.label,
        policy=run.policy,
        window_s=run.window_s,
        offered_contexts=run.load.offered,
        admitted=len(heard),
        refused=crowd.tally.refused,
        first_packet_ms={f"p{share}": _quantile(firsts, share) for share in (50, 95, 99)},
        c100=_share(not _gap(each) for each in heard if each.first_s or not each.interrupted),
        device_use=round(min(1.0, device_use), 3),
        sessions=sessions(run.load) if run.load.arrivals == "conversations" else None,
    )


def _gap(heard: Heard) -> bool:
    return heard.first_s is None or heard.worst_s > C100_S


def _share(good: Iterable[bool]) -> float:
    flags = list(good)
    return round(sum(flags) / len(flags), 4) if flags else 1.0


def _quantile(values: Sequence[float], percent: int) -> float | None:
    if not values:
        return None
    return round(values[min(len(values) - 1, len(values) * percent // 100)], 1)
