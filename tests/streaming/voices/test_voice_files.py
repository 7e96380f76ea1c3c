"""Files of stored voices: whole or not there, and nothing outside the folder."""

import os
import stat
import sys

import msgspec
import pytest

from streaming.voices.files import Unreadable, VoiceFiles, VoiceRecord, digest, write_whole

VOICE = "v-abcdefghijklmnopqrst"


def record(voice=VOICE, audio="a" * 64):
    return VoiceRecord(
        id=voice,
        name="Ana María",
        owner="shop",
        transcript="Good morning.",
        language="en",
        consent="signed on paper",
        created="2026-11-30T10:00:00.000+00:00",
        audio=audio,
        duration_ms=3000,
    )


@pytest.fixture
def files(tmp_path):
    return VoiceFiles(tmp_path / "voices")


def test_what_was_written_is_read_by_whoever_looks_next(files):
    files.write_record(record())
    files.write_audio("a" * 64, b"RIFF")
    files.write_features("a" * 64, "model-1", b"features")

    other = VoiceFiles(files.root)
    assert other.record(VOICE) == record()
    assert other.records() == ([record()], [])
    assert other.audio("a" * 64).read_bytes() == b"RIFF"
    assert other.features("a" * 64, "model-1").read_bytes() == b"features"


def test_a_folder_that_is_not_there_holds_nothing(files):
    assert files.records() == ([], [])
    assert files.used_bytes() == 0
    assert not files.root.exists()


@pytest.mark.parametrize(
    "voice",
    [
        "../../etc/passwd",
        "/etc/passwd",
        "..",
        ".",
        "",
        "v-../x",
        "a/b",
        "con.wav",
        "v-\0",
        VOICE + "x",
    ],
)
def test_what_is_no_id_is_no_voice_and_no_file_is_opened(files, voice):
    with pytest.raises(FileNotFoundError, match="no stored voice"):
        files.record(voice)


@pytest.mark.parametrize("model", ["", ".", "..", "../x", "a/b", "a\0"])
def test_a_fingerprint_is_a_folders_name_or_refused(files, model):
    with pytest.raises(ValueError, match="fingerprint"):
        files.features("a" * 64, model)


def test_a_damaged_record_is_told_and_the_others_are_read(files):
    files.write_record(record())
    (files.root / "records" / "v-bbbbbbbbbbbbbbbbbbbb.json").write_text('{"id": 3')

    found, broken = files.records()

    assert found == [record()]
    assert "v-bbbbbbbbbbbbbbbbbbbb.json" in str(broken[0])
    with pytest.raises(Unreadable):
        files.record("v-bbbbbbbbbbbbbbbbbbbb")


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("v-bbbbbbbbbbbbbbbbbbbb", {}),
        (VOICE, {"audio": "../../etc/passwd"}),
        (VOICE, {"audio": "A" * 64}),
        ("v-x", {"voice": "v-x"}),
    ],
)
def test_a_record_whose_parts_do_not_belong_together_is_damaged(files, name, changes):
    path = files.root / "records" / f"{name}.json"
    write_whole(path, msgspec.json.encode(record(**changes)))
    found, broken = files.records()
    assert found == []
    assert "belong together" in str(broken[0])


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(files, monkeypatch):
    files.write_record(record())

    def fail(*_):
        raise OSError(28, "no space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no space"):
        files.write_record(record(audio="b" * 64))

    assert files.record(VOICE) == record()
    assert [path.name for path in files.root.rglob("*") if path.is_file()] == [f"{VOICE}.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such bits")
def test_nobody_else_on_the_machine_can_read_them(files):
    files.write_audio("a" * 64, b"RIFF")
    assert stat.S_IMODE(files.audio("a" * 64).stat().st_mode) == 0o600
    assert stat.S_IMODE(files.audio("a" * 64).parent.stat().st_mode) == 0o700


def test_a_sweep_takes_what_belongs_to_nobody_and_is_old(files):
    kept, gone = "a" * 64, "b" * 64
    files.write_record(record(audio=kept))
    for recording in (kept, gone):
        files.write_audio(recording, b"RIFF")
        files.write_features(recording, "model-1", b"features")
    half = files.root / "audio" / "x.tmp"
    half.write_bytes(b"RI")
    old_s = 1_000.0
    for path in files.root.rglob("*"):
        os.utime(path, (old_s, old_s))
    files.write_audio("c" * 64, b"RIFF")  # young: its record is on its way

    left = files.sweep({kept}, old_s + 1)

    assert {path.name for path in left} == {f"{gone}.wav", f"{gone}.bin", "x.tmp"}
    assert files.audio(kept).exists()
    assert files.audio("c" * 64).exists()
    assert files.record(VOICE)


def test_a_recording_goes_with_all_that_was_made_of_it(files):
    for recording in ("a" * 64, "b" * 64):
        files.write_audio(recording, b"RIFF")
        for model in ("model-1", "model-2"):
            files.write_features(recording, model, b"features")

    files.remove_recording("a" * 64)
    files.remove_recording("a" * 64)  # once more does no harm

    left = sorted(path.name for path in files.root.rglob("*") if path.is_file())
    assert left == ["b" * 64 + ".bin", "b" * 64 + ".bin", "b" * 64 + ".wav"]


def test_used_bytes_are_those_of_all_files(files):
    files.write_audio("a" * 64, b"12345")
    files.write_features("a" * 64, "m", b"123")
    assert files.used_bytes() == 8


def test_a_name_is_made_of_the_bytes_alone():
    assert digest(b"x") == digest(b"x") != digest(b"y")
    assert len(digest(b"")) == 64


def test_writing_makes_the_folders_it_needs(tmp_path):
    write_whole(tmp_path / "a" / "b" / "c", b"x")
    assert (tmp_path / "a" / "b" / "c").read_bytes() == b"x"
