"""Many contexts in one decoder: each as if it were alone."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from functools import cache

import pytest
import torch
from tiny_llms import TinyLlm

from streaming.cosyvoice.llm.decoder import Decoder, Launched
from streaming.cosyvoice.llm.decoding import Decoding
from streaming.cosyvoice.llm.errors import OutOfSlots
from streaming.cosyvoice.llm.model import SpeechLlm
from streaming.cosyvoice.llm.script import LlmPrompt
from streaming.cosyvoice.sizes import END_OF_PROMPT, SPEECH_TOKENS, Generation
from streaming.errors import BadState

GENERATIONS: tuple[Generation, ...] = ("cosyvoice2", "cosyvoice3")
POSITIONS = 400


@dataclass(frozen=True)
class Wish:
    """One context: its voice, text and seed; ``streamed`` ones get their text in small parts."""

    number: int
    prompt: LlmPrompt
    text: tuple[int, ...]
    streamed: bool = False

    def begin(self, decoder: Decoder, *, with_prefix: bool = False) -> Decoding:
        prefix = decoder.prefix(self.prompt, streamed=self.streamed) if with_prefix else None
        return decoder.begin(
            self.prompt,
            () if self.streamed else self.text,
            seed=1000 + self.number,
            segment=self.number % 3,
            streamed=self.streamed,
            prefix=prefix,
        )


def wishes() -> list[Wish]:
    """Ten of all kinds: zero-shot, instruct and cross-lingual, whole and streamed."""
    return [
        Wish(
            number,
            LlmPrompt(
                (END_OF_PROMPT, *range(number * 2)),
                tuple(range(number * 7)) if number % 3 else (),
            ),
            tuple(range(200, 203 + number // 2)),
            streamed=number % 4 == 1,
        )
        for number in range(10)
    ]


class Feeder:
    """Gives a streamed context its text, two tokens whenever it waits."""

    def __init__(self, decoder: Decoder, wish: Wish, decoding: Decoding) -> None:
        self.decoding = decoding
        self._decoder = decoder
        self._left = list(wish.text) if wish.streamed else None

    def feed(self) -> None:
        if self._left is None or self.decoding.wants or self.decoding.done:
            return
        if self._left:
            self._decoder.append(self.decoding, self._left[:2])
            del self._left[:2]
        else:
            self._decoder.end_text(self.decoding)
            self._left = None


@cache
def alone(model: SpeechLlm, wish: Wish, prefill_tokens: int = 256) -> list[int]:
    """Found out once: most tests compare with it."""
    return speak(brief(model, slots=1, prefill_tokens=prefill_tokens), wish).tokens


def brief(model: SpeechLlm, *, slots: int, prefill_tokens: int = 256) -> Decoder:
    """A decoder whose contexts end soon: random models seldom do of themselves."""
    decoder = Decoder(model, slots=slots, positions=POSITIONS, prefill_tokens=prefill_tokens)
    decoder.limits = replace(decoder.limits, most=8)
    return decoder


def speak(decoder: Decoder, wish: Wish, **how: bool) -> Decoding:
    decoding = wish.begin(decoder, **how)
    feeder = Feeder(decoder, wish, decoding)
    for _ in range(1_000):
        feeder.feed()
        if decoding.done:
            return decoding
        decoder.step([decoding])
    raise AssertionError("it never ended")


@pytest.mark.parametrize("generation", GENERATIONS)
def test_ten_that_join_and_leave_in_mid_flight_say_what_each_says_alone(
    generation: Generation, tiny_llm: TinyLlm
) -> None:
    model = tiny_llm(generation)
    wanted = {wish.number: alone(model, wish) for wish in wishes()}
    assert len({tuple(tokens) for tokens in wanted.values()}) == 10

    decoder = brief(model, slots=8)
    waiting = wishes()
    active: dict[int, Feeder] = {}
    made: dict[int, list[int]] = {wish.number: [] for wish in waiting}
    for tick in range(2_000):
        if waiting and decoder.free_slots and tick % 3 == 0:
            wish = waiting.pop(0)
            active[wish.number] = Feeder(decoder, wish, wish.begin(decoder))
        # Now and then some sit out a step, as a scheduler would have it.
        going = {n: one for n, one in active.items() if (tick + n) % 5}
        for feeder in active.values():
            feeder.feed()
        results = decoder.step([one.decoding for one in going.values()])
        for number, result in zip(going, results, strict=True):
            assert isinstance(result, list)
            made[number] += result
        for number, feeder in list(active.items()):
            if feeder.decoding.done:
                decoder.release(active.pop(number).decoding)
        if not waiting and not active:
            break
    assert made == wanted
    assert decoder.free_slots == 8


@pytest.mark.parametrize("generation", GENERATIONS)
def test_the_host_may_be_a_step_behind(generation: Generation, tiny_llm: TinyLlm) -> None:
    model = tiny_llm(generation)
    wanted = {wish.number: alone(model, wish) for wish in wishes()}
    decoder = brief(model, slots=10)
    feeders = {wish.number: Feeder(decoder, wish, wish.begin(decoder)) for wish in wishes()}
    going = [one.decoding for one in feeders.values()]
    under_way: deque[list[Launched]] = deque()
    in_vain = 0
    while going or under_way:
        for feeder in feeders.values():
            feeder.feed()
        if going:
            under_way.append(decoder.launch(going))
            if len(under_way) < 2:
                continue
        for each in under_way.popleft():
            in_vain += each.decoding.done and each.choices is not None
            assert isinstance(each.take(), list)
        going = [one for one in going if not one.done]
    assert {number: one.decoding.tokens for number, one in feeders.items()} == wanted
    assert in_vain > 0 or generation == "cosyvoice2"  # whose tiny model never stops of itself


@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize("number", [1, 4, 5])
def test_a_prefix_changes_no_token(generation: Generation, number: int, tiny_llm: TinyLlm) -> None:
    model, wish = tiny_llm(generation), wishes()[number]
    decoder = brief(model, slots=1)
    assert speak(decoder, wish, with_prefix=True).tokens == alone(model, wish)


def test_a_prefix_holds_what_does_not_depend_on_the_text(tiny_llm: TinyLlm) -> None:
    decoder = Decoder(tiny_llm("cosyvoice3"), slots=1, positions=POSITIONS, prefill_tokens=16)
    prompt = LlmPrompt((END_OF_PROMPT, *range(40)), tuple(range(60)))
    whole, streamed = decoder.prefix(prompt), decoder.prefix(prompt, streamed=True)
    assert whole.bytes == 42 * decoder.cache.bytes_per_position
    # 2 of the start, four groups of five and fifteen, less the token a draw must come after
    assert streamed.bytes == (2 + 4 * 20 - 1) * decoder.cache.bytes_per_position
    assert not decoder.cache.keys[:, :, :-1].any()


@pytest.mark.parametrize("number", [4, 5])
def test_the_prefix_of_one_that_speaks_is_the_voices(number: int, tiny_llm: TinyLlm) -> None:
    decoder = Decoder(tiny_llm("cosyvoice3"), slots=2, positions=POSITIONS)
    wish = wishes()[number]
    first = wish.begin(decoder)
    assert decoder.prefix_of(first) is None
    feeder = Feeder(decoder, wish, first)
    while not first.script.steps:
        feeder.feed()
        decoder.step([first])
    prefix = decoder.prefix_of(first)
    wanted = decoder.prefix(wish.prompt, streamed=wish.streamed)
    assert prefix is not None
    assert prefix.codes == wanted.codes
    assert torch.equal(prefix.kept.keys, wanted.kept.keys)
    decoder.release(first)
    assert decoder.prefix_of(first) is None


def test_a_prefix_of_another_prompt_or_text_mode_is_refused(tiny_llm: TinyLlm) -> None:
    decoder = Decoder(tiny_llm("cosyvoice3"), slots=1, positions=POSITIONS)
    one, other = LlmPrompt((END_OF_PROMPT, 1)), LlmPrompt((END_OF_PROMPT, 2))
    for prompt, streamed in ((other, False), (LlmPrompt((END_OF_PROMPT, 1), (3,)), True)):
        with pytest.raises(ValueError, match="made of another prompt"):
            decoder.begin(
                prompt, (7,), seed=0, segment=0, streamed=streamed, prefix=decoder.prefix(one)
            )
    assert decoder.free_slots == 1


@pytest.mark.parametrize("steps", range(0, 24, 3))
def test_a_context_cancelled_at_any_step_leaves_no_trace_in_the_next(
    steps: int, tiny_llm: TinyLlm
) -> None:
    model = tiny_llm("cosyvoice3")
    decoder = brief(model, slots=1, prefill_tokens=10)
    cancelled = wishes()[8].begin(decoder)
    for _ in range(steps):
        decoder.step([cancelled])
    decoder.release(cancelled)
    assert not decoder.cache.keys[:, cancelled.slot].any()
    assert not decoder.cache.values[:, cancelled.slot].any()
    next_one = speak(decoder, wishes()[4])
    assert next_one.slot == cancelled.slot
    assert next_one.tokens == alone(model, wishes()[4], prefill_tokens=10)


def test_releasing_twice_frees_one_slot(tiny_llm: TinyLlm) -> None:
    decoder = Decoder(tiny_llm("cosyvoice3"), slots=2, positions=POSITIONS)
    decoding = wishes()[0].begin(decoder)
    decoder.release(decoding)
    decoder.release(decoding)
    assert decoder.free_slots == 2
    assert not decoding.wants


def test_misuse_is_told(tiny_llm: TinyLlm) -> None:
    decoder = Decoder(tiny_llm("cosyvoice3"), slots=1, positions=POSITIONS)
    decoding = wishes()[0].begin(decoder)
    with pytest.raises(OutOfSlots, match="all 1 slots") as refused:
        wishes()[1].begin(decoder)
    assert (refused.value.code, refused.value.retryable) == ("overloaded", True)
    with pytest.raises(BadState, match="given whole"):
        decoder.append(decoding, [1])
    with pytest.raises(ValueError, match="twice"):
        decoder.step([decoding, decoding])
    decoder.release(decoding)
    with pytest.raises(BadState, match="released"):
        decoder.step([decoding])


def test_text_that_pauses_costs_nothing_while_it_waits(tiny_llm: TinyLlm) -> None:
    model = tiny_llm("cosyvoice3")
    decoder = Decoder(model, slots=2, positions=POSITIONS)
    forwards: list[int] = []
    watch = model.body.register_forward_pre_hook(lambda _, given: forwards.append(len(given[0])))
    try:
        paused = decoder.begin(
            LlmPrompt((END_OF_PROMPT,)), range(7), seed=0, segment=0, streamed=True
        )
        other = wishes()[0].begin(decoder)
        while paused.wants:
            decoder.step([paused])
        made = list(paused.tokens)
        assert 0 < len(made) <= 15
        forwards.clear()
        assert decoder.step([paused]) == [[]]
        assert forwards == []
        while not other.done:
            decoder.step([paused, other])
        assert paused.tokens == made
    finally:
        watch.remove()
    decoder.append(paused, range(3))
    assert paused.wants


def test_only_sound_is_handed_out(tiny_llm: TinyLlm) -> None:
    for generation in GENERATIONS:
        for wish in wishes()[:3]:
            tokens = speak(Decoder(tiny_llm(generation), slots=1, positions=POSITIONS), wish).tokens
            assert all(0 <= token < SPEECH_TOKENS for token in tokens)
            assert 2 * len(wish.text) <= len(tokens) <= 20 * len(wish.text)


def test_long_silences_are_dropped_from_what_is_handed_out(tiny_llm: TinyLlm) -> None:
    class Silent:
        def __call__(self, _logits: object, _history: object, draw: object) -> torch.Tensor:
            return torch.full_like(draw.slots, 28)

    for generation, wanted in (("cosyvoice2", 40), ("cosyvoice3", 5)):
        decoder = Decoder(tiny_llm(generation), slots=1, positions=90, sampler=Silent())
        decoding = decoder.begin(LlmPrompt((END_OF_PROMPT,)), (1, 2), seed=0, segment=0)
        steps = 0
        while not decoding.done:
            decoder.step([decoding])
            steps += 1
        assert (len(decoding.tokens), decoding.script.made) == (wanted, 40)
