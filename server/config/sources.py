"""Where settings come from: a TOML file, the environment, the command line.

Knows: how each is written and how a name in it maps to a setting. Does not know: types or ranges.
"""

from __future__ import annotations

import argparse
import difflib
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, get_args

from server.config.keys import KEYS, SECTIONS, ConfigError, nearest
from server.config.values import Given
from server.version import VERSION

DEFAULT_FILE = Path(__file__).resolve().parents[2] / "configs" / "embedded.toml"

ENV_PREFIX = "COSYSTREAM__"
ENV_API_KEYS = "COSYSTREAM_API_KEYS"

FLAGS = {
    "--host": ("listen.host", "ADDRESS", "to listen on; 0.0.0.0: every IPv4 one"),
    "--port": ("listen.port", "PORT", "to listen on; 0: a free one"),
    "--model": (
        "engine.model",
        "FOLDER",
        "a CosyVoice checkpoint; without one the embedded voices",
    ),
    "--device": ("engine.device", None, "what computes; auto: a GPU where CosyVoice can use one"),
    "--precision": ("engine.precision", None, "of CosyVoice's LLM and flow; fp16 is for GPUs"),
    "--runner": ("engine.runner", None, "what speaks; tone: beeps, for tests"),
    "--trace": ("engine.trace", "FILE", "to write every step to, for ui.perfetto.dev"),
    "--root-path": ("listen.root_path", "PATH", "prefix that a reverse proxy strips, such as /tts"),
    "--log-level": ("log.level", None, "the least that is logged"),
}
"""The setting of each, what stands in the help for its value (none: its choices), its meaning."""


# --- the file ------------------------------------------------------------------------------


def from_file(path: Path | None) -> dict[str, Given]:
    """The file's settings by dotted name; without a path the default file, if it is there."""
    if path is None and not DEFAULT_FILE.is_file():
        return {}
    chosen = path or DEFAULT_FILE
    try:
        text = chosen.read_text(encoding="utf-8-sig")
        tables = tomllib.loads(text)
    except FileNotFoundError:
        raise ConfigError(f"--config: there is no file {chosen.absolute()}") from None
    except OSError as error:
        raise ConfigError(f"--config: {chosen.absolute()} cannot be read: {error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{chosen} is not UTF-8 text, as which TOML is saved: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{chosen} is not valid TOML: {error}{_of_backslashes(text)}") from error
    lines = _line_numbers(text)
    found: dict[str, Given] = {}
    _flatten(tables, "", str(chosen), lines, found)
    return found


def _of_backslashes(text: str) -> str:
    """What paths of Windows want to be told."""
    meant = re.search(r'"[A-Za-z]:\\', text)
    return ". A path with \\ stands between single quotes: 'C:\\models'" if meant else ""


def _flatten(
    table: Mapping[str, Any],
    prefix: str,
    file: str,
    lines: Mapping[str, int],
    found: dict[str, Given],
) -> None:
    for part, value in table.items():
        name = f"{prefix}{part}"
        source = f"{file}, line {lines[name]}" if name in lines else file
        if name in KEYS:
            found[name] = Given(value, source)
        elif isinstance(value, dict) and (value or name in SECTIONS):
            _flatten(value, f"{name}.", file, lines, found)
        elif name in SECTIONS:
            raise ConfigError(f"{source}: {name} is a section; write [{name}] and its settings")
        else:
            unknown(name, source)


_HEADER = re.compile(r"\s*\[\[?\s*([\w.\-]+)\s*\]\]?\s*(?:#.*)?$")
_ASSIGNMENT = re.compile(r"\s*([\w.\-]+)\s*=")


def _line_numbers(text: str) -> dict[str, int]:
    """Where each plainly written name stands; a name in a multi-line text may mislead, no more."""
    lines: dict[str, int] = {}
    section = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            section = f"{header[1]}."
            lines.setdefault(header[1], number)
        elif assignment := _ASSIGNMENT.match(line):
            lines.setdefault(f"{section}{assignment[1]}", number)
    return lines


def unknown(name: str, source: str, written: Callable[[str], str] = str) -> NoReturn:
    """Raise the error for a name that is no setting, with the nearest, as it is written there."""
    near = nearest(name)
    hint = f"Did you mean {written(near)}?" if near else "docs/configuration.md lists them all."
    raise ConfigError(f"{source}: {name or 'an empty name'} is not a setting. {hint}")


