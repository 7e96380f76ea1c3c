"""The command: over a tiny random checkpoint, over voices that speak, over what cannot be tried."""

import importlib.util
import io
import re
import shutil
import subprocess
import sys
import wave
from dataclasses import replace

import pytest
import torch
from rehearsing import unrehearsed
from verify_rig import Speaker

from streaming.cosyvoice.tiny import write
from streaming.cosyvoice.verify import command, listening, running
from streaming.cosyvoice.verify.sentences import SENTENCES
from streaming.voices.starters import starters

NOISE = tuple(
    replace(sentence, text=text, longest_s=10.0)
    for sentence, text in zip(SENTENCES, ("The river.", "日出。", "大海。"), strict=True)
)
"""Short, since noise is as long as it may be."""


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("checkpoint")
    write(path, "cosyvoice3")
    return path


@pytest.fixture(autouse=True)
def no_rehearsal():
    with unrehearsed():
        yield


@pytest.fixture
def copy(folder, tmp_path):
    """A folder of one's own, to put faults into."""
    path = tmp_path / "copy"
    shutil.copytree(folder, path)
    return path


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(running, "SENTENCES", NOISE)


@pytest.fixture
def deaf(monkeypatch):
    def nobody(*_, **__):
        raise listening.NoRecogniser("not installed")

    monkeypatch.setattr(listening, "transcribe", nobody)


def verify(*arguments):
    """The exit status, and what was printed."""
    out = io.StringIO()
    status = command.main([str(each) for each in arguments], out=out)
    return status, out.getvalue()


@pytest.mark.recognise
@pytest.mark.usefixtures("short")
def test_random_numbers_are_heard_as_noise(folder):
    status, said = verify(folder, "--device", "cpu")
    assert status == 1
    assert "NOT VERIFIED: noise was heard" in said
    assert f'python -m streaming.cosyvoice.download cosyvoice3 --to "{folder}"' in said
    assert "cosyvoice3 in" in said
    for label in ("device        cpu, fp32", "first packet ", "RTF ", "memory ", "heard "):
        assert label in said
    assert all(f"{number}  {each.title}" in said for number, each in enumerate(SENTENCES, 1))
    assert said.count("✗") == 3


@pytest.mark.usefixtures("short", "deaf")
def test_without_a_recogniser_it_does_the_rest_and_says_what_to_install(folder, tmp_path):
    status, said = verify(folder, "--device", "cpu", "--out", tmp_path / "kept")
    assert status == 3
    assert "nothing here can tell whether that is speech" in said
    assert all(package in said for package in listening.PACKAGES)
    assert "first packet " in said
    assert said.count("? ") == 4
    assert "✓" not in said
    for sentence in SENTENCES:
        with wave.open(str(tmp_path / "kept" / f"{sentence.name}.wav")) as file:
            assert (file.getframerate(), file.getnchannels()) == (24_000, 1)
            assert file.getnframes() > 2_400


@pytest.mark.usefixtures("deaf")
def test_what_never_ends_is_cut_off_and_bad_whoever_listens(folder, monkeypatch):
    endless = replace(SENTENCES[0], text="no end " * 10, longest_s=0.5)
    monkeypatch.setattr(running, "SENTENCES", (endless,))
    status, said = verify(folder, "--device", "cpu")
    assert status == 1
    cut = re.search(r"it did not end, and was cut off after ([\d.]+) s", said)
    assert cut is not None
    assert 0.5 <= float(cut[1]) <= 2.0  # with the hop that was too much


@pytest.mark.recognise
class TestSpeech:
    @pytest.fixture
    def speaker(self, monkeypatch):
        def speak(before=""):
            monkeypatch.setattr(running, "create", lambda _: Speaker(before))

        return speak

    def test_speech_that_says_what_it_should_is_verified(self, folder, speaker, monkeypatch):
        monkeypatch.setattr(running, "SENTENCES", (SENTENCES[0], SENTENCES[2]))
        speaker()
        status, said = verify(folder, "--device", "cpu")
        assert status == 0, said
        assert "VERIFIED: " in said
        assert "NOT VERIFIED" not in said
        assert said.count("✓") == 3
        assert f'python -m server --model "{folder}"' in said

    def test_a_transcript_that_is_read_aloud_is_found(self, folder, speaker, monkeypatch):
        monkeypatch.setattr(running, "SENTENCES", SENTENCES[:1])
        speaker(before=starters()[0].transcript)
        status, said = verify(folder, "--device", "cpu")
        assert status == 1
        assert "NOT VERIFIED: it does not say what it should" in said
        assert "English: the transcript of the voice's recording, “" in said


