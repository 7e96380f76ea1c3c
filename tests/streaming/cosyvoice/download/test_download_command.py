"""The command says how much it is, fetches what is used, and ends in words whatever happens."""

from __future__ import annotations

import io
import shutil
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from hub_server import HubServer

from streaming.cosyvoice import tiny
from streaming.cosyvoice.checkpoint import MissingFile, NotACheckpoint, load
from streaming.cosyvoice.download import command
from streaming.cosyvoice.download.fetch import Fetch
from streaming.cosyvoice.download.hubs import HuggingFace, ModelScope

ROOT = Path(__file__).resolve().parents[4]
UNUSED = {"README.md": b"read me", "llm.rl.pt": b"x" * 5000, "asset/zero_shot.wav": b"RIFF"}
USED = {
    "CosyVoice-BlankEN/config.json": b"{}",
    "CosyVoice-BlankEN/vocab.json": b"{}\n",
    "CosyVoice-BlankEN/merges.txt": b"t h\n",
    "hift.pt": b"h" * 20_000,
    "campplus.onnx": b"c" * 3_000,
    "flow.pt": b"f" * 50_000,
    "speech_tokenizer_v3.onnx": b"s" * 4_000,
    "llm.pt": b"l" * 100_000,
    "cosyvoice3.yaml": b"sample_rate: 24000\n",
}


def run(*arguments: str) -> tuple[int, str]:
    out = io.StringIO()
    status = command.main(arguments, out=out)
    return status, out.getvalue()


@pytest.fixture
def published(hub: HubServer) -> HubServer:
    hub.files = USED | UNUSED
    hub.repository = HuggingFace().repository("cosyvoice3")
    assert hub.repository == ModelScope().repository("cosyvoice3")
    return hub


