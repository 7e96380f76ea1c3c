"""Repetition-aware sampling, row by row of one batch."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from streaming.cosyvoice.llm.ids import BROKEN, FILL, STOP, ids_of
from streaming.cosyvoice.llm.randomness import key_of
from streaming.cosyvoice.llm.sampler import (
    AFTER_FILL,
    MAY_END,
    MAY_FILL,
    MAY_STOP,
    RING,
    Draw,
    RepetitionAware,
    Sampling,
    nucleus,
)
from streaming.cosyvoice.sizes import LlmSizes

IDS = ids_of(LlmSizes("cosyvoice3"))
MANY = 1_500
RULE = RepetitionAware(IDS, Sampling())


def logits_of(p: dict[int, float], rows: int = 1) -> Tensor:
    """Logits with these probabilities; all others share what is left, evenly."""
    rest = (1 - sum(p.values())) / (IDS.speech_rows - len(p))
    logits = torch.full((IDS.speech_rows,), math.log(rest) if rest > 0 else -40.0)
    for token, value in p.items():
        logits[token] = math.log(value)
    return logits.repeat(rows, 1)


def draw_of(rows: int, *, flags: int = 0, first_step: int = 0, seed: int = 1) -> Draw:
    """Each row a slot of its own, at successive steps."""
    slots = torch.arange(rows)
    return Draw(
        slots,
        slots + first_step,
        torch.full_like(slots, key_of(seed, 0)),
        torch.full_like(slots, flags),
    )


def blank(rows: int) -> Tensor:
    return torch.full((rows, RING), -1)


def shares(choices: Tensor, *tokens: int) -> list[float]:
    return [float((choices == token).float().mean()) for token in tokens]


def test_the_nucleus_is_drawn_from_by_its_probabilities() -> None:
    # 0.5 + 0.2 < 0.8, so the third is the last that begins before 0.8.
    logits = logits_of({7: 0.5, 6000: 0.2, 42: 0.15, 3: 0.1, 9: 0.05}, MANY)
    made = RULE(logits, blank(MANY), draw_of(MANY))
    assert set(made.tolist()) == {7, 6000, 42}
    wanted = [part / 0.85 for part in (0.5, 0.2, 0.15)]
    assert shares(made, 7, 6000, 42) == pytest.approx(wanted, abs=0.05)


def test_at_most_25_are_in_the_nucleus() -> None:
    made = RULE(logits_of({}, MANY), blank(MANY), draw_of(MANY))
    # All are alike, so the nucleus is the first 25 ids, and each is as likely.
    assert set(made.tolist()) == set(range(25))
    assert shares(made, *range(25)) == pytest.approx([0.04] * 25, abs=0.02)


def test_alike_candidates_are_ranked_by_id_and_signs_by_value() -> None:
    logp = torch.tensor([[-1.0, -2.0, -0.5, -1.0, -0.0, -torch.inf]])
    ids, inside = nucleus(logp, top_p=100.0, top_k=6)
    assert ids.tolist() == [[4, 2, 0, 3, 1, 5]]
    assert bool(inside.all())


def test_a_token_of_the_last_ten_is_masked_and_everything_is_drawn_from() -> None:
    logits = logits_of({7: 0.9, 8: 0.06, 9: 0.03}, MANY)
    history = blank(MANY)
    draw = draw_of(MANY, first_step=RING)
    history[draw.slots, (draw.steps - 10) % RING] = 7
    made = RULE(logits, history, draw)
    assert 7 not in made
    assert shares(made, 8, 9) == pytest.approx([0.6, 0.3], abs=0.05)
    assert len(set(made.tolist())) > 80  # the tenth that is left is spread over all others


def test_a_token_eleven_back_is_no_repetition() -> None:
    history = blank(MANY)
    draw = draw_of(MANY, first_step=RING)
    history[draw.slots, (draw.steps - 11) % RING] = 7
    assert shares(RULE(logits_of({7: 0.9}, MANY), history, draw), 7) == [1.0]


def test_what_a_slot_drew_before_this_context_is_no_repetition() -> None:
    history = torch.full((1, RING), 7)
    assert RULE(logits_of({7: 0.9}), history, draw_of(1)).tolist() == [7]


@pytest.mark.parametrize(
    ("sign", "flags", "wanted"),
    [
        (IDS.stop, 0, 5),
        (IDS.stop, MAY_FILL, 5),
        (IDS.stop, MAY_END, STOP),
        (IDS.stop, MAY_STOP, STOP),
        (IDS.fill, MAY_FILL, FILL),
        (IDS.fill, MAY_END, 5),
        (IDS.fill, MAY_STOP, STOP),
        (IDS.speech_rows - 1, MAY_STOP, STOP),
        (IDS.speech_rows - 1, MAY_END | MAY_FILL, 5),
        (IDS.sos, MAY_END | MAY_FILL, 5),
    ],
)
@pytest.mark.parametrize("generation", ["cosyvoice2", "cosyvoice3"])
def test_signs_are_drawn_only_where_they_may(
    sign: int, flags: int, wanted: int, generation: str
) -> None:
    ids = ids_of(LlmSizes("cosyvoice3"))
    if generation == "cosyvoice2":
        ids = ids_of(LlmSizes("cosyvoice2"))
        renamed = {IDS.stop: ids.stop, IDS.fill: ids.fill}
        sign = renamed.get(sign, ids.speech_rows - 2)
    logits = torch.full((1, ids.speech_rows), -20.0)
    logits[0, sign], logits[0, 5] = 9.0, 3.0
    made = RepetitionAware(ids, Sampling())(logits, blank(1), draw_of(1, flags=flags))
    assert made.tolist() == [wanted]


def test_a_fill_that_nobody_drew_counts_as_one_of_the_last_ten() -> None:
    logits = logits_of({IDS.fill: 0.95, 5: 0.04}, MANY)
    fresh = draw_of(MANY, flags=MAY_FILL, first_step=RING)
    assert shares(RULE(logits, blank(MANY), fresh), FILL) == [1.0]
    after = draw_of(MANY, flags=MAY_FILL | AFTER_FILL, first_step=RING)
    assert FILL not in RULE(logits, blank(MANY), after)


@pytest.mark.parametrize("poison", [torch.nan, torch.inf, -torch.inf])
def test_a_row_that_is_not_finite_fails_alone(poison: float) -> None:
    logits = logits_of({7: 0.99}, 3)
    logits[1, 4000] = poison
    assert RULE(logits, blank(3), draw_of(3)).tolist() == [7, BROKEN, 7]


def test_a_row_draws_the_same_wherever_it_stands() -> None:
    logits = torch.randn(16, IDS.speech_rows, generator=torch.Generator().manual_seed(0))
    draw = draw_of(16)
    together = RULE(logits, blank(16), draw)
    for row in range(16):
        one = slice(row, row + 1)
        alone = Draw(draw.slots[:1], draw.steps[one], draw.keys[one], draw.flags[one])
        assert RULE(logits[one], blank(1), alone).tolist() == together[one].tolist()


def test_seeds_differ() -> None:
    logits = logits_of({}, 200)
    one, other = (RULE(logits, blank(200), draw_of(200, seed=seed)) for seed in (1, 2))
    assert shares((one == other).long(), 1)[0] < 0.2


def test_greedy_takes_the_most_likely_sound_or_stop() -> None:
    greedy = RepetitionAware(IDS, Sampling(greedy=True))
    logits = torch.zeros(1, IDS.speech_rows)
    logits[0, 11], logits[0, IDS.stop], logits[0, IDS.fill] = 1.0, 2.0, 3.0
    made = [
        greedy(logits, blank(1), draw_of(1, flags=flags)).tolist()
        for flags in (0, MAY_FILL, MAY_END)
    ]
    assert made == [[11], [11], [STOP]]


def test_a_window_that_the_ring_cannot_hold_is_refused() -> None:
    with pytest.raises(ValueError, match="window must be 1 to 14, not 15"):
        RepetitionAware(IDS, Sampling(window=15))
