"""Tiny random models, made once for all tests of the language model."""

from __future__ import annotations

import pytest
from tiny_llms import TinyLlm, random_llm

from streaming.cosyvoice.llm.model import SpeechLlm
from streaming.cosyvoice.sizes import Generation


@pytest.fixture(scope="session")
def tiny_llm() -> TinyLlm:
    """``tiny_llm(generation)``: a model that is shared, so to be left as it is."""
    made: dict[Generation, SpeechLlm] = {}

    def tiny(generation: Generation) -> SpeechLlm:
        if generation not in made:
            made[generation] = random_llm(generation)
        return made[generation]

    return tiny
