"""A segment's way through the stages, in tokens and frames, without a network."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streaming.costs import Costs
from streaming.hops import Rhythm
from streaming.runners.cosyvoice.progress import Progress
from streaming.steps import Cost

RHYTHM = Rhythm(
    block_tokens=25,
    lookahead_tokens=3,
    held_back_tokens=4.0,
    frames_per_token=2,
    euler_steps=10,
)
COSTS = Costs({"llm": Cost(0.01, 0.0001), "flow": Cost(0.002, 0.0001), "vocoder": Cost(0.01, 0)})


def begun(block_rest=8, **kwargs):
    return Progress(RHYTHM, block_rest, **kwargs)


def stages(progress, slack_s=0.0):
    return {want.stage: want for want in progress.wants(slack_s, COSTS)}


def flow_through(progress, slack_s=0.0):
    """Run the hop that could be begun to its end."""
    assert "flow" in stages(progress, slack_s)
    assert progress.begin_euler()
    tokens = progress.hop
    for _ in range(9):
        assert not progress.end_euler()
        assert "flow" in stages(progress, slack_s)
        assert not progress.begin_euler()
    assert progress.end_euler()
    return tokens


def test_it_begins_with_the_llm_alone():
    assert set(stages(begun(prefill_tokens=40))) == {"llm"}


def test_tokens_under_way_count_for_the_llm_and_not_for_a_hop():
    progress = begun()
    progress.read_tokens(9, done=False)
    progress.begin_llm()
    (want,) = progress.wants(0.0, COSTS)
    assert [(each.stage, each.times) for each in want.then] == [("flow", 10), ("vocoder", 1)]
    progress.begin_llm()
    assert set(stages(progress)) == {"llm"}
    for expected in ({"llm"}, {"llm", "flow"}):
        progress.end_llm()
        progress.read_tokens(1, done=False)
        assert set(stages(progress)) == expected


def test_what_follows_a_piece_of_prompt_is_not_known_before_its_end():
    progress = begun(prefill_tokens=40)
    progress.begin_llm()
    assert stages(progress) == {}
    progress.end_llm()
    assert set(stages(progress)) == {"llm"}


def test_the_first_hop_is_begun_when_its_lookahead_is_there():
    progress = begun()
    progress.read_tokens(10, done=False)
    assert set(stages(progress)) == {"llm"}
    progress.read_tokens(1, done=False)
    assert set(stages(progress)) == {"llm", "flow"}
    assert flow_through(progress) == 8
    assert "vocoder" in stages(progress)
    assert progress.waiting_frames == 16
    assert progress.begin_vocoder() == (1, False)


def test_a_hop_costs_the_blocks_that_it_has_any_of():
    progress = begun()
    progress.read_tokens(11, done=False)
    assert stages(progress)["flow"].units == 50.0  # the rest of it is the prompt's
    flow_through(progress)
    progress.read_tokens(24, done=True)
    assert stages(progress)["flow"].units == 100.0  # a block and two tokens
    assert flow_through(progress) == 27
    longer = begun()
    longer.read_tokens(11, done=True)
    assert stages(longer)["flow"].units == 100.0  # the prompt's block, and three tokens
    assert [each.units for each in stages(longer)["flow"].then] == [100.0, 22.0]


def test_the_llm_goes_on_during_a_hop_until_it_is_far_ahead():
    progress = begun()
    progress.read_tokens(40, done=False)
    assert set(stages(progress)) == {"llm", "flow"}
    progress.read_tokens(90, done=False)
    assert "llm" not in stages(progress)


def test_a_token_is_needed_later_where_audio_is_in_the_making():
    hungry, fed = begun(), begun()
    fed.read_tokens(60, done=False)
    assert stages(fed)["llm"].spare_s > stages(hungry)["llm"].spare_s == 0
    assert COSTS.path_s(stages(hungry)["llm"].then) > COSTS.path_s(stages(fed)["llm"].then)


def test_the_end_takes_the_lookahead_with_it():
    progress = begun()
    progress.read_tokens(10, done=True)
    assert flow_through(progress) == 10
    assert progress.flow_done
    assert progress.waiting_frames == 20
    assert progress.begin_vocoder() == (1, True)
    assert not stages(progress)


def test_the_end_that_did_not_come_about_is_asked_for_again():
    progress = begun()
    progress.read_tokens(10, done=True)
    flow_through(progress)
    hops, last = progress.begin_vocoder()
    progress.undo_vocoder([20])
    assert set(stages(progress)) == {"vocoder"}
    assert progress.waiting_frames == 20
    assert progress.begin_vocoder() == (hops, last) == (1, True)


def test_a_rest_that_is_only_lookahead_is_a_hop_of_its_own():
    progress = begun()
    progress.read_tokens(11, done=False)
    assert flow_through(progress) == 8
    progress.read_tokens(0, done=True)
    assert flow_through(progress) == 3
    assert progress.flow_done


def test_the_end_that_comes_during_a_hop_does_not_make_it_the_last():
    progress = begun()
    progress.read_tokens(11, done=False)
    assert "flow" in stages(progress)
    progress.begin_euler()
    progress.read_tokens(0, done=True)
    while not progress.end_euler():
        progress.begin_euler()
    assert not progress.flow_done
    assert flow_through(progress) == 3


def test_text_that_pauses_costs_nothing_and_holds_nothing_back_that_can_be_said():
    progress = begun()
    progress.read_tokens(20, done=False)
    progress.llm_waits = True
    assert set(stages(progress, slack_s=60.0)) == {"flow"}
    assert flow_through(progress, slack_s=60.0) == 8
    progress.begin_vocoder()
    assert not stages(progress)


def test_interleaved_text_is_not_gone_on_with_before_what_was_drawn_is_heard():
    whole, interleaved = begun(), begun(llm_hears=True)
    for progress in (whole, interleaved):
        assert "llm" in stages(progress)
        progress.begin_llm()
    assert "llm" in stages(whole)
    assert "llm" not in stages(interleaved)
    interleaved.end_llm()
    assert "llm" in stages(interleaved)


def test_speed_counts_in_what_the_vocoder_makes():
    progress = begun(speed=2.0)
    progress.read_tokens(11, done=False)
    flow_through(progress)
    assert stages(progress)["vocoder"].units == pytest.approx(8.0)


moves = st.tuples(st.sampled_from(["llm", "flow", "vocoder"]), st.integers(0, 9))
STEADY = replace(RHYTHM, steady=True)


@given(st.lists(moves, max_size=60), st.floats(0, 8), st.integers(2, 120))
def test_a_steady_rhythm_cuts_alike_whatever_the_order(order, slack_s, length):
    progress = Progress(STEADY, 8)
    cuts = []
    for stage, many in [*order, *[(stage, 5) for stage in ("llm", "flow", "vocoder")] * 600]:
        if stage not in stages(progress, slack_s):
            continue
        if stage == "llm":
            count = min(many, length - progress.made_tokens)
            progress.read_tokens(count, done=progress.made_tokens + count == length)
        elif stage == "flow":
            progress.begin_euler()
            progress.end_euler()
        else:
            cuts.append(progress.waiting[0] // 2 if progress.waiting else 0)
            progress.begin_vocoder()
    ends = [*range(8, length - 2, 25), length]
    assert progress.vocoder_done
    assert [cut for cut in cuts if cut] == [b - a for a, b in zip([0, *ends], ends, strict=False)]


@given(
    st.integers(1, 25),
    st.lists(
        st.tuples(st.sampled_from(["llm", "flow", "vocoder"]), st.integers(0, 9)), max_size=90
    ),
    st.floats(0, 8),
    st.integers(2, 200),
)
def test_whatever_the_order_each_token_becomes_its_frames_once(rest, order, slack_s, length):
    progress = begun(rest)
    hops, frames, lasts = [], 0, 0
    queue = [*order, *[(stage, 5) for stage in ("llm", "flow", "vocoder")] * 600]
    for stage, many in queue:
        if stage not in stages(progress, slack_s):
            continue
        if stage == "llm":
            count = min(many, length - progress.made_tokens)
            progress.read_tokens(count, done=progress.made_tokens + count == length)
        elif stage == "flow":
            hops.append(progress.hop if progress.begin_euler() else 0)
            progress.end_euler()
        else:
            frames += progress.waiting_frames
            last = progress.begin_vocoder()[1]
            lasts += last
    taken = [hop for hop in hops if hop]
    assert progress.vocoder_done
    assert lasts == 1
    assert sum(taken) == length == frames // 2
    assert len(hops) == 10 * len(taken)
    ends = [sum(taken[: index + 1]) for index in range(len(taken) - 1)]
    assert all((end - rest) % 25 == 0 for end in ends)