def there(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


class TestFetching:
    @pytest.mark.parametrize("source", ["auto", "hf", "modelscope"])
    def test_only_what_is_used_is_fetched(self, published, tmp_path, source):
        status, said = run("cosyvoice3", "--source", source, "--to", str(tmp_path / "here"))
        assert status == 0, said
        assert there(tmp_path / "here") == USED
        assert sorted(path for path, _ in published.asked) == sorted(USED)

    @pytest.mark.usefixtures("published")
    def test_the_size_is_said_before_anything_else(self, tmp_path):
        _, said = run("cosyvoice3", "--source", "hf", "--to", str(tmp_path / "here"))
        assert said.startswith(
            "cosyvoice3: 9 files, 177 kB, from Hugging Face "
            f"(FunAudioLLM/Fun-CosyVoice3-0.5B-2512) into {tmp_path / 'here'}\n"
        )
        assert f"--model {tmp_path / 'here'}" in said

    def test_the_yaml_comes_last(self, published, tmp_path):
        run("cosyvoice3", "--to", str(tmp_path))
        assert published.asked[-1][0] == "cosyvoice3.yaml"

    def test_named_speakers_come_along_where_there_are_some(self, published, tmp_path):
        published.files["spk2info.pt"] = b"p" * 2000
        run("cosyvoice3", "--to", str(tmp_path))
        assert (tmp_path / "spk2info.pt").read_bytes() == b"p" * 2000

    def test_a_dry_run_says_the_size_and_fetches_nothing(self, published, tmp_path):
        status, said = run("cosyvoice3", "--dry-run", "--to", str(tmp_path / "here"))
        assert (status, published.asked) == (0, [])
        assert "9 files, 177 kB" in said
        assert not (tmp_path / "here").exists()

    @pytest.mark.usefixtures("published")
    def test_by_default_it_goes_into_models(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        run("cosyvoice3")
        assert there(tmp_path / "models" / "cosyvoice3") == USED

    def test_another_repository_of_that_layout(self, published, tmp_path):
        published.repository = "someone/fine-tuned"
        status, said = run("cosyvoice3", "--repo", "someone/fine-tuned", "--to", str(tmp_path))
        assert status == 0
        assert "(someone/fine-tuned)" in said

    def test_what_was_fetched_loads(self, hub, tmp_path):
        written = tiny.write(tmp_path / "published", "cosyvoice3").folder
        hub.files, hub.repository = there(written), HuggingFace().repository("cosyvoice3")
        assert run("cosyvoice3", "--to", str(tmp_path / "here"))[0] == 0
        assert load(tmp_path / "here").sizes == tiny.sizes("cosyvoice3", "tiny")

    @pytest.mark.usefixtures("published")
    def test_as_a_program(self, tmp_path):
        arguments = ["cosyvoice3", "--to", str(tmp_path / "here")]
        made = subprocess.run(
            [sys.executable, "-m", "streaming.cosyvoice.download", *arguments],
            cwd=ROOT, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        assert made.returncode == 0, made.stderr
        assert there(tmp_path / "here") == USED
        assert made.stdout == ""

    def test_it_needs_no_torch(self):
        code = (
            "import sys; sys.modules['torch'] = None; sys.modules['yaml'] = None\n"
            "import streaming.cosyvoice.download.command"
        )
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=60)


class TestGoingOn:
    def test_a_second_run_fetches_nothing(self, published, tmp_path):
        run("cosyvoice3", "--to", str(tmp_path))
        published.asked.clear()
        status, said = run("cosyvoice3", "--to", str(tmp_path))
        assert (status, published.asked) == (0, [])
        assert "177 kB of it are here already, 0 bytes are left" in said

    def test_a_run_that_was_interrupted_is_gone_on_with(self, published, tmp_path, monkeypatch):
        def fetch(how, file, path):
            if file.path == "llm.pt":
                raise KeyboardInterrupt
            real(how, file, path)

        real = Fetch.fetch
        monkeypatch.setattr(Fetch, "fetch", fetch)
        status, said = run("cosyvoice3", "--to", str(tmp_path))
        assert status == 130
        assert "it goes on where it was" in said
        with pytest.raises(NotACheckpoint):
            load(tmp_path)
        monkeypatch.setattr(Fetch, "fetch", real)
        published.asked.clear()
        assert run("cosyvoice3", "--to", str(tmp_path))[0] == 0
        assert [path for path, _ in published.asked] == ["llm.pt", "cosyvoice3.yaml"]

    def test_a_file_that_was_changed_is_fetched_again(self, published, tmp_path):
        run("cosyvoice3", "--to", str(tmp_path))
        (tmp_path / "flow.pt").write_bytes(b"F" + USED["flow.pt"][1:])
        published.asked.clear()
        run("cosyvoice3", "--to", str(tmp_path))
        assert there(tmp_path) == USED
        assert published.asked == [("flow.pt", None)]

    def test_a_break_is_said_and_gone_on_from(self, published, tmp_path, monkeypatch):
        monkeypatch.setattr(command, "Fetch", partial(Fetch, sleep=lambda _: None))
        published.break_after = [10**6] * 7 + [60_000]
        status, said = run("cosyvoice3", "--to", str(tmp_path))
        assert status == 0
        assert "llm.pt broke off after 60,000 of 100,000 bytes; going on in 1 s" in said
        assert ("llm.pt", "bytes=60000-") in published.asked

    def test_what_is_missing_is_fetched_by_the_command_that_the_loader_names(self, hub, tmp_path):
        written = tiny.write(tmp_path / "published", "cosyvoice3").folder
        hub.files, hub.repository = there(written), HuggingFace().repository("cosyvoice3")
        folder = tmp_path / "here"
        shutil.copytree(written, folder)
        (folder / "flow.pt").unlink()
        with pytest.raises(MissingFile) as caught:
            load(folder)
        named = str(caught.value).split("`")[1].replace('"', "").split()
        assert named[:3] == ["python", "-m", "streaming.cosyvoice.download"]
        assert run(*named[3:])[0] == 0
        assert [path for path, _ in hub.asked] == ["flow.pt"]
        load(folder)


class TestHubs:
    @pytest.mark.usefixtures("published")
    def test_the_first_hub_that_answers_is_taken(self, tmp_path, monkeypatch):
        monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
        status, said = run("cosyvoice3", "--to", str(tmp_path))
        assert status == 0
        assert "from ModelScope" in said

    @pytest.mark.usefixtures("published")
    def test_a_hub_that_is_silent_does_not_hold_up_the_other(self, tmp_path, monkeypatch):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            port = silent.getsockname()[1]
            monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{port}")
            monkeypatch.setattr("streaming.cosyvoice.download.hubs.LIST_TIMEOUT_S", 2.0)
            status, said = run("cosyvoice3", "--dry-run", "--to", str(tmp_path))
        assert status == 0
        assert "from ModelScope" in said

    def test_without_a_network_it_says_what_to_do(self, tmp_path, monkeypatch):
        monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
        monkeypatch.setenv("MODELSCOPE_ENDPOINT", "http://no-such-host.invalid")
        status, said = run("cosyvoice3", "--to", str(tmp_path / "here"))
        assert status == 1
        for words in ("no hub can be reached", "Hugging Face: 127.0.0.1:1 does not answer",
                      "ModelScope: no-such-host.invalid does not answer", "HTTPS_PROXY",
                      "copy these files", "speech_tokenizer_v3.onnx"):  # fmt: skip
            assert words in said
        assert not (tmp_path / "here").exists()

    @pytest.mark.usefixtures("published")
    def test_a_repository_that_is_not_there(self, tmp_path):
        status, said = run("cosyvoice3", "--repo", "no/such", "--to", str(tmp_path))
        assert status == 1
        assert "no hub gives cosyvoice3" in said
        assert "404" in said

    @pytest.mark.parametrize("listed", [b"<html>Sign in</html>", b"[]", b"{}", b'{"sha": "x"}'])
    def test_an_answer_that_is_no_list(self, published, tmp_path, listed):
        published.listed = listed
        status, said = run("cosyvoice3", "--to", str(tmp_path))
        assert status == 1
        assert "something else than a list of files" in said

    def test_a_repository_of_another_layout(self, published, tmp_path):
        del published.files["flow.pt"]
        status, said = run("cosyvoice3", "--source", "hf", "--to", str(tmp_path))
        assert status == 1
        assert "is no cosyvoice3: it lacks flow.pt" in said
        assert there(tmp_path) == {}

    def test_version_2_has_its_own_repositories_and_files(self):
        assert HuggingFace().repository("cosyvoice2") == "FunAudioLLM/CosyVoice2-0.5B"
        assert ModelScope().repository("cosyvoice2") == "iic/CosyVoice2-0.5B"

    def test_an_unknown_generation_lists_those_there_are(self, capsys):
        with pytest.raises(SystemExit):
            run("cosyvoice9")
        assert "cosyvoice3" in capsys.readouterr().err


class TestRoom:
    def test_too_little_room_is_said_before_anything_is_fetched(
        self, published, tmp_path, monkeypatch
    ):
        usage = SimpleNamespace(free=200_000)
        monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
        status, said = run("cosyvoice3", "--to", str(tmp_path / "here"))
        assert (status, published.asked) == (1, [])
        assert "177 kB are left to fetch" in said
        assert "200 kB free" in said

    @pytest.mark.usefixtures("published")
    def test_what_is_there_already_needs_no_room(self, tmp_path, monkeypatch):
        run("cosyvoice3", "--to", str(tmp_path))
        usage = SimpleNamespace(free=0)
        monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
        assert run("cosyvoice3", "--to", str(tmp_path))[0] == 0
