"""How many of the known texts are spoken as they should be: ``python -m benchmarks.text_cases``.

Knows: the file of texts, by kind, and the way a text takes. Does not know: a server; nothing is
made audible.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from streaming.text.normal.normaliser import Normaliser
from streaming.text.pipeline import TextPipeline
from streaming.text.segmenter import Segmenter

_TEXTS = Path(__file__).parents[1] / "tests" / "streaming" / "text"
CASES = (_TEXTS / "spoken.txt", _TEXTS / "spoken_more.txt")


@dataclass(frozen=True)
class Case:
    """A text in a context of that language, and its segments' words, `` / `` between them."""

    kind: str
    language: str
    text: str
    spoken: str


def read_cases(paths: Sequence[Path] = CASES) -> Iterator[Case]:
    """The cases of some files: ``[kind]``, then pairs of a text and what it becomes."""
    kind, lines = (
        "",
        iter([line for path in paths for line in path.read_text("utf-8").splitlines()]),
    )
    for line in lines:
        if line.startswith("["):
            kind = line.strip("[]")
        elif line:
            language, _, text = line.partition(" ")
            spoken = next(lines).removeprefix("  => ")
            yield Case(kind, language, text.replace("\\n", "\n"), spoken)


def speak(case: Case) -> str:
    """What the text becomes here."""
    text = TextPipeline(Segmenter(language=case.language), Normaliser((), language=case.language))
    segments = text.append(case.text, 0.0) + text.end(0.0)
    return " / ".join(segment.text for segment in segments)


def main() -> None:
    """Print a table by kind, and what differs."""
    right: dict[str, list[bool]] = {}
    for case in read_cases():
        spoken = speak(case)
        right.setdefault(case.kind, []).append(spoken == case.spoken)
        if spoken != case.spoken:
            print(f"{case.text!r}\n  not {case.spoken}\n  but {spoken}", file=sys.stderr)
    print("| kind | texts | right |\n| --- | --- | --- |")
    for kind, each in right.items():
        print(f"| {kind} | {len(each)} | {sum(each)} |")


if __name__ == "__main__":
    argparse.ArgumentParser(
        prog="python -m benchmarks.text_cases",
        description="How many of the known texts are put into words as they should be, by kind; "
        "what differs is told on standard error.",
    ).parse_args()
    main()
