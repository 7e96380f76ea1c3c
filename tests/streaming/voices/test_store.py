"""Stored voices: whose they are, how many, and that nothing is lost or left behind."""

import errno
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from structlog.testing import capture_logs

from streaming.errors import StorageFull, TooManyVoices, UnknownVoice
from streaming.voices.draft import VoiceDraft
from streaming.voices.files import VoiceFiles
from streaming.voices.store import SWEEP_AGE_S, VoiceLimits, VoiceStore

DRAFT = VoiceDraft(name="Ana", transcript="Good morning.", consent="she agreed by mail")
WAV = b"RIFF" + bytes(100)


def new_store(root, per_owner=100, total_bytes=1 << 20, **options):
    store = VoiceStore(VoiceFiles(root), VoiceLimits(per_owner, total_bytes), **options)
    store.load()
    return store


def add(store, owner="shop", draft=DRAFT, wav=WAV, model="m1", made=b"features"):
    return store.add(owner, draft, wav, 3000, model, made)


def files_of(store):
    return sorted(path.name for path in store.files.root.rglob("*") if path.is_file())


@pytest.fixture
def root(tmp_path):
    return tmp_path / "voices"


@pytest.fixture
def store(root):
    return new_store(root)


def test_a_voice_outlives_a_restart(store, root):
    record, created = add(store)

    assert created
    again = new_store(root)
    assert again.seen_by("shop") == [record]
    assert again.files.audio(record.audio).read_bytes() == WAV
    assert again.files.features(record.audio, "m1").read_bytes() == b"features"


def test_nobody_sees_the_voice_of_another(store):
    record, _ = add(store)
    assert store.seen_by("phone") == store.seen_by("") == []
    assert store.get("phone", record.id) is None
    with pytest.raises(UnknownVoice) as somebody_elses:
        store.find("phone", record.id)
    with pytest.raises(UnknownVoice) as nobodys:
        store.find("phone", "v-aaaaaaaaaaaaaaaaaaaa")
    words = somebody_elses.value.message.replace(record.id, "")
    assert words == nobodys.value.message.replace("v-aaaaaaaaaaaaaaaaaaaa", "")
    with pytest.raises(UnknownVoice):
        store.remove("phone", record.id)
    assert store.find("shop", record.id) == record


def test_ids_are_unlike_one_another_and_good_names_of_files(store):
    made = [add(store, draft=VoiceDraft(f"n{i}", "Hello.", "yes"))[0].id for i in range(20)]
    assert len(set(made)) == 20
    assert all(len(each) == 22 and each == each.lower() for each in made)


def test_the_same_sent_again_is_the_same_voice(store):
    first, _ = add(store)
    assert add(store) == (first, False)
    assert len(store.seen_by("shop")) == 1


def test_the_same_recording_is_kept_once_for_all_voices_made_of_it(store):
    one, _ = add(store)
    renamed, _ = add(store, draft=VoiceDraft("Bea", "Good morning.", "yes"))
    another, _ = add(store, owner="phone")

    assert len({one.id, renamed.id, another.id}) == 3
    assert one.audio == renamed.audio == another.audio
    assert [name for name in files_of(store) if name.endswith(".wav")] == [f"{one.audio}.wav"]


def test_a_removed_voice_leaves_no_file(store):
    record, _ = add(store)
    store.renew(record, "m2", b"by another model")
    assert len(files_of(store)) == 4

    store.remove("shop", record.id)

    assert files_of(store) == []
    with pytest.raises(UnknownVoice):
        store.find("shop", record.id)


def test_a_recording_stays_as_long_as_a_voice_needs_it(store):
    mine, _ = add(store)
    theirs, _ = add(store, owner="phone")
    store.remove("shop", mine.id)
    assert store.files.audio(theirs.audio).exists()
    store.remove("phone", theirs.id)
    assert files_of(store) == []


