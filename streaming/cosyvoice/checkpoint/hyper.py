"""HyperPyYAML read as data: its tags become plain values, and nothing is ever constructed.

The official yaml builds a program: ``!new:`` calls a class, ``!name:`` binds a function,
``!apply:`` runs one while the file is read. Here all three become a ``Named``, that is the name
and its settings. ``!ref <a> * <b>`` is worked out with the numbers and texts of the file's top
level. Any other tag of the file's own is kept as a ``Named`` too; a tag that asks for a Python
object is refused.
Knows: the tags, the arithmetic. Does not know: which settings matter.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from streaming.cosyvoice.folder_errors import DamagedFile

MOST_BYTES = 1_000_000
"""Far more than any official yaml has (8 kB)."""

_REFERENCE = re.compile(r"<([^<>]+)>")
_OPERATIONS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}


@dataclass(frozen=True)
class Named:
    """What would have been built or called: its tag and name, and what it was given."""

    tag: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    rest: Any = None
    """A list or a scalar, where the settings are no mapping."""


@dataclass(frozen=True)
class _Reference:
    expression: str


class _Loader(yaml.SafeLoader):
    """YAML's own types, and the tags above."""


def _any_tag(loader: _Loader, suffix: str, node: yaml.Node) -> Any:
    if suffix in {"ref", "copy"}:
        return _Reference(str(loader.construct_scalar(node)))  # type: ignore[arg-type]  # checked inside
    if isinstance(node, yaml.MappingNode):
        pairs = loader.construct_mapping(node, deep=True)
        return Named(suffix, {str(name): value for name, value in pairs.items()})
    if isinstance(node, yaml.SequenceNode):
        return Named(suffix, rest=loader.construct_sequence(node, deep=True))
    return Named(suffix, rest=loader.construct_scalar(node))  # type: ignore[arg-type]  # the last kind


_Loader.add_multi_constructor("!", _any_tag)


def read(path: Path) -> dict[str, Any]:
    """The settings of a HyperPyYAML file, references worked out.

    Raises:
        DamagedFile: it is no such file, asks for a Python object, or refers to what is not there.
    """
    if path.stat().st_size > MOST_BYTES:
        raise DamagedFile(f"{path} has {path.stat().st_size:,} bytes: no yaml of a checkpoint")
    try:
        found = yaml.load(path.read_text(encoding="utf-8"), _Loader)  # noqa: S506 - a safe loader's child
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise DamagedFile(f"{path} cannot be read: {error}. Download it again") from error
    if not isinstance(found, dict):
        raise DamagedFile(f"{path} holds no settings. Download it again")
    try:
        return {name: _resolve(value, found, depth=0) for name, value in found.items()}
    except (ValueError, TypeError, SyntaxError, ArithmeticError, RecursionError) as error:
        raise DamagedFile(f"{path}: {error}") from error


def _resolve(value: Any, top: Mapping[str, Any], depth: int) -> Any:
    """``value`` with every reference in it replaced; a chain of references ends at 20."""
    if isinstance(value, _Reference):
        if depth >= 20:  # noqa: PLR2004 - a circle, in all likelihood
            raise ValueError(f"!ref {value.expression} refers to itself")
        return _work_out(value.expression, top, depth + 1)
    if isinstance(value, dict):
        return {name: _resolve(item, top, depth) for name, item in value.items()}
    if isinstance(value, list):
        return [_resolve(item, top, depth) for item in value]
    if isinstance(value, Named):
        settings = {name: _resolve(item, top, depth) for name, item in value.settings.items()}
        return Named(value.tag, settings, _resolve(value.rest, top, depth))
    return value


def _work_out(expression: str, top: Mapping[str, Any], depth: int) -> Any:
    whole = _REFERENCE.fullmatch(expression.strip())
    if whole:
        return _resolve(_look_up(whole[1], top), top, depth)
    names: dict[str, Any] = {}

    def placeholder(match: re.Match[str]) -> str:
        name = f"value_{len(names)}"
        names[name] = _resolve(_look_up(match[1], top), top, depth)
        return name

    tree = ast.parse(_REFERENCE.sub(placeholder, expression).strip(), mode="eval")
    return _arithmetic(tree.body, names, expression)


def _look_up(path: str, top: Mapping[str, Any]) -> Any:
    """``a[b][c]``: an entry of an entry of the top level."""
    found: Any = top
    for name in path.replace("]", "").split("["):
        inside = found.settings if isinstance(found, Named) else found
        if not isinstance(inside, Mapping) or name not in inside:
            raise ValueError(f"!ref <{path}> refers to {name!r}, which is not there")
        found = inside[name]
    return found


def _arithmetic(node: ast.expr, names: Mapping[str, Any], expression: str) -> Any:
    """Sums and products of numbers; nothing else is worked out."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.Name(id=name) if isinstance(names.get(name), int | float):
            return names[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_arithmetic(operand, names, expression)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATIONS:
            pair = (_arithmetic(side, names, expression) for side in (left, right))
            return _OPERATIONS[type(sign)](*pair)
    raise ValueError(f"!ref {expression}: only sums and products of numbers are worked out")
