"""What the cases mean for whoever owns the card: one sentence. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

FIRST_PACKET_MS = 200.0
GAP_FREE = 0.999


def sentence(cases: Sequence[dict[str, Any]]) -> str:
    """The most contexts at once that are soon heard and heard without gaps."""
    failed = [case for case in cases if "failed" in case]
    told = "".join(f" With {case['contexts']} it failed: {case['failed']}." for case in failed)
    return _of_measured(cases) + told


def _of_measured(cases: Sequence[dict[str, Any]]) -> str:
    measured = [case for case in cases if (case.get("first_packet_ms") or {}).get("p99")]
    if not measured:
        return "Nothing was heard in time; a longer run (--seconds) tells more."
    good = [case for case in measured if _good(case)]
    if good:
        best = max(good, key=lambda case: int(case["contexts"]))
        return f"{_told(best)}, without gaps."
    least = min(measured, key=lambda case: int(case["contexts"]))
    return (
        f"{_told(least)}, {least['c100']:.1%} without gaps: not what we promise "
        f"(99 % of first packets within {FIRST_PACKET_MS:.0f} ms, {GAP_FREE:.1%} without gaps)."
    )


def _good(case: dict[str, Any]) -> bool:
    soon = bool(case["first_packet_ms"]["p99"] <= FIRST_PACKET_MS)
    return soon and case["c100"] >= GAP_FREE and not case["errors"]


def _told(case: dict[str, Any]) -> str:
    first_ms = case["first_packet_ms"]
    count = case["contexts"]
    return (
        f"{case['device']}: {count} {'context' if count == 1 else 'contexts'} at once, "
        f"first packet {first_ms['p50']:.0f} ms (median), {first_ms['p99']:.0f} ms (99 %)"
    )
