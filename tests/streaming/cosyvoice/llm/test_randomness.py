"""Random numbers that are a function of their place."""

from __future__ import annotations

import torch

from streaming.cosyvoice.llm.randomness import exponentials, key_of, step_keys


def steps(*numbers: int) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.int64)


def test_any_integers_make_a_key() -> None:
    keys = {key_of(seed, segment) for seed in (0, 1, -1, 2**63, 2**80) for segment in range(50)}
    assert all(-(2**63) <= key < 2**63 for key in keys)
    # 2**80 is 0 modulo 2**64; all others differ.
    assert len(keys) == 4 * 50


def test_a_key_never_changes() -> None:
    # Published seeds must speak the same words in the next release.
    assert key_of(42, 7) == 1587005860896957696
    near, far = step_keys(steps(key_of(42, 7)), steps(3))
    assert (int(near), int(far)) == (1789593323, 2391021327)


def test_every_step_has_keys_of_its_own() -> None:
    many = torch.arange(10_000)
    near, far = step_keys(torch.full_like(many, key_of(1, 1)), many)
    assert len(set(near.tolist())) > 9_990  # 32 bits: a few collide
    assert len(set(far.tolist())) > 9_990
    assert not torch.equal(near, far)
    assert int(torch.cat([near, far]).min()) >= 0
    assert int(torch.cat([near, far]).max()) < 2**32


def test_a_row_is_alone() -> None:
    keys, at = steps(5, -6, 7), steps(0, 1, 2)
    together = torch.stack(step_keys(keys, at))
    alone = torch.stack(step_keys(keys[1:2], at[1:2]))
    assert torch.equal(together[:, 1:2], alone)


def test_deviates_are_exponential() -> None:
    drawn = exponentials(steps(123)[:, None], torch.arange(200_000)[None])[0]
    assert abs(float(drawn.mean()) - 1) < 0.01
    assert abs(float(drawn.std()) - 1) < 0.02
    for limit in (0.01, 0.1, 1.0, 3.0):
        wanted = 1 - torch.exp(torch.tensor(-limit))
        assert abs(float((drawn < limit).float().mean()) - float(wanted)) < 0.005
    assert bool(drawn.isfinite().all())
    assert float(drawn.min()) > 0


def test_neighbouring_keys_share_nothing() -> None:
    drawn = exponentials(torch.arange(64)[:, None], torch.arange(4096)[None])
    correlations = torch.corrcoef(drawn) - torch.eye(64)
    assert float(correlations.abs().max()) < 0.1


def test_the_extremes_of_the_hash_are_finite() -> None:
    whole = torch.arange(2**16, dtype=torch.int64)[None] * 65_537
    drawn = exponentials(steps(0)[:, None], whole)
    assert bool((drawn > 0).all())
    assert bool((drawn <= 80).all())
