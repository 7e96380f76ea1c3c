"""``configs/desktop.toml``: a card that also runs a game, with a gauge that tests hold."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from cosyvoice_rig import MANDARIN, Rig, alone

from server.config import load
from streaming.admission import Admission
from streaming.errors import Overloaded
from streaming.host import DEVICE_SHORT, MemoryGuard
from streaming.messages import Audio, Finished
from streaming.runners.cosyvoice.memory import Needs, share_out
from streaming.runners.cosyvoice.speech import Speech

MIB = 1 << 20
DESKTOP = Path(__file__).resolve().parents[4] / "configs" / "desktop.toml"
NEEDS = Needs(position=12_288, page=45 * MIB)
"""Version 3 in half precision, about."""


class Card:
    source = "nvml"

    def __init__(self):
        self.free = 8 << 30

    def free_bytes(self):
        return self.free


@pytest.fixture
def settings():
    return load(["--config", str(DESKTOP)], {}).engine


@pytest.fixture
def card():
    return Card()


@pytest.fixture
def on_a_card(runner, card):
    """The runner as it would be there: it watches the card."""
    before = runner._speech
    alone(runner, "Hello.", voice=MANDARIN)
    speech = runner._speech = Speech(replace(before.models, gauge=card), runner._settings)
    speech.voices = before.voices
    speech._watch._due_s = float("inf")  # until `game` asks
    yield runner
    speech.close()
    runner._speech = before


def game(runner, card, free):
    """Other programs leave so much of the card from now on."""
    card.free = free
    runner._speech._watch._due_s = float("-inf")
    return runner.figures()


def test_it_is_for_one_or_two_with_a_window_and_gives_the_card_back_when_nobody_speaks(settings):
    assert 1 <= settings.slots <= 2
    assert settings.cosyvoice.flow_window_s > 0
    assert settings.unload_after_s > 0
    assert settings.queue > 0


@pytest.mark.parametrize("free_mib", [900, 1500, 3000, 8000, 12_000])
def test_the_first_has_a_slot_whatever_other_programs_left_at_the_start(settings, free_mib):
    share = share_out(settings, NEEDS, free_mib * MIB)
    assert 1 <= share.slots <= 2


def test_a_game_that_grows_sends_idle_voices_away_and_those_who_speak_go_on(on_a_card, card):
    rig = Rig(on_a_card)
    voices = on_a_card._speech.voices
    rig.speak(1, "I was speaking when the game began, and I go on.")
    while not rig.of(1, Audio):
        rig.turns(1)
    before = voices.device_bytes
    assert game(on_a_card, card, 1)[DEVICE_SHORT] == 1.0
    assert 0 < voices.device_bytes < before  # the other voice is gone, that in use is not
    assert rig.run(1).of(1, Finished)
    assert game(on_a_card, card, 8 << 30)[DEVICE_SHORT] == 0.0


def test_meanwhile_the_first_is_let_in_and_a_second_waits(on_a_card, card, settings):
    door = Admission(settings.slots, queue=settings.queue, queue_s=settings.queue_ms / 1000)
    guard = MemoryGuard(0)
    door.short = guard.short(game(on_a_card, card, 1))
    assert door.offer(1, "first", 0.0)
    assert not door.offer(2, "second", 0.0)
    (refused,) = door.expired(settings.queue_ms / 1000).values()
    assert isinstance(refused, Overloaded)
    assert "device" in refused.message
    assert not door.offer(3, "second", 6.0)
    door.short = guard.short(game(on_a_card, card, 8 << 30))
    assert door.let_in() == [3]
