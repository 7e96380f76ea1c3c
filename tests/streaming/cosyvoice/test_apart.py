"""Whole ways through the networks with the device apart from the host, as on a GPU.

Prompts, voices, hops, chunks, what leaves the device and comes back: wherever a tensor of the host
meets one of the device, or the host asks the device for a number, a GPU would raise, or wait.
"""

import pytest
import torch
from capturing import ELSEWHERE, Apart, Refused
from tiny_steps import GENERATIONS, flow_module, vocoder

from streaming.cosyvoice.flow.base import FlowPrompt
from streaming.cosyvoice.flow.build import network
from streaming.cosyvoice.flow.graphs import SHAPES
from streaming.cosyvoice.flow.stream import Flow
from streaming.cosyvoice.llm import graphs as llm_graphs
from streaming.cosyvoice.llm.decoder import Decoder
from streaming.cosyvoice.llm.model import SpeechLlm
from streaming.cosyvoice.llm.script import LlmPrompt
from streaming.cosyvoice.sizes import END_OF_PROMPT, LOOKAHEAD_TOKENS, MEL_BANDS, LlmSizes
from streaming.cosyvoice.vocoder import MelStretch

DTYPE = torch.float16


@pytest.fixture(autouse=True)
def seen(monkeypatch):
    """Within inference mode torch shows whole functions to nobody, only without gradients parts."""

    def enter(mode):
        mode.without = torch.no_grad()
        mode.without.__enter__()

    monkeypatch.setattr(torch.inference_mode, "__enter__", enter)
    monkeypatch.setattr(
        torch.inference_mode, "__exit__", lambda mode, *raised: mode.without.__exit__(*raised)
    )


@pytest.fixture(params=GENERATIONS)
def generation(request):
    return request.param


def test_a_language_models_prompts_and_tokens(generation, monkeypatch):
    monkeypatch.setattr(llm_graphs, "_on_the_way", lambda choices: choices)
    sizes = LlmSizes(generation, hidden=32, feed_forward=64, layers=2, heads=4, kv_heads=2)
    with ELSEWHERE:
        model = SpeechLlm(sizes).to(DTYPE).eval()
    decoder = Decoder(model, slots=4, positions=600, prefill_tokens=64)
    prompt = LlmPrompt((END_OF_PROMPT, *[5] * 100), (7,) * 40)
    with Apart() as apart:
        prefix = decoder.prefix(prompt)
        known = decoder.begin(prompt, (1, 2, 3), seed=1, segment=0, prefix=prefix)
        new = decoder.begin(prompt, (1, 2, 3) * 5, seed=1, segment=0)
        for _ in range(20):
            decoder.launch([known, new])
        decoder.release(known)
        decoder.release(new)
        streamed = decoder.begin(prompt, (1,) * 8, seed=2, segment=0, streamed=True)
        for _ in range(4):
            decoder.launch([streamed])
    assert known.fed > prefix.kept.positions + 10
    assert apart.slow == []


def test_a_voice_its_hops_and_their_way_to_the_host_and_back(generation):
    flow = Flow(
        network(flow_module(generation), ELSEWHERE, DTYPE),
        budget_bytes=1 << 26,
        host_bytes=1 << 26,
        shapes=SHAPES,
    )
    flow.host._pinned = True  # as where the device is a GPU
    with Apart() as apart, pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "empty", unpinned(torch.empty))
        prompt = FlowPrompt((1,) * 60, torch.zeros(120, MEL_BANDS), torch.ones(192))
        voice = flow.voice(prompt, prompt_s=3.0, first_hop_tokens=8)
        voice = flow.to_device(flow.to_host(voice))
        state = flow.begin(voice, window_s=1.0)
        for last in (False, False, False, True):
            new = 9 if last else flow.next_hop(state) + LOOKAHEAD_TOKENS
            hop = flow.start(state, [3] * new, last=last)
            while not hop.done:
                flow.euler([hop])
            state = flow.to_device(flow.to_host(hop.state))
    assert hop.mel.shape == (18, MEL_BANDS)
    assert apart.slow == []


def unpinned(empty):
    """There is no GPU to pin memory for."""

    def made(*shape, pin_memory=False, **options):
        del pin_memory
        return empty(*shape, **options)

    return made


def test_chunks_of_sound_at_any_speed(generation):
    nowhere = vocoder(generation).fuse(DTYPE).to(ELSEWHERE)
    with Apart() as apart:
        states = [nowhere.begin(seed) for seed in range(3)]
        stretch = MelStretch(1.3)
        for last in (False, False, True):
            mel = torch.zeros(54, MEL_BANDS, device=ELSEWHERE)
            slower, stretch = stretch.push(mel, last=last)
            rows = zip(states, (mel, slower, mel[:20]), strict=True)
            states = [state for _, state in nowhere.step([(*row, last) for row in rows])]
    assert all(state.ended for state in states)
    assert apart.slow == []


MET = {
    "numbers of both": lambda there: there + torch.ones(3),
    "a table of the host": lambda there: there[torch.tensor([0, 1])],
    "a question": lambda there: bool((there > 0).any()),
    "a mask as an index": lambda there: there[there > 0],
}


@pytest.mark.parametrize("what", MET)
def test_where_they_meet_is_found(what):
    with pytest.raises((Refused, RuntimeError)), torch.no_grad(), Apart():
        MET[what](torch.empty(3, device=ELSEWHERE))


def test_copies_that_are_waited_for_are_found():
    with torch.no_grad(), Apart() as apart:
        torch.ones(3).to(ELSEWHERE)
        torch.empty(4).copy_(torch.empty(4, device=ELSEWHERE))
        assert apart.slow == [[(3,)], [(4,), (4,)]]
        torch.ones(3).to(ELSEWHERE, non_blocking=True)
        torch.empty(4).copy_(torch.empty(4, device=ELSEWHERE), non_blocking=True)
        torch.empty(3, device=ELSEWHERE) * torch.tensor(2.0)
    assert len(apart.slow) == 2