class TestWhatCannotBeTried:
    def test_no_folder(self, tmp_path):
        status, said = verify(tmp_path / "nowhere")
        assert status == 2
        assert f"error: {tmp_path / 'nowhere'} does not exist" in said
        assert "python -m streaming.cosyvoice.download" in said

    def test_a_folder_that_is_no_checkpoint(self, tmp_path):
        status, said = verify(tmp_path)
        assert status == 2
        assert "is no CosyVoice checkpoint" in said

    def test_a_file_that_is_a_pointer(self, copy):
        pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
        (copy / "llm.pt").write_bytes(pointer)
        status, said = verify(copy)
        assert status == 2
        assert "llm.pt is a Git LFS pointer" in said
        assert "git lfs pull" in said

    def test_a_file_that_is_missing(self, copy):
        (copy / "flow.pt").unlink()
        status, said = verify(copy)
        assert status == 2
        assert "lacks flow.pt" in said

    def test_weights_that_are_cut_off(self, copy):
        whole = (copy / "hift.pt").read_bytes()
        (copy / "hift.pt").write_bytes(whole[: len(whole) // 2])
        status, said = verify(copy, "--device", "cpu")
        assert status == 2
        assert "hift.pt is cut off" in said

    def test_a_gpu_where_there_is_none(self, folder, monkeypatch):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
        status, said = verify(folder, "--device", "cuda")
        assert status == 2
        assert "engine.device is 'cuda', but" in said

    @pytest.mark.parametrize(("newer", "precision"), [(True, "bf16"), (False, "fp16")])
    def test_a_gpu_is_tried_in_the_half_precision_that_it_has(self, monkeypatch, newer, precision):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **_: newer)
        assert running._usual_precision("cuda") == precision
        assert running._usual_precision("cpu") == "fp32"

    def test_a_precision_that_the_device_has_not(self, folder):
        status, said = verify(folder, "--device", "cpu", "--precision", "fp16")
        assert status == 2
        assert "fp16" in said

    def test_packages_that_are_not_installed(self, folder, monkeypatch):
        find = importlib.util.find_spec
        monkeypatch.setattr(
            importlib.util, "find_spec", lambda name: None if name == "torch" else find(name)
        )
        status, said = verify(folder)
        assert status == 2
        assert "torch cannot be found" in said
        assert "make setup-cosyvoice" in said

    def test_a_device_without_room(self, folder, monkeypatch):
        def full(_):
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB\nmore")

        monkeypatch.setattr(running, "create", full_on_load(full))
        status, said = verify(folder, "--device", "cpu")
        assert status == 2
        assert "memory is too small, or others have it: CUDA out of memory" in said
        assert "\nmore" not in said

    @pytest.mark.usefixtures("short", "deaf")
    def test_a_folder_that_cannot_be_written(self, folder, tmp_path):
        (tmp_path / "file").write_text("in the way")
        status, said = verify(folder, "--device", "cpu", "--out", tmp_path / "file")
        assert status == 2
        assert "1-english.wav cannot be written" in said

    def test_whoever_loses_patience(self, folder, monkeypatch):
        def interrupt(_):
            raise KeyboardInterrupt

        monkeypatch.setattr(running, "create", full_on_load(interrupt))
        status, said = verify(folder, "--device", "cpu")
        assert status == 130
        assert "Interrupted" in said


def full_on_load(load):
    """A runner whose loading comes to that."""

    class Runner:
        def __init__(self, settings):
            self.settings = settings

        def load(self):
            load(self)

    return Runner


def test_it_is_a_command_and_a_missing_folder_is_told_without_torch():
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "streaming.cosyvoice.verify", "nowhere"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 2
    assert "nowhere does not exist" in ran.stdout
    assert "torch" not in ran.stderr
