"""Long silences are shortened, in version 3 alone."""

from __future__ import annotations

import pytest

from streaming.cosyvoice.llm.silence import SILENT_TOKENS, Silences
from streaming.cosyvoice.sizes import Generation


def kept(generation: Generation, tokens: list[int]) -> list[int]:
    silences = Silences(generation)
    return [token for token in tokens if silences.keeps(token)]


def test_five_of_a_run_stay_whichever_they_are() -> None:
    run = sorted(SILENT_TOKENS)
    assert kept("cosyvoice3", [900, *run, 901]) == [900, *run[:5], 901]


def test_a_sound_begins_a_new_run() -> None:
    tokens = [1] * 5 + [900] + [2] * 7 + [901]
    assert kept("cosyvoice3", tokens) == [1] * 5 + [900] + [2] * 5 + [901]


@pytest.mark.parametrize("length", [1, 4, 5])
def test_a_short_run_is_left_alone(length: int) -> None:
    assert kept("cosyvoice3", [28] * length) == [28] * length


def test_version_2_has_no_silent_tokens() -> None:
    assert kept("cosyvoice2", [1] * 20) == [1] * 20
