"""How memory is shared out: within the budget, and somebody is served where that can be."""

from dataclasses import replace

import pytest
from cosyvoice_rig import alone
from hypothesis import given
from hypothesis import strategies as st

from streaming.config import CosyVoiceSettings, EngineSettings
from streaming.cosyvoice.flow.pool import RESERVED
from streaming.runners.cosyvoice import memory, models
from streaming.runners.cosyvoice.memory import LEAST_POSITIONS, Needs, share_out
from streaming.runners.cosyvoice.speech import Speech

MIB = 1 << 20
NEEDS = Needs(position=12_288, page=90 * MIB)
"""Version 3 in half precision, about."""


def settings(slots=1024, **cosyvoice):
    return EngineSettings(runner="cosyvoice", slots=slots, cosyvoice=CosyVoiceSettings(**cosyvoice))


def taken(share, needs=NEEDS):
    return share.slots * needs.position * (share.positions + 1) + share.flow_bytes


@given(
    free_mib=st.integers(1, 150_000),
    slots=st.integers(1, 1024),
    positions=st.integers(256, 32_768),
    flow_mib=st.sampled_from([0, 1200, 3500, 100_000]),
    prompt_s=st.floats(1, 30),
)
def test_it_keeps_to_the_budget_and_leaves_room_to_work_in(
    free_mib, slots, positions, flow_mib, prompt_s
):
    asked = settings(slots, positions=positions, flow_mib=flow_mib, flow_prompt_s=prompt_s)
    budget = free_mib * MIB * 0.85
    try:
        share = share_out(asked, NEEDS, free_mib * MIB)
    except ValueError as error:
        if "flow_mib is" in str(error):
            assert flow_mib * MIB < memory._least_pages(prompt_s) * NEEDS.page
        else:
            assert budget < 45 * NEEDS.page  # what a prompt of 30 s, and a context, need
        return
    assert taken(share) <= budget * (1 - memory.WORKING_SHARE) + 2
    assert 1 <= share.slots <= slots
    assert min(positions, LEAST_POSITIONS) <= share.positions <= positions
    if flow_mib:
        assert share.flow_bytes <= flow_mib * MIB


def test_on_a_large_card_every_slot_there_may_be_has_all_its_positions():
    share = share_out(settings(slots=200), NEEDS, 130_000 * MIB)
    assert (share.slots, share.positions) == (200, 4096)
    assert share.flow_bytes > 80_000 * MIB
    assert share.voice_bytes == share.flow_bytes // 4
    assert share.reserve_bytes == memory.RESERVE_BYTES


@pytest.mark.parametrize("free_mib", [10_000, 24_000, 130_000])
def test_there_are_no_more_slots_than_contexts_that_the_flow_could_begin(free_mib):
    share = share_out(settings(), NEEDS, free_mib * MIB)
    begun = share.slots * memory.PAGES_A_SLOT * NEEDS.page
    assert 0.8 * share.flow_bytes < begun < share.flow_bytes


def test_on_a_small_one_there_are_fewer_slots():
    share = share_out(settings(slots=200), NEEDS, 4000 * MIB)
    assert 1 <= share.slots < 20
    assert share.positions == 4096


def test_where_there_is_room_for_no_context_one_may_have_what_there_is():
    needs = Needs(position=200_000, page=90 * MIB)
    share = share_out(settings(), needs, 2400 * MIB)
    assert (share.slots, share.positions) == (1, 4096)
    assert taken(share, needs) <= 2400 * MIB * 0.85 * 0.9


def test_where_other_programs_left_little_positions_are_fewer_before_nobody_is_served():
    needs = Needs(position=200_000, page=90 * MIB)
    share = share_out(settings(), needs, 1600 * MIB)
    assert share.slots == 1
    assert LEAST_POSITIONS <= share.positions < 4096
    assert share.flow_bytes >= (RESERVED + 3 + memory.LEAST_SPEECH_S) * needs.page


def test_fewer_positions_than_the_least_are_had_where_they_were_asked_for():
    share = share_out(settings(positions=256), Needs(position=200_000, page=90 * MIB), 1200 * MIB)
    assert share.positions == 256


