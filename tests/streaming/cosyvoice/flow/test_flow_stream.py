"""The flow as a stream: hops equal the whole, contexts share a batch and nothing else."""

from __future__ import annotations

import itertools

import pytest
import torch
from plain_kernels import in_place
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from streaming.cosyvoice.flow.attention import Gathered, Views
from streaming.cosyvoice.flow.base import FlowPrompt
from streaming.cosyvoice.flow.pool import OutOfPages
from streaming.cosyvoice.flow.v3.module import FlowV3
from streaming.cosyvoice.flow.v3.network import NetworkV3

EXACT = 5e-6
"""Of a mel whose values are around 1."""


def far(mel, expected):
    assert mel.shape == expected.shape
    return (mel - expected).abs().max().item()


class TestExact:
    @pytest.mark.parametrize("blocks", [(0,), (1,), (3,), (0, 2, 1)], ids=str)
    def test_hops_of_any_number_of_blocks_equal_one_pass(
        self, tiny, flow, make_prompt, make_tokens, speak, blocks
    ):
        prompt, tokens = make_prompt(67), make_tokens(120)
        mel, _ = speak(flow, flow.voice(prompt), tokens, blocks)
        assert far(mel, tiny.one_pass(prompt, tokens, streaming=True)) < EXACT

    @pytest.mark.parametrize("prompt_tokens", [0, 1, 2, 3, 22, 24, 25, 26, 27, 28, 50, 53])
    def test_whatever_the_prompt_leaves_of_its_block(
        self, tiny, flow, make_prompt, make_tokens, speak, prompt_tokens
    ):
        prompt, tokens = make_prompt(prompt_tokens), make_tokens(60)
        mel, _ = speak(flow, flow.voice(prompt), tokens)
        assert far(mel, tiny.one_pass(prompt, tokens, streaming=True)) < EXACT

    @pytest.mark.parametrize("tokens", [1, 2, 8, 10, 11, 12, 33, 36, 37])
    def test_wherever_the_segment_ends(self, tiny, flow, make_prompt, make_tokens, speak, tokens):
        prompt, tokens = make_prompt(42), make_tokens(tokens)
        mel, _ = speak(flow, flow.voice(prompt), tokens)
        assert far(mel, tiny.one_pass(prompt, tokens, streaming=True)) < EXACT

    def test_the_official_code_in_hops(self, golden, golden_sizes, golden_fill, make_flow, finish):
        model = golden_fill(FlowV3(golden_sizes("cosyvoice3").flow))
        flow = make_flow(network=NetworkV3(model, device=torch.device("cpu")))
        named = {key: golden[f"cosyvoice3.flow.{key}"] for key in ("prompt_token", "token")}
        prompt = FlowPrompt(
            tuple(named["prompt_token"][0].tolist()),
            golden["cosyvoice3.flow.prompt_feat"][0],
            golden["cosyvoice3.flow.embedding"][0],
        )
        state, tokens, mels = flow.begin(flow.voice(prompt)), named["token"][0].tolist(), []
        for hop_tokens in (5, 25, 25, 28):
            last = state.tokens_done + hop_tokens == len(tokens)
            given = tokens[state.tokens_done :][: hop_tokens + (0 if last else 3)]
            hop = finish(flow, flow.start(state, given, last=last))
            mels.append(hop.mel)
            state = hop.state
        expected = golden["cosyvoice3.flow.mel_streaming"][0].T
        assert far(torch.cat(mels), expected) < EXACT


