"""Text that is still arriving: five by fifteen, and what the official loop trips over."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llm_scripts import IDS, LIMITS, Answer, Feed, sounds

from streaming.cosyvoice.llm.errors import BadIds, OutOfPositions
from streaming.cosyvoice.llm.ids import FILL, STOP
from streaming.cosyvoice.llm.interleaving import StreamedText
from streaming.cosyvoice.llm.sampler import AFTER_FILL, MAY_END, MAY_FILL
from streaming.cosyvoice.llm.script import Limits, LlmPrompt, Piece
from streaming.cosyvoice.sizes import END_OF_PROMPT, Generation
from streaming.errors import BadState

V2, V3 = IDS["cosyvoice2"], IDS["cosyvoice3"]
NOTHING = LlmPrompt(())


def streamed(
    prompt: LlmPrompt = NOTHING,
    text: Sequence[int] = (),
    generation: Generation = "cosyvoice2",
    limits: Limits = LIMITS,
) -> StreamedText:
    return StreamedText(generation, IDS[generation], prompt, text, limits)


def ids(count: int, first: int = 100) -> tuple[int, ...]:
    return tuple(range(first, first + count))


def run(script: StreamedText, draws: int = 10_000) -> Feed:
    return Feed(script, sounds()).run(draws)


def test_five_text_tokens_then_fifteen_of_speech() -> None:
    feed = run(streamed(text=ids(10)))
    first, second = V2.text(ids(5)), V2.text(ids(5, 105))
    assert feed.codes[:6] == [V2.sos, *first]
    assert feed.codes[6:20] == [*range(1000, 1014)]
    # The fifteenth goes in with the next text: the fill between them is certain.
    assert feed.codes[20:26] == [1014, *second]
    assert feed.script.made == 30
    assert not feed.script.done


def test_it_waits_for_five_and_costs_nothing_meanwhile() -> None:
    script = streamed(text=ids(4))
    feed = run(script)
    assert feed.codes == [V2.sos]
    script.append(ids(1))
    assert feed.run().script.made == 15
    assert not script.pieces
    script.append(ids(4))
    assert not script.pieces


def test_when_the_text_ends_the_rest_the_sign_and_the_last_token_are_fed() -> None:
    script = streamed(text=ids(7))
    feed = run(script)
    script.end()
    feed.run(draws=1)
    # The official loop feeds the last token twice here; golden cases hold it.
    assert feed.codes[20:] == [1014, 1014, *V2.text(ids(2, 105)), V2.task]


def test_text_that_ends_before_five_is_whole_text() -> None:
    script = streamed(text=ids(3))
    script.end()
    assert run(script, draws=1).codes == [V2.sos, *V2.text(ids(3)), V2.task]


def test_the_prompt_is_interleaved_the_same_way() -> None:
    script = streamed(LlmPrompt(ids(7, 10), ids(37, 500)), ids(20))
    feed = run(script, draws=9)
    text, speech = V2.text((*ids(7, 10), *ids(20))), ids(37, 500)
    assert feed.codes == [
        *(V2.sos, *text[:5], *speech[:15], *text[5:10], *speech[15:30], *text[10:15], *speech[30:]),
        # Seven of the third fifteen were the prompt's, so eight are drawn before the next text.
        *(*range(1000, 1008), *text[15:20]),
    ]


def test_the_prompts_own_groups_are_its_prefix() -> None:
    prompt = LlmPrompt(ids(12, 10), ids(40, 500))
    prefix = streamed(prompt, ids(30)).prefix
    assert prefix == streamed(prompt).prefix
    text = V2.text(ids(12, 10))
    assert prefix == (*(V2.sos, *text[:5], *ids(15, 500), *text[5:10], *ids(15, 515)),)


def test_a_prefix_keeps_back_the_token_that_the_first_draw_comes_after() -> None:
    script = streamed(LlmPrompt(ids(5, 10), ids(15, 500)), ids(1))
    assert script.prefix[-1] == 513
    script.skip_prefix()
    feed = run(script, draws=1)
    assert feed.codes == [514]


def test_skipping_the_prefix_changes_nothing_after_it() -> None:
    prompt = LlmPrompt(ids(12, 10), ids(40, 500))
    with_prefix, without = streamed(prompt, ids(30)), streamed(prompt, ids(30))
    with_prefix.skip_prefix()
    rest, all_of_it = run(with_prefix), run(without)
    assert [*without.prefix, *rest.codes] == all_of_it.codes


def test_speech_of_the_prompt_that_is_left_when_the_text_ends_is_not_dropped() -> None:
    script = streamed(LlmPrompt((), ids(20, 500)), ids(7))
    script.end()
    feed = run(script, draws=1)
    first, rest = V2.text(ids(5)), V2.text(ids(2, 105))
    assert feed.codes == [
        *(V2.sos, *first, *ids(15, 500), *rest, V2.task, *ids(5, 515)),
    ]


def test_version_3_without_prompt_speech_is_given_its_first_text_before_it_speaks() -> None:
    prompt = LlmPrompt((30, END_OF_PROMPT))
    feed = run(streamed(prompt, ids(5), "cosyvoice3"), draws=1)
    assert feed.codes == [V3.sos, *V3.text((30, END_OF_PROMPT, *ids(5)))]


def test_version_3s_words_up_to_the_end_of_the_prompt_come_first_and_whole() -> None:
    prompt = LlmPrompt((*ids(8, 10), END_OF_PROMPT, 40, 41), ids(15, 500))
    script = streamed(prompt, ids(3), "cosyvoice3")
    assert script.prefix == (V3.sos, *V3.text((*ids(8, 10), END_OF_PROMPT)))
    script.skip_prefix()
    feed = run(script, draws=1)
    assert feed.codes == [*V3.text((40, 41, *ids(3))), *ids(15, 500)]


def test_version_3_needs_the_end_of_the_prompt() -> None:
    with pytest.raises(BadIds, match="endofprompt"):
        streamed(LlmPrompt((1, 2)), generation="cosyvoice3")


def test_the_ending_has_limits() -> None:
    script = streamed(text=ids(2))
    script.end()
    feed = run(script)
    flags = [piece.flags for piece in feed.pieces if piece.samples]
    assert flags == [*[0] * 4, *[MAY_END] * 36]
    assert script.done


def test_tokens_made_before_the_ending_count_for_its_limits() -> None:
    script = streamed(text=ids(6))
    feed = run(script)
    script.end()
    feed.run()
    assert script.made == 6 * 20
    # Fifteen were made in the first group, so the end is allowed from the first draw on.
    assert feed.pieces[-1].flags == MAY_END


def test_only_a_fill_may_be_drawn_while_text_is_due() -> None:
    feed = run(streamed(text=ids(10)))
    flags = {piece.flags & ~AFTER_FILL for piece in feed.pieces if piece.samples}
    assert flags == {MAY_FILL}


def test_a_fill_asks_for_text_at_once() -> None:
    answers = iter([1000, 1001, FILL, *range(2000, 2015)])
    feed = Feed(streamed(text=ids(10)), lambda _: next(answers)).run()
    # Nothing of the fill itself is fed; it counts as a draw.
    assert feed.codes[6:13] == [1000, 1001, *V2.text(ids(5, 105))]
    assert (feed.script.made, feed.script.steps) == (17, 19)


def test_the_fill_that_is_certain_is_told_to_the_sampler() -> None:
    feed = run(streamed(text=ids(10)))
    flags = [bool(piece.flags & AFTER_FILL) for piece in feed.pieces if piece.samples]
    assert flags == [*[False] * 15, True, *[False] * 14]


def test_a_stop_ends_it() -> None:
    script = streamed(text=ids(1))
    script.end()
    Feed(script, lambda _: STOP).run()
    assert (script.done, script.made) == (True, 0)


def test_no_text_at_all_is_no_speech() -> None:
    prompt = LlmPrompt(ids(5, 10), ids(15, 500))
    script = streamed(prompt)
    run(script)
    assert script.made == 0
    script.end()
    assert script.done


def test_text_after_its_end_is_refused() -> None:
    script = streamed()
    script.end()
    with pytest.raises(BadState, match="after it had ended"):
        script.append((1,))


def test_text_that_would_not_fit_is_refused_whole_and_what_was_given_goes_on() -> None:
    script = streamed(text=ids(5), limits=Limits(positions=64, piece=256))
    with pytest.raises(OutOfPositions, match="begin another"):
        script.append(ids(10))
    script.append(ids(5))
    script.end()
    feed = run(script)
    assert script.done
    assert len(feed.codes) <= 64
    assert script.made > 30
    assert script.cut_off


@given(
    generation=st.sampled_from(["cosyvoice2", "cosyvoice3"]),
    prompt_text=st.integers(0, 13),
    prompt_speech=st.integers(0, 50),
    text=st.integers(0, 40),
    data=st.data(),
)
def test_what_is_fed_does_not_depend_on_when_the_text_came(
    generation: Generation, prompt_text: int, prompt_speech: int, text: int, data: st.DataObject
) -> None:
    words = (END_OF_PROMPT,) if generation == "cosyvoice3" else ()
    prompt = LlmPrompt((*words, *ids(prompt_text, 10)), ids(prompt_speech, 500))
    at_once = streamed(prompt, ids(text), generation)
    at_once.end()
    wanted = Feed(at_once, _moody()).run()

    script = streamed(prompt, (), generation)
    feed = Feed(script, _moody())
    given_so_far = 0
    while given_so_far < text:
        more = data.draw(st.integers(1, text - given_so_far), label="arrives")
        script.append(ids(more, 100 + given_so_far))
        given_so_far += more
        feed.run(draws=data.draw(st.integers(0, 40), label="draws"))
    script.end()
    feed.run()
    assert feed.codes == wanted.codes
    assert feed.pieces == wanted.pieces
    assert script.done


@given(prompt_speech=st.integers(0, 80), text=st.integers(1, 60))
def test_every_code_is_fed_once_and_it_always_ends(prompt_speech: int, text: int) -> None:
    prompt = LlmPrompt(ids(3, 10), ids(prompt_speech, 500))
    script = streamed(prompt, ids(text))
    script.end()
    feed = run(script)
    words = [code for code in feed.codes if code in V2.text((*ids(3, 10), *ids(text)))]
    assert words == [*V2.text((*ids(3, 10), *ids(text)))]
    assert [code for code in feed.codes if 500 <= code < 600] == [*ids(prompt_speech, 500)]
    assert script.made == 20 * text
    assert script.done


def _moody() -> Answer:
    """Answers that depend on the place alone: now and then a fill."""
    asked = 0

    def answer(piece: Piece) -> int:
        nonlocal asked
        asked += 1
        return FILL if asked % 11 == 0 and piece.flags & MAY_FILL else 1000 + asked

    return answer
