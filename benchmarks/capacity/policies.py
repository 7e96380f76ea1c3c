"""Other ways to choose a step's rows, to compare with: each the rule of a field, not of ours.

Knows: contexts. Does not know: costs, which none of these asks for.
"""

from __future__ import annotations

from collections.abc import Iterable

from streaming.context import Context
from streaming.costs import Costs
from streaming.scheduler import Batch, Policy, Row, plan
from streaming.steps import Stage, Want

VOXSERVE_MARGIN_S = 1.0


def fifo() -> Policy:
    """Whoever has waited longest for a step of the stage."""
    served: dict[tuple[str, int], float] = {}

    def choose(
        stage: Stage,
        contexts: Iterable[Context],
        now_s: float,
        costs: Costs,
        *,
        max_ahead_s: float,
    ) -> Batch | None:
        del costs
        rows = _rows(stage, contexts, max_ahead_s)
        keyed = sorted(
            (served.get((stage.name, context.open.ctx), _arrived_s(context)), context.open.ctx)
            for context, _ in rows
        )
        return _batch(stage, rows, {ctx: since_s for since_s, ctx in keyed}, now_s, served)

    return choose


def earliest_arrival() -> Policy:
    """Whoever asked first."""

    def choose(
        stage: Stage,
        contexts: Iterable[Context],
        now_s: float,
        costs: Costs,
        *,
        max_ahead_s: float,
    ) -> Batch | None:
        del costs
        rows = _rows(stage, contexts, max_ahead_s)
        keys = {context.open.ctx: _arrived_s(context) for context, _ in rows}
        return _batch(stage, rows, keys, now_s)

    return choose


def voxserve() -> Policy:
    """Those that press first: that have sent nothing, or have less than a second left to play.

    One prefill at most a step; flow and vocoder run only where one of theirs presses.
    """

    def choose(
        stage: Stage,
        contexts: Iterable[Context],
        now_s: float,
        costs: Costs,
        *,
        max_ahead_s: float,
    ) -> Batch | None:
        del costs
        rows = _rows(stage, contexts, max_ahead_s)
        presses = {context.open.ctx: _presses(context, now_s) for context, _ in rows}
        if stage.name != "llm" and not any(presses.values()):
            return None
        prefills = [row for row in rows if row[1].units > 1]
        if stage.name == "llm" and prefills:
            first = min(prefills, key=lambda row: _arrived_s(row[0]))
            rows = [first, *(row for row in rows if row[1].units == 1)]
        keys = {
            context.open.ctx: _arrived_s(context) - (1e6 if presses[context.open.ctx] else 0.0)
            for context, _ in rows
        }
        return _batch(stage, rows, keys, now_s)

    return choose


POLICIES = {
    "deadline": lambda: plan,
    "fifo": fifo,
    "earliest-arrival": earliest_arrival,
    "voxserve": voxserve,
}
"""Each makes a policy with a memory of its own."""


def _rows(
    stage: Stage, contexts: Iterable[Context], max_ahead_s: float
) -> list[tuple[Context, Want]]:
    return [
        (context, want)
        for context in contexts
        if (want := context.wants.get(stage.name)) is not None and context.runnable(max_ahead_s)
    ]


def _batch(
    stage: Stage,
    rows: list[tuple[Context, Want]],
    keys: dict[int, float],
    now_s: float,
    served: dict[tuple[str, int], float] | None = None,
) -> Batch | None:
    if not rows:
        return None
    rows = sorted(rows, key=lambda row: (keys[row[0].open.ctx], row[0].open.ctx))
    rows = rows[: stage.max_batch]
    if served is not None:
        served.update({(stage.name, context.open.ctx): now_s for context, _ in rows})
    return Batch(
        stage,
        tuple(
            Row(keys[context.open.ctx], context.deadline_s(now_s), context, want)
            for context, want in rows
        ),
    )


def _arrived_s(context: Context) -> float:
    head = context.head
    assert head is not None, "only a context with work is asked"
    return head.arrived_s


def _presses(context: Context, now_s: float) -> bool:
    if not context.started:
        return True
    return context.dry_s(now_s) - now_s <= VOXSERVE_MARGIN_S
