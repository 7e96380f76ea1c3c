"""Texts of faults that people reported, by the labels that docs/cases.md has them under.

``reported.txt`` has a label, a language and the text, its deltas between ``¦``; then what is
spoken, segments between ``/``. More of each kind stands in the files beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from streaming.text.normal.normaliser import Normaliser
from streaming.text.pipeline import TextPipeline
from streaming.text.reasoning import ReasoningFilter
from streaming.text.segmenter import Segmenter

LINES = (Path(__file__).parent / "reported.txt").read_text(encoding="utf-8").splitlines()
WRITTEN = {"\\n": "\n", "\\t": "\t", "\\u200b": "\u200b"}
THOUGHTS = "NOR-19"


@dataclass(frozen=True)
class Reported:
    label: str
    language: str
    deltas: tuple[str, ...]
    spoken: list[str]


def read(about: str, spoken: str) -> Reported:
    label, language, text = about.split(" ", 2)
    for so, meant in WRITTEN.items():
        text = text.replace(so, meant)
    said = spoken.removeprefix("  => ")
    segments = [] if said == "(nothing)" else said.split(" / ")
    return Reported(label, language, tuple(text.split("¦")), segments)


CASES = [read(*pair) for pair in zip(LINES[::2], LINES[1::2], strict=True)]


def segments_of(case: Reported, deltas: tuple[str, ...] | str):
    line = TextPipeline(
        Segmenter(language=case.language),
        Normaliser((), language=case.language),
        ReasoningFilter() if case.label == THOUGHTS else None,
    )
    return [made for delta in deltas for made in line.append(delta, 0.0)] + line.end(0.0)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.label} {case.deltas[0][:20]!r}")
def test_is_cut_and_spoken_as_it_should_be(case):
    assert [segment.text for segment in segments_of(case, case.deltas)] == case.spoken


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.label} {case.deltas[0][:20]!r}")
def test_also_when_it_comes_character_by_character_and_nothing_is_lost(case):
    text = "".join(case.deltas)
    segments = segments_of(case, text)
    assert [segment.text for segment in segments] == case.spoken
    assert text.startswith("".join(segment.source for segment in segments))
