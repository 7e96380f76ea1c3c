"""Where each file of a checkpoint folder is, and whether it is really there.

A file may be missing; it may also be what stands in for a file: a Git LFS pointer (the folder
was cloned without ``git lfs``), a web page (a browser saved the hub's page about it), nothing at
all, or part of a download that has not ended.
Knows: names, first bytes. Does not know: what the files hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from streaming.cosyvoice.folder_errors import (
    CheckpointError,
    DamagedFile,
    MissingFile,
    NotACheckpoint,
)
from streaming.cosyvoice.sizes import Generation

GENERATIONS: tuple[Generation, ...] = ("cosyvoice3", "cosyvoice2")
QWEN = "CosyVoice-BlankEN"
"""Qwen2's folder: its sizes and its vocabulary."""

SPEECH_TOKENIZERS: dict[Generation, str] = {
    "cosyvoice2": "speech_tokenizer_v2.onnx",
    "cosyvoice3": "speech_tokenizer_v3.onnx",
}
SPEAKERS = "spk2info.pt"
"""Named speakers; the published base models have none."""

PART = ".part"
"""How the name of a file ends that is still being fetched."""

_POINTER = b"version https://git-lfs"
_SOME = 64


@dataclass(frozen=True)
class Layout:
    """The files of a checkpoint of one generation in a folder."""

    folder: Path
    generation: Generation

    @property
    def yaml(self) -> Path:
        """The configuration, whose name tells the generation."""
        return self.folder / f"{self.generation}.yaml"

    @property
    def llm(self) -> Path:
        """The LLM's weights."""
        return self.folder / "llm.pt"

    @property
    def flow(self) -> Path:
        """The flow's weights."""
        return self.folder / "flow.pt"

    @property
    def hift(self) -> Path:
        """The vocoder's weights."""
        return self.folder / "hift.pt"

    @property
    def campplus(self) -> Path:
        """The network that makes a speaker embedding."""
        return self.folder / "campplus.onnx"

    @property
    def speech_tokenizer(self) -> Path:
        """The network that makes speech tokens of a recording."""
        return self.folder / SPEECH_TOKENIZERS[self.generation]

    @property
    def qwen_config(self) -> Path:
        """The sizes of the LLM's body."""
        return self.folder / QWEN / "config.json"

    @property
    def vocab(self) -> Path:
        """Text tokens and their ids."""
        return self.folder / QWEN / "vocab.json"

    @property
    def merges(self) -> Path:
        """How bytes are joined to text tokens."""
        return self.folder / QWEN / "merges.txt"

    @property
    def speakers(self) -> Path:
        """Named speakers; optional."""
        return self.folder / SPEAKERS

    def needed(self) -> Iterator[Path]:
        """Every file that must be there, the yaml last: with it a folder is a checkpoint."""
        yield from (self.qwen_config, self.vocab, self.merges)
        yield from (self.hift, self.campplus, self.flow, self.speech_tokenizer, self.llm)
        yield self.yaml

    def check(self) -> None:
        """Whether every file is there as itself.

        Raises:
            MissingFile, DamagedFile: one is not; the message names it and says what to do.
        """
        lost = [self._name(path) for path in self.needed() if not path.is_file()]
        if lost:
            raise MissingFile(self._say_missing(lost))
        present = [*self.needed(), *([self.speakers] if self.speakers.is_file() else [])]
        for path in present:
            _refuse_stand_ins(path, self.generation)

    def _name(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix()

    def _say_missing(self, lost: list[str]) -> str:
        other = next(name for name in GENERATIONS if name != self.generation)
        theirs = Layout(self.folder, other).speech_tokenizer.name
        if self.speech_tokenizer.name in lost and (self.folder / theirs).is_file():
            return (
                f"{self.folder} looks like a {other}: it has {theirs}, but its yaml is called "
                f"{self.generation}.yaml. Give the yaml the name that it was published with"
            )
        parts = any(self.folder.rglob(f"*{PART}"))
        why = " (a download here has not ended)" if parts else ""
        return (
            f"{self.folder} lacks {', '.join(lost)}{why}. "
            f"{advice(self.generation, self.folder)} fetches what is missing"
        )


def advice(generation: Generation, folder: Path) -> str:
    """The command that fetches a checkpoint into a folder."""
    return f'`python -m streaming.cosyvoice.download {generation} --to "{folder}"`'


def find(folder: Path) -> Layout:
    """The layout of a folder, by the name of its yaml.

    Raises:
        NotACheckpoint: there is no such folder, or no yaml that names a generation, or two.
    """
    if folder.is_file():
        raise NotACheckpoint(f"{folder} is a file; a checkpoint is a folder: name {folder.parent}")
    if not folder.is_dir():
        raise NotACheckpoint(
            f"{folder} does not exist; a checkpoint is a folder. "
            f"{advice('cosyvoice3', folder)} fetches one"
        )
    found = [name for name in GENERATIONS if (folder / f"{name}.yaml").is_file()]
    if len(found) == 1:
        return Layout(folder, found[0])
    if found:
        raise NotACheckpoint(
            f"{folder} has both cosyvoice2.yaml and cosyvoice3.yaml: two checkpoints in one "
            "folder. Keep each in a folder of its own"
        )
    raise NotACheckpoint(_not_here(folder))


def _not_here(folder: Path) -> str:
    if (folder / "cosyvoice.yaml").is_file():
        return (
            f"{folder} holds a CosyVoice of the first generation (cosyvoice.yaml); only 2 and 3 "
            f"are supported. {advice('cosyvoice3', folder.parent / 'cosyvoice3')} fetches one"
        )
    inner = sorted(path.parent for name in GENERATIONS for path in folder.glob(f"*/{name}.yaml"))
    if inner:
        return f"{folder} is no checkpoint, but {inner[0]} is: name that folder"
    if any(folder.rglob(f"*{PART}")):
        return (
            f"{folder} holds a download that has not ended. Run it again, it goes on where it "
            f"was: {advice('cosyvoice3', folder)}"
        )
    return (
        f"{folder} is no CosyVoice checkpoint: it has neither cosyvoice3.yaml nor "
        f"cosyvoice2.yaml. {advice('cosyvoice3', folder)} fetches one"
    )


def _refuse_stand_ins(path: Path, generation: Generation) -> None:
    try:
        with path.open("rb") as file:
            first = file.read(_SOME)
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror}") from error
    again = f"{advice(generation, path.parent)} fetches it"
    if not first:
        raise DamagedFile(f"{path} is empty. Delete it; {again}")
    if first.startswith(_POINTER):
        raise DamagedFile(
            f"{path} is a Git LFS pointer, not the file: the folder was cloned without git-lfs. "
            f"Run `git lfs pull` in it, or delete the file; {again}"
        )
    if first.lstrip().lower().startswith((b"<!doctype", b"<html")):
        raise DamagedFile(f"{path} is a web page, not the file. Delete it; {again}")
