"""What is found out before anything is served, by the child process that looks."""

from importlib.util import find_spec

import pytest

from streaming.config import EngineSettings
from streaming.engine import preflight as module
from streaming.engine.preflight import preflight

needs_torch = pytest.mark.skipif(
    find_spec("torch") is None, reason="torch is not installed: make setup-cosyvoice"
)


def asked(model, **settings):
    return preflight(EngineSettings(model=str(model), **settings))


def fault(settings):
    """What the child finds, found here: torch is loaded once."""
    from streaming.runners.cosyvoice import check  # noqa: PLC0415 - needs torch

    return check.fault(settings)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    from streaming.cosyvoice.tiny import write  # noqa: PLC0415 - needs torch

    folder = tmp_path_factory.mktemp("checkpoint")
    write(folder, "cosyvoice3")
    return folder


def test_voices_without_a_model_have_nothing_to_look_at(monkeypatch):
    monkeypatch.setattr(module, "subprocess", None)
    assert preflight(EngineSettings()) is None
    assert preflight(EngineSettings(runner="tone")) is None


@pytest.mark.parametrize("runner", ["embedded", "tone"])
def test_a_default_voice_that_is_not_there_is_named_with_those_that_are(runner):
    known = {"embedded": "heart", "tone": "tone-a"}[runner]
    told = preflight(EngineSettings(runner=runner, default_voice="hart"))
    assert told.startswith(f"engine.default_voice: no voice 'hart' here; there are: {known}")
    assert preflight(EngineSettings(runner=runner, default_voice=known)) is None


def test_a_trace_in_no_folder_is_told_before_anything_is_loaded(tmp_path):
    missing = tmp_path / "nothing"
    told = preflight(EngineSettings(trace=str(missing / "trace.json")))
    assert "engine.trace is" in told
    assert f"there is no folder {missing}" in told
    assert preflight(EngineSettings(trace=str(tmp_path / "trace.json"))) is None


@needs_torch
def test_a_folder_that_is_not_there_is_named_with_what_to_do(tmp_path):
    told = asked(tmp_path / "nothing")
    assert "nothing does not exist" in told
    assert "streaming.cosyvoice.download" in told


@needs_torch
class TestACheckpoint:
    def test_that_can_be_used_is_let_through(self, folder):
        assert asked(folder, device="cpu") is None

    def test_with_a_default_voice_that_it_has_not_is_refused(self, folder):
        settings = EngineSettings(model=str(folder), device="cpu", default_voice="hart")
        said = "engine.default_voice: no voice 'hart' here; there are: starter-english"
        assert fault(settings).startswith(said)

    def test_on_a_gpu_that_is_not_there_is_refused_in_words(self, folder):
        import torch  # noqa: PLC0415 - the module is read without it too

        if torch.cuda.is_available():
            pytest.skip("there is a GPU here")
        assert "engine.device is 'cuda', but this torch" in asked(folder, device="cuda")

    def test_under_the_other_generations_name_is_told_which_it_is(self, folder, tmp_path):
        for path in folder.iterdir():
            (tmp_path / path.name).symlink_to(path)
        (tmp_path / "cosyvoice3.yaml").rename(tmp_path / "cosyvoice2.yaml")
        told = fault(EngineSettings(model=str(tmp_path)))
        assert "looks like a cosyvoice3" in told
        assert "download" not in told
