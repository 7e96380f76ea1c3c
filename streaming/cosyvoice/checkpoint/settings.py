"""A file's settings by path, each read with an error that names the file and the path.

Knows: nested settings, kinds of values. Does not know: which settings there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from streaming.cosyvoice.checkpoint.hyper import Named
from streaming.cosyvoice.folder_errors import DamagedFile, Unsupported


class Settings:
    """A file's settings by path, read with an error that names the file and the path."""

    def __init__(self, path: Path, values: Mapping[str, Any]) -> None:
        self._path = path
        self._values = values

    def get(self, name: str) -> Any:
        """The value at ``a/b/c``, or None."""
        found: Any = self._values
        for part in name.split("/"):
            inside = found.settings if isinstance(found, Named) else found
            found = inside.get(part) if isinstance(inside, Mapping) else None
        return found

    def number(self, name: str, kind: type[int | float] = int) -> Any:
        """A number that must be there; YAML 1.1 takes ``1e-06`` for a text, so texts are read."""
        value = self.get(name)
        try:
            if isinstance(value, bool):
                raise TypeError  # noqa: TRY301 - a yes or no is no number, though Python has it so
            found = kind(value)
        except (TypeError, ValueError):
            raise self.wrong(name, value, "a number") from None
        if found != float(value) or found <= 0:
            raise self.wrong(name, value, "a whole number above 0" if kind is int else "above 0")
        return found

    def whole_numbers(self, name: str) -> tuple[int, ...]:
        """A list of whole numbers that must be there."""
        value = self.get(name)
        if not _are_whole(value):
            raise self.wrong(name, value, "a list of whole numbers")
        return tuple(value)

    def rows(self, name: str) -> tuple[tuple[int, ...], ...]:
        """A list of such lists."""
        value = self.get(name)
        if not isinstance(value, list) or not all(map(_are_whole, value)):
            raise self.wrong(name, value, "a list of lists of whole numbers")
        return tuple(map(tuple, value))

    def wrong(self, name: str, value: Any, wanted: str) -> DamagedFile:
        """The error for a setting that is missing or of another kind."""
        what = "is missing" if value is None else f"is {value!r}"
        return DamagedFile(f"{self._path}: {name} {what}, and should be {wanted}")

    def refuse_others(self, fixed: Mapping[str, Any]) -> None:
        """Whether every setting that is fixed here agrees, as far as it is given."""
        for name, wanted in fixed.items():
            value = self.get(name)
            if value is not None and value != wanted:
                raise Unsupported(
                    f"{self._path}: {name} is {value!r}, and only {wanted!r} is implemented here"
                )


def _are_whole(value: Any) -> bool:
    return isinstance(value, list) and all(type(item) is int and item > 0 for item in value)
