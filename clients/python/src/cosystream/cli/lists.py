"""``cosystream voices`` and ``cosystream token``.

Knows: how they are printed. Does not know: HTTP (``rest``).
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from cosystream import rest
from cosystream.address import Address
from cosystream.cli.arguments import Usage


def voices(arguments: argparse.Namespace) -> None:
    """Print a voice a line: default mark, id, languages, name."""
    _check(arguments.url)
    found = rest.list_voices(
        arguments.url,
        api_key=arguments.api_key or arguments.token,
        timeout_s=arguments.timeout,
    )
    if arguments.json:
        print(json.dumps([asdict(voice) for voice in found], ensure_ascii=False))
        return
    width = max((len(voice.id) for voice in found), default=0)
    for voice in found:
        mark = "*" if voice.default else " "
        about = f" - {voice.description}" if voice.description else ""
        languages = ",".join(voice.languages)
        print(f"{mark} {voice.id:<{width}}  {languages:<8}  {voice.name}{about}")


def token(arguments: argparse.Namespace) -> None:
    """Print the token alone, so that it can be put into a variable."""
    _check(arguments.url)
    made = rest.get_token(
        arguments.url,
        arguments.api_key,
        ttl_s=arguments.ttl,
        origin=arguments.origin,
        voices=arguments.voice,
        max_characters=arguments.max_characters,
        timeout_s=arguments.timeout,
    )
    print(json.dumps(asdict(made)) if arguments.json else made.token)


def _check(url: str) -> None:
    try:
        Address.parse(url)
    except ValueError as wrong:
        raise Usage(str(wrong)) from wrong
