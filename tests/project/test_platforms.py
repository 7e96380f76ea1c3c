"""The server installs from wheels alone, in the pinned versions, wherever the README says it does.

Asks the package index, as pip would on that platform. Without an index there is nothing to ask;
that skips, except in CI, where it fails.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PYTHONS = ("3.11", "3.13")
"""The oldest and the newest; asking for more tells little and takes long."""
GLIBC = ("manylinux2014", "manylinux_2_17", "manylinux_2_28", "manylinux_2_34")

PLATFORMS = {
    "Windows": (["win_amd64"], {"sys_platform": "win32", "platform_machine": "AMD64"}),
    "macOS, Apple": (
        ["macosx_14_0_arm64"],
        {"sys_platform": "darwin", "platform_machine": "arm64"},
    ),
    "macOS, Intel": (
        ["macosx_14_0_x86_64"],
        {"sys_platform": "darwin", "platform_machine": "x86_64"},
    ),
    "Linux, x86_64": (
        [f"{tag}_x86_64" for tag in GLIBC],
        {"sys_platform": "linux", "platform_machine": "x86_64"},
    ),
    "Linux, aarch64": (
        [f"{tag}_aarch64" for tag in GLIBC],
        {"sys_platform": "linux", "platform_machine": "aarch64"},
    ),
}
SYSTEMS = {"win32": "Windows", "darwin": "Darwin", "linux": "Linux"}


def environment(platform, python, extra=""):
    _, facts = PLATFORMS[platform]
    return default_environment() | {
        **facts,
        "platform_system": SYSTEMS[facts["sys_platform"]],
        "os_name": "nt" if facts["sys_platform"] == "win32" else "posix",
        "platform_python_implementation": "CPython",
        "python_version": python,
        "python_full_version": f"{python}.0",
        "extra": extra,
    }


def pins(markers):
    """The version that constraints.txt gives each package in that environment."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    wanted = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {
        canonicalize_name(pin.name): next(iter(pin.specifier)).version
        for pin in wanted
        if pin.marker is None or pin.marker.evaluate(markers)
    }


def required(project, markers):
    """Everything ``project`` needs there, needs of needs included, each with who asks for it."""
    found, waiting = {}, [(project, markers)]
    while waiting:
        name, facts = waiting.pop()
        try:
            requirements = map(Requirement, distribution(name).requires or ())
        except PackageNotFoundError:
            continue  # needed on that platform alone; itself it is looked up all the same
        for needed in requirements:
            if needed.marker is None or needed.marker.evaluate(facts):
                key = canonicalize_name(needed.name)
                if key not in found:
                    waiting.append((key, markers | {"extra": ""}))
                found.setdefault(key, []).append((name, needed.specifier))
    return found


def refused(platform, python):
    """What pip says when it looks for wheels there; nothing when there is one of each."""
    markers = environment(platform, python)
    pinned = pins(markers)
    names = required("cosystream-server", markers) | required("cosystream", markers)
    tags = [argument for tag in PLATFORMS[platform][0] for argument in ("--platform", tag)]
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed"]
    command += ["--no-deps", "--quiet", "--disable-pip-version-check", "--only-binary=:all:"]
    command += [*tags, "--python-version", python, "--target", "unused"]
    command += [f"{name}=={pinned[name]}" if name in pinned else name for name in sorted(names)]
    asked = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if asked.returncode == 0 else f"{platform}, Python {python}: {asked.stderr}"


@pytest.fixture(scope="module")
def package_index():
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest"]
    command += [os.devnull, "--retries", "0", "--timeout", "5", "idna==0"]  # never published
    asked = subprocess.run(command, capture_output=True, text=True, check=False)
    if "from versions: 0.2" not in asked.stderr:
        told = f"no package index answers, so no wheel can be looked up: {asked.stderr.strip()}"
        if os.environ.get("CI"):
            pytest.fail(told)
        pytest.skip(told)


@pytest.mark.usefixtures("package_index")
def test_every_platform_has_a_wheel_of_everything_the_server_and_the_client_need():
    oldest, newest = PYTHONS
    asked = [(platform, oldest) for platform in PLATFORMS]
    asked += [(platform, newest) for platform in ("Windows", "Linux, x86_64")]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda one: refused(*one), asked))
    assert "".join(answers) == ""


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("python", PYTHONS)
def test_pinned_versions_are_ones_that_those_who_need_them_allow(platform, python):
    markers = environment(platform, python)
    pinned = pins(markers)
    needs = required("cosystream-server", markers | {"extra": "dev"})
    wrong = [
        f"{who} needs {name}{specifier}, the pin is {pinned[name]}"
        for name, askers in needs.items()
        for who, specifier in askers
        if name in pinned and not specifier.contains(pinned[name], prereleases=True)
    ]
    assert wrong == []


MACHINES_OWN = {"triton"}
"""As torch, with which it comes on a GPU: a pin would break the one that is there."""


def test_everything_that_ci_installs_is_pinned():
    markers = environment("Linux, x86_64", f"{sys.version_info[0]}.{sys.version_info[1]}")
    needs = required("cosystream-server", markers | {"extra": "dev"})
    needs |= required("cosystream", markers)
    assert sorted(set(needs) - set(pins(markers)) - MACHINES_OWN) == []


def test_nothing_that_the_server_or_its_tests_need_is_torch():
    markers = environment("Linux, x86_64", "3.11", extra="dev")
    names = required("cosystream-server", markers)
    assert not [name for name in names if name == "torch" or name.startswith("nvidia-")]
