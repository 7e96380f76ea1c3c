"""What is free of a GPU: who is asked, who is asked instead, what is done when it becomes little.

There is no GPU here: the driver's binding is replaced, but where it must say that there is none.
"""

import sys
from types import SimpleNamespace

import pytest
import torch

from streaming.runners.cosyvoice.card import EVERY_S, Watch, gauge, gauge_of

UUID = "8d3f0f2e-0000-1111-2222-333344445555"


class Instead:
    """CUDA's figures."""

    source = "cuda"

    def free_bytes(self):
        return 111


class NvmlError(Exception):
    """As the binding raises for whatever goes wrong."""


class Driver:
    """The part of the binding that is used; ``broken`` names the call that fails."""

    NVMLError = NvmlError

    def __init__(self, free=222, broken=""):
        self.free = free
        self.broken = broken

    def _may_fail(self, name):
        if name == self.broken:
            raise NvmlError(f"{name} failed")

    def nvmlInit(self):  # noqa: N802 - its name
        self._may_fail("init")

    def nvmlDeviceGetHandleByUUID(self, uuid):  # noqa: N802 - its name
        self._may_fail("handle")
        assert uuid == f"GPU-{UUID}"
        return "card"

    def nvmlDeviceGetMemoryInfo(self, card):  # noqa: N802 - its name
        self._may_fail("memory")
        assert card == "card"
        return SimpleNamespace(free=self.free)


@pytest.fixture
def driver(monkeypatch):
    def use(**how):
        made = Driver(**how)
        monkeypatch.setitem(sys.modules, "pynvml", made)
        return made

    return use


@pytest.mark.parametrize("uuid", [UUID, f"GPU-{UUID}"])
def test_the_driver_is_asked_about_the_card_of_that_uuid(driver, uuid):
    driver(free=333)
    asked = gauge(uuid, Instead())
    assert (asked.source, asked.free_bytes()) == ("nvml", 333)


@pytest.mark.parametrize("broken", ["init", "handle", "memory"])
def test_where_the_driver_cannot_be_asked_cuda_is_and_the_log_says_why(driver, capfd, broken):
    driver(broken=broken)
    asked = gauge(UUID, Instead())
    assert (asked.source, asked.free_bytes()) == ("cuda", 111)
    told = capfd.readouterr().err
    assert "nvml_not_used" in told
    assert f"{broken} failed" in told


def test_without_the_binding_cuda_is_asked_and_the_log_says_so(monkeypatch, capfd):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert gauge(UUID, Instead()).source == "cuda"
    assert "nvidia-ml-py is not installed" in capfd.readouterr().err


@pytest.mark.skipif(torch.cuda.is_available(), reason="is about machines without a driver")
def test_the_real_binding_where_there_is_no_driver(capfd):
    assert gauge(UUID, Instead()).source == "cuda"
    assert "nvml_not_used" in capfd.readouterr().err


def test_a_driver_that_stops_answering_is_told_of_once(driver, capfd):
    made = driver()
    asked = gauge(UUID, Instead())
    made.broken = "memory"
    assert [asked.free_bytes() for _ in range(3)] == [111] * 3
    assert asked.source == "cuda"
    assert capfd.readouterr().err.count("nvml_not_used") == 1


@pytest.mark.cuda
def test_a_real_card_tells_about_what_cuda_does():
    asked = gauge_of(torch.device("cuda", 0))
    assert asked.source == "nvml"
    free, whole = torch.cuda.mem_get_info(0)
    assert abs(asked.free_bytes() - free) < 0.05 * whole


class Shortage:
    """A card that others use, and a clock."""

    def __init__(self, freed=5 << 20):
        self.now_s = 0.0
        self.free = 2000
        self.asked = 0
        self.spared = 0
        self.freed = freed
        self.watch = Watch(self, 1000, self._spare, lambda: self.now_s)

    def free_bytes(self):
        self.asked += 1
        return self.free

    def _spare(self):
        self.spared += 1
        return self.freed


def test_a_card_is_asked_once_in_a_few_seconds():
    card = Shortage()
    for _ in range(10):
        assert card.watch.free_bytes() == 2000
        card.now_s += EVERY_S / 5
    assert card.asked == 2


def test_what_can_be_spared_goes_once_little_is_free_and_the_log_says_so(capfd):
    card = Shortage()
    card.watch.free_bytes()
    assert card.spared == 0
    card.free, card.now_s = 999, EVERY_S
    assert card.watch.free_bytes() == 999
    assert card.spared == 1
    assert '"voices_let_go_mib": 5' in capfd.readouterr().err


def test_where_nothing_can_be_spared_there_is_nothing_to_tell(capfd):
    card = Shortage(freed=0)
    card.free = 1
    card.watch.free_bytes()
    assert card.spared == 1
    assert capfd.readouterr().err == ""
