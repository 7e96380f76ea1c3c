"""Steps: launched when they are due, landed when they have come to their end.

Knows: which stage is due, who rides in a step, what it cost. Does not know: what a segment is, what
is published of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter

from streaming.costs import Costs
from streaming.engine.flights import Flights, Landed, Launch
from streaming.engine.lines import StageLines
from streaming.engine.live import Ride
from streaming.engine.roster import Roster
from streaming.engine.segments import Segments
from streaming.engine.trace import Trace
from streaming.engine.vitals import Vitals
from streaming.runners.base import Later, Runner, StepResult, Work
from streaming.scheduler import NEVER, Line, Row
from streaming.steps import Stage


class Launches:
    """The steps of one engine."""

    def __init__(
        self,
        runner: Runner,
        lines: StageLines,
        roster: Roster,
        segments: Segments,
        costs: Costs,
        vitals: Vitals,
        trace: Trace | None,
        flights: Flights[Ride],
        now: Callable[[], float],
        hang_timeout_s: float,
    ) -> None:
        self._runner = runner
        self._lines = lines
        self._roster = roster
        self._segments = segments
        self._costs = costs
        self._vitals = vitals
        self._trace = trace
        self._flights = flights
        self._now = now
        self._hang_timeout_s = hang_timeout_s

    @property
    def busy(self) -> bool:
        """Whether any step is under way."""
        return self._flights.busy

    def due_s(self) -> float:
        """When the first step of any stage is to be launched, if nothing happens before."""
        due_s = NEVER
        for line in self._lines.each:
            due_s = min(due_s, self._line_due_s(line))
        return due_s

    def launch_due(self) -> None:
        """Launch the steps that are due, the most pressing first.

        After one that was computed here and now the inbox is read before the next.
        """
        now_s = self._now()
        due = [
            (rows[0], line, rows)
            for line in self._lines.each
            if self._line_due_s(line) <= now_s and (rows := line.choose(now_s, self._costs))
        ]
        due.sort(key=itemgetter(0))
        for index, (_, line, rows) in enumerate(due):
            if index and self._line_due_s(line) > now_s:
                continue  # it can wait for what was just launched
            if not self._launch(line, rows):
                break

    def land(self) -> None:
        """Deal with the steps that have come to their end."""
        for landed in self._flights.landed(self._now()):
            self._arrive(landed)

    def _line_due_s(self, line: Line) -> float:
        """When to launch the stage's next step, if nothing happens before."""
        beside = self._flights.beside(line.stage)
        return line.due_s(beside) if beside.own < line.stage.in_flight else NEVER

    def _launch(self, line: Line, rows: Sequence[Row]) -> bool:
        """Launch a step of these rows; whether it goes on elsewhere, rather than being done now."""
        now_s = self._now()
        stage = line.stage
        rides: list[Ride] = []
        for row in rows:
            live = self._roster.live[row.ctx]
            assert live.work is not None, "only what has begun is launched"
            live.work.slack_s = row.finish_by_s - now_s
            live.under_way[stage.name] += 1
            line.drop(row.ctx)
            rides.append(Ride(live, live.work))
        units = tuple(row.want.units for row in rows)
        launch = Launch(stage, tuple(rides), units, now_s, rows[0].begin_by_s)
        results = self._run(stage, [ride.work for ride in rides])
        if not isinstance(results, Later):
            ended_s = self._now()
            self._arrive(Landed(launch, results, ended_s - now_s, ended_s))
            return False
        self._flights.add(launch, results)
        for live, _ in rides:
            if live.under_way[stage.name] < stage.ahead:
                self._lines.ask(live)  # one more may follow before this one has come to its end
        return True

    def _run(self, stage: Stage, works: Sequence[Work]) -> Sequence[StepResult] | Later:
        """A step; one that fails as a whole is run again row by row, to find whose fault it is."""
        try:
            return self._runner.step(stage.name, works)
        except Exception as error:  # noqa: BLE001 - a model may raise anything; its context is told
            if len(works) == 1:
                return [error]
        return [self._run_alone(stage, work) for work in works]

    def _run_alone(self, stage: Stage, work: Work) -> StepResult:
        results = self._run(stage, [work])
        if isinstance(results, Later):  # rare: what failed together is waited for here
            results = results.land(results.made.result(self._hang_timeout_s))
        return results[0]

    def _arrive(self, landed: Landed[Ride]) -> None:
        launch = landed.launch
        total = sum(launch.units)
        if self._trace is not None:
            contexts = [ride.live.ctx for ride in launch.owners]
            span_s = launch.began_s, landed.ended_s
            self._trace.step(launch.stage.name, *span_s, contexts, total)
        self._costs.learn(launch.stage.name, total, landed.took_s)
        self._vitals.steps += 1
        self._vitals.busy_s += landed.took_s
        for ride, result, units in zip(launch.owners, landed.results, launch.units, strict=True):
            live = ride.live
            live.under_way[launch.stage.name] -= 1
            live.context.compute_s += landed.took_s * units / total
            if live.gone:
                self._roster.free(live)
            elif live.work is ride.work:  # else its segment was complete without this step
                self._segments.deliver(live, result)
