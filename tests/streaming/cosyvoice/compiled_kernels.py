"""A script: Triton's kernels, compiled to machine code for cards that nobody has here.

One line of JSON: by case how large the code is, the shared memory it takes, and whether it reads
16 bytes at a time.
"""

import itertools
import json
import sys

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from streaming.cosyvoice import kernels

CARDS = {("A100", 80): ["fp16"], ("4090", 89): ["bf16"], ("H100", 90): ["bf16", "fp32"]}
POINTERS = {"begins": "*i64", "lengths": "*i64", "turn": "*fp32"}
NUMBERS = {"scale": "fp32", "half_stride": "i64"}
WIDE = {"SIZE": 64, "COLUMNS": 64}
BLOCKS = {"QUERIES": 50, "QUERY_ROWS": 64}
CASES = {
    "flow": (kernels._attend, {**BLOCKS, "KEYS": 50, "KEY_ROWS": 64, "TOGETHER": 8}),
    "llm": (
        kernels._attend,
        {"QUERIES": 7, "QUERY_ROWS": 16, "KEYS": 64, "KEY_ROWS": 64, "TOGETHER": 8},
    ),
    "keep": (kernels._keep, {**BLOCKS, "TURNS": True, "PAIRS": 32}),
}


def compiled(kernel, constants, version, kind):
    constants |= WIDE
    names = {name: at for at, name in enumerate(kernel.arg_names)}
    signature = {name: type_of(name, kind, constants) for name in names}
    aligned = [name for name in names if signature[name][0] == "*" or "stride" in name]
    source = ASTSource(
        fn=kernel,
        signature=signature,
        constexprs={(names[name],): value for name, value in constants.items()},
        attrs={(names[name],): [["tt.divisibility", 16]] for name in aligned},
    )
    options = {"num_warps": kernels.warps(kind == "fp32"), "num_stages": kernels.STAGES}
    return triton.compile(source, target=GPUTarget("cuda", version, 32), options=options)


def type_of(name, kind, constants):
    if name in constants:
        return "constexpr"
    if name in {"query", "keys", "values", "made", "qkv", "shelf"}:
        return f"*{kind}"
    return POINTERS.get(name) or NUMBERS.get(name) or "i32"


found = {}
cards = [(*card, kind) for card, kinds in CARDS.items() for kind in kinds]
for (case, (kernel, constants)), (card, version, kind) in itertools.product(CASES.items(), cards):
    made = compiled(kernel, constants, version, kind)
    found[f"{case} {card} {kind}"] = {
        "code_bytes": len(made.asm["cubin"]),
        "shared_bytes": made.metadata.shared,
        "wide_reads": ".v4.b32" in made.asm["ptx"] or "cp.async" in made.asm["ptx"],
    }
sys.stdout.write(json.dumps(found))
