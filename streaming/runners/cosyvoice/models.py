"""A checkpoint's networks on their device, with the memory they work in.

Knows: how they are built of a folder, how memory is shared out. Does not know: voices, contexts.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch

from streaming.config import EngineSettings
from streaming.cosyvoice import checkpoint, vocoder
from streaming.cosyvoice.capture import give_back
from streaming.cosyvoice.checkpoint import Checkpoint, Speaker
from streaming.cosyvoice.flow import build as flow_build
from streaming.cosyvoice.flow.pool import page_bytes
from streaming.cosyvoice.flow.stream import Flow
from streaming.cosyvoice.llm.decoder import Decoder
from streaming.cosyvoice.llm.model import SpeechLlm
from streaming.cosyvoice.prompt.frontend import PromptFiles, PromptFrontEnd
from streaming.cosyvoice.sizes import Generation
from streaming.cosyvoice.tokenizer import TextTokenizer
from streaming.cosyvoice.vocoder.stepping import StreamingVocoder
from streaming.engine.notes import note
from streaming.runners.cosyvoice import card, memory
from streaming.runners.cosyvoice.device import choose, name_of
from streaming.runners.cosyvoice.speed import Speed, speed_of


@dataclass(frozen=True)
class Models:
    """What speaks."""

    generation: Generation
    device: torch.device
    device_name: str
    tokenizer: TextTokenizer
    decoder: Decoder
    flow: Flow
    vocoder: StreamingVocoder
    speed: Speed
    """How steps of flow and vocoder are launched."""
    speakers: dict[str, Speaker]
    listener: PromptFrontEnd
    """What hears recordings."""
    share: memory.Share
    """What was taken of the device's memory, and of the host's."""
    gauge: card.Gauge | None
    """Who tells what is free of a GPU's."""


def build(settings: EngineSettings) -> Models:
    """Everything of the folder ``engine.model``, ready to step.

    Raises:
        ValueError: no folder is named, or the device cannot be had.
        CheckpointError: the folder cannot be used.
    """
    folder = _folder(settings)
    device, dtype = choose(settings)
    torch.set_num_threads(settings.threads)
    loaded = checkpoint.load(folder)
    llm = _llm(loaded).to(device, dtype).eval()
    sound = _vocoder(loaded).to(device).eval().fuse()
    speed = speed_of(settings.cosyvoice, device, dtype)
    record = speed.of_llm(llm)
    speed.of_vocoder(sound)
    euler = speed.of_flow()
    network = flow_build.load(
        loaded.sizes.flow, loaded.flow, device, dtype, euler.compiled, euler.way
    )
    gauge = card.gauge_of(device) if device.type == "cuda" else None
    needs = memory.Needs(memory.position_bytes(llm.sizes, dtype), page_bytes(network.shelves))
    share = _share(settings, needs, gauge)
    models = Models(
        generation=loaded.sizes.generation,
        device=device,
        device_name=name_of(device, dtype),
        tokenizer=TextTokenizer(loaded.vocab, loaded.merges, loaded.sizes.generation),
        decoder=Decoder(
            llm,
            slots=share.slots,
            positions=share.positions,
            record=record,
            kernels=speed.kernels,
        ),
        flow=Flow(
            network,
            budget_bytes=share.flow_bytes,
            shapes=euler.shapes,
            wrap=euler.wrap,
            host_bytes=share.host_bytes,
        ),
        vocoder=sound,
        speed=speed,
        speakers=loaded.speakers,
        listener=_listener(folder, settings.threads),
        share=share,
        gauge=gauge,
    )
    if device.type == "cuda":
        # All that was laid out here was so on the default stream, for which no stage's waits.
        torch.cuda.synchronize(device)
    return models


def _share(settings: EngineSettings, needs: memory.Needs, gauge: card.Gauge | None) -> memory.Share:
    """As much as is free lets us have, and the log says how much that is."""
    host = int(memory.free_host_bytes() * memory.HOST_SHARE)
    if gauge is not None:
        give_back()  # what loading needed for a while
    free = host if gauge is None else gauge.free_bytes()
    share = memory.share_out(settings, needs, free)
    note(
        "memory_shared_out",
        free_mib=free >> 20,
        told_by="the system" if gauge is None else gauge.source,
        slots=share.slots,
        flow_mib=share.flow_bytes >> 20,
        host_mib=share.host_bytes >> 20,
    )
    if share.positions < settings.cosyvoice.positions:
        note(
            "positions_lowered",
            level="warning",
            why="little of the device's memory is free: long segments will be refused",
            asked=settings.cosyvoice.positions,
            positions=share.positions,
        )
    if share.flow_bytes < settings.cosyvoice.flow_mib << 20:
        note(
            "flow_lowered",
            level="warning",
            why="little of the device's memory is free",
            asked_mib=settings.cosyvoice.flow_mib,
            flow_mib=share.flow_bytes >> 20,
        )
    return share


def _folder(settings: EngineSettings) -> Path:
    if settings.model is None:
        raise ValueError(
            "engine.model names no checkpoint folder; "
            "`python -m streaming.cosyvoice.download cosyvoice3` fetches one"
        )
    return Path(settings.model)


def _vocoder(loaded: Checkpoint) -> StreamingVocoder:
    sound = vocoder.of(loaded.sizes.generation, loaded.sizes.vocoder)
    sound.load_state_dict(loaded.vocoder, strict=True)
    return sound


def _llm(loaded: Checkpoint) -> SpeechLlm:
    """Its weights are the checkpoint's own tensors; no others are made first."""
    with torch.device("meta"):
        llm = SpeechLlm(loaded.sizes.llm)
    llm.load_state_dict(loaded.llm, strict=True, assign=True)
    return llm


def _listener(folder: Path, threads: int) -> PromptFrontEnd:
    files = PromptFiles.find(folder)
    return PromptFrontEnd(files.speech_tokenizer, files.campplus, files.generation, threads=threads)
