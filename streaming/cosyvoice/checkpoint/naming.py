"""How PyTorch names the tensors of its layers, and what they measure.

Knows: linear layers, norms, convolutions with and without weight normalisation. Does not know:
any network.
"""

from __future__ import annotations


class Shapes(dict[str, tuple[int, ...]]):
    """Shapes by tensor name; each method adds a layer's tensors."""

    def linear(self, name: str, inputs: int, outputs: int, *, bias: bool = True) -> None:
        """A linear layer."""
        self[f"{name}.weight"] = (outputs, inputs)
        if bias:
            self[f"{name}.bias"] = (outputs,)

    def norm(self, name: str, size: int) -> None:
        """A layer norm with scale and shift."""
        self[f"{name}.weight"] = (size,)
        self[f"{name}.bias"] = (size,)

    def conv(self, name: str, inputs: int, outputs: int, width: int) -> None:
        """A convolution over time; ``inputs`` are those of one group."""
        self[f"{name}.weight"] = (outputs, inputs, width)
        self[f"{name}.bias"] = (outputs,)

    def normed_conv(
        self, name: str, inputs: int, outputs: int, width: int, *, transposed: bool = False
    ) -> None:
        """The same with weight normalisation: the gain of each row, and the direction."""
        rows, columns = (inputs, outputs) if transposed else (outputs, inputs)
        self[f"{name}.bias"] = (outputs,)
        self[f"{name}.parametrizations.weight.original0"] = (rows, 1, 1)
        self[f"{name}.parametrizations.weight.original1"] = (rows, columns, width)

    def lookahead(self, name: str, size: int, inner: int, ahead: int) -> None:
        """The flow's two convolutions, the first of which sees ``ahead`` tokens to the right."""
        self.conv(f"{name}.conv1", size, inner, ahead + 1)
        self.conv(f"{name}.conv2", inner, size, 3)
