"""In 16 bits, which operations still compute in 32: those that others met their NaN in."""

import pytest
import torch
from tiny_steps import GENERATIONS, euler_step, llm_step
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

HALVES = [torch.bfloat16, torch.float16]

NORMS = {"native_layer_norm", "rms_norm", "_fused_rms_norm", "rsqrt"}
PROBABILITIES = {"_log_softmax", "topk", "cumsum"}
SINES = {"cos", "sin"}
GATES = {"silu"}
PRODUCTS = {"mm", "addmm", "linear", "bmm", "baddbmm", "convolution"}


class Dtypes(TorchDispatchMode):
    """Which operation had numbers of which kind."""

    def __init__(self):
        super().__init__()
        self.seen = {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        del types
        given = [each for each in tree_flatten(args)[0] if isinstance(each, torch.Tensor)]
        dtypes = {each.dtype for each in given if each.is_floating_point()}
        name = func.name().split("::")[1].split(".")[0]
        self.seen.setdefault(name, set()).update(dtypes)
        return func(*args, **(kwargs or {}))

    def of(self, names):
        """Those of all operations that are called so."""
        return set().union(*(self.seen.get(name, ()) for name in names))


def watched(step):
    with torch.no_grad(), Dtypes() as dtypes:
        made = step()
    return made, dtypes


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("generation", GENERATIONS)
def test_an_euler_steps_norms_and_the_state_of_its_equation(generation, dtype):
    made, dtypes = watched(euler_step(generation, dtype))
    assert made.dtype is torch.float32
    assert dtypes.of(NORMS) == {torch.float32}
    assert dtypes.of(SINES) <= {torch.float32}
    assert dtype in dtypes.of(PRODUCTS)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("generation", GENERATIONS)
def test_the_language_models_norms_gates_and_probabilities(generation, dtype):
    _, dtypes = watched(llm_step(generation, dtype))
    for names in (NORMS, GATES, PROBABILITIES):
        assert dtypes.of(names) == {torch.float32}
    assert dtypes.of(PRODUCTS) == {dtype, torch.float32}  # the head alone is in 32
