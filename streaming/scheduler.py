"""Which contexts get the next step: pure policy, the same in real and in simulated time.

Every context with work has one deadline (``Context.deadline_s``). They are ranked by the moment at
which their step must begin at the latest: deadline minus predicted cost. Knows: contexts, costs,
now. Does not know: how time passes, what a step does.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from streaming.context import Context
from streaming.costs import Costs

PRIORITY_S = 0.005
"""What a point of priority is worth: it decides among deadlines that are alike, and starves none,
since a deadline that stays where it is overtakes any such lead."""

FIRST_SHARE = 4
"""One row in so many of a batch is kept for contexts that have sent nothing yet."""


def rank_s(context: Context, now_s: float, costs: Costs) -> float:
    """The moment at which the context's next step must begin; the lowest goes first."""
    head = context.head
    assert head is not None, "only contexts with work are ranked"
    cost_s = costs.predict_s("speech", head.step_units)
    return context.deadline_s(now_s) - cost_s - PRIORITY_S * context.open.priority


def plan(
    contexts: Iterable[Context],
    now_s: float,
    costs: Costs,
    *,
    max_batch: int,
    max_ahead_s: float,
) -> list[Context]:
    """The contexts of the next step, most pressing first; empty where nothing can run."""
    runnable = [
        (rank_s(context, now_s, costs), context.open.ctx, context)
        for context in contexts
        if context.runnable(max_ahead_s)
    ]
    if max_batch >= len(runnable):
        return [context for _, _, context in sorted(runnable, key=_order)]
    kept = max_batch // FIRST_SHARE
    firsts = heapq.nsmallest(kept, (row for row in runnable if not row[2].started), key=_order)
    chosen = {ctx for _, ctx, _ in firsts}
    others = heapq.nsmallest(
        max_batch - len(firsts), (row for row in runnable if row[1] not in chosen), key=_order
    )
    return [context for _, _, context in sorted(firsts + others, key=_order)]


def _order(row: tuple[float, int, Context]) -> tuple[float, int]:
    return row[0], row[1]
