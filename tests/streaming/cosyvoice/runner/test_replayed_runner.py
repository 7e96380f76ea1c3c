"""The whole runner as a GPU has it, but for the GPU: shapes filled up, steps replayed."""

import numpy as np
import plain_kernels
import pytest
from capturing import tape
from cosyvoice_rig import MANDARIN, Rig, load, settled

from streaming.cosyvoice.vocoder import VocoderV2, VocoderV3
from streaming.cosyvoice.vocoder.shapes import Shapes
from streaming.messages import Finished
from streaming.runners.cosyvoice import models
from streaming.runners.cosyvoice.speed import Speed


@pytest.fixture(scope="module")
def replaying(checkpoint, tmp_path_factory):
    recorded = []

    def record(work):
        recorded.append(work)
        return tape(work)

    with pytest.MonkeyPatch.context() as patch:
        for vocoder in (VocoderV3, VocoderV2):
            patch.setattr(vocoder, "usual_shapes", Shapes((1, 2), (32, 64)))
        found = Speed("on tape", record=lambda: record, kernels=plain_kernels)
        patch.setattr(models, "speed_of", lambda *_: found)
        # Each tape keeps all that a step computed.
        folder = tmp_path_factory.mktemp("replaying")
        runner = load(checkpoint, folder, max_batch=2, positions=512)
    return runner, recorded


def test_it_says_what_it_says_without_all_that(runner, replaying):
    on_tape, recorded = replaying
    warm = len(recorded)
    assert warm >= 2 + 2 + 2 * 2  # before anybody spoke
    texts = {1: "Hello there.", 2: "你好。", 3: "One."}
    rigs = Rig(runner), Rig(on_tape)
    for rig in rigs:
        rig.speak(1, texts[1], seed=1)
        rig.turns(25)
        rig.speak(2, texts[2], seed=2, voice=MANDARIN, speed=1.3)
        rig.speak(3, texts[3], seed=3, speed=0.7)
        rig.run(*texts)
    for ctx in texts:
        assert rigs[1].of(ctx, Finished)
        one, other = (rig.pcm(ctx) for rig in rigs)
        assert len(one) == len(other)
        assert np.abs(one - other).max() <= 3  # 1e-4 of full scale
    assert settled(on_tape)
    assert len(recorded) - warm <= 4  # hops of several blocks
