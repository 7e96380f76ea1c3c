"""``cosystream voices``, ``cosystream voice`` and ``cosystream token``.

Knows: how they are printed. Does not know: HTTP (``rest``).
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from cosystream import rest
from cosystream.address import Address
from cosystream.cli.usage import Usage
from cosystream.events import Voice


def voices(arguments: argparse.Namespace) -> None:
    """Print a voice a line: default mark, id, languages, name."""
    found = _voices(arguments)
    if arguments.json:
        print(json.dumps([asdict(voice) for voice in found], ensure_ascii=False))
        return
    width = max((len(voice.id) for voice in found), default=0)
    for voice in found:
        mark = "*" if voice.default else " "
        about = f" - {voice.description}" if voice.description else ""
        languages = ",".join(voice.languages)
        print(f"{mark} {voice.id:<{width}}  {languages:<8}  {voice.name}{about}")


def add_voice(arguments: argparse.Namespace) -> None:
    """Print the new voice's id alone, so that it can be put into a variable; warnings beside it."""
    _check(arguments.url)
    try:
        audio = sys.stdin.buffer.read() if arguments.audio == "-" else Path(arguments.audio)
        made = rest.create_voice(
            audio,
            transcript=arguments.transcript,
            name=arguments.name,
            consent=arguments.consent,
            language=arguments.language,
            url=arguments.url,
            api_key=arguments.api_key or arguments.token,
            timeout_s=arguments.timeout,
        )
    except OSError as wrong:
        raise Usage(f"cannot read {arguments.audio} ({wrong.strerror})") from wrong
    for warning in made.warnings:
        print(f"cosystream: warning: {warning}", file=sys.stderr)
    print(json.dumps(asdict(made), ensure_ascii=False) if arguments.json else made.id)


def own_voices(arguments: argparse.Namespace) -> None:
    """Print a voice made with this key a line: id, when it was made, how long, language, name."""
    own = [voice for voice in _voices(arguments) if voice.cloned]
    if arguments.json:
        print(json.dumps([asdict(voice) for voice in own], ensure_ascii=False))
        return
    for voice in own:
        seconds = (voice.duration_ms or 0) / 1000
        print(f"{voice.id}  {voice.created[:10]}  {seconds:4.1f} s  {voice.language}  {voice.name}")
    if not own:
        print("cosystream: no voices yet; `cosystream voice add --help` says how", file=sys.stderr)


def remove_voice(arguments: argparse.Namespace) -> None:
    """Print nothing: it is gone."""
    _check(arguments.url)
    rest.delete_voice(
        arguments.id,
        url=arguments.url,
        api_key=arguments.api_key or arguments.token,
        timeout_s=arguments.timeout,
    )


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


def _voices(arguments: argparse.Namespace) -> list[Voice]:
    _check(arguments.url)
    return rest.list_voices(
        arguments.url,
        api_key=arguments.api_key or arguments.token,
        timeout_s=arguments.timeout,
    )


def _check(url: str) -> None:
    try:
        Address.parse(url)
    except ValueError as wrong:
        raise Usage(str(wrong)) from wrong
