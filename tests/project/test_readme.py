"""The README's examples speak: they are taken from it and run against a real server."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import wave
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[2]
SHOWN_URL = "http://127.0.0.1:8000"
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")


def example(language):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert SHOWN_URL in code
    return code


def run(command, folder):
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )


def test_the_python_example_writes_speech_to_a_file(live_server, tmp_path):
    code = example("python").replace(SHOWN_URL, live_server.url)
    ran = run([sys.executable, "-W", "error", "-c", code], tmp_path)
    assert ran.returncode == 0, ran.stderr
    with wave.open(str(tmp_path / "hello.wav")) as spoken:
        assert spoken.getnframes() / spoken.getframerate() > 2


@pytest.fixture
def page():
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield browser.new_page()
        browser.close()


@pytest.mark.browser
def test_the_web_example_speaks_when_its_button_is_pressed(live_server, page):
    page.goto(f"{live_server.url}/healthz")  # a page of a loopback origin
    page.set_content(example("html").replace(SHOWN_URL, live_server.url))
    page.click("button")
    page.wait_for_function("document.querySelector('button').textContent.startsWith('Spoken')")
    assert re.search(r"after \d+ ms$", page.text_content("button"))


def shell_lines():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [re.sub(r"\s+# .*", "", line) for block in blocks for line in block.splitlines()]


@pytest.mark.parametrize("tool", [".venv/bin/cosystream", "curl"])
def test_the_command_lines_leave_the_files_they_name(live_server, tmp_path, tool):
    lines = [line for line in shell_lines() if tool in line]
    assert lines
    for line in lines:
        command = line.replace(".venv/bin/cosystream", f"'{sys.executable}' -m cosystream")
        command = command.replace(SHOWN_URL, live_server.url)
        if "cosystream" in tool:
            command = command.replace(" say ", f" say --url {live_server.url} ")
        ran = run(["sh", "-c", command], tmp_path)
        assert ran.returncode == 0, ran.stderr
        (named,) = re.findall(r"hello\.\w+", line)
        assert (tmp_path / named).stat().st_size > 2000


def test_every_make_target_that_is_named_exists():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    documents = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    named = {
        target
        for document in documents
        for target in re.findall(
            r"(?:^|`)make ([a-z-]+)", document.read_text("utf-8"), re.MULTILINE
        )
    }
    assert {"serve", "test"} <= named <= targets


def test_every_target_that_help_lists_says_what_it_does():
    helped = run(["make", "help"], ROOT).stdout
    listed = set(re.findall(r"^  make ([a-z-]+) +\S", helped, re.MULTILINE))
    assert {"setup", "serve", "test", "lint", "bench", "clean", "help"} <= listed