class TestHops:
    def test_the_first_hop_completes_the_prompts_block(
        self, flow, make_prompt, make_tokens, finish
    ):
        state = flow.begin(flow.voice(make_prompt(67)))
        assert flow.next_hop(state) == 8
        hop = finish(flow, flow.start(state, make_tokens(11), last=False))
        assert hop.mel.shape == (16, 80)
        assert hop.state.tokens_done == 8
        assert flow.next_hop(hop.state) == 25

    def test_a_prompt_that_ends_with_its_block_has_a_first_hop_of_a_whole_one(
        self, flow, make_prompt
    ):
        assert flow.next_hop(flow.begin(flow.voice(make_prompt(50)))) == 25

    @pytest.mark.parametrize("tokens", [3, 10, 12, 30])
    def test_one_that_ends_elsewhere_is_refused(self, flow, make_prompt, make_tokens, tokens):
        state = flow.begin(flow.voice(make_prompt(67)))
        with pytest.raises(ValueError, match="give 8 and any multiple of 25 more"):
            flow.start(state, make_tokens(tokens), last=False)

    def test_nothing_left_to_say_is_a_last_hop_of_no_frames(self, flow, make_prompt):
        hop = flow.start(flow.begin(flow.voice(make_prompt(67))), (), last=True)
        assert hop.done
        assert hop.mel.shape == (0, 80)
        assert hop.state.ended

    def test_after_the_last_there_is_no_other(self, flow, make_prompt, make_tokens, finish):
        state = flow.begin(flow.voice(make_prompt(67)))
        hop = finish(flow, flow.start(state, make_tokens(4), last=True))
        with pytest.raises(ValueError, match="takes no more tokens"):
            flow.start(hop.state, make_tokens(4), last=True)

    def test_before_its_last_step_it_has_no_result(self, flow, make_prompt, make_tokens):
        hop = flow.start(flow.begin(flow.voice(make_prompt(67))), make_tokens(4), last=True)
        for left in range(10, 0, -1):
            assert hop.steps_left == left
            with pytest.raises(ValueError, match=f"{left} Euler steps to go"):
                _ = hop.mel
            with pytest.raises(ValueError, match=f"{left} Euler steps to go"):
                _ = hop.state
            flow.euler([hop])
        assert hop.done

    def test_a_hop_that_is_done_takes_no_step(self, flow, make_prompt, make_tokens, finish):
        state = flow.begin(flow.voice(make_prompt(67)))
        hop = finish(flow, flow.start(state, make_tokens(4), last=True))
        with pytest.raises(ValueError, match="no Euler step left"):
            flow.euler([hop])

    @pytest.mark.parametrize("token", [-1, 6561, 6563])
    def test_a_token_that_is_no_sound_is_named(self, flow, make_prompt, token):
        state = flow.begin(flow.voice(make_prompt(67)))
        with pytest.raises(ValueError, match=f"speech token {token} is no sound"):
            flow.start(state, (5, token), last=True)

    def test_a_state_is_a_value_that_two_hops_may_start_from(
        self, flow, make_prompt, make_tokens, finish
    ):
        first = flow.start(flow.begin(flow.voice(make_prompt(67))), make_tokens(11), last=False)
        state = finish(flow, first).state
        said = [make_tokens(20, seed) for seed in (1, 2)]
        alone = [finish(flow, flow.start(state, t, last=True)).mel for t in said]
        branches = [flow.start(state, t, last=True) for t in said]
        finish(flow, *branches)
        assert far(branches[0].mel, alone[0]) < EXACT
        assert far(branches[1].mel, alone[1]) < EXACT


class TestCost:
    """In multiplications, which a busy machine cannot blur."""

    def costs(self, flow, voice, tokens, **begin):
        state, found = flow.begin(voice, **begin), []
        while (left := tokens[state.tokens_done :]) and len(left) >= flow.next_hop(state) + 3:
            hop = flow.start(state, left[: flow.next_hop(state) + 3], last=False)
            # Plain products: the counter knows nothing of the CPU's own attention.
            with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counted:
                while not hop.done:
                    flow.euler([hop])
            state = hop.state
            found.append(counted.get_total_flops())
        return found

    def test_a_hop_costs_what_the_one_before_did_and_a_look_at_it(
        self, tiny, flow, make_prompt, make_tokens
    ):
        found = self.costs(flow, flow.voice(make_prompt(67)), make_tokens(120))
        looks = [later - earlier for earlier, later in itertools.pairwise(found)]
        # 50 frames look at 50 more: two products, for each step, guidance row, layer.
        assert set(looks) == {2 * 2 * 50 * 50 * tiny.sizes.dim * 10 * 2 * tiny.sizes.depth}

    def test_in_a_window_every_hop_costs_the_same(self, flow, make_prompt, make_tokens):
        voice = flow.voice(make_prompt(67))
        found = self.costs(flow, voice, make_tokens(190), window_s=3.0)
        assert len(set(found[4:])) == 1


