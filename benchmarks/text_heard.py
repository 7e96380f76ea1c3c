"""Are the known texts heard as they should be: ``python -m benchmarks.text_heard [--every N]``.

A sample of them is spoken by the bundled voices and heard by a speech recogniser that is not ours.
It writes numbers as it likes, so what it heard is put into words by the front end too, and both are
compared without marks and blanks. That tells what is read wrongly from what is only written another
way; a letter or a name that is heard as another still counts against us. Needs the extras
``[mandarin]`` and ``[dev]``. Knows: the texts, the engine's client. Does not know: sockets.
"""

from __future__ import annotations

import argparse
import asyncio
import re

import soxr

from benchmarks import chinese
from benchmarks.mandarin import READY_S, SPEECH_S, Spoken, finish, speak
from benchmarks.text_cases import Case, read_cases
from benchmarks.text_cases import speak as in_words
from streaming.config import EngineSettings
from streaming.cosyvoice.verify import listening
from streaming.cosyvoice.verify.edits import edits
from streaming.engine.client import EngineClient
from streaming.samples import SAMPLE_RATE

VOICES = {"en": "heart", "zh": "mandarin"}
SHORTEST_WORDS, LONGEST_WORDS = 4, 30
"""Of less a recogniser guesses; more takes long."""


def sample(language: str, every: int) -> list[Case]:
    """Each so-manyth case of the language that is of a length worth hearing."""
    fit = [
        case
        for case in read_cases()
        if case.language == language
        and SHORTEST_WORDS <= len(_units(case.spoken, language)) <= LONGEST_WORDS
    ]
    return fit[::every]


def compared(case: Case, heard: str) -> tuple[int, int]:
    """Units (words, or characters) that were heard wrongly, and how many there are."""
    said = in_words(Case("", case.language, heard, ""))
    if case.language == "zh":
        return chinese.errors(case.spoken, said)
    wanted, got = _units(case.spoken, "en"), _units(said, "en")
    return edits(wanted, got), len(wanted)


def _units(text: str, language: str) -> list[str]:
    if language == "zh":
        return re.findall(r"[\u4e00-\u9fff]|[A-Za-z]+", text)
    text = re.sub(r"\b([A-Z]) (?=[A-Z]\b)", r"\1", text)  # P M is heard as PM
    return re.findall(r"[a-z]+(?:'[a-z]+)?", text.lower().replace("-", " "))


async def spoken(cases: list[Case]) -> list[Spoken]:
    """Every text, one after another."""
    client = EngineClient(EngineSettings(max_ahead_s=SPEECH_S))
    await client.start()
    try:
        await client.wait_ready(READY_S)
        out = []
        for case in cases:
            out.append(speak(client, case.text, VOICES[case.language]))
            await finish(out[-1])
        return out
    finally:
        await client.close()


def main() -> None:
    """Speak, listen, and print what was heard otherwise."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.text_heard",
        description="Let the bundled voices speak a sample of the known texts, and a speech "
        "recogniser hear them (after make setup-dev and make setup-mandarin).",
    )
    parser.add_argument("--every", type=int, default=8, help="take each so-manyth text (8)")
    every = parser.parse_args().every
    for language in VOICES:
        cases = sample(language, every)
        wrong = units = 0
        for case, said in zip(cases, asyncio.run(spoken(cases)), strict=True):
            pcm = soxr.resample(said.samples, SAMPLE_RATE, listening.RATE)
            heard = listening.transcribe(pcm, language=language, beam=5)
            missed, length = compared(case, heard)
            wrong, units = wrong + missed, units + length
            if missed:
                print(f"{missed:3} of {length:3}  {case.spoken}\n    heard as  {heard}")
        print(f"{language}: {len(cases)} texts, {100 * wrong / units:.1f} % heard otherwise")


if __name__ == "__main__":
    main()
