"""What is free of the host's memory, from files as Linux writes them."""

import sys

import pytest

from streaming import host
from streaming.host import DEVICE_SHORT, MemoryGuard, free_bytes

GIB = 1 << 30

linux = pytest.mark.skipif(sys.platform == "win32", reason="Windows is asked in another way")


def machine(root, *, available_kib=4 << 20, groups=None):
    """``groups``: for each control group its bound, use, and what of it could be given back."""
    proc = root / "proc/self"
    proc.mkdir(parents=True)
    (root / "proc/meminfo").write_text(f"MemTotal: 9 kB\nMemAvailable: {available_kib} kB\n")
    (proc / "cgroup").write_text("0::/outer/inner\n")
    for name, (most, used, cached) in (groups or {}).items():
        folder = root / "sys/fs/cgroup" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "memory.max").write_text(f"{most}\n")
        (folder / "memory.current").write_text(f"{used}\n")
        (folder / "memory.stat").write_text(f"anon 1\ninactive_file {cached}\n")
    return root


@linux
def test_caches_that_the_system_would_give_back_count_as_free(tmp_path):
    assert free_bytes(machine(tmp_path)) == 4 * GIB


@linux
def test_in_a_container_its_bound_counts_and_so_does_any_around_it(tmp_path):
    inner = {"outer/inner": (2 * GIB, GIB, GIB // 2)}
    assert free_bytes(machine(tmp_path / "a", groups=inner)) == GIB + GIB // 2
    outer = inner | {"outer": (GIB, GIB - 100, 50)}
    assert free_bytes(machine(tmp_path / "b", groups=outer)) == 150


@linux
def test_a_group_without_a_bound_has_none(tmp_path):
    assert free_bytes(machine(tmp_path, groups={"outer/inner": ("max", GIB, 0)})) == 4 * GIB


@linux
def test_where_nobody_tells_nothing_is_known(tmp_path):
    assert free_bytes(tmp_path) is None


@pytest.mark.skipif(sys.platform not in {"linux", "win32"}, reason="no other system is asked")
def test_this_machine_tells():
    assert (free_bytes() or 0) > 1 << 20


def test_less_than_the_reserve_is_short_and_told_once(capfd):
    free = GIB
    guard = MemoryGuard(100, lambda: free)
    assert guard.short({}) == ""
    free = 99
    assert guard.short({}) == guard.short({}) == "too little of the host's memory is free"
    free = GIB
    assert guard.short({}) == ""
    assert capfd.readouterr().out.count("memory_short") == 1


@pytest.mark.parametrize(("reserve", "free"), [(0, 0), (100, None)])
def test_what_is_not_watched_or_not_told_is_never_short(reserve, free):
    assert MemoryGuard(reserve, lambda: free).short({}) == ""


def test_a_card_that_other_programs_have_filled_is_short_too():
    guard = MemoryGuard(0)
    assert "device" in guard.short({DEVICE_SHORT: 1.0})
    assert guard.short({DEVICE_SHORT: 0.0}) == ""


def test_windows_is_asked_for_physical_memory(monkeypatch):
    class Kernel:
        def GlobalMemoryStatusEx(self, pointer):  # noqa: N802 - its name
            pointer._obj.physical_free = 12_345
            return 1

    class Libraries:
        kernel32 = Kernel()

    monkeypatch.setattr(host.ctypes, "windll", Libraries(), raising=False)
    monkeypatch.setattr(sys, "platform", "win32")
    assert free_bytes() == 12_345
