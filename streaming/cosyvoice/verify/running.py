"""The trials: a runner is loaded, speaks each sentence, is listened to and measured.

Knows: the runner, the recogniser, the report. Does not know: what all of it comes to.
"""

from __future__ import annotations

import contextlib
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import soxr
import torch

from streaming.audio import pcm as samples_of
from streaming.audio.wav import wav_file
from streaming.config import CosyVoiceSettings, EngineSettings
from streaming.cosyvoice.download.progress import size
from streaming.cosyvoice.folder import Layout
from streaming.cosyvoice.sizes import Generation
from streaming.cosyvoice.verify import listening, memory
from streaming.cosyvoice.verify.errors import CannotTry
from streaming.cosyvoice.verify.judging import Heard, Trial, judge
from streaming.cosyvoice.verify.notes import Notes
from streaming.cosyvoice.verify.report import Report, seconds
from streaming.cosyvoice.verify.sentences import SENTENCES, Sentence
from streaming.cosyvoice.verify.speaking import NotSpoken, Speaking, Spoken
from streaming.errors import CosystreamError
from streaming.runners.cosyvoice.runner import create
from streaming.samples import SAMPLE_RATE

FLOW_MIB = 3072
"""Room for a voice and the longest sentence at the published sizes, in half precision."""

SLOTS = 2
HANG_TIMEOUT_S = 120.0
"""For one step, the first of which may find its kernels still to be made."""

SILENT = 50
"""Of 32,767: nothing louder than this is silence."""

_PROMPTS = {"zh": "以下是普通话的句子。"}
"""Asks the recogniser for simplified characters."""


@dataclass(frozen=True)
class How:
    """What was chosen; the names are the engine's settings'."""

    device: Literal["auto", "cpu", "cuda"] = "auto"
    precision: Literal["fp32", "fp16", "bf16"] | None = None
    """None: what suits the device."""
    threads: int = 1
    keep: Path | None = None
    """A folder for the recordings."""


def run(files: Layout, how: How, report: Report) -> list[Trial]:
    """Every sentence, and the measurements.

    Raises:
        CannotTry, CheckpointError: it does not come about; the message says why.
    """
    report.title(f"{files.generation} in {files.folder}")
    notes = Notes(report, sys.stderr)
    with tempfile.TemporaryDirectory() as voices_dir, contextlib.redirect_stderr(notes):
        speaking = _load(_settings(files, how, voices_dir), report)
        try:
            spoken = [
                _speak(number, sentence, speaking, how.keep, report, files.generation)
                for number, sentence in enumerate(SENTENCES, 1)
            ]
            _measure([each for each, _ in spoken], speaking, report)
        except NotSpoken as error:
            raise CannotTry(f"it stopped speaking: {error}") from error
    return [trial for _, trial in spoken]


def _settings(files: Layout, how: How, voices_dir: str) -> EngineSettings:
    precision = how.precision or _usual_precision(how.device)
    return EngineSettings(
        runner="cosyvoice",
        model=str(files.folder),
        device=how.device,
        precision=precision,
        threads=how.threads,
        slots=SLOTS,
        max_ahead_s=float("inf"),
        voices_dir=voices_dir,
        hang_timeout_s=HANG_TIMEOUT_S,
        cosyvoice=CosyVoiceSettings(flow_mib=FLOW_MIB * (2 if precision == "fp32" else 1)),
    )


def _usual_precision(device: str) -> Literal["fp32", "fp16", "bf16"]:
    if device == "cpu" or not torch.cuda.is_available():
        return "fp32"
    return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "fp16"


def _load(settings: EngineSettings, report: Report) -> Speaking:
    began_s = time.monotonic()
    runner = create(settings)
    try:
        torch.set_num_threads(settings.threads)
        runner.load()
        speaking = Speaking(runner, settings)
        for sentence in SENTENCES:  # once each, so that what is measured finds all at hand
            speaking.first_packet_s(sentence)
    except NotSpoken as error:
        raise CannotTry(f"it does not speak: {error}") from error
    except torch.OutOfMemoryError as error:
        first = str(error).splitlines()[0]
        raise CannotTry(f"the device's memory is too small, or others have it: {first}") from error
    except (ValueError, RuntimeError, CosystreamError) as error:
        raise CannotTry(str(error)) from error
    report.fact("device", speaking.ready.device)
    report.fact("loaded", f"in {seconds(time.monotonic() - began_s)}, warm, with two voices")
    return speaking


def _speak(
    number: int,
    sentence: Sentence,
    speaking: Speaking,
    keep: Path | None,
    report: Report,
    generation: Generation,
) -> tuple[Spoken, Trial]:
    report.sentence(number, sentence)
    spoken = speaking.say(sentence)
    ends = ", cut off there" if spoken.cut_off else ""
    gap = f", a gap of {spoken.gap_s * 1000:.0f} ms" if spoken.gap_s else ", no gap"
    report.fact("sound", f"{seconds(spoken.audio_s)}{ends}, RTF {spoken.rtf:.2f}{gap}")
    if keep is not None:
        report.fact("kept as", str(_keep(keep / f"{sentence.name}.wav", spoken)))
    fault, heard = _fault(spoken), _listen(sentence, spoken, generation)
    if heard is not None:
        report.fact("heard", heard.words or "(no word)")
    return spoken, Trial(sentence.title, fault, heard)


def _keep(path: Path, spoken: Spoken) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(wav_file(spoken.pcm))
    except OSError as error:
        raise CannotTry(f"{path} cannot be written: {error.strerror}") from error
    return path


def _fault(spoken: Spoken) -> str:
    """Why it cannot be good, whatever is heard."""
    loudest = np.abs(samples_of.from_bytes(spoken.pcm).astype(np.int32)).max(initial=0)
    if loudest < SILENT:
        return "silence"
    if spoken.cut_off:
        return f"it did not end, and was cut off after {seconds(spoken.audio_s)}"
    return ""


def _listen(sentence: Sentence, spoken: Spoken, generation: Generation) -> Heard | None:
    """None where there is no recogniser."""
    samples = samples_of.to_float(samples_of.from_bytes(spoken.pcm))
    try:
        words = listening.transcribe(
            soxr.resample(samples, SAMPLE_RATE, listening.RATE),
            language=sentence.language,
            beam=5,
            prompt=_PROMPTS.get(sentence.language),
            temperatures=(0.0,),
        )
    except listening.NoRecogniser:
        return None
    return judge(sentence.text, words, sentence.hidden(generation))


def _measure(spoken: list[Spoken], speaking: Speaking, report: Report) -> None:
    first = statistics.median(speaking.first_packet_s(sentence) for sentence in SENTENCES)
    rtf = sum(each.compute_s for each in spoken) / sum(each.audio_s for each in spoken)
    report.title("\nMeasured")
    report.fact("first packet", f"{first * 1000:.0f} ms (one listener, the voice at hand)")
    slow = " (above 1: too slow to listen to as it is made)" if rtf > 1 else ""
    report.fact("RTF", f"{rtf:.2f}{slow}")
    report.fact("memory", _memory())


def _memory() -> str:
    device, process = memory.device_bytes(), memory.process_bytes()
    parts = [
        *([f"{size(device)} on the GPU"] if device is not None else []),
        *([f"{size(process)} in this process"] if process is not None else []),
    ]
    return (
        f"at most {', '.join(parts)}, with room for one listener"
        if parts
        else "not told by this system"
    )
