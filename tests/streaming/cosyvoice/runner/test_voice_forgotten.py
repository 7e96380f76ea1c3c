"""Voices that are removed, and what they are known by."""

from __future__ import annotations

import pytest
from voice_desk import ON_DEVICE, ON_HOST, PAGES, PROMPT, Desk

from streaming.errors import UnknownVoice

pytestmark = pytest.mark.parametrize("generation", ["cosyvoice3"], indirect=True)
"""Where the networks do not matter."""


@pytest.fixture
def desk(runner, tmp_path):
    return Desk(runner._speech.models, tmp_path)


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
