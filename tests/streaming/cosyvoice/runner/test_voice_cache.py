"""Voices on their levels: device, host, disk. Each is bounded, and nothing is heard of it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from streaming.config import CosyVoiceSettings
from streaming.cosyvoice.flow import values
from streaming.cosyvoice.flow.stream import Flow
from streaming.cosyvoice.llm.cache import Kept
from streaming.cosyvoice.llm.decoder import Prefix
from streaming.cosyvoice.llm.script import LlmPrompt
from streaming.cosyvoice.prompt.features import PromptFeatures
from streaming.cosyvoice.sizes import EULER_STEPS, SPEECH_TOKENS
from streaming.errors import UnknownVoice
from streaming.runners.base import Made
from streaming.runners.cosyvoice.flow_stage import FlowStage
from streaming.runners.cosyvoice.parking import Parking
from streaming.runners.cosyvoice.threads import Inline
from streaming.runners.cosyvoice.voices import Voices
from streaming.voices.files import VoiceFiles, VoiceRecord

pytestmark = pytest.mark.parametrize("generation", ["cosyvoice3"], indirect=True)
"""Where the networks do not matter."""

PROMPT = LlmPrompt((1, 2, 3))
TOKENS = 80
"""Of each recording: two pages, and a rest."""

PAGES = 2
ON_DEVICE, ON_HOST, IN_MIND = 3, 4, 9
"""So many idle voices fit on each level (the last: their features, those of the others too)."""

PREFIX_BYTES = 2 * 4 * 64


class Row(SimpleNamespace):
    """Known by itself, as a segment is."""

    __hash__ = object.__hash__
    __eq__ = object.__eq__


class Desk:
    """Voices over a flow of their own, whose Euler steps take no time."""

    def __init__(self, models, root, voices=12):
        self.files = VoiceFiles(root)
        self.model = models.listener.model
        self.page_bytes = models.flow.pool.page_bytes
        self.flow = Flow(
            models.flow._network,
            budget_bytes=40 * self.page_bytes,
            host_bytes=(ON_HOST * PAGES + 1) * self.page_bytes,
        )
        self.flow.euler = _at_once
        self.ids = [self.store(number) for number in range(voices)]
        share = replace(
            models.share, prefix_bytes=ON_DEVICE * PREFIX_BYTES, prefix_host_bytes=2 * PREFIX_BYTES
        )
        self.voices = Voices(self.files, models.listener, models.generation, {}, self.flow, share)
        self.voices.load(self.ids[0])
        self.feature_bytes = self.voices.features_bytes
        self.voices._features_bytes = IN_MIND * self.feature_bytes
        self.voices.pages._budget_bytes = ON_DEVICE * (PAGES + 0.5) * self.page_bytes
        self.parking = Parking(self.flow, self.voices.pages.free_host)
        self.stage = FlowStage(
            self.flow, Inline(), CosyVoiceSettings(), self.voices.pages.free, self.parking
        )

    def store(self, number, *, recording=None, transcript="Hello."):
        audio = f"{recording if recording is not None else number:064x}"
        dice = np.random.default_rng(number)
        features = PromptFeatures(
            tuple(int(each) for each in dice.integers(0, SPEECH_TOKENS, TOKENS)),
            dice.standard_normal((2 * TOKENS, 80)).astype(np.float32),
            dice.standard_normal(192).astype(np.float32),
            self.model,
        )
        self.files.write_features(audio, self.model, features.to_bytes())
        letters = "".join("abcdefghij"[int(digit)] for digit in f"{number:020d}")
        record = VoiceRecord(
            id=f"v-{letters}", name="", owner="me", transcript=transcript, language="en",
            consent="a test", created="", audio=audio, duration_ms=3000,
        )  # fmt: skip
        self.files.write_record(record)
        return record.id

    def begin(self, voice):
        """What the runner does of a voice for a segment."""
        part = self.voices.take(voice)
        row = Row(ctx=1, voice=part, flow=None, hop=None, expected_samples=None)
        while part.flow.voice is None:
            step = self.stage.step([row])
            (made,) = step.land(step.made.result())
            assert isinstance(made, Made), made
        if part.prefixes.get(PROMPT) is None:
            keys = torch.zeros(1, 64, 1, 1)
            part.prefixes[PROMPT] = Prefix((1, 2, 3), Kept(keys, keys.clone()))
        return part

    def end(self, part):
        self.voices.give_back(part)
        self.voices.pages.trim()
        self.voices.prefixes.trim()

    def speak(self, *voices):
        for voice in voices:
            self.end(self.begin(voice))

    def where(self, voice):
        part = self.voices._by_id.get(voice)
        if part is None:
            return "disk"
        if part.flow.voice is not None:
            return "device"
        return "features" if part.flow.away is None else "host"

    def of(self, voice):
        return self.voices._by_id[voice]

    @property
    def used_pages(self):
        return self.flow.pool.pages - self.flow.pool.free


def _at_once(hops):
    for hop in hops:
        hop.run.step = EULER_STEPS - 1
        hop.run.stepped()


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


class TestForgetting:
    @pytest.mark.parametrize("others", [0, ON_DEVICE, ON_DEVICE + ON_HOST, 11])
    def test_at_every_level_nothing_is_left(self, desk, others):
        gone = desk.ids[0]
        desk.speak(*desk.ids[: 1 + others])
        voices = desk.voices
        device, host = voices.device_bytes, voices.host_bytes
        level = desk.where(gone)
        desk.files.remove_record(gone)
        desk.files.remove_recording(f"{0:064x}")
        voices.forget(gone)
        assert not voices.has(gone)
        assert (voices.device_bytes < device) == (level == "device")
        if level == "host":
            assert voices.host_bytes < host
        assert desk.flow.host.used_bytes == voices.host_bytes
        flows = voices._flows.values()
        assert voices.features_bytes == sum(flow.feature_bytes for flow in flows)
        assert desk.used_pages * desk.page_bytes <= voices.device_bytes
        with pytest.raises(UnknownVoice):
            voices.load(gone)

    def test_who_speaks_with_it_may_finish(self, desk):
        part = desk.begin(desk.ids[0])
        desk.voices.forget(desk.ids[0])
        assert desk.used_pages == PAGES
        desk.end(part)
        del part
        assert desk.used_pages == 0
        assert desk.voices.device_bytes == desk.voices.host_bytes == 0

    def test_one_that_fell_out_of_memory_before_it_was_spoken_is_read_again(self, desk):
        first = desk.ids[1]
        desk.voices.load(first)
        desk.speak(*desk.ids[2:])
        assert desk.where(first) == "disk"
        desk.speak(first)
        assert desk.where(first) == "device"

    def test_and_if_it_was_removed_meanwhile_that_is_told(self, desk):
        first = desk.ids[1]
        desk.voices.load(first)
        desk.speak(*desk.ids[2:])
        desk.files.remove_record(first)
        with pytest.raises(UnknownVoice, match=first):
            desk.voices.take(first)

    def test_one_that_is_removed_while_a_context_has_it_is_kept_between_its_segments(self, desk):
        first = desk.ids[1]
        desk.speak(first)
        desk.files.remove_record(first)
        desk.files.remove_recording(f"{1:064x}")
        desk.speak(*desk.ids[2:], desk.ids[0], *desk.ids[2:])
        assert desk.where(first) == "features"
        desk.speak(first)
        desk.speak(*desk.ids[2:])
        desk.voices.forget(first)
        assert desk.where(first) == "disk"
        flows = desk.voices._flows.values()
        assert desk.voices.features_bytes == sum(flow.feature_bytes for flow in flows)


class TestKeys:
    def test_the_same_words_in_two_recordings_never_meet(self, desk):
        mine, yours = desk.begin(desk.ids[0]), desk.begin(desk.ids[1])
        assert mine.spoken.transcript == yours.spoken.transcript
        assert mine.flow is not yours.flow
        assert mine.prefixes.get(PROMPT) is not yours.prefixes.get(PROMPT)
        assert not {k.page.index for k in mine.flow.voice.kept} & {
            k.page.index for k in yours.flow.voice.kept
        }

    def test_other_words_in_the_same_recording_share_the_flows_part_alone(self, desk):
        right = desk.store(0, transcript="Right.")
        wrong = desk.store(50, recording=0, transcript="Wrong.")
        desk.store(0, transcript="Right.")  # the recording's own features again
        for voice in (right, wrong):
            desk.voices.load(voice)
        one, other = desk.begin(right), desk.begin(wrong)
        assert one.flow is other.flow
        assert one.prefixes is not other.prefixes
        assert one.prefixes.get(PROMPT) is not other.prefixes.get(PROMPT)
        desk.voices.forget(wrong)
        desk.end(other)
        assert desk.of(right).flow.voice is one.flow.voice


def _kept(flow, pages):
    return tuple(values.Kept(at, page) for at, page in enumerate(flow.pool.take(pages)))
