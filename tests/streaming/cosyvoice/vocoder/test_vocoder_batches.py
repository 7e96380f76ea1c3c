"""Both generations: rows that are out of step share a batch, and none is heard in another."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from vocoder_streams import SIZES, speech, streamed

from streaming.cosyvoice.vocoder import MelStretch, VocoderV2, VocoderV3
from streaming.cosyvoice.vocoder.shapes import Shapes

CLOSE = 1e-4
SAME = 1e-5
LENGTHS = (70, 33, 12, 96, 51, 24, 80, 45)


@pytest.fixture(scope="module", params=["v2", "v3"])
def vocoder(request):
    return request.getfixturevalue(request.param)


def cut(mel, hops):
    """Hops, and the index at which each begins; the last has the rest."""
    begins = [sum(hops[:index]) for index in range(len(hops))]
    ends = [*begins[1:], len(mel)]
    return [mel[begin:end] for begin, end in zip(begins, ends, strict=True)]


def together(vocoder, streams):
    """Plays streams (seed, hops of mel, the turn at which it joins) as one changing batch."""
    states = [vocoder.begin(seed) for seed, _, _ in streams]
    heard = [[] for _ in streams]
    for turn in range(max(join + len(hops) for _, hops, join in streams)):
        going = [row for row, (_, hops, join) in enumerate(streams) if 0 <= turn - join < len(hops)]
        rows = []
        for row in going:
            _, hops, join = streams[row]
            rows.append((states[row], hops[turn - join], turn - join == len(hops) - 1))
        for row, (chunk, state) in zip(going, vocoder.step(rows), strict=True):
            heard[row].append(chunk)
            states[row] = state
    return [torch.cat(chunks) for chunks in heard]


@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_a_batch_gives_each_stream_what_it_is_given_alone(vocoder, data):
    streams, alone = [], []
    for seed, length in enumerate(data.draw(st.permutations(LENGTHS))[:5]):
        mel = speech(length, seed)
        hops = data.draw(st.lists(st.integers(0, 30), min_size=1, max_size=5))
        hops = hops if sum(hops) <= length else [length // 2, 0]
        pieces = cut(mel, hops)
        streams.append((seed, pieces, data.draw(st.integers(0, 4))))
        alone.append(torch.cat(streamed(vocoder, mel, hops, seed=seed)))
    for one, other in zip(together(vocoder, streams), alone, strict=True):
        assert one.shape == other.shape
        assert float((one - other).abs().max()) < CLOSE


def test_a_row_taken_over_has_nothing_of_the_stream_before(vocoder):
    loud, quiet = 3.0 * speech(60, 1), 0.1 * speech(60, 2)
    beside = vocoder.begin(9)
    _, left = vocoder.step([(vocoder.begin(1), loud, False), (beside, loud, False)])[0]
    assert left.done_frames
    taken, _ = vocoder.step([(vocoder.begin(2), quiet, True), (beside, loud, False)])[0]
    alone = vocoder.whole(quiet, seed=2)
    assert float((taken - alone).abs().max()) < CLOSE


def test_a_row_that_is_not_a_number_harms_no_other(vocoder):
    broken = speech(40, 1)
    broken[20] = float("nan")
    rows = [(vocoder.begin(1), broken, True), (vocoder.begin(2), speech(30, 2), True)]
    (bad, _), (good, _) = vocoder.step(rows)
    assert not bool(bad.isfinite().all())
    assert float((good - vocoder.whole(speech(30, 2), seed=2)).abs().max()) < CLOSE


def at_speed(mel, hops, speed):
    """The hops as they come out of a stretch."""
    stretch, pieces = MelStretch(speed), cut(mel, hops)
    made = []
    for index, piece in enumerate(pieces):
        new, stretch = stretch.push(piece, last=index == len(pieces) - 1)
        made.append(new)
    return made


@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_filling_batches_up_to_few_shapes_changes_nothing(vocoder, data):
    streams = []
    for seed, length in enumerate(data.draw(st.permutations(LENGTHS))[:4]):
        hops = data.draw(st.lists(st.integers(0, 30), min_size=1, max_size=4))
        hops = hops if sum(hops) <= length else [length // 2, 0]
        speed = data.draw(st.sampled_from([0.5, 0.9, 1.0, 1.3, 2.0]))
        streams.append((seed, at_speed(speech(length, seed), hops, speed), seed % 3))
    plain = together(vocoder, streams)
    asked = []

    def watched(advance):
        return lambda *given: asked.append(given[0].shape[:2]) or advance(*given)

    vocoder.launch(Shapes((1, 3, 4, 8), (16, 40, 64, 100, 220)), watched)
    try:
        filled_up = together(vocoder, streams)
    finally:
        vocoder.launch(Shapes())
    assert asked
    for one, other in zip(plain, filled_up, strict=True):
        assert one.shape == other.shape
        assert float((one - other).abs().max()) < SAME


def test_more_rows_than_a_shape_holds_go_in_several_steps_of_shapes_and_sound_the_same(vocoder):
    streams = [(seed, at_speed(speech(60 + seed, seed), [30, 20], 1.0), 0) for seed in range(5)]
    plain, asked = together(vocoder, streams), []

    def watched(advance):
        return lambda *given: asked.append(given[0].shape[:2]) or advance(*given)

    vocoder.launch(Shapes((1, 2, 4), (40, 70, 100), most_frames=200), watched)
    try:
        in_parts = together(vocoder, streams)
    finally:
        vocoder.launch(Shapes())
    assert {rows for rows, _ in asked} <= {1, 2, 4}
    for one, other in zip(plain, in_parts, strict=True):
        assert float((one - other).abs().max()) < SAME


def test_what_fits_no_shape_is_left_as_it_is(vocoder):
    mel = speech(77)
    plain = vocoder.whole(mel)
    vocoder.launch(Shapes((1,), (40,)), lambda _: pytest.fail)
    try:
        assert torch.equal(vocoder.whole(mel), plain)
    finally:
        vocoder.launch(Shapes())


@pytest.mark.parametrize("kind", [VocoderV2, VocoderV3])
def test_usual_hops_fill_most_of_their_shapes(kind):
    kept, shapes = kind.kept_frames, kind.usual_shapes
    for rows in (1, 2, 5, 32):
        for frames in (50, 50 + kept):
            wide, long = shapes.of(rows, frames)
            assert rows * frames > 0.6 * wide * long
    assert shapes.of(64, 50) is None
    sizes = [wide * long for wide, long in shapes.all(64)]
    assert sizes == sorted(sizes, reverse=True)  # the others use the memory of the largest
    assert len(sizes) < 70
    assert {wide for wide, _ in shapes.all(5)} == {1, 2, 3, 4, 6}


def test_a_step_reads_nothing_back_from_the_device(vocoder):
    with torch.device("meta"):
        nowhere = type(vocoder)(SIZES).fuse()
        mel, plan = torch.empty(3, 30, 80), torch.empty(5, 3, dtype=torch.int64)
    carried, exact = (row.expand(3, -1) for row in (nowhere.blank_carried, nowhere.blank_exact))
    for ragged in (False, True):
        samples, *after = nowhere(mel, plan, carried, exact, ragged=ragged)
        assert samples.is_meta
        assert [row.shape for row in after] == [carried.shape, exact.shape]


def test_a_step_without_rows_is_nothing(vocoder):
    assert vocoder.step([]) == []