# --- the environment -----------------------------------------------------------------------


def from_environment(environ: Mapping[str, str]) -> dict[str, Given]:
    """``COSYSTREAM__SECTION__KEY`` variables, and ``COSYSTREAM_API_KEYS``."""
    found: dict[str, Given] = {}
    for variable in sorted(environ):
        if name := _setting_of(variable):
            found[name] = _variable(environ, variable)
    if ENV_API_KEYS in environ:
        if "access.api_keys" in found:
            raise ConfigError(
                f"{ENV_API_KEYS} and {found['access.api_keys'].source} say the same thing: set one"
            )
        found["access.api_keys"] = _variable(environ, ENV_API_KEYS)
    return found


def _variable(environ: Mapping[str, str], variable: str) -> Given:
    return Given(environ[variable], f"environment variable {variable}", text=True)


def _setting_of(variable: str) -> str | None:
    if variable.startswith(ENV_PREFIX):
        name = variable.removeprefix(ENV_PREFIX).lower().replace("__", ".")
        if name not in KEYS:
            unknown(name, f"environment variable {variable}", _variable_of)
        return name
    _refuse_near_miss(variable)
    return None


def _refuse_near_miss(variable: str) -> None:
    """``COSYSTREAM_LISTEN_PORT`` would be ignored without a word: say what was meant."""
    if not variable.startswith("COSYSTREAM_") or variable == ENV_API_KEYS:
        return
    letters = variable.removeprefix("COSYSTREAM_").lower().replace("_", "")
    for name in KEYS:
        if name.replace(".", "").replace("_", "") == letters:
            raise ConfigError(
                f"environment variable {variable} is not read. Did you mean {_variable_of(name)}?"
            )


def unread(environ: Mapping[str, str]) -> Iterator[str]:
    """Of variables that are no settings and look like one (``COSYSTREAM_PORT``), what was meant.

    They are not refused: Kubernetes sets some for a service of that name (``tcp://…``).
    """
    for variable, value in sorted(environ.items()):
        leaf = variable.removeprefix("COSYSTREAM_").lower()
        meant = next((name for name in KEYS if name.rpartition(".")[2] == leaf), None)
        written = variable == f"COSYSTREAM_{leaf.upper()}" and variable != ENV_API_KEYS
        if not written or meant is None or "://" in value:
            continue
        yield f"environment variable {variable} is not read. Did you mean {_variable_of(meant)}?"


def _variable_of(name: str) -> str:
    return ENV_PREFIX + name.upper().replace(".", "__")


# --- the command line ----------------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"command line: {message}")


def from_flags(argv: Sequence[str]) -> tuple[Path | None, dict[str, Given]]:
    """The file named by ``--config``, and the settings that flags give.

    ``--help`` and ``--version`` print and raise SystemExit(0).
    """
    parser = _parser()
    options, rest = parser.parse_known_args(argv)
    if rest:
        _unknown_argument(rest[0])
    found: dict[str, Given] = {}
    for flag, (name, _, _) in FLAGS.items():
        value = getattr(options, flag[2:].replace("-", "_"))
        if value is not None:
            found[name] = Given(value, flag, text=True)
    return options.config, found


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m server",
        description="Streaming text to speech: text in over a WebSocket, audio out as it is made.",
        epilog="Every setting can also stand in a TOML file or in a variable such as "
        "COSYSTREAM__LISTEN__PORT; docs/configuration.md lists them.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="TOML file of settings, such as configs/*.toml"
    )
    for flag, (name, shown, meaning) in FLAGS.items():
        key = KEYS[name]
        default = "" if key.default in {None, ""} else f" (default: {key.default})"
        parser.add_argument(
            flag, metavar=shown or f"{{{','.join(get_args(key.hint))}}}", help=f"{meaning}{default}"
        )
    parser.add_argument("--version", action="version", version=f"cosystream {VERSION}")
    return parser


def _unknown_argument(argument: str) -> NoReturn:
    flag = argument.partition("=")[0]
    known = ["--config", *FLAGS, "--help", "--version"]
    close = difflib.get_close_matches(flag, known, n=1, cutoff=0.6)
    hint = f"Did you mean {close[0]}?" if close else f"There are: {', '.join(known)}."
    raise ConfigError(f"command line: {argument!r} is not a flag. {hint}")
