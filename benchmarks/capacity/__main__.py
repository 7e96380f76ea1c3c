"""The command: simulations side by side in processes; a table, pictures, one JSON object."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor

from benchmarks.capacity import picture, report
from benchmarks.capacity.options import Options, parse
from benchmarks.capacity.simulate import Row, Run, capacity_of, simulate
from benchmarks.capacity.traffic import Load


def main(arguments: Sequence[str] | None = None) -> int:
    """Always 0: a figure is no failure."""
    options = parse(arguments)
    doors = {device.label: capacity_of(device, options.window_s) for device in options.devices}
    for label, most in doors.items():
        _say(f"{label}: the door lets {most} contexts speak at once")
    rows = _simulated(options, list(_runs(options)))
    if options.plot is not None:
        for path in picture.write(options.plot, rows, doors if options.door else {}):
            _say(f"wrote {path}")
    if options.json:
        print(report.as_json(rows))
    return 0


def _runs(options: Options) -> Iterator[Run]:
    for device in options.devices:
        most = capacity_of(device, options.window_s)
        offered = options.offered or [round(share * most, 1) for share in options.loads]
        for policy in options.policies:
            for contexts in offered:
                load = Load(
                    contexts, options.arrivals, options.barge_in, options.seconds, seed=options.seed
                )
                yield Run(device, policy, load, options.door, options.window_s)


def _simulated(options: Options, runs: list[Run]) -> list[Row]:
    """Each row is told as soon as it and those before it are there."""
    told = sys.stderr if options.json else sys.stdout
    print(report.head(), file=told, flush=True)
    rows = []
    with ProcessPoolExecutor(options.processes, initializer=_collect_rarely) as pool:
        for row in pool.map(simulate, runs):
            rows.append(row)
            print(report.line(row), file=told, flush=True)
    return rows


def _collect_rarely() -> None:
    """A tenth of the time goes into looking for rubbish, of which there is little."""
    gc.freeze()
    gc.set_threshold(50_000)


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
