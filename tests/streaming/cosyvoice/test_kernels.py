"""Triton's kernels, without a GPU: interpreted they compute what they should, and they compile.

On a GPU ``test_on_cuda`` has networks use them.
"""

import json
import os
import subprocess
import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    find_spec("triton") is None, reason="Triton is made for Linux: elsewhere there is none"
)

HERE = Path(__file__).parent
PROJECT = HERE.parents[2]

SHARED_BYTES = 99 * 1024
"""What a block may have on the smallest of the cards."""


def said(script, tmp_path, **environment):
    """What the script says, in a process of its own, as Triton decides once how it runs."""
    environment |= {
        "PYTHONPATH": os.pathsep.join([str(PROJECT), str(HERE)]),
        "TRITON_CACHE_DIR": str(tmp_path),
    }
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", HERE / script],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.skipif(
    find_spec("triton") is not None and version("triton").startswith("3.6."),
    reason="Triton's interpreter takes numbers of NumPy 2.4 and later from version 3.7 on",
)
def test_interpreted_they_compute_what_torch_does(tmp_path):
    found = said("interpreted_kernels.py", tmp_path, TRITON_INTERPRET="1")
    assert len(found) == 2 * 7
    for case, apart in found.items():
        assert apart < (4e-3 if "float16" in case else 1e-5), case


def test_they_compile_for_cards_nobody_has_here(tmp_path):
    found = said("compiled_kernels.py", tmp_path)
    assert len(found) == 3 * 4
    for case, made in found.items():
        assert made["code_bytes"] > 1000, case
        assert made["shared_bytes"] <= SHARED_BYTES, case
        assert made["wide_reads"], case
