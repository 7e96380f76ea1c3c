"""Where the networks run; what cannot be had is said, with the reason."""

import pytest
import torch

from streaming.config import EngineSettings
from streaming.runners.cosyvoice.device import choose, name_of


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


def refusal(**settings):
    with pytest.raises(ValueError, match=r"\S") as refused:
        choose(EngineSettings(runner="cosyvoice", model="x", **settings))
    return str(refused.value)


@pytest.mark.parametrize("device", ["cpu", "auto"])
def test_without_a_gpu_it_is_the_cpu_where_that_may_be(device):
    chosen = choose(EngineSettings(runner="cosyvoice", model="x", device=device))
    assert name_of(*chosen) == "cpu, fp32"


def test_a_torch_for_the_cpu_is_told_from_a_driver_that_is_too_old(monkeypatch):
    monkeypatch.setattr(torch.version, "cuda", None)
    assert "is built for the CPU alone" in refusal(device="cuda")

    def too_old(*_, **__):
        raise RuntimeError("The NVIDIA driver on your system is too old (found 12020).\nUpdate it")

    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch, "zeros", too_old)
    told = refusal(device="cuda")
    assert "built for CUDA 13.0, says: The NVIDIA driver on your system is too old" in told
    assert "README's GPU section" in told


def test_where_torch_has_no_reason_that_is_said_too(monkeypatch):
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch, "zeros", lambda *_, **__: None)
    assert "finds no device" in refusal(device="cuda")


@pytest.mark.parametrize("device", ["cpu", "auto"])
def test_a_cpu_does_not_take_fp16(device):
    assert "on a CPU use 'fp32' or 'bf16'" in refusal(device=device, precision="fp16")
