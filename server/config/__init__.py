"""Settings from a TOML file, the environment and the command line, checked, as frozen data.

``load`` puts them together, later ones winning: defaults, file, environment, flags. Knows: the
order, and what may be shown of them. Does not know: what any setting does.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, NoReturn

from server.access.origins import is_loopback
from server.config.keys import KEYS, MASK, PATHS, SECRET_KEYS, ConfigError, build, flat
from server.config.rules import RULES, Contradiction, contradiction
from server.config.sources import (
    ENV_API_KEYS,
    from_environment,
    from_file,
    from_flags,
    unread,
)
from server.config.values import Given, convert, refuse
from server.settings import ApiKey, Settings

__all__ = ["ConfigError", "advice", "describe", "load"]


def load(argv: Sequence[str] | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """The settings of this run. Raises ConfigError, whose message is for the user.

    ``--help`` and ``--version`` print and raise SystemExit(0).
    """
    path, flags = from_flags(sys.argv[1:] if argv is None else argv)
    variables = from_environment(os.environ if environ is None else environ)
    given = {**from_file(path), **variables, **flags}
    settings = build({name: _checked(name, value) for name, value in given.items()})
    if found := contradiction(settings):
        _refuse_contradiction(found, flat(settings)[found.name], given)
    return settings


def _refuse_contradiction(found: Contradiction, value: Any, given: Mapping[str, Given]) -> NoReturn:
    """Of the two, what was given is to blame, not a default."""
    cause = given.get(found.other, Given(None, "default")).source
    own = given.get(found.name)
    if own is None:
        refuse(found.name, Given(value, cause), found.allowed)
    refuse(found.name, Given(value, own.source), f"{found.allowed} ({cause})")


def _checked(name: str, given: Given) -> Any:
    value = convert(KEYS[name], given)
    if name in PATHS and value is not None:
        value = os.path.expanduser(value)  # noqa: PTH111 - a text, which stays as it was written
    rule = RULES.get(name)
    if rule and (allowed := rule(value)):
        refuse(name, given, allowed)
    return value


def describe(settings: Settings, *, all_of_them: bool = True) -> dict[str, Any]:
    """Settings by their dotted names, for the start-up log; secrets are masked.

    Every one, or those alone that are not the default.
    """
    return {
        name: [_masked(item) for item in value] if name in SECRET_KEYS else value
        for name, value in flat(settings).items()
        if all_of_them or value != KEYS[name].default
    }


def _masked(item: ApiKey) -> str:
    given = [f"{name} {value}" for name, value in asdict(item.allowance).items() if value]
    return " ".join([f"{item.name}:{MASK}", *([f"({', '.join(given)})"] if given else [])])


def advice(settings: Settings, environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """What an operator should know about these settings; each is worth a warning at the start."""
    open_to_all = not settings.access.api_keys
    found = list(unread(environ or {}))
    if open_to_all and "COSYSTREAM_API_KEY" in (environ or {}):
        found.append(
            "COSYSTREAM_API_KEY is what clients send; this server asks for no key. "
            f"The keys it asks for stand in {ENV_API_KEYS}"
        )
    if open_to_all and not is_loopback(settings.listen.host):
        found.append(
            f"listen.host is {settings.listen.host} and access.api_keys is empty: whoever reaches "
            "this address can use the server"
        )
    if open_to_all and "*" in settings.access.allowed_origins:
        found.append(
            'access.allowed_origins has "*" and access.api_keys is empty: any web page that a '
            "visitor of this machine or network opens can use the server"
        )
    return tuple(found)
