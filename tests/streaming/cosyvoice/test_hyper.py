"""A HyperPyYAML file is read as numbers and names; nothing in it is built or run."""

from __future__ import annotations

from pathlib import Path

import pytest

from streaming.cosyvoice.checkpoint import hyper
from streaming.cosyvoice.checkpoint.hyper import Named
from streaming.cosyvoice.folder_errors import DamagedFile


@pytest.fixture
def read(tmp_path: Path):
    def read_text(text: str) -> dict[str, object]:
        path = tmp_path / "some.yaml"
        path.write_text(text, encoding="utf-8")
        return hyper.read(path)

    return read_text


def test_plain_values_are_yamls_own(read):
    assert read("a: 1\nb: 0.5\nc: [1, 2]\nd: {e: x}\nf: null\n") == {
        "a": 1, "b": 0.5, "c": [1, 2], "d": {"e": "x"}, "f": None,
    }  # fmt: skip


def test_what_would_be_built_is_its_name_and_settings(read):
    found = read("flow: !new:some.module.Class\n    depth: 3\n    inner: !name:other.call\n")
    assert found["flow"] == Named(
        "new:some.module.Class", {"depth": 3, "inner": Named("name:other.call", rest="")}
    )


def test_what_would_run_is_kept_as_data(read, tmp_path):
    marker = tmp_path / "ran"
    found = read(f"x: !apply:os.mkdir ['{marker}']\n")
    assert found["x"] == Named("apply:os.mkdir", rest=[str(marker)])
    assert not marker.exists()


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("<a>", 25),
        ("<a> * <b>", 50),
        ("<a> + 1", 26),
        ("(<a> - 5) // <b>", 10),
        ("-<a>", -25),
        ("<a> / <b>", 12.5),
        ("<chained>", 25),
        ("<net[depth]>", 3),
        ("<net[inner][width]> * 2", 14),
        ("<text>", "cosine"),
        ("<net>", Named("new:n", {"depth": 3, "inner": {"width": 7}})),
    ],
)
def test_a_reference_is_worked_out(read, expression, value):
    text = (
        "a: 25\nb: 2\ntext: cosine\nchained: !ref <a>\n"
        "net: !new:n\n    depth: 3\n    inner: {width: 7}\n"
        f"x: {{y: [!ref '{expression}']}}\n"
    )
    assert read(text)["x"] == {"y": [value]}


@pytest.mark.parametrize(
    "expression",
    [
        "<missing>",
        "<a[inside]>",
        "<a> * <text>",
        "__import__('os').getcwd()",
        "<a> ** 99999",
        "<a> if 1 else 2",
        "<a> /",
        "<a> / 0",
        "(lambda: 1)()",
    ],
)
def test_a_reference_that_is_no_sum_of_numbers_is_refused(read, expression):
    with pytest.raises(DamagedFile, match=r"some\.yaml"):
        read(f'a: 25\ntext: cosine\nx: !ref "{expression}"\n')


def test_references_in_a_circle_are_refused(read):
    with pytest.raises(DamagedFile, match="refers to itself"):
        read("a: !ref <b>\nb: !ref <a>\n")


@pytest.mark.parametrize(
    "text",
    [
        "x: !!python/object/apply:os.getcwd []",
        "x: !!python/name:os.getcwd",
        "x: [1, 2",
        "- only\n- a list",
        "",
        "\x00",
        "[" * 1500,
    ],
)
def test_other_files_are_refused(read, text):
    with pytest.raises(DamagedFile, match=r"some\.yaml"):
        read(text)


def test_a_file_of_megabytes_is_no_configuration(read):
    with pytest.raises(DamagedFile, match=r"2,000,\d+ bytes"):
        read("x: " + "y" * 2_000_000)
