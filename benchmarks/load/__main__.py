"""The command: run, watch the cost, print one object or one table."""

from __future__ import annotations

import json
import multiprocessing
import platform
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil

from benchmarks.load import report, told, worker
from benchmarks.load.cost import CostWatch
from benchmarks.load.options import Options, parse
from benchmarks.load.texts import TEXTS

ALL = "all"
"""The lane of a server's only, or usual, voices."""


def main(arguments: list[str] | None = None) -> int:
    """Exit status 1 where nothing at all was heard, 2 where no server answers."""
    options = parse(arguments)
    if not told.answers(options.url):
        print(
            f"No server answers at {options.url}: `make serve` starts one, --url names another.",
            file=sys.stderr,
        )
        return 2
    if not options.local:
        print(
            f"Warning: {options.url} is another machine; load only servers that are yours.",
            file=sys.stderr,
        )
    lengths = ", ".join(f"{name} {len(text)}" for name, text in TEXTS.items())
    print(f"Texts, in characters: {lengths}", file=sys.stderr)
    found = measure(options)
    print(json.dumps(found) if options.json else report.table(found))
    return 0 if found["contexts"] else 1


def measure(options: Options) -> dict[str, Any]:
    """One run."""
    if options.of_capacity is not None:
        options = _scaled(options, options.of_capacity)
    before = told.capacity(options.url)
    with CostWatch(options) as cost:
        result = report.merged(_results(options))
    found = report.figures(options, result)
    capacity = {"before": before, "after": told.capacity(options.url)}
    return found | {
        "capacity": capacity,
        "server": cost.server,
        "client": cost.client,
        "machine": _machine(),
    }


def _scaled(options: Options, share: float) -> Options:
    """As many sessions as that share of what the server says it can serve, once it knows."""
    warm_up = replace(options, sessions=1, seconds=options.warm_up_s, processes=1, barge_in=0.0)
    worker.run(replace(warm_up, arrivals="closed"), 0)
    capacity = told.capacity(options.url)
    if not capacity:
        raise SystemExit(f"--of-capacity: {options.url}/metrics tells no cosystream_capacity")
    most = capacity.get(ALL, max(capacity.values()))
    return replace(options, sessions=max(1, round(share * most)))


def _results(options: Options) -> list[worker.Result]:
    if options.processes == 1:
        return [worker.run(options, 0)]
    # Fresh interpreters everywhere: a forked event loop is shared, and Windows has no fork.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.processes, mp_context=context) as pool:
        shares = range(options.processes)
        return list(pool.map(worker.run, [options] * options.processes, shares))


def _machine() -> dict[str, Any]:
    return {
        "processor": _processor(),
        "cores": psutil.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "system": platform.platform(),
        "python": platform.python_version(),
    }


def _processor() -> str:
    """The processor's name; Linux alone keeps it in a file."""
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as lines:
            names = (
                line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")
            )
            return next(names, platform.machine())
    except OSError:
        return platform.processor() or platform.machine()


if __name__ == "__main__":
    sys.exit(main())
