"""A file arrives whole or not at all, however often the connection breaks."""

from __future__ import annotations

import errno
import io
import random
import socket
from dataclasses import replace
from pathlib import Path

import pytest
from hub_server import HubServer

from streaming.cosyvoice.download import fetch as fetching
from streaming.cosyvoice.download.errors import (
    Damaged,
    DownloadError,
    NoRoom,
    Refused,
    Unreachable,
)
from streaming.cosyvoice.download.fetch import Fetch
from streaming.cosyvoice.download.hubs import HuggingFace, ModelScope, RemoteFile

CONTENT = random.Random(0).randbytes(300_000)


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def fetch(said: list[str], waits: list[float]) -> Fetch:
    return Fetch(say=said.append, sleep=waits.append, timeout_s=5.0)


@pytest.fixture
def file(hub: HubServer) -> RemoteFile:
    hub.files["llm.pt"] = CONTENT
    return HuggingFace().files(hub.repository)["llm.pt"]


def ranges(hub: HubServer) -> list[str | None]:
    return [asked for _, asked in hub.asked]


class TestArriving:
    @pytest.mark.parametrize("kind", [HuggingFace, ModelScope])
    @pytest.mark.parametrize("content", [CONTENT, b"small", b""])
    def test_a_file_of_either_hub(self, hub, fetch, tmp_path, kind, content):
        hub.files["some/where it is.json"] = content
        file = kind().files(hub.repository)["some/where it is.json"]
        fetch.fetch(file, tmp_path / "deep" / "file")
        assert (tmp_path / "deep" / "file").read_bytes() == content
        assert [path.name for path in (tmp_path / "deep").iterdir()] == ["file"]

    def test_its_progress_is_told(self, file, tmp_path, monkeypatch):
        monkeypatch.setattr(fetching, "CHUNK_BYTES", 100_000)
        have = []
        Fetch(report=have.append).fetch(file, tmp_path / "llm.pt")
        assert have[-1] == len(CONTENT)
        assert have == sorted(have)
        assert len(have) >= 3

    def test_a_file_that_is_there_is_written_over_only_once_the_new_one_is_whole(
        self, hub, file, fetch, tmp_path
    ):
        (tmp_path / "llm.pt").write_bytes(b"the old one")
        hub.answers = [404]
        with pytest.raises(Refused):
            fetch.fetch(file, tmp_path / "llm.pt")
        assert (tmp_path / "llm.pt").read_bytes() == b"the old one"
        fetch.fetch(file, tmp_path / "llm.pt")
        assert (tmp_path / "llm.pt").read_bytes() == CONTENT


class TestBreaks:
    def test_it_goes_on_where_the_connection_broke(self, hub, file, fetch, waits, said, tmp_path):
        hub.break_after = [100_000, 50_000]
        fetch.fetch(file, tmp_path / "llm.pt")
        assert (tmp_path / "llm.pt").read_bytes() == CONTENT
        assert ranges(hub) == [None, "bytes=100000-", "bytes=150000-"]
        assert waits == [1.0, 1.0]
        assert all("llm.pt broke off" in line for line in said)

    def test_another_run_goes_on_where_the_last_one_ended(self, hub, file, fetch, tmp_path):
        hub.break_after = [100_000]
        hub.answers = [200, *[503] * 20]
        with pytest.raises(Unreachable):
            fetch.fetch(file, tmp_path / "llm.pt")
        assert not (tmp_path / "llm.pt").exists()
        hub.answers, hub.asked = [], []
        fetch.fetch(file, tmp_path / "llm.pt")
        assert (tmp_path / "llm.pt").read_bytes() == CONTENT
        assert ranges(hub) == ["bytes=100000-"]

    def test_a_server_without_ranges_sends_all_of_it_again(self, hub, file, fetch, tmp_path):
        hub.ranges = False
        hub.break_after = [100_000]
        fetch.fetch(file, tmp_path / "llm.pt")
        assert (tmp_path / "llm.pt").read_bytes() == CONTENT

    def test_waits_grow_and_tries_end_if_nothing_arrives(self, hub, file, fetch, waits, tmp_path):
        hub.answers = [503] * 50
        with pytest.raises(Unreachable, match="503"):
            fetch.fetch(file, tmp_path / "llm.pt")
        assert waits == [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0]

    def test_a_byte_gained_is_a_new_beginning(self, hub, file, fetch, waits, tmp_path):
        hub.break_after = [20_000] * 14
        fetch.fetch(file, tmp_path / "llm.pt")
        assert waits == [1.0] * 14

    def test_a_refusal_is_not_tried_again(self, hub, file, fetch, waits, tmp_path):
        hub.answers = [404]
        with pytest.raises(Refused, match="404"):
            fetch.fetch(file, tmp_path / "llm.pt")
        assert waits == []

    def test_a_silent_server_counts_as_a_break(self, file, said, tmp_path):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
            short = Fetch(say=said.append, sleep=lambda _: None, timeout_s=0.02)
            with pytest.raises(Unreachable, match="timed out"):
                short.fetch(replace(file, url=url), tmp_path / "llm.pt")


