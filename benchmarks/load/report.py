"""From records to the figures: percentiles, C100, one JSON object, one table. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from opuslib_next import OpusError

from benchmarks.load.audible import first_audible_ms
from benchmarks.load.measure import Record
from benchmarks.load.options import Options
from benchmarks.load.texts import TEXTS
from benchmarks.load.worker import Result

TOLERABLE_UNDERRUN_MS = 100.0
"""C100 counts contexts whose worst underrun is at most this."""


def percentile(values: Sequence[float], percent: float) -> float:
    """The nearest-rank percentile: a value that was really measured."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(percent / 100 * len(ordered)) - 1)]


def percentiles(values: Sequence[float]) -> dict[str, float | None]:
    """The 50th, 95th and 99th, in ms."""
    ranks = {"p50": 50, "p95": 95, "p99": 99}
    return {
        name: round(percentile(values, rank), 1) if values else None for name, rank in ranks.items()
    }


def merged(results: Sequence[Result]) -> Result:
    """The results of several processes as one."""
    return Result(
        records=tuple(record for result in results for record in result.records),
        errors=sum((result.errors for result in results), Counter[str]()),
        missed=sum(result.missed for result in results),
        pre_skip=max(result.pre_skip for result in results),
        wall_s=max(result.wall_s for result in results),
    )


def figures(options: Options, result: Result) -> dict[str, Any]:
    """Everything that the run measured, but what it cost."""
    heard = [record for record in result.records if record.first_packet_ms is not None]
    smooth = sum(record.worst_underrun_ms <= TOLERABLE_UNDERRUN_MS for record in heard)
    audio_s = sum(record.audio_ms for record in heard) / 1000
    errors = Counter(result.errors)
    ttfa_ms = _ttfa_ms(options, result.pre_skip, heard, errors)
    return {
        "sessions": options.sessions,
        "contexts": len(heard),
        "first_packet_ms": percentiles(_known(record.first_packet_ms for record in heard)),
        "ttfa_ms": percentiles(ttfa_ms),
        "worst_underrun_ms": round(max((r.worst_underrun_ms for r in heard), default=0.0), 1),
        "c100": round(smooth / len(heard), 5) if heard else None,
        "audio_s_per_s": round(audio_s / result.wall_s, 2),
        "errors": {code: count for code, count in sorted(errors.items()) if count},
        "outcomes": dict(sorted(Counter(record.outcome for record in result.records).items())),
        "missed": result.missed,
        "first_delta_ms": percentiles(_known(record.first_delta_ms for record in heard)),
        "server_first_packet_ms": percentiles(
            _known(record.server_first_packet_ms for record in heard)
        ),
        "pause_ms": percentiles(_known(record.pause_ms for record in heard)),
        "cancel_ms": percentiles(_known(record.cancel_ms for record in heard)),
        "refused": sum(record.outcome == "refused" for record in result.records),
        "refused_ms": percentiles(_known(record.refused_ms for record in result.records)),
        "seconds": round(result.wall_s, 2),
        "run": {
            "text_mode": options.text_mode,
            "arrivals": options.arrivals,
            "burst": options.burst,
            "codec": options.codec,
            "barge_in": options.barge_in,
            "lead_ms": options.lead_ms,
            "processes": options.processes,
            "of_capacity": options.of_capacity,
        },
        "texts": {name: len(text) for name, text in TEXTS.items()},
    }


def table(report: dict[str, Any]) -> str:
    """The same for people."""
    rows = [
        ("sessions", report["sessions"]),
        ("contexts", f"{report['contexts']} {_listed(report['outcomes'])}"),
        ("first packet", _three(report["first_packet_ms"])),
        ("first audible", _three(report["ttfa_ms"])),
        ("pause between", _three(report["pause_ms"])),
        ("cancel", _three(report["cancel_ms"])),
        ("refused", f"{report['refused']}  {_three(report['refused_ms'])}"),
        ("worst underrun", f"{report['worst_underrun_ms']} ms"),
        ("C100", "-" if report["c100"] is None else f"{report['c100']:.3%}"),
        ("audio", f"{report['audio_s_per_s']} s a second"),
        ("errors", _listed(report["errors"]) or "none"),
        ("capacity", " then ".join(_listed(told) for told in report["capacity"].values())),
        ("server", f"{report['server']['cpu_cores']} cores, {report['server']['rss_mib']} MiB"),
        ("client", f"{report['client']['cpu_cores']} cores"),
    ]
    return "\n".join(f"{name:<16}{value}" for name, value in rows)


def _ttfa_ms(
    options: Options, pre_skip: int, heard: Sequence[Record], errors: Counter[str]
) -> list[float]:
    """Of the contexts in whose first packets something is audible; broken packets are errors."""
    found = []
    for record in heard:
        try:
            offset = first_audible_ms(record.head, options.codec, pre_skip)
        except OpusError:
            errors["undecodable"] += 1
            continue
        if record.first_packet_ms is not None and offset is not None:
            found.append(record.first_packet_ms + offset)
    return found


def _known(values: Any) -> list[float]:
    return [value for value in values if value is not None]


def _three(values: dict[str, float | None]) -> str:
    if values["p50"] is None:
        return "-"
    return "  ".join(f"{name} {value} ms" for name, value in values.items())


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())
