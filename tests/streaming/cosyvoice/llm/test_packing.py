"""Batches as tables: dense where slots lie close, gathered where not, of few shapes."""

from __future__ import annotations

import pytest
import torch
from tiny_llms import TinyLlm

from streaming.cosyvoice.llm.cache import KvCache
from streaming.cosyvoice.llm.decoder import Decoder
from streaming.cosyvoice.llm.decoding import Decoding
from streaming.cosyvoice.llm.packing import (
    SLOT,
    TAKE,
    WRITE_AT,
    Buckets,
    Packed,
    StepShape,
    idle_table,
    pack,
    shapes_of,
)
from streaming.cosyvoice.llm.sampler import RepetitionAware, Sampling
from streaming.cosyvoice.llm.script import LlmPrompt
from streaming.cosyvoice.llm.step import Stepper
from streaming.cosyvoice.sizes import END_OF_PROMPT, LlmSizes

BUCKETS = Buckets((1, 2, 4, 8, 16), (64, 128))
PROMPT = LlmPrompt((END_OF_PROMPT,))


@pytest.fixture
def decoder(tiny_llm: TinyLlm) -> Decoder:
    return Decoder(tiny_llm("cosyvoice3"), slots=12, positions=300)


def speaking(decoder: Decoder, count: int) -> list[Decoding]:
    """So many, all past their prompts."""
    made = [decoder.begin(PROMPT, range(12), seed=n, segment=0) for n in range(count)]
    for _ in range(3):
        decoder.step(made)
    return made


def packed(decoder: Decoder, batch: list[Decoding]) -> Packed:
    return pack(batch, decoder.cache, BUCKETS)


def test_slots_that_would_widen_the_batch_are_gathered(decoder: Decoder) -> None:
    batch = speaking(decoder, 6)
    for some, dense, rows in ((batch[:4], True, 4), (batch[1:5], False, 4), (batch[5:], False, 1)):
        shape = packed(decoder, some).shape
        assert (shape.dense, shape.rows) == (dense, rows)


def test_rows_of_a_slice_are_their_slots(decoder: Decoder) -> None:
    batch = speaking(decoder, 7)
    made = packed(decoder, [batch[6], *batch[:5]])
    assert made.shape == StepShape(tokens=8, rows=8, length=64, dense=True, draws=8)
    assert made.table[SLOT].tolist() == [*range(8)]
    nowhere = decoder.cache.nowhere
    assert [int(at) == nowhere for at in made.table[WRITE_AT]] == [False] * 5 + [True, False, True]
    assert made.table[TAKE].tolist() == [6, 0, 1, 2, 3, 4, 0, 0]


def test_far_slots_are_gathered_and_padding_goes_to_a_row_that_is_no_slot(
    decoder: Decoder,
) -> None:
    batch = speaking(decoder, 12)
    made = packed(decoder, [batch[0], batch[11], batch[5]])
    assert (made.shape.dense, made.shape.tokens) == (False, 4)
    assert made.table[SLOT].tolist() == [0, 11, 5, decoder.cache.scratch]


def test_lengths_are_padded_to_the_longest_in_use(decoder: Decoder) -> None:
    one = speaking(decoder, 1)
    lengths = set()
    while one[0].wants:
        lengths.add(packed(decoder, one).shape.length)
        decoder.step(one)
    assert lengths <= {64, 128, 300}
    assert 64 in lengths


def test_short_pieces_ride_as_rows_and_long_ones_are_chunks(decoder: Decoder) -> None:
    short = decoder.begin(PROMPT, range(5), seed=0, segment=0)
    decoder.step([short])  # the prefix
    long = decoder.begin(LlmPrompt((END_OF_PROMPT, *range(30))), (1,), seed=0, segment=0)
    made = packed(decoder, [short, long])
    assert (made.shape.rows, made.shape.tokens, made.shape.draws) == (8, 40, 1)
    assert made.table[SLOT, :6].tolist() == [short.slot] * 6
    assert [(chunk.row, chunk.count, chunk.position) for chunk in made.chunks] == [(8, 32, 0)]
    assert made.drawing == (short,)
    assert int(made.table[TAKE, 0]) == 5


def test_shapes_are_few(decoder: Decoder) -> None:
    shapes = shapes_of(decoder.cache, BUCKETS, 64)
    assert {shape.rows for shape in shapes} == {1, 2, 4, 8, 16}
    assert {shape.length for shape in shapes} == {64, 128, 300}
    assert len(shapes) == 5 * 3 * 2
    batch = speaking(decoder, 12)
    for count in range(1, 13):
        assert packed(decoder, batch[:count]).shape in shapes


def test_shapes_that_no_batch_can_have_are_none(decoder: Decoder) -> None:
    shapes = shapes_of(decoder.cache, BUCKETS, 3)
    assert {shape.rows for shape in shapes} == {1, 2, 4}
    batch = speaking(decoder, 12)
    for count in range(1, 4):
        assert packed(decoder, batch[:count]).shape in shapes
        assert packed(decoder, batch[-count:]).shape in shapes


def test_a_table_of_padding_alone_leaves_nothing_behind(tiny_llm: TinyLlm) -> None:
    model = tiny_llm("cosyvoice3")
    cache = KvCache(model.sizes, 12, 300, model.device, model.dtype)
    stepper = Stepper(model, cache, RepetitionAware(model.ids, Sampling()))
    for shape in shapes_of(cache, BUCKETS, 64):
        with torch.inference_mode():
            choices = stepper.run(stepper.idle_table(shape), shape)
        assert len(choices) == shape.draws
    assert not cache.keys[:, :, :-1].any()
    assert bool((stepper.history[:12] == -1).all())


def test_a_slot_that_is_gathered_is_read_like_one_that_is_not(tiny_llm: TinyLlm) -> None:
    model = tiny_llm("cosyvoice3")
    tokens = []
    for others in (0, 11):
        decoder = Decoder(model, slots=12, positions=300)
        kept = [decoder.begin(PROMPT, range(3), seed=1, segment=0) for _ in range(others)]
        one = decoder.begin(PROMPT, range(6), seed=5, segment=0)
        while one.wants:
            decoder.step([one])
        assert len(kept) == one.slot
        tokens.append(one.tokens)
    assert tokens[0] == tokens[1]


def test_without_a_record_nothing_is_to_be_warmed(decoder: Decoder) -> None:
    assert decoder.warm(64) == 0


def test_rows_beyond_the_last_bucket_come_in_eights() -> None:
    assert [BUCKETS.fit_rows(count) for count in (1, 3, 16, 17, 33)] == [1, 4, 16, 24, 40]
    assert [BUCKETS.fit_length(count, 300) for count in (1, 64, 65, 129)] == [64, 64, 128, 300]
    assert BUCKETS.fit_length(60, 50) == 50


def test_idle_tables_have_the_shapes_size() -> None:
    sizes = LlmSizes("cosyvoice3", hidden=32, layers=1, heads=4, kv_heads=2)
    cache = KvCache(sizes, 3, 10, torch.device("cpu"), torch.float32)
    shape = StepShape(tokens=8, rows=8, length=10, dense=True, draws=8)
    assert idle_table(shape, cache).shape == (9, 8)
