"""Commands say how they are called, and their help is written for whoever calls them."""

from __future__ import annotations

import re

import pytest
from test_documents import ROOT, kept_files

PARSER = re.compile(r"(\w*Parser)\(\s*([^)]*)")
COMMANDS = {
    path.relative_to(ROOT).as_posix(): given
    for path in kept_files("*.py")
    for maker, given in PARSER.findall(path.read_text(encoding="utf-8"))
    if path.parts[len(ROOT.parts)] != "tests" and maker == "ArgumentParser"
}


def test_they_are_found():
    assert len(COMMANDS) > 10


@pytest.mark.parametrize("given", COMMANDS.values(), ids=COMMANDS)
def test_the_help_is_no_docstring_and_names_the_command(given):
    assert "__doc__" not in given, "who asks for help is not told what a module knows"
    assert re.search(r'prog="(python -m [\w.]+|cosystream)"', given)
