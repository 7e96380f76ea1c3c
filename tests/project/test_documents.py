"""The documents hold together: links lead somewhere, both READMEs agree, nothing is left over."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).resolve().parents[2]
READMES = ("README.md", "README.zh-CN.md")
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)|<(?:img|a)\s[^>]*(?:src|href)=\"([^\"]+)\"")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def kept_files(*patterns):
    """Files of the repository, those not committed yet included."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    paths = [ROOT / line for line in listed.stdout.splitlines()]
    return [path for path in paths if path.is_file()]


DOCUMENTS = [path.relative_to(ROOT).as_posix() for path in kept_files("*.md")]


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def anchors(text):
    """The anchors that a rendered document has, one a heading."""
    prose = FENCE.sub("", text)
    titles = re.findall(r"^#{1,6} (.+)$", prose, re.MULTILINE)
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", title) for title in titles)
    return {re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-") for title in plain}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_to_something_that_is_there(name):
    broken = []
    for match in LINK.finditer(FENCE.sub("", read(name))):
        target = unquote(match[1] or match[2])
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = ((ROOT / name).parent / path).resolve() if path else ROOT / name
        if not file.exists() or (anchor and anchor not in anchors(file.read_text("utf-8"))):
            broken.append(target)
    assert broken == []


def without_comments(code):
    return [re.sub(r"\s*(#|//) .*$", "", line) for line in code.splitlines()]


def test_both_readmes_have_the_same_commands_and_examples():
    one, other = ([without_comments(code) for _, code in FENCE.findall(read(n))] for n in READMES)
    assert one == other


def test_both_readmes_have_the_same_parts_tables_and_links():
    def outline(text):
        prose = FENCE.sub("", text)
        return (
            re.findall(r"^#+", prose, re.MULTILINE),
            [line.count("|") for line in prose.splitlines() if line.startswith("|")],
            [match[1] or match[2] for match in LINK.finditer(prose)],
        )

    def unlike(links):
        """All but the link of each to the other."""
        return [link.split("#")[0] for link in links if link not in READMES]

    (heads, rows, links), (heads_zh, rows_zh, links_zh) = (outline(read(n)) for n in READMES)
    assert heads == heads_zh
    assert rows == rows_zh
    assert unlike(links) == unlike(links_zh)


@pytest.mark.parametrize("language", ["python", "html"])
def test_examples_of_the_readme_have_ten_lines_at_most(language):
    examples = [code for name, code in FENCE.findall(read("README.md")) if name == language]
    assert examples
    for code in examples:
        assert len([line for line in code.splitlines() if line.strip()]) <= 10


def test_no_document_speaks_of_a_place_on_somebodys_machine():
    leaks = [name for name in DOCUMENTS if re.search(r"/(?:home|root|work|Users)/\w", read(name))]
    assert leaks == []


@pytest.mark.parametrize("house", ["server", "streaming", "streaming/cosyvoice"])
def test_the_page_on_how_it_is_built_names_every_room(house):
    parts = {path.relative_to(ROOT / house).parts for path in kept_files(f"{house}/*.py")}
    rooms = {part[0] if len(part) == 1 else f"{part[0]}/" for part in parts}
    named = set(re.findall(r"`(?:[\w/]+/)?(\w+(?:\.py|/))`", read("docs/architecture.md")))
    assert rooms - named - {"__init__.py", "__main__.py"} == set()


def test_nothing_is_left_for_later():
    words = re.compile("TO[D]O|FIX[M]E")
    sources = kept_files("*.py", "*.ts", "*.js", "*.mjs", "*.md", "*.toml", "*.html", "Makefile")
    marked = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sources
        if "dist" not in path.parts
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if words.search(line)
    ]
    assert marked == []