def test_where_there_is_not_room_for_one_it_says_what_is_needed_and_what_to_do():
    with pytest.raises(ValueError, match=r"255 MiB .* one context needs \d+: close other") as told:
        share_out(settings(), NEEDS, 300 * MIB)
    needed = int(str(told.value).split("needs ")[1].split(":")[0])
    assert share_out(settings(), NEEDS, int((needed + 1) * MIB / 0.85)).slots == 1


def test_a_flow_that_could_not_keep_one_context_is_refused_and_it_says_what_one_needs():
    with pytest.raises(ValueError, match=r"flow_mib is 500, .* 3 s of .* needs \d+ MiB") as told:
        share_out(settings(flow_mib=500), NEEDS, 20_000 * MIB)
    needed = int(str(told.value).split("needs ")[1].split(" MiB")[0])
    assert needed == 9 * 90
    share = share_out(settings(flow_mib=needed), NEEDS, 20_000 * MIB)
    assert share.flow_bytes == needed * MIB
    with pytest.raises(ValueError, match="flow_mib is"):
        share_out(settings(flow_mib=needed - 1), NEEDS, 20_000 * MIB)


def test_the_budget_is_a_share_of_what_is_free():
    half = share_out(settings(gpu_memory_budget=0.425), NEEDS, 20_000 * MIB)
    assert taken(half) == pytest.approx(taken(share_out(settings(), NEEDS, 10_000 * MIB)), rel=1e-6)


def test_of_the_host_no_more_than_was_asked_for_and_than_a_quarter_of_what_is_free(monkeypatch):
    monkeypatch.setattr(memory, "free_host_bytes", lambda: 8000 * MIB)
    free = 20_000 * MIB
    for asked_mib, had_mib in ((512, 512), (5000, 2000)):
        share = share_out(settings(host_mib=asked_mib), NEEDS, free)
        assert share.host_bytes + share.features_bytes == had_mib * MIB
        assert share.features_bytes == had_mib * MIB // 16


def test_where_none_of_the_host_may_be_taken_a_few_recordings_are_still_kept_in_mind():
    share = share_out(settings(host_mib=0), NEEDS, 20_000 * MIB)
    assert (share.host_bytes, share.features_bytes) == (0, memory.LEAST_FEATURES_BYTES)


def test_beginnings_in_the_llm_take_a_part_of_what_steps_need():
    share = share_out(settings(), NEEDS, 20_000 * MIB)
    assert share.prefix_bytes == int(20_000 * MIB * 0.85 * 0.1 * 0.1)


def test_a_host_that_does_not_tell_is_taken_for_a_small_one(monkeypatch):
    assert memory.free_host_bytes() > 0
    monkeypatch.setattr("streaming.host.free_bytes", lambda: None)
    assert memory.free_host_bytes() == memory.UNKNOWN_HOST_BYTES


def test_less_for_the_flow_than_was_asked_for_is_told(capfd):
    models._share(settings(flow_mib=1 << 20), NEEDS, None)
    told = capfd.readouterr().err
    assert "flow_lowered" in told
    assert '"asked_mib": 1048576' in told


def test_fewer_positions_are_told_and_what_was_shared_out_is(capfd):
    class Card:
        source = "nvml"

        def free_bytes(self):
            return 1600 * MIB

    share = models._share(settings(), Needs(position=200_000, page=90 * MIB), Card())
    told = capfd.readouterr().err
    assert '"told_by": "nvml"' in told
    assert f'"positions": {share.positions}' in told
    assert "positions_lowered" in told
    assert '"level": "warning"' in told


def test_a_runner_on_a_card_tells_what_is_free_and_lets_idle_voices_go_when_it_is_little(runner):
    class Card:
        source = "nvml"
        free = 100 << 30

        def free_bytes(self):
            return self.free

    card, before = Card(), runner._speech
    alone(runner, "Hello.")
    speech = Speech(replace(before.models, gauge=card), runner._settings)
    speech.voices = before.voices
    assert speech.figures()["device_free_bytes"] == card.free
    assert speech.voices.prefixes.idle_bytes > 0
    card.free = 1
    speech._watch._due_s = 0.0
    assert speech.figures()["device_free_bytes"] == 1
    assert speech.voices.prefixes.idle_bytes == 0
    assert "device_free_bytes" not in runner.figures()