class TestVoice:
    def test_a_prompt_is_cut_at_its_end_for_a_short_first_hop(
        self, tiny, flow, make_prompt, make_tokens, speak
    ):
        prompt, tokens = make_prompt(90), make_tokens(40)
        voice = flow.voice(prompt, prompt_s=3.0, first_hop_tokens=8)
        assert flow.next_hop(flow.begin(voice)) == 8
        cut = FlowPrompt(prompt.tokens[:67], prompt.mel[:134], prompt.embedding)
        mel, _ = speak(flow, voice, tokens)
        assert far(mel, tiny.one_pass(cut, tokens, streaming=True)) < EXACT

    def test_its_pages_are_shared_and_never_copied(self, flow, make_prompt, make_tokens, finish):
        voice = flow.voice(make_prompt(67))
        assert flow.pool.used_bytes == 2 * flow.pool.page_bytes
        hops = [flow.start(flow.begin(voice), make_tokens(11, n), last=False) for n in range(3)]
        finish(flow, *hops)
        assert flow.pool.used_bytes == (2 + 3) * flow.pool.page_bytes
        assert [hop.state.bytes for hop in hops] == [flow.pool.page_bytes] * 3

    def test_it_counts_what_it_holds(self, flow, make_prompt):
        voice = flow.voice(make_prompt(67))
        assert voice.bytes == 2 * flow.pool.page_bytes + 4 * (80 + 34 * 80)

    def test_it_lives_as_long_as_a_context_speaks_with_it(
        self, flow, make_prompt, make_tokens, finish
    ):
        state = flow.begin(flow.voice(make_prompt(67)))
        hop = finish(flow, flow.start(state, make_tokens(11), last=False))
        del state
        assert flow.pool.used_bytes == 3 * flow.pool.page_bytes
        del hop
        assert flow.pool.used_bytes == 0

    def test_it_can_be_made_step_by_step_while_others_speak(
        self, tiny, flow, make_prompt, make_tokens, finish, speak
    ):
        speaking = flow.start(flow.begin(flow.voice(make_prompt(67))), make_tokens(11), last=False)
        making = flow.prepare(make_prompt(50, seed=1))
        with pytest.raises(ValueError, match="10 Euler steps to go"):
            _ = making.voice
        finish(flow, making, speaking)
        mel, _ = speak(flow, making.voice, make_tokens(30))
        expected = tiny.one_pass(make_prompt(50, seed=1), make_tokens(30), streaming=True)
        assert far(mel, expected) < EXACT

    def test_a_mel_that_does_not_fit_its_tokens_is_refused(self, flow, make_prompt):
        prompt = make_prompt(30)
        with pytest.raises(ValueError, match="30 tokens and 59 mel frames"):
            flow.voice(FlowPrompt(prompt.tokens, prompt.mel[:59], prompt.embedding))


