"""The recipes run as they stand, against a real server and in a real browser."""

from __future__ import annotations

import re
import sys

import pytest
from playwright.sync_api import sync_playwright
from test_readme import CHROMIUM, ROOT, SHOWN_URL, run

RECIPES = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")


def examples(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", RECIPES, re.MULTILINE | re.DOTALL)


SAID = ["ms of sound, ", "The caller heard: Your order", "{'token'"]


@pytest.mark.parametrize(("code", "said"), list(zip(examples("python"), SAID, strict=True)))
def test_a_script_says_what_it_should(code, said, live_server, tmp_path):
    code = code.replace(SHOWN_URL, live_server.url)
    ran = run([sys.executable, "-W", "error", "-c", code], tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert said in ran.stdout
    assert ran.stderr == ""


@pytest.mark.browser
def test_the_mouth_opens_while_the_host_is_heard(live_server):
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        page = browser.new_page()
        page.goto(f"{live_server.url}/healthz")  # a page of a loopback origin
        page.set_content(examples("html")[0].replace(SHOWN_URL, live_server.url))
        page.click("button")
        page.wait_for_function("parseFloat(document.querySelector('#mouth').style.height) > 20")
        browser.close()
