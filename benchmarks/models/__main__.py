"""The command: make a random checkpoint, measure, print one object or one table."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import torch

from benchmarks.models import batch, first, held, stream, together, voices
from benchmarks.models.voices import Made
from benchmarks.models.watched import WatchedRunner
from streaming.config import CosyVoiceSettings, EngineSettings
from streaming.cosyvoice import tiny
from streaming.cosyvoice.folder import GENERATIONS
from streaming.cosyvoice.llm.decoder import Decoder
from streaming.cosyvoice.sizes import Generation

FLOW_MIB: dict[Generation, int] = {"cosyvoice2": 2048, "cosyvoice3": 1024}
"""For the voices and their contexts; version 2 keeps twice as much of a second."""

POSITIONS = 1024


@dataclass(frozen=True)
class Options:
    """One run."""

    generation: Generation = "cosyvoice3"
    size: tiny.Size = "bench"
    llm_size: tiny.Size = "full"
    seconds: int = 60
    json: bool = False


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all parts, one after another."""
    options = _parse(arguments)
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(options, Path(folder))
    print(json.dumps(figures) if options.json else _table(figures))


def measure(options: Options, folder: Path) -> dict[str, Any]:
    """Everything; the whole takes some minutes at the usual sizes."""
    torch.set_num_threads(1)  # as in the engine's process
    count = len(together.TEXTS)
    made = voices.make(folder, options.generation, options.size, voices=count + 1)
    figures = _streamed(options, made)
    figures |= _spoken(options, made)
    figures |= _batched(options)
    return figures | {"options": _run(options)}


def _streamed(options: Options, made: Made) -> dict[str, Any]:
    """(a)."""
    _say(f"flow and vocoder over {options.seconds} s")
    networks = stream.load(made.checkpoint, options.seconds)
    exact = stream.streamed(networks, None, stream.ROUNDS)
    windowed = stream.streamed(networks, stream.WINDOW_S, stream.ROUNDS)
    flow_s, vocoder_s = stream.one_pass_s(networks)
    return {
        "exact_60_over_5": round(exact.growth, 2),
        "windowed_60_over_5": round(windowed.growth, 2),
        "whole_over_one_pass": round(exact.whole_s / (flow_s + vocoder_s), 2),
        "seconds": {
            "window_s": stream.WINDOW_S,
            "exact": _second_by_second(exact),
            "windowed": _second_by_second(windowed),
            "one_pass": {"flow": round(flow_s, 2), "vocoder": round(vocoder_s, 2)},
        },
    }


def _second_by_second(taken: stream.Streamed) -> dict[str, Any]:
    last = len(taken.flow_s)
    return {
        "5th": round(taken.cost_s(stream.EARLY), 3),
        f"{last}th": round(taken.cost_s(last), 3),
        "flow": round(sum(taken.flow_s), 2),
        "vocoder": round(sum(taken.vocoder_s), 2),
    }


def _spoken(options: Options, made: Made) -> dict[str, Any]:
    """(c), (d), and many beside one."""
    settings = EngineSettings(
        runner="cosyvoice",
        model=str(made.checkpoint),
        device="cpu",
        slots=len(together.TEXTS),
        voices_dir=str(made.voices_dir),
        cosyvoice=CosyVoiceSettings(
            first_hop_tokens=held.FIRST_HOP_TOKENS,
            positions=POSITIONS,
            flow_mib=FLOW_MIB[options.generation],
        ),
    )
    _say("the runner")
    runner = WatchedRunner(settings)
    runner.load()
    before = runner.figures()["voice_bytes"]
    _say("from text to the first chunk")
    first_ms = first.measure(
        runner, settings, made.voices[0], text=first.SENTENCE, rounds=first.ROUNDS
    )
    voice_bytes = int(runner.figures()["voice_bytes"] - before)
    _say(f"{settings.slots} contexts together and one at a time")
    sizes = tiny.sizes(options.generation, options.size)
    counted = held.counted(sizes, torch.float32)
    full = held.counted(tiny.sizes(options.generation, "full"), torch.bfloat16)
    return {
        "first_chunk_ms": first_ms,
        "context_bytes_per_s": counted["context_bytes_per_s"],
        "voice_bytes": voice_bytes,
        "held": {"counted": counted, "full_size": full},
        "together": together.measure(
            runner, made.voices[1:], texts=together.TEXTS, rounds=together.ROUNDS
        ),
    }


def _batched(options: Options) -> dict[str, Any]:
    """(b)."""
    _say("the language model")
    sizes = tiny.sizes(options.generation, options.llm_size).llm
    decoder = batch.decoder(sizes, batch.BATCH)
    found = _rates(decoder, time.thread_time)
    torch.set_num_threads(os.cpu_count() or 1)
    on_all_cores = _rates(decoder, time.perf_counter)
    ratio = found[batch.BATCH]["tokens_per_s"] / found[1]["tokens_per_s"]
    return {
        f"llm_batch{batch.BATCH}_over_1": round(ratio, 2),
        "llm": found,
        "llm_on_all_cores": on_all_cores,
    }


def _rates(decoder: Decoder, clock: batch.Clock) -> dict[int, dict[str, float]]:
    sizes = (1, batch.BATCH)
    return batch.measure(decoder, sizes, steps=batch.STEPS, rounds=batch.ROUNDS, clock=clock)


def _run(options: Options) -> dict[str, Any]:
    return {
        "generation": options.generation,
        "size": options.size,
        "llm_size": options.llm_size,
        "cores": os.cpu_count(),
        "torch": torch.__version__,
        "python": platform.python_version(),
        "system": platform.platform(),
    }


def _table(figures: dict[str, Any]) -> str:
    return "\n".join(f"{name:<24}{value}" for name, value in figures.items())


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def _parse(arguments: Sequence[str] | None) -> Options:
    default = Options()
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.models",
        description="What CosyVoice's networks cost on this CPU, over random weights: (a) a minute "
        "in one breath, (b) the language model in a batch, (c) memory, (d) the way from text to "
        "the first chunk. Five minutes.",
    )
    sizes = get_args(tiny.Size)
    add = parser.add_argument
    add("--generation", choices=GENERATIONS, default=default.generation)
    add("--size", choices=sizes, default=default.size, help="of all but (b)")
    add("--llm-size", choices=sizes, default=default.llm_size, help="of (b)")
    add("--seconds", type=int, default=default.seconds, help="of the utterance of (a)")
    add("--json", action="store_true", help="one JSON object instead of a table")
    return Options(**vars(parser.parse_args(arguments)))


if __name__ == "__main__":
    main()
