"""The two hubs that publish the checkpoints: what a repository holds, and where its files are.

Hugging Face gives a SHA-256 for large files and Git's own hash for small ones; ModelScope gives a
SHA-256 for all. ``HF_ENDPOINT`` and ``MODELSCOPE_ENDPOINT`` name mirrors of them.
Knows: their APIs, the ids of the published checkpoints. Does not know: disks.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol
from urllib.parse import quote

from streaming.cosyvoice.download import web
from streaming.cosyvoice.download.errors import Refused
from streaming.cosyvoice.sizes import Generation

HubName = Literal["hf", "modelscope"]
LIST_TIMEOUT_S: Final = 15.0


@dataclass(frozen=True)
class RemoteFile:
    """A file of a repository, and what it must be when it has arrived."""

    path: str
    url: str
    size: int
    sha256: str | None = None
    git_sha1: str | None = None
    """Git's hash of the content, where no SHA-256 is given."""


class Hub(Protocol):
    """A place that publishes checkpoints."""

    @property
    def title(self) -> str:
        """Its name for people."""

    def repository(self, generation: Generation) -> str:
        """The id of the published checkpoint."""

    def files(self, repository: str) -> dict[str, RemoteFile]:
        """Every file of a repository by its path.

        Raises:
            Unreachable, Refused: the hub does not answer, or not with a list.
        """


class HuggingFace:
    """huggingface.co, or a mirror with the same API."""

    title = "Hugging Face"

    def __init__(self, endpoint: str | None = None) -> None:
        given = endpoint or os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
        self._endpoint = given.rstrip("/")

    def repository(self, generation: Generation) -> str:
        """The id of the published checkpoint."""
        return {
            "cosyvoice2": "FunAudioLLM/CosyVoice2-0.5B",
            "cosyvoice3": "FunAudioLLM/Fun-CosyVoice3-0.5B-2512",
        }[generation]

    def files(self, repository: str) -> dict[str, RemoteFile]:
        """Every file of a repository by its path, at the commit that is the newest now."""
        api = f"{self._endpoint}/api/models/{repository}"
        with _understood(api):
            commit = web.get_json(f"{api}/revision/main", timeout_s=LIST_TIMEOUT_S)["sha"]
            tree = f"{api}/tree/{commit}?recursive=true"
            entries = web.get_json(tree, timeout_s=LIST_TIMEOUT_S)
            base = f"{self._endpoint}/{repository}/resolve/{commit}"
            files = [self._file(entry, base) for entry in entries if entry["type"] == "file"]
        return {file.path: file for file in files}

    @staticmethod
    def _file(entry: Mapping[str, Any], base: str) -> RemoteFile:
        large = entry.get("lfs") or {}
        return RemoteFile(
            path=entry["path"],
            url=f"{base}/{quote(entry['path'])}",
            size=int(large.get("size", entry["size"])),
            sha256=large.get("oid"),
            git_sha1=None if large else entry.get("oid"),
        )


class ModelScope:
    """modelscope.cn, which is near for those in China."""

    title = "ModelScope"

    def __init__(self, endpoint: str | None = None) -> None:
        given = endpoint or os.environ.get("MODELSCOPE_ENDPOINT") or "https://www.modelscope.cn"
        self._endpoint = given.rstrip("/")

    def repository(self, generation: Generation) -> str:
        """The id of the published checkpoint."""
        return {
            "cosyvoice2": "iic/CosyVoice2-0.5B",
            "cosyvoice3": "FunAudioLLM/Fun-CosyVoice3-0.5B-2512",
        }[generation]

    def files(self, repository: str) -> dict[str, RemoteFile]:
        """Every file of a repository by its path, at its branch ``master``."""
        api = f"{self._endpoint}/api/v1/models/{repository}/repo"
        listing = f"{api}/files?Revision=master&Recursive=True"
        with _understood(listing):
            entries = web.get_json(listing, timeout_s=LIST_TIMEOUT_S)["Data"]["Files"]
            files = [self._file(entry, api) for entry in entries if entry["Type"] == "blob"]
        return {file.path: file for file in files}

    @staticmethod
    def _file(entry: Mapping[str, Any], api: str) -> RemoteFile:
        return RemoteFile(
            path=entry["Path"],
            url=f"{api}?Revision=master&FilePath={quote(entry['Path'], safe='')}",
            size=int(entry["Size"]),
            sha256=entry.get("Sha256") or None,
        )


HUBS: Final[Mapping[HubName, type[HuggingFace | ModelScope]]] = {
    "hf": HuggingFace,
    "modelscope": ModelScope,
}


@contextmanager
def _understood(url: str) -> Iterator[None]:
    """An answer without what it should hold is told as one, with where it came from."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise Refused(f"{url} answers with something else than a list of files") from error
