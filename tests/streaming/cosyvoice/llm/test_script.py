"""Text that is there as a whole: order, limits, refusals."""

from __future__ import annotations

import pytest
from llm_scripts import IDS, LIMITS, Feed, sounds

from streaming.cosyvoice.llm.errors import BadIds, OutOfPositions
from streaming.cosyvoice.llm.ids import STOP
from streaming.cosyvoice.llm.sampler import MAY_STOP
from streaming.cosyvoice.llm.script import Limits, LlmPrompt, WholeText
from streaming.cosyvoice.sizes import END_OF_PROMPT, Generation

V2, V3 = IDS["cosyvoice2"], IDS["cosyvoice3"]
TEXT = (50, 51, 52)


def whole(
    prompt: LlmPrompt,
    text: tuple[int, ...] = TEXT,
    generation: Generation = "cosyvoice2",
    limits: Limits = LIMITS,
) -> WholeText:
    return WholeText(generation, IDS[generation], prompt, text, limits)


def fed_before_the_first_draw(script: WholeText) -> list[int]:
    return Feed(script, sounds()).run(draws=1).codes


def test_zero_shot_gives_transcript_text_and_recording() -> None:
    codes = fed_before_the_first_draw(whole(LlmPrompt((10, 11), (7, 8, 9))))
    assert codes == [V2.sos, *V2.text((10, 11, *TEXT)), V2.task, 7, 8, 9]


def test_cross_lingual_gives_no_transcript_and_no_recording() -> None:
    codes = fed_before_the_first_draw(whole(LlmPrompt(())))
    assert codes == [V2.sos, *V2.text(TEXT), V2.task]


def test_an_instruction_stands_where_the_transcript_would() -> None:
    prompt = LlmPrompt((30, 31, END_OF_PROMPT))
    codes = fed_before_the_first_draw(whole(prompt, generation="cosyvoice3"))
    assert codes == [V3.sos, *V3.text((30, 31, END_OF_PROMPT, *TEXT)), V3.task]


def test_version_3_needs_the_end_of_the_prompt() -> None:
    with pytest.raises(BadIds, match=r"needs <\|endofprompt\|> \(text id 151646\)"):
        whole(LlmPrompt((10, 11)), generation="cosyvoice3")


def test_signs_of_the_generations_are_theirs() -> None:
    assert (V3.sos, V3.stop, V3.task, V3.fill, V3.speech_rows) == (6561, 6562, 6563, 6564, 6761)
    assert (V2.stop, V2.fill, V2.speech_rows) == (6561, 6563, 6564)
    assert (V2.sos, V2.task) == (6564 + 151936, 6564 + 151937)


def test_each_token_is_fed_again_and_drawn_after() -> None:
    feed = Feed(whole(LlmPrompt(())), sounds()).run(draws=3)
    assert feed.codes[-2:] == [1000, 1001]
    assert feed.draws == [5, 6, 7]


def test_no_sign_before_two_tokens_a_text_token_and_the_end_at_twenty() -> None:
    feed = Feed(whole(LlmPrompt((1,), (2,))), sounds()).run()
    assert [bool(piece.flags & MAY_STOP) for piece in feed.pieces if piece.samples] == [
        *[False] * 6,
        *[True] * 54,
    ]
    assert feed.script.made == 60
    assert feed.script.done
    assert not feed.script.cut_off


def test_a_stop_is_the_end_and_no_sound() -> None:
    answers = iter([5, 6, STOP])
    script = whole(LlmPrompt(()))
    Feed(script, lambda _: next(answers)).run()
    assert (script.done, script.made, script.steps) == (True, 2, 3)


def test_no_text_is_no_speech() -> None:
    assert whole(LlmPrompt((1, 2), (3,)), text=()).done


def test_a_long_prompt_is_cut_at_the_piece_and_at_the_end_of_the_prefix() -> None:
    limits = Limits(positions=500, piece=10)
    script = whole(LlmPrompt(tuple(range(14)), tuple(range(20))), limits=limits)
    assert [len(piece.codes) for piece in script.pieces] == [10, 5, 10, 10, 4]
    assert [piece.samples for piece in script.pieces] == [False] * 4 + [True]
    script.skip_prefix()
    assert [len(piece.codes) for piece in script.pieces] == [10, 10, 4]


def test_speech_ends_where_the_slot_does() -> None:
    limits = Limits(positions=20, piece=256)
    feed = Feed(whole(LlmPrompt((1, 2), (3, 4)), limits=limits), sounds()).run()
    # sos, two, three, task, two: nine; the last token made is never fed.
    assert feed.script.made == 12
    assert len(feed.codes) == 20
    assert feed.script.cut_off


def test_what_leaves_too_little_room_is_refused() -> None:
    limits = Limits(positions=13, piece=256)
    with pytest.raises(OutOfPositions, match="leave 5 of 13 positions") as refused:
        whole(LlmPrompt((1, 2), (3, 4)), limits=limits)
    assert refused.value.code == "text_too_long"


@pytest.mark.parametrize("bad", [-1, 151936])
def test_a_text_id_out_of_the_vocabulary_is_named(bad: int) -> None:
    with pytest.raises(BadIds, match=f"text id {bad} is not in the vocabulary of 151936"):
        whole(LlmPrompt(()), text=(1, bad))


@pytest.mark.parametrize("bad", [-1, 6561])
def test_a_prompt_token_that_is_no_sound_is_named(bad: int) -> None:
    with pytest.raises(BadIds, match=f"speech token {bad} is not in the codebook of 6561"):
        whole(LlmPrompt((), (1, bad)))