def test_a_key_has_so_many_voices_and_no_more(root):
    store = new_store(root, per_owner=2)
    add(store)
    second, _ = add(store, wav=WAV + b"2")
    with pytest.raises(TooManyVoices, match="limit is 2"):
        add(store, wav=WAV + b"3")
    add(store, owner="phone", wav=WAV + b"4")
    store.remove("shop", second.id)
    add(store, wav=WAV + b"3")


def test_all_voices_together_take_so_many_bytes_and_no_more(root):
    store = new_store(root, total_bytes=2_000)
    add(store)
    with pytest.raises(StorageFull, match=r"engine\.voices_bytes"):
        add(store, wav=bytes(2_000))
    assert len(store.seen_by("shop")) == 1
    assert len(files_of(store)) == 3


def test_a_folder_that_cannot_be_is_told_as_one_that_is_full(root):
    root.write_text("a file")
    with pytest.raises(StorageFull, match="could not be stored"):
        add(new_store(root))


def test_a_full_disk_is_told_and_leaves_nothing(store, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(store.files, "write_record", full)
    with pytest.raises(StorageFull, match="No space left"):
        add(store)
    assert files_of(store) == []
    assert store.seen_by("shop") == []


def test_a_folder_that_cannot_be_made_is_told_to_the_operator_with_its_path(tmp_path):
    (tmp_path / "taken").touch()
    store = new_store(tmp_path / "taken" / "voices")
    with capture_logs() as lines, pytest.raises(StorageFull, match=r"engine\.voices_dir"):
        add(store)
    (line,) = [line for line in lines if line["event"] == "voice_not_stored"]
    assert str(tmp_path / "taken") in line["error"]


def test_features_that_find_no_room_are_told_and_the_voice_stays(store, monkeypatch):
    record, _ = add(store)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(store.files, "write_features", full)
    with pytest.raises(StorageFull, match="No space left"):
        store.renew(record, "m2", b"by another model")
    with pytest.raises(StorageFull, match="No space left"):
        add(store)
    assert store.seen_by("shop") == [record]
    assert len(files_of(store)) == 3


def test_a_crash_before_the_record_leaves_no_voice_and_is_swept(root):
    files = VoiceFiles(root)
    files.write_audio("a" * 64, WAV)
    files.write_features("a" * 64, "m1", b"features")
    now_s = files.audio("a" * 64).stat().st_mtime
    young = new_store(root, now_s=lambda: now_s)
    assert len(files_of(young)) == 2

    old = new_store(root, now_s=lambda: now_s + SWEEP_AGE_S + 1)

    assert old.seen_by("") == []
    assert files_of(old) == []


def test_a_crash_in_the_middle_of_a_removal_is_swept_too(store, root):
    record, _ = add(store)
    store.files.remove_record(record.id)

    after = new_store(root, now_s=lambda: 1e11)

    assert after.seen_by("shop") == []
    assert files_of(after) == []


def test_a_damaged_record_costs_nobody_a_recording(store, root):
    record, _ = add(store)
    (root / "records" / f"{record.id}.json").write_text("{")
    after = new_store(root, now_s=lambda: 1e11)
    assert after.seen_by("shop") == []
    assert f"{record.audio}.wav" in files_of(after)


def test_twenty_who_send_the_same_at_once_get_one_voice(store):
    gate = threading.Barrier(20)

    def send(_):
        gate.wait()
        return add(store)

    with ThreadPoolExecutor(20) as pool:
        made = list(pool.map(send, range(20)))
    assert len({record.id for record, _ in made}) == 1
    assert sum(created for _, created in made) == 1
    assert store.files.audio(made[0][0].audio).read_bytes() == WAV


def test_what_is_removed_meanwhile_is_not_renewed(store):
    record, _ = add(store)
    store.remove("shop", record.id)
    store.renew(record, "m2", b"late")
    assert files_of(store) == []


def test_a_model_without_features_keeps_none(store):
    add(store, made=b"")
    assert len(files_of(store)) == 2
