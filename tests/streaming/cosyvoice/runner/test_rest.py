"""A model that rests has let go of its memory, also where the engine froze what was loaded."""

import gc
import weakref

import pytest
from cosyvoice_rig import Rig, load

from streaming.messages import Finished
from streaming.runners.cosyvoice import rehearsal
from streaming.runners.cosyvoice.speech import Speech


@pytest.fixture
def frozen():
    """As the engine's process begins."""
    gc.collect()
    yield gc.freeze
    gc.unfreeze()


def test_nothing_of_it_stays(checkpoint, tmp_path, frozen):
    runner = load(checkpoint, tmp_path, slots=2, flow_mib=64)
    rig = Rig(runner)
    rig.speak(1, "One.")
    rig.run(1)
    assert rig.of(1, Finished)
    models = runner._speech.models
    large = [
        weakref.ref(each)
        for each in (models.flow.pool, models.flow.host, models.decoder.cache, models.vocoder)
    ]
    del models, rig
    frozen()
    runner.unload()
    assert [each() for each in large] == [None] * 4


def test_what_a_crowd_costs_is_found_out_once(checkpoint, tmp_path, monkeypatch):
    batches = []
    step = Speech.step

    def counted(speech, stage, batch):
        batches.append(len(batch))
        return step(speech, stage, batch)

    monkeypatch.setattr(Speech, "step", counted)
    monkeypatch.setattr(rehearsal, "CROWDS", {8: float("inf")})  # however slow the machine
    monkeypatch.setattr(rehearsal, "_SENTENCE", "Hi.")
    runner = load(checkpoint, tmp_path, slots=8, flow_mib=64, rehearsed=True)
    assert max(batches) == 8
    learned = runner.stages
    runner.unload()
    batches.clear()
    runner.load()
    assert set(batches) == {1}  # it has spoken a sentence, so that all is warm
    assert runner.stages == learned
