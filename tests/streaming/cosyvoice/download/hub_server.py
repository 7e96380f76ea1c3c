"""A server that plays both hubs over real sockets, and breaks as it is told."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

COMMIT = "c0ffee"
LARGE = 1000
"""Files from this size on are "large": Hugging Face gives their SHA-256."""


@dataclass
class HubServer:
    """The files of one repository, and the faults that are still to be met."""

    url: str = ""
    repository: str = "someone/some-model"
    files: dict[str, bytes] = field(default_factory=dict)
    break_after: list[int] = field(default_factory=list)
    """For each answer to come, after how many bytes its connection breaks."""
    answers: list[int] = field(default_factory=list)
    """Statuses that the next requests for files get instead."""
    lists: int = 200
    """The status of lists."""
    listed: bytes = b""
    """What lists say, whatever they are asked."""
    ranges: bool = True
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    """Each file that was asked for, with its range."""


def _hugging_face(hub: HubServer) -> list[dict[str, object]]:
    entries: list[dict[str, object]] = [{"type": "directory", "path": "asset", "size": 0}]
    for path, content in hub.files.items():
        git = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        entry: dict[str, object] = {"type": "file", "path": path, "size": len(content), "oid": git}
        if len(content) >= LARGE:
            sha = hashlib.sha256(content).hexdigest()
            entry["lfs"] = {"oid": sha, "size": len(content), "pointerSize": 134}
        entries.append(entry)
    return entries


def _modelscope(hub: HubServer) -> dict[str, object]:
    entries = [{"Type": "tree", "Path": "asset", "Size": 0}] + [
        {
            "Type": "blob",
            "Path": path,
            "Size": len(content),
            "Sha256": hashlib.sha256(content).hexdigest(),
        }
        for path, content in hub.files.items()
    ]
    return {"Code": 200, "Data": {"Files": entries}}


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, hub: HubServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.hub = hub
        hub.url = f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        hub, url = self.server.hub, urlsplit(self.path)
        lists = {
            f"/api/models/{hub.repository}/revision/main": lambda: {"sha": COMMIT},
            f"/api/models/{hub.repository}/tree/{COMMIT}": lambda: _hugging_face(hub),
            f"/api/v1/models/{hub.repository}/repo/files": lambda: _modelscope(hub),
        }
        resolved = f"/{hub.repository}/resolve/{COMMIT}/"
        if url.path in lists:
            self.give(hub.lists, hub.listed or json.dumps(lists[url.path]()).encode())
        elif url.path.startswith(resolved):
            self.redirect("/cdn/" + url.path.removeprefix(resolved))
        elif url.path == f"/api/v1/models/{hub.repository}/repo":
            self.give_file(parse_qs(url.query)["FilePath"][0])
        elif url.path.startswith("/cdn/"):
            self.give_file(unquote(url.path.removeprefix("/cdn/")))
        else:
            self.give(404, b"no such repository")

    def redirect(self, target: str) -> None:
        self.send_response(302)
        self.send_header("Location", self.server.hub.url + target)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def give(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def give_file(self, path: str) -> None:
        hub, asked = self.server.hub, self.headers.get("Range")
        hub.asked.append((path, asked))
        if hub.answers and (status := hub.answers.pop(0)) != HTTPStatus.OK:
            self.give(status, b"no")
            return
        content, begin = hub.files[path], 0
        if asked and hub.ranges:
            begin = int(asked.removeprefix("bytes=").removesuffix("-"))
        self.send_response(HTTPStatus.PARTIAL_CONTENT if begin else HTTPStatus.OK)
        self.send_header("Content-Length", str(len(content) - begin))
        if begin:
            granted = f"bytes {begin}-{len(content) - 1}/{len(content)}"
            self.send_header("Content-Range", granted)
        self.end_headers()
        end = begin + hub.break_after.pop(0) if hub.break_after else len(content)
        self.wfile.write(content[begin:end])
        self.close_connection = end < len(content)


@contextmanager
def serving() -> Iterator[HubServer]:
    """A hub on a port of its own, until the block ends."""
    hub = HubServer()
    server = _Server(hub)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
