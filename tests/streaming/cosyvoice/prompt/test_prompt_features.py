"""Features survive being kept, and nothing else is taken for features."""

from __future__ import annotations

import pickle

import msgspec
import numpy as np
import pytest

from streaming.cosyvoice.prompt import features
from streaming.cosyvoice.prompt.features import PromptFeatures, UnreadableFeatures, digest


def made(tokens=(5, 0, 6560)):
    rng = np.random.default_rng(1)
    mel = rng.standard_normal((2 * len(tokens), 80), dtype=np.float32)
    return PromptFeatures(tokens, mel, rng.standard_normal(192, dtype=np.float32), "a model")


def stored(**changes):
    """Bytes that are features but for some fields."""
    whole = made()
    fields = {
        "version": features.VERSION,
        "model": "a model",
        "tokens": whole.tokens,
        "mel": whole.mel.tobytes(),
        "embedding": whole.embedding.tobytes(),
    } | changes
    return msgspec.msgpack.encode(list(fields.values()))


class TestKeeping:
    def test_what_was_kept_comes_back_exactly(self):
        first = made()
        again = PromptFeatures.from_bytes(first.to_bytes())
        assert (again.tokens, again.model) == (first.tokens, first.model)
        assert np.array_equal(again.mel, first.mel)
        assert np.array_equal(again.embedding, first.embedding)

    def test_equal_features_are_equal_bytes(self):
        assert made().to_bytes() == made().to_bytes()

    def test_half_a_minute_takes_half_a_megabyte(self):
        assert len(made(tuple(range(750))).to_bytes()) < 500_000


class TestRefusing:
    @pytest.mark.parametrize(
        "data",
        [
            b"",
            b"\x93",
            pickle.dumps(made().tokens),
            made().to_bytes()[:-1],
            made().to_bytes() + b"\0",
            stored(version=features.VERSION + 1),
            stored(tokens=(1, 2)),
            stored(tokens=(1, 2, 6561)),
            stored(tokens=(1, 2, -1)),
            stored(mel=b"\0" * 1919),
            stored(mel=np.full((6, 80), np.nan, np.float32).tobytes()),
            stored(embedding=bytes(4 * 191)),
        ],
    )
    def test_what_is_none_is_not_read(self, data):
        with pytest.raises(UnreadableFeatures):
            PromptFeatures.from_bytes(data)


class TestDigest:
    def test_tells_recordings_and_models_apart(self):
        assert len({digest(b"a", "m"), digest(b"b", "m"), digest(b"a", "n")}) == 3

    def test_is_the_same_for_the_same(self):
        assert digest(b"a", "m") == digest(b"a", "m")
