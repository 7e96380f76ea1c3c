"""The verification as a command: what is asked for, in order, and the exit status.

0: all is well; 1: it speaks, and does not say what it should; 2: it could not be tried; 3: it
speaks, and nobody could listen. Knows: arguments, the order of things. Does not know: models. Torch
is loaded late, so that what is wrong with a folder is told at once, and without it.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from streaming.cosyvoice import folder as folders
from streaming.cosyvoice.folder_errors import CheckpointError
from streaming.cosyvoice.verify.conclusion import conclude
from streaming.cosyvoice.verify.errors import CannotTry
from streaming.cosyvoice.verify.report import Report

CANNOT_BE_TRIED = 2
INTERRUPTED = 130

_NEEDED = ("torch", "onnxruntime", "tokenizers", "kaldi_native_fbank", "soundfile", "yaml")


def main(arguments: Sequence[str] | None = None, *, out: TextIO | None = None) -> int:
    """The command; its exit status."""
    chosen = _parser().parse_args(arguments)
    report = Report(out or sys.stdout)
    try:
        return _verify(chosen, report)
    except (CannotTry, CheckpointError) as error:
        report.verdict(f"error: {error}", good=False)
        return CANNOT_BE_TRIED
    except KeyboardInterrupt:
        report.verdict("Interrupted", good=False)
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m streaming.cosyvoice.verify",
        description="Speak three sentences with a CosyVoice checkpoint, recognise them, and say "
        "whether it works here, how fast it is and what memory it takes.",
        epilog="Exit status: 0: it speaks. 1: it does not say what it should. 2: it could not be "
        "tried. 3: it speaks, and no recogniser is installed that could understand it.",
    )
    parser.add_argument("path", type=Path, help="the checkpoint's folder")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument(
        "--precision",
        choices=("fp32", "fp16", "bf16"),
        help="default: bf16 on a GPU, fp32 on a CPU",
    )
    parser.add_argument("--threads", type=int, default=1, help="of the CPU; default: 1")
    parser.add_argument("--out", type=Path, metavar="DIR", help="keep the recordings there")
    return parser


def _verify(chosen: argparse.Namespace, report: Report) -> int:
    files = folders.find(chosen.path)
    files.check()
    _require_packages()
    from streaming.cosyvoice.verify.running import How, run  # noqa: PLC0415 - takes torch along

    how = How(chosen.device, chosen.precision, chosen.threads, chosen.out)
    return conclude(run(files, how, report), files, report).value


def _require_packages() -> None:
    lost = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if lost:
        raise CannotTry(
            f"{', '.join(lost)} cannot be found, which the CosyVoice models need. "
            "`make setup-cosyvoice` installs what they need; the README's GPU section says which "
            "build of torch fits which driver"
        )
