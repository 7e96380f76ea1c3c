"""The image, as far as it can be checked without a container engine.

The Dockerfile is read and held to what it promises; that the server speaks without a network and
with nothing to write to is tried for real, in namespaces of the test's own.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def instructions():
    """The Dockerfile's instructions, continued lines joined."""
    joined = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line.strip() for line in joined.splitlines()]
    return [tuple(line.split(None, 1)) for line in lines if line and not line.startswith("#")]


def stages():
    """Each stage's own instructions by its name."""
    found, current = {}, None
    for word, rest in instructions():
        if word == "FROM":
            current = rest.split(" AS ")[1]
            found[current] = [(word, rest)]
        elif current:
            found[current].append((word, rest))
    return found


def arguments_of(stage, word):
    return [rest for found, rest in stages()[stage] if found == word]


@pytest.mark.parametrize("target", ["cpu", "cuda"])
class TestTarget:
    def test_it_runs_what_another_stage_built(self, target):
        copied = arguments_of(target, "COPY")
        assert f"--from=build-{target} /opt/venv /opt/venv" in copied
        assert "pip" not in " ".join(arguments_of(target, "RUN"))

    def test_it_does_not_run_as_root(self, target):
        assert arguments_of(target, "USER") == ["10001"]
        words = [word for word, _ in stages()[target]]
        assert "RUN" not in words[words.index("USER") :]

    def test_its_health_is_readiness(self, target):
        (check,) = arguments_of(target, "HEALTHCHECK")
        assert "/readyz" in check
        assert "curl" not in check  # which the base image lacks

    def test_the_server_gets_the_signals_itself(self, target):
        assert arguments_of(target, "ENTRYPOINT") == ['["python", "-m", "server"]']

    def test_it_can_be_reached_from_outside(self, target):
        assert "COSYSTREAM__LISTEN__HOST=0.0.0.0" in " ".join(arguments_of(target, "ENV"))

    def test_mirrors_are_arguments(self, target):
        assert "PIP_INDEX_URL" in arguments_of(f"build-{target}", "ARG")


def test_the_default_target_is_the_cpus():
    assert list(stages())[-1] == "cpu"


def test_the_cuda_target_carries_what_the_models_need():
    (install,) = (run for run in arguments_of("build-cuda", "RUN") if "constraints" in run)
    assert ".[cosyvoice]" in install
    assert "APT_MIRROR" in arguments_of("python-cuda", "ARG")
    assert stages()["python-cuda"][0][1].startswith("${CUDA_IMAGE}")


def defaults():
    return dict(
        rest.split("=", 1) for word, rest in instructions() if word == "ARG" and "=" in rest
    )


def test_base_images_are_arguments_with_a_tag():
    images = {name: value for name, value in defaults().items() if name.endswith("_IMAGE")}
    assert set(images) == {"PYTHON_IMAGE", "CUDA_IMAGE"}
    assert all(":" in image and not image.endswith("latest") for image in images.values())


def test_torch_and_the_image_under_it_are_of_one_cuda():
    major, minor, _ = defaults()["CUDA_IMAGE"].partition(":")[2].split(".", 2)
    assert defaults()["TORCH_INDEX_URL"].endswith(f"/cu{major}{minor}")


def test_everything_that_is_copied_exists_and_is_let_through():
    ignore = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    allowed = [line.removeprefix("!") for line in ignore if line.startswith("!")]
    for word, rest in instructions():
        if word != "COPY" or "--from=" in rest:
            continue
        for source in shlex.split(rest)[:-1]:
            assert (ROOT / source).exists(), source
            assert any(source == path or source.startswith(f"{path}/") for path in allowed), source


def test_the_server_finds_everything_it_serves_inside_the_image():
    from server.config.sources import DEFAULT_FILE  # noqa: PLC0415
    from server.pages import PAGE, SDK  # noqa: PLC0415 - the rest needs no server

    copied = [
        ROOT / source for rest in arguments_of("app", "COPY") for source in shlex.split(rest)[:-1]
    ]
    for needed in (PAGE, SDK, DEFAULT_FILE):
        assert needed.exists()
        assert any(needed.is_relative_to(source) for source in copied), needed


SEALED = """
set -e
ip link set lo up
mount --make-rprivate /
for point in $(awk '{ print $2 }' /proc/mounts | sort -r); do
  case $point in
    /proc*|/sys*|/dev*) ;;
    *) mount -o remount,bind,ro "$point" 2>/dev/null || : ;;
  esac
done
! touch "$PWD/written" /tmp/written 2>/dev/null
"$PYTHON" -m server --port 8000 >&2 &
server=$!
ready="import urllib.request as r; r.urlopen('http://127.0.0.1:8000/readyz')"
until "$PYTHON" -c "$ready" 2>/dev/null; do kill -0 $server; sleep 0.2; done
"$PYTHON" -m cosystream say "It speaks all by itself." --out -
kill $server
wait $server || test $? = 143  # ended by SIGTERM, after draining
"""


def can_seal():
    return bool(shutil.which("unshare") and shutil.which("ip")) and not subprocess.call(
        ["unshare", "--net", "--mount", "ip", "link", "set", "lo", "up"], stderr=subprocess.DEVNULL
    )


@pytest.mark.parametrize("offline", [{}, {"HF_HUB_OFFLINE": "1"}])
def test_it_starts_and_speaks_without_a_network_and_with_nothing_to_write_to(offline):
    if not can_seal():
        told = "needs root, unshare and ip, to take network and disk away from a process"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(told)
    sealed = subprocess.run(
        ["unshare", "--net", "--mount", "--pid", "--fork", "sh", "-c", SEALED],
        env={**os.environ, **offline, "PYTHON": sys.executable, "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=90,
        check=False,
    )
    assert sealed.returncode == 0, sealed.stderr.decode()[-4000:]
    assert len(sealed.stdout) > 2000
    assert b"telemetry" not in sealed.stderr.lower()
