"""The download as a command: says how much it will be, then fetches it.

Only the files that are used are fetched, of a repository that holds more. The yaml comes last, so
a folder is a checkpoint once it is whole. Knows: the order of things, words. Does not know: HTTP.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TextIO

from streaming.cosyvoice.download import fetch
from streaming.cosyvoice.download.errors import DownloadError, NoRoom, Refused, Unreachable
from streaming.cosyvoice.download.fetch import Fetch
from streaming.cosyvoice.download.hubs import HUBS, Hub, RemoteFile
from streaming.cosyvoice.download.progress import Progress, size
from streaming.cosyvoice.folder import GENERATIONS, Layout
from streaming.cosyvoice.sizes import Generation

AUTO: Final = "auto"
_SPARE_BYTES: Final = 100_000_000
"""What is to be left free on the disk."""


@dataclass(frozen=True)
class Offer:
    """What a hub has of a checkpoint."""

    hub: Hub
    repository: str
    files: dict[str, RemoteFile]


def main(arguments: Sequence[str] | None = None, *, out: TextIO | None = None) -> int:
    """The command; its exit status."""
    chosen = _parser().parse_args(arguments)
    out = out or sys.stderr
    layout = Layout(chosen.to or Path("models") / chosen.generation, chosen.generation)
    try:
        offer = _offer(chosen.source, chosen.generation, chosen.repo)
        _bring(layout, offer, out, dry=chosen.dry_run)
    except DownloadError as error:
        print(f"error: {error}", file=out)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted. Run this again: it goes on where it was", file=out)
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m streaming.cosyvoice.download",
        description="Fetch a published CosyVoice checkpoint. Run it again after a break: "
        "it goes on where it was.",
        epilog="HF_ENDPOINT and MODELSCOPE_ENDPOINT name mirrors of the hubs; HTTPS_PROXY a proxy.",
    )
    parser.add_argument("generation", choices=GENERATIONS)
    parser.add_argument(
        "--source",
        choices=(AUTO, *HUBS),
        default=AUTO,
        help="the hub; auto takes the one that answers first (default)",
    )
    parser.add_argument("--to", type=Path, metavar="DIR", help="default: models/GENERATION")
    parser.add_argument("--repo", metavar="ID", help="another repository of the same layout")
    parser.add_argument("--dry-run", action="store_true", help="say how much it is, fetch nothing")
    return parser


def _offer(source: str, generation: Generation, repository: str | None) -> Offer:
    """What the hub has that is asked for, or the one that answers first."""
    hubs: list[Hub] = [kind() for name, kind in HUBS.items() if source in {AUTO, name}]

    def ask(hub: Hub) -> Offer:
        name = repository or hub.repository(generation)
        return Offer(hub, name, hub.files(name))

    return first(ask, hubs, generation)


def first(ask: Callable[[Hub], Offer], hubs: Sequence[Hub], generation: Generation) -> Offer:
    """The first hub's answer that is one; the others are not waited for.

    Raises:
        Unreachable, Refused: none has one; the message has what each said.
    """
    pool = ThreadPoolExecutor(len(hubs))
    waiting = {pool.submit(ask, hub): hub for hub in hubs}
    said: list[tuple[Hub, DownloadError]] = []
    try:
        while waiting:
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                hub, error = waiting.pop(future), _error_of(future)
                if error is None:
                    return future.result()
                said.append((hub, error))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    raise _nobody(said, generation)


def _error_of(future: Future[Offer]) -> DownloadError | None:
    error = future.exception()
    if error is not None and not isinstance(error, DownloadError):
        raise error
    return error


def _nobody(said: Sequence[tuple[Hub, DownloadError]], generation: Generation) -> DownloadError:
    words = "; ".join(f"{hub.title}: {error}" for hub, error in said)
    if any(isinstance(error, Refused) for _, error in said):
        return Refused(f"no hub gives {generation}. {words}")
    names = ", ".join(str(path) for path in Layout(Path(), generation).needed())
    return Unreachable(
        f"no hub can be reached. {words}. Is there a network? Behind a proxy set HTTPS_PROXY; a "
        "mirror is named by HF_ENDPOINT or MODELSCOPE_ENDPOINT. Or copy these files from a "
        f"machine that has them, into one folder: {names}"
    )


def _bring(layout: Layout, offer: Offer, out: TextIO, *, dry: bool) -> None:
    """Say how much it is, and fetch what is not there yet."""
    wanted = _wanted(layout, offer)
    total = sum(file.size for file, _ in wanted)
    print(
        f"{layout.generation}: {len(wanted)} files, {size(total)}, from {offer.hub.title} "
        f"({offer.repository}) into {layout.folder}",
        file=out,
    )
    missing = [(file, path) for file, path in wanted if not _is_there(file, path)]
    arrived = sum(_arrived(file, path) for file, path in missing)
    left = sum(file.size for file, _ in missing) - arrived
    if left < total:
        print(f"{size(total - left)} of it are here already, {size(left)} are left", file=out)
    _check_room(layout.folder, left)
    if dry:
        return
    progress = Progress(total, out)
    progress.file("", total - left - arrived)
    fetching = Fetch(report=progress.moved, say=progress.say)
    for file, path in missing:
        progress.file(file.path, _arrived(file, path))
        fetching.fetch(file, path)
    progress.end()
    print(
        "Complete, every file as the hub describes it. Next:\n"
        f"  python -m streaming.cosyvoice.verify {layout.folder}\n"
        f"  python -m server --device cuda --precision fp16 --model {layout.folder}",
        file=out,
    )


def _wanted(layout: Layout, offer: Offer) -> list[tuple[RemoteFile, Path]]:
    """The files that are used, with their places; named speakers where there are some."""
    names = [path.relative_to(layout.folder).as_posix() for path in layout.needed()]
    lost = [name for name in names if name not in offer.files]
    if lost:
        raise Refused(
            f"{offer.repository} at {offer.hub.title} is no {layout.generation}: it lacks "
            f"{', '.join(lost)}"
        )
    named = layout.speakers.name
    chosen = [named, *names] if named in offer.files else names
    return [(offer.files[name], layout.folder / name) for name in chosen]


def _is_there(file: RemoteFile, path: Path) -> bool:
    return path.is_file() and fetch.fault(file, path) is None


def _arrived(file: RemoteFile, path: Path) -> int:
    part = fetch.part_of(file, path)
    return part.stat().st_size if part.is_file() else 0


def _check_room(folder: Path, needed: int) -> None:
    parent = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    free = shutil.disk_usage(parent).free
    if needed and free < needed + _SPARE_BYTES:
        raise NoRoom(
            f"{size(needed)} are left to fetch, and the disk of {parent} has {size(free)} free. "
            "Make room, or name a folder on another disk: --to DIR"
        )
