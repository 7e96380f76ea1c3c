"""The whole runner on a GPU: all stages at once, graphs, pinned memory, and the CPU's audio."""

import logging
import time

import numpy as np
import pytest
from cosyvoice_rig import MANDARIN, Rig, few_tokens, load, settled

from streaming.messages import Failed, Finished, Park, Released, Unpark

pytestmark = pytest.mark.cuda

A_WHILE_S = 10

TEXTS = {1: "Hello there, this is one.", 2: "你好。", 3: "Three."}


@pytest.fixture
def there(request, checkpoint, tmp_path):
    """A runner on the GPU in the precision that the test names."""
    runner = load(
        checkpoint, tmp_path, precision=request.param, device="cuda", max_batch=4, slots=6
    )
    yield runner
    runner.unload()


@pytest.mark.parametrize("there", ["fp32", "bf16"], indirect=True)
def test_contexts_come_and_go_and_all_are_heard(there, runner, caplog):
    precision = there._settings.precision
    with caplog.at_level(logging.WARNING):
        rigs = Rig(there), Rig(runner)
        for rig in rigs:
            rig.speak(1, TEXTS[1], seed=1)
            rig.turns(20)
            rig.speak(4, "This one is interrupted.", seed=4)
            rig.speak(2, TEXTS[2], seed=2, voice=MANDARIN, speed=1.3)
            rig.inbox.append(Park(ctx=2))
            rig.speak(3, TEXTS[3], seed=3, speed=0.7)
            rig.turns(20)
            rig.cancel(4)
            rig.inbox.append(Unpark(ctx=2))
            rig.run(*TEXTS)
            while not rig.of(4, Released):
                rig.turns(1)
    assert "not captured" not in caplog.text
    for ctx in TEXTS:
        assert rigs[0].of(ctx, Finished)
        assert not rigs[0].of(ctx, Failed)
        one, other = (rig.pcm(ctx) for rig in rigs)
        assert len(one) > 2400
        if precision == "fp32":
            assert len(one) == len(other)
            # 1e-3 of full scale, but where a pitch lies on the border of what counts as voiced.
            assert np.quantile(np.abs(one - other), 0.99) <= 33
    until_s = time.monotonic() + A_WHILE_S
    while not settled(there):  # slots are freed in the LLM's own thread
        assert time.monotonic() < until_s
        time.sleep(0.01)


@pytest.mark.parametrize("there", ["fp16"], indirect=True)
def test_it_rests_and_comes_back(there):
    voice = there._default
    there.unload()
    assert not there.has_voice(voice)
    there.load_voice(voice)
    few_tokens(there)
    rig = Rig(there)
    rig.speak(1, TEXTS[3], seed=1)
    rig.run(1)
    assert rig.of(1, Finished)
