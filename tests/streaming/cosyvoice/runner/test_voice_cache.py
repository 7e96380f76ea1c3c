"""Voices on their levels: device, host, disk. Each is bounded, and nothing is heard of it."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from voice_desk import IN_MIND, ON_DEVICE, ON_HOST, PAGES, PREFIX_BYTES, PROMPT, Desk, Row

from streaming.config import CosyVoiceSettings
from streaming.cosyvoice.flow import values
from streaming.runners.cosyvoice.flow_stage import FlowStage

pytestmark = pytest.mark.parametrize("generation", ["cosyvoice3"], indirect=True)
"""Where the networks do not matter."""


@pytest.fixture
def desk(runner, tmp_path):
    return Desk(runner._speech.models, tmp_path)


class TestLevels:
    def test_what_nobody_speaks_with_goes_down_the_longest_unused_first(self, desk):
        desk.speak(*desk.ids)
        levels = [desk.where(voice) for voice in reversed(desk.ids)]
        left = IN_MIND - ON_DEVICE - ON_HOST
        expected = ["device"] * ON_DEVICE + ["host"] * ON_HOST + ["features"] * left
        assert levels == [*expected, *["disk"] * (len(desk.ids) - IN_MIND)]

    def test_two_hundred_in_rotation_stay_within_all_bounds(self, runner, tmp_path):
        desk = Desk(runner._speech.models, tmp_path, voices=200)
        voices, flow, heard = desk.voices, desk.flow, []
        runner_features, runner._speech.models.listener.features = (
            runner._speech.models.listener.features, heard.append,
        )  # fmt: skip
        try:
            for voice in desk.ids * 2:
                desk.speak(voice)
                assert desk.used_pages <= ON_DEVICE * PAGES
                assert flow.host.used_bytes <= flow.host._most_bytes
                assert voices.features_bytes <= IN_MIND * desk.feature_bytes
                assert sum(part.prefixes.device_bytes for part in voices._parts.values()) <= (
                    ON_DEVICE * PREFIX_BYTES
                )
                assert len(voices._by_id) == len(voices._parts) == len(voices._flows)
                flows = voices._flows.values()
                assert voices.features_bytes == sum(flow.feature_bytes for flow in flows)
        finally:
            runner._speech.models.listener.features = runner_features
        assert heard == [], "the disk has what was heard"
        figures = voices.figures()
        found = [figures[name] for name in ("voice_hits", "voice_host_hits", "voice_misses")]
        assert found == [0, 0, 400], "each has 199 others after it"
        assert figures["voice_features_read"] == 400

    def test_where_each_was_found_is_counted(self, desk):
        desk.speak(*desk.ids[:8])
        before = desk.voices.figures()
        order = desk.ids[:8][::-1]
        levels = [desk.where(voice) for voice in order]
        for voice in order[:ON_DEVICE]:
            desk.speak(voice)
        desk.speak(order[-2])  # on the host
        desk.speak(order[-1])  # of which there are features alone
        after = desk.voices.figures()
        grown = {name: after[name] - before[name] for name in after}
        assert levels[-2:] == ["host", "features"]
        assert grown["voice_hits"] == grown["prefix_hits"] == ON_DEVICE
        assert grown["voice_host_hits"] == grown["voice_misses"] == 1
        assert grown["prefix_host_hits"] + grown["prefix_misses"] == 2
        assert grown["voice_features_read"] == grown["voice_features_made"] == 0

    def test_what_comes_back_from_the_host_is_what_left(self, desk):
        first = desk.ids[0]
        desk.speak(first)
        part, pool = desk.of(first), desk.flow.pool
        for page in part.flow.voice.kept:
            for at, each in enumerate(pool.slices(page.page.index)):
                each.fill_(7.0 + at)
        before = part.flow.voice
        desk.speak(*desk.ids[1:6])
        assert desk.where(first) == "host"
        assert part.flow.away.tokens == before.tokens
        for page in pool.take(pool.free):
            for each in pool.slices(page.index):
                each.fill_(torch.nan)
        desk.begin(first)
        back = part.flow.voice
        assert (back.tokens, back.blocks, back.rest) == (before.tokens, before.blocks, before.rest)
        assert torch.equal(back.rest_mel, before.rest_mel)
        for page in back.kept:
            for at, each in enumerate(pool.slices(page.page.index)):
                assert (each == 7.0 + at).all()

    def test_a_voice_too_short_for_a_page_is_not_copied(self, desk):
        part = desk.begin(desk.ids[0])
        part.flow.voice = replace(part.flow.voice, kept=())
        desk.end(part)
        desk.voices.pages._budget_bytes = 0
        desk.voices.pages.trim()
        assert desk.where(desk.ids[0]) == "features"

    def test_where_the_host_gives_nothing_it_is_made_again(self, desk):
        desk.flow.host._most_bytes = 0
        desk.speak(*desk.ids[:6])
        assert {desk.where(voice) for voice in desk.ids[:6]} == {"device", "features"}
        assert desk.voices.host_bytes == 0

    def test_who_is_asked_for_is_not_the_next_to_go(self, desk):
        desk.speak(*desk.ids[:ON_DEVICE])
        assert desk.voices.has(desk.ids[0])
        desk.speak(desk.ids[ON_DEVICE])
        assert [desk.where(voice) for voice in desk.ids[:2]] == ["device", "host"]

    def test_what_came_with_the_model_is_never_read_again(self, desk):
        desk.of(desk.ids[0]).flow.stays = True
        desk.speak(*desk.ids[1:])
        assert desk.voices.has(desk.ids[0])


class Later:
    """A thread that does what it is given when the test says so."""

    def __init__(self):
        self.given = []

    def run(self, work):
        self.given.append((work, Future()))
        return self.given[-1][1]

    def work(self):
        work, future = self.given.pop(0)
        future.set_result(work())


class TestMaking:
    def test_who_waits_for_a_step_of_its_voice_begins_after_it_though_another_made_it(self, desk):
        place, part = Later(), desk.voices.take(desk.ids[0])
        stage = FlowStage(desk.flow, place, CosyVoiceSettings(), lambda: 0, desk.parking)
        progress = SimpleNamespace(block_rest=0)
        one, other = (
            Row(ctx=ctx, voice=part, flow=None, hop=None, voice_steps=0, expected_samples=None,
                progress=progress)
            for ctx in (1, 2)
        )  # fmt: skip
        steps = [stage.step([row]) for row in (one, other)]
        place.work()
        steps[0].land(steps[0].made.result())
        assert part.flow.voice is not None
        assert stage.begin(one)
        assert not stage.begin(other)
        place.work()
        assert other.hop is None
        steps[1].land(steps[1].made.result())
        assert stage.begin(other)


class TestPinned:
    def test_who_is_spoken_with_never_leaves(self, desk):
        part = desk.begin(desk.ids[0])
        voice, prefix = part.flow.voice, part.prefixes.get(PROMPT)
        desk.speak(*desk.ids[1:])
        while desk.voices.pages.free() or desk.voices.pages.free_host():
            pass
        desk.voices.prefixes.leave()
        assert part.flow.voice is voice
        assert desk.used_pages == PAGES
        assert part.prefixes.get(PROMPT) is prefix
        assert desk.voices.has(desk.ids[0])
        desk.end(part)
        del voice
        assert desk.voices.pages.free() > 0
        assert desk.used_pages == 0

    def test_nor_who_is_taken_while_it_is_being_copied(self, desk):
        desk.speak(desk.ids[0])
        copy, taken = desk.flow.to_host, []

        def slow(voice):
            taken.append(desk.voices.take(desk.ids[0]))
            return copy(voice)

        desk.flow.to_host = slow
        assert desk.voices.pages.free() == 0
        assert desk.where(desk.ids[0]) == "device"
        assert desk.flow.host.used_bytes == 0
        desk.end(taken[0])

    def test_two_segments_pin_it_twice(self, desk):
        one, other = desk.begin(desk.ids[0]), desk.begin(desk.ids[0])
        desk.end(one)
        assert desk.voices.pages.free() == 0
        desk.end(other)
        assert desk.voices.pages.free() > 0

    def test_one_that_was_only_half_made_gives_its_pages_back(self, desk):
        part = desk.voices.take(desk.ids[0])
        part.flow.making = desk.flow.prepare(part.flow.prompt)
        assert desk.voices.pages.free() == 0
        desk.end(part)
        assert desk.voices.device_bytes > 0
        assert desk.voices.pages.free() > 0
        assert (desk.used_pages, part.flow.making) == (0, None)


class TestWithin:
    """Voices and contexts share device and host."""

    def test_pages_that_run_out_are_taken_from_one_voice_at_a_time(self, desk):
        desk.voices.pages._budget_bytes = 1 << 40
        desk.speak(*desk.ids[:5])
        hoard = desk.flow.pool.take(desk.flow.pool.free - 1)
        desk.begin(desk.ids[5])
        assert [desk.where(voice) for voice in desk.ids[:3]] == ["host", "device", "device"]
        del hoard

    def test_a_context_that_waits_takes_the_hosts_room_from_voices(self, desk):
        desk.speak(*desk.ids[: ON_DEVICE + ON_HOST])
        voices, pages = desk.voices, 2 * PAGES + 1
        assert voices.host_bytes >= ON_HOST * PAGES * desk.page_bytes
        part = desk.begin(desk.ids[-1])
        state = replace(desk.flow.begin(part.flow.voice), kept=_kept(desk.flow, pages))
        row = Row(ctx=1, flow=state, hop=None)
        desk.parking.add(SimpleNamespace(ctx=1, state=row, parked=True, slack_s=1.0))
        freed = desk.parking.make_room()
        assert freed == pages * desk.page_bytes
        assert row.flow.on_host is not None
        assert desk.flow.host.used_bytes <= desk.flow.host._most_bytes

    def test_what_stands_before_texts_has_a_part_of_the_host_of_its_own(self, desk):
        desk.speak(*desk.ids[:9])
        prefixes = [desk.of(voice).prefixes for voice in desk.ids[:9]]
        desk.voices.prefixes.leave()
        assert sum(each.host_bytes for each in prefixes) == 2 * PREFIX_BYTES
        assert [each.host_bytes > 0 for each in prefixes[-3:]] == [False, True, True]
        assert sum(each.device_bytes for each in prefixes) == 0


def _kept(flow, pages):
    return tuple(values.Kept(at, page) for at, page in enumerate(flow.pool.take(pages)))