class TestDamage:
    def test_a_wrong_hash_is_fetched_once_more_and_then_refused(
        self, hub, file, fetch, said, tmp_path
    ):
        hub.files["llm.pt"] = CONTENT[:-1] + b"x"
        with pytest.raises(Damaged, match=r"twice: its sha256 is [0-9a-f]{64}, and the hub says"):
            fetch.fetch(file, tmp_path / "llm.pt")
        assert list(tmp_path.iterdir()) == []
        assert ranges(hub) == [None, None]
        assert "arrived damaged" in said[0]

    def test_a_small_file_is_checked_by_gits_hash(self, hub, fetch, tmp_path):
        hub.files["merges.txt"] = b"t h\n"
        file = HuggingFace().files(hub.repository)["merges.txt"]
        assert file.sha256 is None
        hub.files["merges.txt"] = b"t k\n"
        with pytest.raises(Damaged, match="its Git hash is"):
            fetch.fetch(file, tmp_path / "merges.txt")

    def test_a_damaged_part_is_replaced(self, hub, file, fetch, tmp_path):
        fetching.part_of(file, tmp_path / "llm.pt").write_bytes(b"x" * 1000)
        fetch.fetch(file, tmp_path / "llm.pt")
        assert (tmp_path / "llm.pt").read_bytes() == CONTENT
        assert ranges(hub) == ["bytes=1000-", None]

    def test_a_part_of_another_version_is_not_continued(self, hub, file, fetch, tmp_path):
        other = replace(file, sha256="0" * 64)
        fetching.part_of(other, tmp_path / "llm.pt").write_bytes(b"x" * 1000)
        fetch.fetch(file, tmp_path / "llm.pt")
        assert ranges(hub) == [None]

    def test_more_than_the_hub_says_is_not_kept(self, hub, file, fetch, tmp_path):
        hub.files["llm.pt"] = CONTENT + b"and more"
        with pytest.raises(Damaged, match="and the hub says 300,000"):
            fetch.fetch(file, tmp_path / "llm.pt")


class TestDisk:
    def test_a_full_disk_is_said_and_what_arrived_is_kept(
        self, hub, file, fetch, tmp_path, monkeypatch
    ):
        def full(path, *arguments, **named):
            opened = real(path, *arguments, **named)
            return Full(opened) if path.name.endswith(".part") and "b" in arguments[0] else opened

        class Full(io.FileIO):
            def __init__(self, opened):
                super().__init__(opened.fileno(), "ab", closefd=False)
                self._opened = opened

            def write(self, data):
                if self.tell() >= 100_000:
                    raise OSError(errno.ENOSPC, "No space left on device")
                return super().write(data[: 100_000 - self.tell()])

            def close(self):
                super().close()
                self._opened.close()

        real = Path.open
        monkeypatch.setattr(Path, "open", full)
        with pytest.raises(NoRoom, match="is full"):
            fetch.fetch(file, tmp_path / "llm.pt")
        monkeypatch.undo()
        hub.asked.clear()
        fetch.fetch(replace(file), tmp_path / "llm.pt")
        assert ranges(hub) == ["bytes=100000-"]
        assert (tmp_path / "llm.pt").read_bytes() == CONTENT

    def test_a_place_that_cannot_be_written(self, file, fetch, tmp_path):
        (tmp_path / "folder").write_bytes(b"a file")
        with pytest.raises(DownloadError, match="cannot be written"):
            fetch.fetch(file, tmp_path / "folder" / "llm.pt")
