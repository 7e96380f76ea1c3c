"""``python -m benchmarks.capacity``: cards and policies over offered load, as a table or as JSON.

Knows: options, how a run is shown. Does not know: how it is simulated.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.capacity.device import ESTIMATES, Device, measured
from benchmarks.capacity.plot import Panel, svg
from benchmarks.capacity.policies import POLICIES
from benchmarks.capacity.simulate import Row, plain, simulate
from benchmarks.capacity.traffic import Load

OFFERED = (25, 50, 100, 150, 200)
MOST_MS = 1000.0


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status: 0, and 2 for options that cannot be used."""
    options = _options(arguments)
    try:
        devices = [_device(name) for name in options.devices.split(",")]
        policies = [_policy(name) for name in options.policies.split(",")]
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    rows = []
    for device in devices:
        for policy in policies:
            for offered in options.offered:
                load = Load(offered, options.arrivals, options.barge_in, options.seconds)
                rows.append(simulate(device, policy, load))
                if not options.json:
                    print(_line(rows[-1], header=len(rows) == 1), flush=True)
    if options.plot:
        options.plot.write_text(_picture(rows), encoding="utf-8")
    if options.json:
        print(json.dumps({"rows": [plain(row) for row in rows]}))
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.capacity",
        description="How many contexts a card serves: the real scheduler and admission in "
        "simulated time. Costs of cards that nobody measured are estimates.",
    )
    add = parser.add_argument
    add("--devices", default="H200", help=f"of {', '.join(ESTIMATES)}, or a table's file")
    add("--policies", default=",".join(POLICIES), help=f"of {', '.join(POLICIES)}")
    add("--offered", type=_numbers, default=OFFERED, help="contexts that would speak at once")
    add("--arrivals", default="poisson", choices=["poisson", "bursts", "conversations"])
    add("--barge-in", type=float, default=0.3, help="the share that is interrupted")
    add("--seconds", type=float, default=60.0, help="of simulated time")
    add("--plot", type=Path, help="an SVG file to draw")
    add("--json", action="store_true", help="one object instead of the table")
    return parser.parse_args(arguments)


def _numbers(text: str) -> tuple[float, ...]:
    numbers = tuple(float(part) for part in text.split(","))
    if any(number <= 0 for number in numbers):
        raise ValueError(text)
    return numbers


def _device(name: str) -> Device:
    if name in ESTIMATES:
        return ESTIMATES[name]
    path = Path(name)
    if not path.is_file():
        raise ValueError(f"--devices: {name!r} is none of {', '.join(ESTIMATES)}, and no file")
    return measured(path)


def _policy(name: str) -> str:
    if name not in POLICIES:
        raise ValueError(f"--policies: {name!r} is none of {', '.join(POLICIES)}")
    return name


def _line(row: Row, *, header: bool) -> str:
    head = (
        f"{'device':>18} {'policy':>16} {'offered':>7} {'admitted':>8} {'refused':>7} "
        f"{'p50':>6} {'p95':>6} {'p99':>6} {'C100':>7} {'use':>5}\n"
    )
    name = row.device if row.measured else f"{row.device} (estimate)"
    first = row.first_packet_ms
    return (head if header else "") + (
        f"{name:>18} {row.policy:>16} {row.offered_contexts:>7g} {row.admitted:>8} "
        f"{row.refused:>7} {first['p50']:>6.0f} {first['p95']:>6.0f} {first['p99']:>6.0f} "
        f"{row.c100:>7.2%} {row.device_use:>5.2f}"
    )


def _picture(rows: Sequence[Row]) -> str:
    """Of the first device alone."""
    device = rows[0].device
    mine = [row for row in rows if row.device == device]
    names = list(dict.fromkeys(row.policy for row in mine))

    def curves(value: str) -> dict[str, list[tuple[float, float]]]:
        return {
            name: [(row.offered_contexts, _value(row, value)) for row in mine if row.policy == name]
            for name in names
        }

    known = "measured" if rows[0].measured else "costs estimated, not measured"
    panels = [
        Panel("first packet, p50, ms", MOST_MS, curves("p50"), bar=200.0),
        Panel("first packet, p99, ms", MOST_MS, curves("p99"), bar=200.0),
        Panel("C100, % of contexts", 100.0, curves("c100")),
        Panel("refused, %", 100.0, curves("refused")),
        Panel("device in use, %", 100.0, curves("use")),
    ]
    title = f"{device} ({known}), {rows[0].arrivals}"
    return svg(title, panels, "contexts offered at once")


def _value(row: Row, name: str) -> float:
    if name in row.first_packet_ms:
        return row.first_packet_ms[name]
    if name == "refused":
        return 100 * row.refused / max(1, row.refused + row.admitted)
    return 100 * (row.c100 if name == "c100" else row.device_use)


if __name__ == "__main__":
    sys.exit(main())
