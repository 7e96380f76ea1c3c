"""docs/cases.md names tests; they must be there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


PAGE = read("docs/cases.md")
NAMED = sorted(set(re.findall(r"`([\w/]+\.py(?:::\w+)+)`", PAGE)))
LABELS = re.findall(r"^\| ([A-Z]{3}-\d\d) \|", PAGE, re.MULTILINE)


@pytest.mark.parametrize("name", NAMED)
def test_every_test_that_is_named_exists(name: str) -> None:
    path, *parts = name.split("::")
    body = ast.parse((ROOT / "tests" / path).read_text(encoding="utf-8")).body
    for part in parts:
        kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        found = [node for node in body if isinstance(node, kinds) and node.name == part]
        assert found, f"{name}: there is no {part}"
        body = found[0].body


def test_every_case_stands_once_and_says_where_it_is_tested() -> None:
    assert len(LABELS) == len(set(LABELS)) > 40
    rows = [line for line in PAGE.splitlines() if re.match(r"\| [A-Z]{3}-\d\d ", line)]
    assert all(".py::" in row for row in rows)


@pytest.mark.parametrize("file", ["test_cases.py", "test_spoken.py"])
def test_a_label_in_the_tests_is_one_of_them(file: str) -> None:
    labels = set(re.findall(r"# .*?\b([A-Z]{3}-\d\d)", read(f"tests/live/{file}")))
    assert labels
    assert labels <= set(LABELS)


def test_each_case_of_text_has_its_text_under_its_label() -> None:
    labels = re.findall(
        r"^([A-Z]{3}-\d\d) ", read("tests/streaming/text/reported.txt"), re.MULTILINE
    )
    assert set(labels) == {label for label in LABELS if label[:3] in {"SEG", "NOR", "LAN"}}


def test_a_section_of_the_spoken_texts_that_is_named_is_there() -> None:
    named = re.findall(r"test_a_text_is_spoken_as_it_should_be` \(([\w ,]+)\)", PAGE)
    sections = re.findall(r"^\[(.+)\]$", read("tests/streaming/text/spoken.txt"), re.MULTILINE)
    assert {section for each in named for section in each.split(", ")} <= set(sections)
