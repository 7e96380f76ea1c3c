"""Golden cases for the networks; the folder is a parameter (``GOLDEN_DIR``).

Without torch nothing below this folder is collected, and the end of the run says so. Without the
folder of golden cases the tests that need it are skipped, with the reason.
"""

from __future__ import annotations

import ctypes
import gc
import importlib.util
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from streaming.cosyvoice.sizes import (
    DitSizes,
    Generation,
    LlmSizes,
    Sizes,
    UnetSizes,
    VocoderSizes,
)

if TYPE_CHECKING:
    import torch
    from torch import nn

HAS_TORCH = importlib.util.find_spec("torch") is not None
GOLDEN_DIR = Path(
    os.environ.get("GOLDEN_DIR", Path(__file__).parents[4] / "shared" / "golden")
).absolute()

collect_ignore_glob = [] if HAS_TORCH else ["*"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    marked = [item for item in items if item.get_closest_marker("cuda") is not None]
    if marked and not _has_cuda():
        for item in marked:
            item.add_marker(pytest.mark.skip(reason="needs CUDA"))


def _has_cuda() -> bool:
    import torch  # noqa: PLC0415 - this file is read without torch too

    return torch.cuda.is_available()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not HAS_TORCH:
        line = "tests/streaming/cosyvoice was NOT RUN: torch is not installed"
        terminalreporter.write_line(line, red=True, bold=True)
    elif not GOLDEN_DIR.is_dir():
        line = f"golden cases were NOT RUN: {GOLDEN_DIR} is no folder, set GOLDEN_DIR"
        terminalreporter.write_line(line, red=True, bold=True)


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Tiny models gain nothing from threads, and several test processes share the cores."""
    import torch  # noqa: PLC0415 - this file is read without torch too

    torch.set_num_threads(1)


@pytest.fixture(scope="module", autouse=True)
def memory_given_back() -> Iterator[None]:
    """What a file's networks took is free for the next one's: the allocator would keep most."""
    yield
    gc.collect()
    trim = getattr(ctypes.CDLL(None) if os.name == "posix" else None, "malloc_trim", None)
    if trim is not None:  # of glibc alone
        trim(0)


@pytest.fixture(scope="session")
def golden_dir() -> Path:
    """The folder of golden cases."""
    if not GOLDEN_DIR.is_dir():
        pytest.skip(f"no golden cases: {GOLDEN_DIR} is no folder, set GOLDEN_DIR")
    return GOLDEN_DIR


@pytest.fixture(scope="session")
def golden(golden_dir: Path) -> dict[str, torch.Tensor]:
    """All golden tensors by their keys, of ``golden.safetensors`` and ``front.safetensors``."""
    from safetensors.torch import load_file  # noqa: PLC0415 - this file is read without torch too

    found: dict[str, torch.Tensor] = {}
    for name in ("golden.safetensors", "front.safetensors"):
        if (golden_dir / name).is_file():
            found |= load_file(golden_dir / name)
    return found


@pytest.fixture(scope="session")
def golden_sizes(golden_dir: Path) -> Callable[[Generation], Sizes]:
    """``golden_sizes(generation)``: what the golden models measure, of ``config.json``."""
    config = json.loads((golden_dir / "config.json").read_text(encoding="utf-8"))

    def sizes(generation: Generation) -> Sizes:
        flow = _dit(config) if generation == "cosyvoice3" else _unet(config)
        return Sizes(generation, _llm(config, generation), flow, _vocoder(config))

    return sizes


@pytest.fixture(scope="session")
def golden_fill(golden_dir: Path) -> Callable[[nn.Module], nn.Module]:
    """``golden_fill(module)``: the module itself, in evaluation mode, with the golden weights."""
    import torch  # noqa: PLC0415 - this file is read without torch too

    rule = _import(golden_dir / "weights.py").tensor

    def fill(module: nn.Module) -> nn.Module:
        shapes = {name: tuple(value.shape) for name, value in module.state_dict().items()}
        state = {name: torch.from_numpy(rule(name, shape)) for name, shape in shapes.items()}
        for name, value in state.items():
            if name.endswith("f0_predictor.classifier.bias"):
                value.fill_(180.0)
            elif name.endswith("f0_predictor.classifier.weight"):
                value.mul_(40.0)
        module.load_state_dict(state, strict=True)
        return module.eval()

    return fill


def _import(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("golden_weights", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _llm(config: dict[str, Any], generation: Generation) -> LlmSizes:
    body = config["qwen2"]
    return LlmSizes(
        generation=generation,
        vocab=body["vocab_size"],
        hidden=body["hidden_size"],
        feed_forward=body["intermediate_size"],
        layers=body["num_hidden_layers"],
        heads=body["num_attention_heads"],
        kv_heads=body["num_key_value_heads"],
        rope_theta=body["rope_theta"],
        rms_eps=body["rms_norm_eps"],
    )


def _dit(config: dict[str, Any]) -> DitSizes:
    body = config["dit"]
    return DitSizes(
        dim=body["dim"],
        depth=body["depth"],
        heads=body["heads"],
        head_dim=body["dim_head"],
        feed_forward=body["ff_mult"],
        lookahead_channels=config["pre_lookahead"]["channels"],
    )


def _unet(config: dict[str, Any]) -> UnetSizes:
    encoder, body = config["conformer"], config["unet"]
    return UnetSizes(
        encoder_dim=encoder["output_size"],
        encoder_heads=encoder["attention_heads"],
        encoder_feed_forward=encoder["linear_units"],
        encoder_blocks=encoder["num_blocks"],
        channels=body["channels"][0],
        blocks=body["n_blocks"],
        middle_blocks=body["num_mid_blocks"],
        heads=body["num_heads"],
        head_dim=body["attention_head_dim"],
    )


def _vocoder(config: dict[str, Any]) -> VocoderSizes:
    body = config["hift"]
    return VocoderSizes(
        base_channels=body["base_channels"],
        f0_channels=config["f0"]["cond_channels"],
        harmonics=body["nb_harmonics"],
        sine_amplitude=body["nsf_alpha"],
        noise_sigma=body["nsf_sigma"],
        voiced_hz=body["nsf_voiced_threshold"],
        upsample_rates=tuple(body["upsample_rates"]),
        upsample_kernels=tuple(body["upsample_kernel_sizes"]),
        istft_size=body["istft_params"]["n_fft"],
        istft_hop=body["istft_params"]["hop_len"],
        resblock_kernels=tuple(body["resblock_kernel_sizes"]),
        resblock_dilations=tuple(map(tuple, body["resblock_dilation_sizes"])),
        source_kernels=tuple(body["source_resblock_kernel_sizes"]),
        source_dilations=tuple(map(tuple, body["source_resblock_dilation_sizes"])),
        slope=body["lrelu_slope"],
        loudest=body["audio_limit"],
    )
