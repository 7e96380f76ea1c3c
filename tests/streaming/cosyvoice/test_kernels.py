"""Triton's kernels, without a GPU: interpreted they compute what they should, and they compile.

On a GPU ``test_on_cuda`` has networks use them.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

triton = pytest.importorskip("triton", reason="Triton is made for Linux: elsewhere there is none")

from triton.backends.compiler import GPUTarget  # noqa: E402 - only where there is Triton
from triton.compiler import ASTSource  # noqa: E402

from streaming.cosyvoice import kernels  # noqa: E402

HERE = Path(__file__).parent
PROJECT = HERE.parents[2]

CARDS = [80, 89, 90]
"""An A100, a 4090 or L4, an H100 or H200."""


def test_interpreted_they_compute_what_torch_does():
    path = os.pathsep.join([str(PROJECT), str(HERE), *sys.path])
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", HERE / "interpreted_kernels.py"],
        env={**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert len(found) == 2 * 7
    for case, apart in found.items():
        assert apart < (4e-3 if "float16" in case else 1e-5), case


@pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")
@pytest.mark.parametrize("card", CARDS)
@pytest.mark.parametrize("kind", ["fp32", "fp16", "bf16"])
def test_they_compile_for_cards_nobody_has_here(card, kind, tmp_path, monkeypatch):
    """Down to machine code; what is read together is read so: 16 bytes at a time."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    for made in (
        compiled("attend", card, kind, QUERIES=50, KEYS=50, QUERY_ROWS=64, KEY_ROWS=64),
        compiled("attend", card, kind, QUERIES=7, KEYS=64, QUERY_ROWS=16, KEY_ROWS=64),
        compiled("keep", card, kind, TURNS=True, QUERIES=50, QUERY_ROWS=64, PAIRS=32),
    ):
        assert len(made.asm["cubin"]) > 1000
        assert made.metadata.shared < 99 * 1024  # what the smallest of them has
        assert ".v4.b32" in made.asm["ptx"] or "cp.async" in made.asm["ptx"]


def compiled(name, card, kind, **constants):
    kernel = getattr(kernels, f"_{name}")
    constants |= {"SIZE": 64, "COLUMNS": 64}
    if name == "attend":
        constants["TOGETHER"] = kernels.TOGETHER
    signature = {each: _type(each, kind, constants) for each in kernel.arg_names}
    places = {each: (at,) for at, each in enumerate(kernel.arg_names)}
    aligned = [each for each in signature if signature[each][0] == "*" or "stride" in each]
    source = ASTSource(
        fn=kernel,
        signature=signature,
        constexprs={places[each]: value for each, value in constants.items()},
        attrs={places[each]: [["tt.divisibility", 16]] for each in aligned},
    )
    options = {"num_warps": 8 if kind == "fp32" else 4, "num_stages": 2}
    return triton.compile(source, target=GPUTarget("cuda", card, 32), options=options)


def _type(name, kind, constants):
    if name in constants:
        return "constexpr"
    if name in {"begins", "lengths"}:
        return "*i64"
    if name in {"query", "keys", "values", "made", "qkv", "shelf"}:
        return f"*{kind}"
    return {"turn": "*fp32", "scale": "fp32", "half_stride": "i64"}.get(name, "i32")
