"""Where the networks run, and in which precision.

Knows: what was asked for, what torch finds. Does not know: networks. Nothing falls back unseen:
what cannot be had is an error, what was chosen is in the log.
"""

from __future__ import annotations

import torch

from streaming.config import EngineSettings

PRECISIONS = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


def choose(settings: EngineSettings) -> tuple[torch.device, torch.dtype]:
    """The device and the precision that the settings ask for.

    Raises:
        ValueError: they cannot be had; the message says why and what to do.
    """
    dtype = PRECISIONS[settings.precision]
    if settings.device == "cpu" or (settings.device == "auto" and not torch.cuda.is_available()):
        if dtype == torch.float16:
            raise ValueError(
                "engine.precision is 'fp16', which is for GPUs; on a CPU use 'fp32' or 'bf16'"
            )
        return torch.device("cpu"), dtype
    if not torch.cuda.is_available():
        raise ValueError(f"engine.device is 'cuda', but {_why_not()}; see the README's GPU section")
    device = _card()
    if dtype == torch.bfloat16 and not torch.cuda.is_bf16_supported(including_emulation=False):
        raise ValueError(
            f"engine.precision is 'bf16', which {card_of(device)} cannot compute; take 'fp16'"
        )
    # fp32 means fp32: no rounding of its products to 10 bits unseen. Beside 16 bits that is right
    # for the vocoder's convolutions, and wins nothing for the few other products in 32.
    torch.backends.cudnn.allow_tf32 = dtype != torch.float32
    torch.backends.cuda.matmul.allow_tf32 = False
    # cuDNN's attention, which torch takes first on the newest cards, makes a plan for each shape
    # that it meets: half a second, and the pieces of prompts are of any shape.
    torch.backends.cuda.enable_cudnn_sdp(enabled=False)
    return device, dtype


def _card() -> torch.device:
    """The one that torch takes, once it has computed something."""
    try:
        device = torch.device("cuda", torch.cuda.current_device())
        torch.ones(2, device=device).sum().item()
    except RuntimeError as error:  # too old for this torch, or another program's alone
        raise ValueError(
            f"torch finds a GPU, but nothing can be computed on it: {_said(error)}; see the "
            "README's GPU section, or take engine.device 'cpu'"
        ) from error
    return device


def name_of(device: torch.device, dtype: torch.dtype) -> str:
    """For people: ``cpu, fp32`` or ``cuda (NVIDIA H200), bf16``."""
    precision = next(name for name, known in PRECISIONS.items() if known == dtype)
    return f"{card_of(device)}, {precision}"


def card_of(device: torch.device) -> str:
    """For people: ``cpu`` or ``cuda (NVIDIA H200)``."""
    return "cpu" if device.type == "cpu" else f"cuda ({torch.cuda.get_device_name(device)})"


def _why_not() -> str:
    if torch.version.cuda is None:
        return f"this torch ({torch.__version__}) is built for the CPU alone"
    try:
        torch.zeros(1, device="cuda")
    except (RuntimeError, AssertionError) as error:
        return _said(error)
    return f"torch {torch.__version__} finds no device"


def _said(error: Exception) -> str:
    reason = str(error).splitlines()[0]
    return f"torch {torch.__version__}, built for CUDA {torch.version.cuda}, says: {reason}"
