"""What stands before the text to be spoken, for each way of using a prompt.

Version 3 was trained with a sentence of a system's and ``<|endofprompt|>`` before everything, and
says what comes before that mark aloud where it is missing; version 2 uses the mark to end an
instruction alone. What a user gives may hold such marks of its own: those that would make a model
end, obey or start anew are taken out.
Knows: texts. Does not know: tokens, recordings.
"""

from __future__ import annotations

import re

from streaming.cosyvoice.sizes import Generation

SYSTEM = "You are a helpful assistant."
END = "<|endofprompt|>"

_CONTROL = re.compile(r"<\|[a-z_]*\|>")


def without_control(text: str) -> str:
    """``text`` without the tokens that a model obeys; inline marks (``[breath]``) stay.

    Taking one out may join the halves of another, so this goes on until there is none.
    """
    while (cleaned := _CONTROL.sub("", text)) != text:
        text = cleaned
    return text


def zero_shot(transcript: str, generation: Generation) -> str:
    """Before text that is to go on from a recording; its speech tokens go along."""
    before, spoken = _parts(transcript)
    return f"{_system(before)}{END}{spoken}" if generation == "cosyvoice3" else spoken


def cross_lingual(generation: Generation) -> str:
    """Before text in another language than the recording's, whose tokens stay away."""
    return f"{SYSTEM}{END}" if generation == "cosyvoice3" else ""


def instruct(instruction: str, generation: Generation) -> str:
    """Before text that is to be spoken in a way described; the recording's tokens stay away."""
    before, rest = _parts(instruction)
    wish = f"{before} {rest}".strip()
    if not wish:
        return cross_lingual(generation)
    return f"{_system(wish) if generation == 'cosyvoice3' else wish}{END}"


def _system(wish: str) -> str:
    """The wish after the system's sentence, which may stand there already."""
    if wish.startswith(SYSTEM):
        return wish
    return f"{SYSTEM} {wish}".rstrip()


def _parts(text: str) -> tuple[str, str]:
    """What stands before the first mark of the prompt's end, and what is left after it."""
    before, mark, after = text.partition(END)
    if not mark:
        before, after = "", text
    return without_control(before).strip(), without_control(after).strip()
