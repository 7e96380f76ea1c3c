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
    # fp32 means fp32: no rounding of its products to 10 bits unseen. Beside 16 bits that is right
    # for the vocoder's convolutions, and wins nothing for the few other products in 32.
    torch.backends.cudnn.allow_tf32 = dtype != torch.float32
    torch.backends.cuda.matmul.allow_tf32 = False
    return torch.device("cuda", torch.cuda.current_device()), dtype


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
        reason = str(error).splitlines()[0]
        return f"torch {torch.__version__}, built for CUDA {torch.version.cuda}, says: {reason}"
    return f"torch {torch.__version__} finds no device"
