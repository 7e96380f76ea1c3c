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


class TestOnCuda:
    """A card that torch finds, as it is told of."""

    @pytest.fixture
    def card(self, monkeypatch):
        for name, answer in {
            "is_available": True,
            "current_device": 0,
            "is_bf16_supported": True,
            "get_device_name": "some card",
        }.items():
            monkeypatch.setattr(torch.cuda, name, lambda *_, answer=answer, **__: answer)
        monkeypatch.setattr(torch, "ones", lambda *_, **__: torch.zeros(2))
        switches = torch.backends.cudnn.allow_tf32, torch.backends.cuda.cudnn_sdp_enabled()
        yield monkeypatch
        torch.backends.cudnn.allow_tf32 = switches[0]
        torch.backends.cuda.enable_cudnn_sdp(switches[1])

    @pytest.mark.parametrize(("precision", "rounded"), [("fp32", False), ("bf16", True)])
    def test_in_fp32_no_product_is_rounded(self, card, precision, rounded):
        del card
        chosen = choose(EngineSettings(runner="cosyvoice", model="x", precision=precision))
        assert name_of(*chosen) == f"cuda (some card), {precision}"
        assert torch.backends.cudnn.allow_tf32 is rounded
        assert torch.backends.cuda.matmul.allow_tf32 is False

    def test_attention_that_plans_for_each_shape_is_not_taken(self, card):
        del card
        torch.backends.cuda.enable_cudnn_sdp(enabled=True)
        choose(EngineSettings(runner="cosyvoice", model="x"))
        assert not torch.backends.cuda.cudnn_sdp_enabled()

    @pytest.mark.parametrize("device", ["auto", "cuda"])
    def test_one_that_computes_nothing_is_an_error_and_never_a_silent_cpu(self, card, device):
        def refused(*_, **__):
            raise RuntimeError("CUDA error: no kernel image is available\nCompile with")

        card.setattr(torch, "ones", refused)
        told = refusal(device=device)
        assert "says: CUDA error: no kernel image is available; see the README's GPU" in told

    def test_one_without_bf16_is_told_to_take_fp16(self, card):
        card.setattr(torch.cuda, "is_bf16_supported", lambda **_: False)
        assert "which cuda (some card) cannot compute; take 'fp16'" in refusal(precision="bf16")
