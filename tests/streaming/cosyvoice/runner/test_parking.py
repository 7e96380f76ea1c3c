"""Contexts that nobody waits for leave the device while memory is short, and come back."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from cosyvoice_rig import Rig, alone, send_voices_away, settled

from streaming.cosyvoice.flow.host import HostMemory
from streaming.messages import Cancel, Failed, Finished, Park, Unpark
from streaming.runners.cosyvoice.copy_log import host_mark
from streaming.runners.cosyvoice.parking import Parking

LONG = "Long enough to take three pages."
OTHER = "Me too."


@pytest.fixture
def model(runner):
    """The pages of the runner that all tests of a generation share, and what speaks."""
    flow = runner._speech.models.flow
    before, flow.host = flow.host, HostMemory(flow.pool, 1 << 30)
    yield SimpleNamespace(runner=runner, rig=Rig(runner), flow=flow, pool=flow.pool)
    send_voices_away(runner)
    assert settled(runner)
    flow.host = before


def park_once(model, ctx, ready):
    """Let it turn until ``ready(row)``, then the listener goes away."""
    for _ in range(5000):
        live = model.rig.engine._live.get(ctx)
        if live is not None and live.work is not None and ready(live.work.state):
            model.rig.inbox.append(Park(ctx=ctx))
            model.rig.turns(1)
            return live.work.state
        model.rig.turns(1)
    raise AssertionError("never ready")


def unpark(model, ctx):
    model.rig.inbox.append(Unpark(ctx=ctx))


def between_hops(row):
    return row.flow is not None and bool(row.flow.kept) and row.hop is None


def in_a_hop(row):
    return row.hop is not None and row.flow.kept and 2 < row.progress.euler_left < 9


def short_of(model, pages):
    """No voice is idle, and all pages but so many are taken by nobody we know."""
    send_voices_away(model.runner)
    return model.pool.take(model.pool.free - pages)


@pytest.mark.parametrize("where", [between_hops, in_a_hop])
def test_one_that_waits_gives_way_to_another_and_goes_on_as_if_nothing_had_been(model, where):
    expected = alone(model.runner, LONG, seed=1)
    model.rig.speak(1, LONG, seed=1)
    row = park_once(model, 1, where)
    hoard = short_of(model, 1)
    model.rig.speak(2, OTHER, seed=2)
    model.rig.run(2)
    assert model.rig.of(2, Finished)
    assert row.flow.on_host is not None
    assert model.runner.figures()["flow_host_bytes"] == row.flow.on_host.bytes > 0
    unpark(model, 1)
    del hoard
    model.rig.run(1)
    assert model.rig.of(1, Finished)
    assert abs(model.rig.pcm(1) - expected).max() <= 4
    assert model.runner.figures()["flow_host_bytes"] == 0


def test_one_that_is_cancelled_while_away_leaves_nothing(model):
    model.rig.speak(1, LONG, seed=1)
    park_once(model, 1, between_hops)
    hoard = short_of(model, 1)
    model.rig.speak(2, OTHER, seed=2)
    model.rig.run(2)
    assert model.flow.host.used_bytes > 0
    model.rig.inbox.append(Cancel(ctx=1))
    model.rig.turns(1)
    assert model.flow.host.used_bytes == 0
    del hoard


def test_two_who_come_back_take_turns_where_there_is_room_for_one(model):
    expected = {ctx: alone(model.runner, LONG, seed=ctx) for ctx in (1, 2)}
    for ctx in (1, 2):
        model.rig.speak(ctx, LONG, seed=ctx)
        park_once(model, ctx, between_hops)
    hoard = short_of(model, 1 + round(max(map(len, expected.values())) / 24_000))
    for ctx in (1, 2):
        unpark(model, ctx)
        model.rig.run(ctx)
        assert model.rig.of(ctx, Finished)
        assert abs(model.rig.pcm(ctx) - expected[ctx]).max() <= 4
    del hoard


def test_nobody_is_moved_who_is_listened_to(model):
    model.rig.speak(1, LONG, seed=1)
    park_once(model, 1, between_hops)
    unpark(model, 1)
    model.rig.turns(1)
    hoard = short_of(model, 0)
    model.rig.speak(2, OTHER, seed=2)
    model.rig.run(2)
    assert [each.code for each in model.rig.of(2, Failed)] == ["overloaded"]
    assert model.flow.host.used_bytes == 0
    del hoard
    model.rig.run(1)
    assert model.rig.of(1, Finished)


@pytest.mark.parametrize("pages", [0, 1])
def test_where_the_host_has_no_room_the_newest_is_refused(model, pages):
    model.flow.host = HostMemory(model.pool, pages * model.pool.page_bytes)
    model.rig.speak(1, LONG, seed=1)
    row = park_once(model, 1, lambda row: between_hops(row) and len(row.flow.kept) > 1)
    hoard = short_of(model, 0)
    model.rig.speak(2, OTHER, seed=2)
    model.rig.run(2)
    assert [each.code for each in model.rig.of(2, Failed)] == ["overloaded"]
    assert row.flow.on_host is None
    del hoard
    unpark(model, 1)
    model.rig.run(1)
    assert model.rig.of(1, Finished)


def test_without_a_setting_to_the_contrary_some_of_the_host_may_be_taken(runner):
    assert runner._speech.models.flow.host.allowed


class TestWhoGoesFirst:
    """The order alone, of contexts that hold a page each."""

    @pytest.fixture
    def moved(self):
        return []

    @pytest.fixture
    def parking(self, moved):
        def to_host(state):
            moved.append(state.name)
            return SimpleNamespace(kept=(), bytes=0)

        flow = SimpleNamespace(host=SimpleNamespace(allowed=True), to_host=to_host)
        return Parking(flow, lambda: 0)

    def add(self, parking, ctx, slack_s, *, parked=True, hop=None):
        voice = SimpleNamespace(page_bytes=7)
        state = SimpleNamespace(name=ctx, kept=(1,), bytes=7, voice=voice)
        progress = SimpleNamespace(undo_begin=lambda: None)
        row = Row(ctx=ctx, flow=state, hop=hop, progress=progress)
        parking.add(SimpleNamespace(ctx=ctx, state=row, parked=parked, slack_s=slack_s))
        return row

    def test_whoever_has_the_most_time_left_one_at_a_time(self, parking, moved):
        for ctx, slack_s in ((1, 3.0), (2, float("inf")), (3, 5.0)):
            self.add(parking, ctx, slack_s)
        assert [parking.make_room() for _ in range(4)] == [7, 7, 7, 0]
        assert moved == [2, 3, 1]

    def test_those_in_a_hop_last_since_they_lose_it(self, parking, moved):
        hop = SimpleNamespace(run=SimpleNamespace(kept=(1, 2)))
        row = self.add(parking, 1, 9.0, hop=hop)
        self.add(parking, 2, 1.0)
        assert [parking.make_room() for _ in range(3)] == [7, 3 * 7, 0]
        assert moved == [2, 1]
        assert row.hop is None

    def test_nobody_whose_step_is_under_way_and_nobody_who_is_gone(self, parking, moved):
        rows = [self.add(parking, ctx, 1.0) for ctx in (1, 2)]
        parking.launch(rows)
        assert parking.make_room() == 0
        parking.land(rows)
        parking.drop(rows[0])
        assert (parking.make_room(), moved) == (7, [2])

    def test_one_that_ends_while_it_is_copied_is_not_brought_back(self, parking):
        row = self.add(parking, 1, 1.0)
        before = row.flow

        def to_host(state):
            parking.drop(row)
            return state

        parking._flow.to_host = to_host
        assert parking.make_room() == 7
        assert row.flow is before

    def test_one_that_is_only_being_begun_is_left_alone(self, parking):
        parking.add(SimpleNamespace(ctx=1, state=None, parked=True, slack_s=1.0))
        assert parking.make_room() == 0


class Row(SimpleNamespace):
    """Known by itself, as a segment is."""

    __hash__ = object.__hash__
    __eq__ = object.__eq__


@pytest.fixture
def traced(model, tmp_path, monkeypatch):
    """The same, with a trace; ``copies()`` are those that it shows, by line."""
    path = tmp_path / "trace.json"
    settings = replace(model.runner._settings, trace=str(path))
    monkeypatch.setattr(model.runner, "_settings", settings)
    monkeypatch.setattr(model.runner._speech.copies, "_mark", host_mark)
    rig = model.rig = Rig(model.runner)

    def copies(line):
        rig.engine._trace.copied(model.runner.copied())
        rig.engine._trace.flush()
        events = json.loads(path.read_text(encoding="utf-8"))
        names = {each["tid"]: each["args"]["name"] for each in events if each["ph"] == "M"}
        of_line = [each for each in events if names[each["tid"]] == line and each["ph"] == "X"]
        return [(each["name"], each["args"]["of"], each["args"]["bytes"]) for each in of_line]

    yield SimpleNamespace(**vars(model), copies=copies)
    rig.engine._trace.close()


def test_a_trace_shows_who_left_the_device_and_came_back(model, traced):
    rig = traced.rig
    rig.speak(1, LONG, seed=1)
    row = park_once(model, 1, between_hops)
    hoard = short_of(model, 1)
    rig.speak(2, OTHER, seed=2)
    rig.run(2)
    size = row.flow.on_host.bytes
    unpark(model, 1)
    del hoard
    rig.run(1)
    moved = [each for each in traced.copies("copies, flow") if each[1] == [1]]
    assert moved == [("to the host", [1], size), ("to the device", [1], size)]
    heard = [of for _, of, _ in traced.copies("copies, samples")]
    assert [1] in heard
    assert [2] in heard


def test_a_trace_shows_voices_that_leave_the_device_and_come_back(traced):
    traced.rig.speak(1, OTHER, seed=1)
    traced.rig.run(1)
    voices = traced.runner._speech.voices
    assert voices.pages.free() > 0
    voices.prefixes.leave()
    traced.rig.speak(2, OTHER, seed=1)
    traced.rig.run(2)
    for line in ("copies, flow", "copies, llm"):
        (_, (voice,), size), *_ = moved = traced.copies(line)
        assert moved == [("to the host", [voice], size), ("to the device", [voice], size)]
        assert size > 0
