"""A checkpoint folder of random numbers, in the official layout and as small as is wanted.

``python -m streaming.cosyvoice.tiny OUT`` writes one. It loads like a published checkpoint and
makes noise: enough for every test that does not ask what is said, and, at the published size,
for measuring how fast a machine is before 5 GB are fetched.
Each tensor is drawn from a generator seeded with its own name, so the same folder is written
everywhere, bit for bit. The pitch predictor is shifted until what it hears is voiced. Nothing
makes the LLM end by itself, so every segment runs to its length limit.
Knows: the layout, the sizes on offer. Does not know: the networks' code.
"""

from __future__ import annotations

import argparse
import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import torch
from torch import Tensor

from streaming.cosyvoice import tiny_config, tiny_onnx, tiny_text
from streaming.cosyvoice.checkpoint import shapes
from streaming.cosyvoice.folder import GENERATIONS, Layout
from streaming.cosyvoice.sizes import (
    SPEAKER_SIZE,
    DitSizes,
    Generation,
    LlmSizes,
    Sizes,
    UnetSizes,
    VocoderSizes,
)

Size = Literal["tiny", "bench", "full"]
"""``tiny`` for tests; ``bench`` for measurements on a CPU; ``full`` is the published 0.5B."""

VOICED_HZ = 180.0
_PITCH_SPREAD = 40.0
_TIED = {"llm.model.model.embed_tokens.weight": "llm.model.lm_head.weight"}
_TYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}


def sizes(generation: Generation, size: Size) -> Sizes:
    """What the networks of that size measure."""
    small: Mapping[Size, Callable[[], Sizes]] = {
        "tiny": lambda: Sizes(
            generation,
            LlmSizes(generation, hidden=64, feed_forward=128, layers=3, heads=4),
            _tiny_flow(generation),
            VocoderSizes(base_channels=32, f0_channels=32),
        ),
        "bench": lambda: Sizes(
            generation,
            LlmSizes(generation, hidden=512, feed_forward=2048, layers=8, heads=8),
            _bench_flow(generation),
            VocoderSizes(base_channels=128, f0_channels=128),
        ),
        "full": lambda: Sizes(
            generation,
            LlmSizes(generation),
            DitSizes() if generation == "cosyvoice3" else UnetSizes(),
            VocoderSizes(),
        ),
    }
    return small[size]()


def _tiny_flow(generation: Generation) -> DitSizes | UnetSizes:
    if generation == "cosyvoice3":
        return DitSizes(dim=64, depth=3, heads=4, head_dim=16, lookahead_channels=64)
    return UnetSizes(
        encoder_feed_forward=96,
        encoder_blocks=2,
        channels=64,
        blocks=1,
        middle_blocks=2,
        heads=4,
        head_dim=16,
    )


def _bench_flow(generation: Generation) -> DitSizes | UnetSizes:
    if generation == "cosyvoice3":
        return DitSizes(dim=256, depth=6, heads=4, lookahead_channels=256)
    return UnetSizes(
        encoder_feed_forward=512,
        encoder_blocks=2,
        channels=128,
        blocks=2,
        middle_blocks=4,
        heads=4,
    )


def write(
    folder: Path,
    generation: Generation = "cosyvoice3",
    size: Size = "tiny",
    *,
    speakers: Sequence[str] = (),
    dtype: torch.dtype = torch.float32,
) -> Layout:
    """Write a checkpoint folder; files that are there are written over.

    ``speakers`` become named speakers with embeddings of their own.
    """
    files, measured = Layout(folder, generation), sizes(generation, size)
    files.vocab.parent.mkdir(parents=True, exist_ok=True)
    tiny_text.write(files.vocab, files.merges)
    files.qwen_config.write_text(tiny_config.qwen(measured.llm), encoding="utf-8")
    rng = np.random.default_rng(0)
    files.speech_tokenizer.write_bytes(tiny_onnx.speech_tokenizer(rng))
    files.campplus.write_bytes(tiny_onnx.campplus(rng))
    for name, tensors in shapes.networks(measured).items():
        torch.save(_state(tensors, dtype), folder / f"{name}.pt")
    if speakers:
        entries = {name: {"embedding": _draw(name, (1, SPEAKER_SIZE))} for name in speakers}
        torch.save(entries, files.speakers)
    files.yaml.write_text(tiny_config.yaml(measured), encoding="utf-8")
    return files


def _state(tensors: Mapping[str, tuple[int, ...]], dtype: torch.dtype) -> dict[str, Tensor]:
    """One network's tensors; the LLM's text table is tied to its head, the pitch is voiced."""
    drawn: dict[str, Tensor] = {}
    for name, shape in tensors.items():
        source = _TIED.get(name, name)
        drawn[source] = drawn[source] if source in drawn else _draw(source, shape).to(dtype)
        drawn[name] = drawn[source]
    if "f0_predictor.classifier.bias" in drawn:
        drawn["f0_predictor.classifier.bias"].fill_(VOICED_HZ)
        drawn["f0_predictor.classifier.weight"] *= _PITCH_SPREAD
    return drawn


def _draw(name: str, shape: tuple[int, ...]) -> Tensor:
    """Random values that keep a signal's size through the layer that the name tells."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    draw = torch.from_numpy(rng.standard_normal(shape, dtype=np.float32))
    if name.endswith("original0"):  # the gain of a normalised convolution
        return 0.6 + 0.1 * draw
    if name.endswith("alpha"):  # how often Snake swings
        return 1.0 + 0.1 * draw
    if len(shape) <= 1:
        return (1.0 if name.endswith("weight") else 0.0) + 0.05 * draw
    if "embed" in name and len(shape) == 2 and shape[0] > 4 * shape[1]:  # noqa: PLR2004 - a table
        return 0.5 * draw
    return draw / math.sqrt(math.prod(shape[1:]))


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m streaming.cosyvoice.tiny",
        description="Write a CosyVoice checkpoint folder of random numbers: it makes noise.",
    )
    parser.add_argument("out", type=Path, help="the folder, made if it is not there")
    parser.add_argument("--generation", choices=GENERATIONS, default="cosyvoice3")
    parser.add_argument("--size", choices=get_args(Size), default="tiny")
    parser.add_argument("--dtype", choices=sorted(_TYPES), default="float32")
    parser.add_argument("--speakers", nargs="*", default=[], metavar="NAME")
    chosen = parser.parse_args(arguments)
    if chosen.out.is_file():
        parser.error(f"{chosen.out} is a file; name a folder")
    files = write(
        chosen.out,
        chosen.generation,
        chosen.size,
        speakers=chosen.speakers,
        dtype=_TYPES[chosen.dtype],
    )
    weight = sum(path.stat().st_size for path in files.needed())
    print(f"{files.folder}: a random {chosen.generation}, {weight / 1e6:,.0f} MB")  # noqa: T201 - a command


if __name__ == "__main__":
    main()
