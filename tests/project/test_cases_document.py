"""docs/cases.md names tests; they must be there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "cases.md").read_text(encoding="utf-8")
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


def test_a_label_in_the_tests_is_one_of_them() -> None:
    source = (ROOT / "tests" / "live" / "test_cases.py").read_text(encoding="utf-8")
    assert set(re.findall(r"# .*?\b([A-Z]{3}-\d\d)", source)) <= set(LABELS)