class TestWindow:
    @pytest.mark.parametrize("blocks", [(0,), (2,)], ids=str)
    @pytest.mark.parametrize("prompt_tokens", [20, 67])
    def test_it_equals_one_pass_under_the_windows_mask_however_it_is_cut(
        self, tiny, flow, make_prompt, make_tokens, speak, blocks, prompt_tokens
    ):
        prompt, tokens = make_prompt(prompt_tokens), make_tokens(170)
        mel, _ = speak(flow, flow.voice(prompt), tokens, blocks, window_s=2.0)
        expected = tiny.one_pass(
            prompt, tokens, streaming=True, window_blocks=2, prompt_blocks=-(-prompt_tokens // 25)
        )
        assert far(mel, expected) < EXACT

    def test_it_differs_from_the_exact_result_only_beyond_itself(
        self, flow, make_prompt, make_tokens, speak
    ):
        voice, tokens = flow.voice(make_prompt(67)), make_tokens(150)
        windowed, _ = speak(flow, voice, tokens, window_s=3.0)
        exact, _ = speak(flow, voice, tokens)
        # Block 2 holds the prompt's rest and stays; the first block out of sight is 3, at 7.
        out_of_sight = (7 * 25 - 67) * 2
        assert far(windowed[:out_of_sight], exact[:out_of_sight]) < EXACT
        assert far(windowed[out_of_sight:], exact[out_of_sight:]) > 1e-3

    def test_memory_stops_growing(self, flow, make_prompt, make_tokens, speak):
        _, states = speak(flow, flow.voice(make_prompt(67)), make_tokens(300), window_s=3.0)
        held = [state.bytes // flow.pool.page_bytes for state in states]
        assert held[:4] == [1, 2, 3, 4]
        assert set(held[4:-1]) == {4}
        assert held[-1] == 0


class TestManyContexts:
    def test_a_batch_equals_each_alone_whoever_joins_and_leaves(
        self, make_flow, make_prompt, make_tokens
    ):
        flow = make_flow(pages=200)
        said = [make_tokens(15 + 11 * n, n) for n in range(8)]
        voices = [flow.voice(make_prompt(p, seed=p)) for p in (0, 20, 50, 67)]
        talks = [_talk(flow, voices[n % 4], tokens) for n, tokens in enumerate(said)]
        alone = [_alone(flow, _talk(flow, voices[n % 4], said[n])) for n in range(8)]
        # One more joins every three steps, so all are at different steps of different hops.
        together: list[list[torch.Tensor]] = [[] for _ in said]
        active = {}
        for at in itertools.count():
            if at % 3 == 0 and at // 3 < len(talks):
                active[at // 3] = next(talks[at // 3])
            if not active:
                break
            flow.euler(list(active.values()))
            for n, hop in [(n, hop) for n, hop in active.items() if hop.done]:
                together[n].append(hop.mel)
                del active[n]
                if (following := next(talks[n], None)) is not None:
                    active[n] = following
        for mels, expected in zip(together, alone, strict=True):
            assert far(torch.cat(mels), expected) < 1e-5

    def test_one_that_fails_harms_nobody(self, flow, make_prompt, make_tokens, finish):
        voice = flow.voice(make_prompt(67))
        healthy = flow.start(flow.begin(voice), make_tokens(11), last=False)
        alone = finish(flow, flow.start(flow.begin(voice), make_tokens(11), last=False)).mel
        sick = flow.start(flow.begin(voice), make_tokens(36, 1), last=False)
        sick.run.given = torch.full_like(sick.run.given, torch.nan)
        finish(flow, healthy, sick)
        assert sick.mel.isnan().any()
        assert far(healthy.mel, alone) < EXACT


class TestCancel:
    @pytest.mark.parametrize("steps", range(0, 10, 3))
    def test_at_any_step_its_pages_are_free_at_once(self, flow, make_prompt, make_tokens, steps):
        voice = flow.voice(make_prompt(67))
        before = flow.pool.free
        hop = flow.start(flow.begin(voice), make_tokens(61), last=False)
        assert flow.pool.free == before - 3
        for _ in range(steps):
            flow.euler([hop])
        del hop
        assert flow.pool.free == before

    @pytest.mark.parametrize("way", [Views, Gathered, in_place])
    def test_it_leaves_no_trace_in_who_takes_its_pages(
        self, tiny, make_flow, make_prompt, make_tokens, finish, way
    ):
        network = NetworkV3(tiny, device=torch.device("cpu"), way=way)
        flow = make_flow(pages=4, network=network)
        for shelf in flow.pool.shelves.values():
            shelf[..., 2:, :, :] = torch.nan
        voice = flow.voice(make_prompt(67))
        tokens = make_tokens(20)
        expected = tiny.one_pass(make_prompt(67), tokens, streaming=True)
        for steps in range(10):
            sick = flow.start(flow.begin(voice), make_tokens(33, 1), last=True)
            sick.run.x = torch.full_like(sick.run.x, torch.nan)
            for _ in range(steps):
                flow.euler([sick])
            del sick
            mel = finish(flow, flow.start(flow.begin(voice), tokens, last=True)).mel
            assert far(mel, expected) < EXACT

    def test_where_no_page_is_left_the_newest_is_refused_and_the_others_go_on(
        self, tiny, make_flow, make_prompt, make_tokens, finish
    ):
        flow = make_flow(pages=3)
        voice = flow.voice(make_prompt(67))
        hop = flow.start(flow.begin(voice), make_tokens(8), last=True)
        with pytest.raises(OutOfPages, match="0 of 3 are free") as refused:
            flow.start(flow.begin(voice), make_tokens(8), last=True)
        assert refused.value.retryable
        expected = tiny.one_pass(make_prompt(67), make_tokens(8), streaming=True)
        assert far(finish(flow, hop).mel, expected) < EXACT

    def test_the_last_hops_pages_are_free_before_its_mel_is_read(
        self, flow, make_prompt, make_tokens, finish
    ):
        voice = flow.voice(make_prompt(67))
        before = flow.pool.free
        hop = finish(flow, flow.start(flow.begin(voice), make_tokens(40), last=True))
        assert flow.pool.free == before
        assert hop.mel.shape == (80, 80)


def _talk(flow, voice, tokens):
    """The hops of a segment, one after the other; each is asked for once the one before is done."""
    state = flow.begin(voice)
    while not state.ended:
        left, least = tokens[state.tokens_done :], flow.next_hop(state)
        last = len(left) < least + 3
        hop = flow.start(state, left if last else left[: least + 3], last=last)
        yield hop
        state = hop.state


def _alone(flow, talk):
    mels = []
    for hop in talk:
        while not hop.done:
            flow.euler([hop])
        mels.append(hop.mel)
    return torch.cat(mels)
