"""Whether the address to listen on can be had, asked before a model is loaded for nothing.

Knows: sockets, the words for what speaks against it. Does not know: who will listen.
"""

from __future__ import annotations

import errno
import os
import socket

from server.settings import ListenSettings


def unusable(listen: ListenSettings) -> str | None:
    """Why nobody can listen there, for the user; None where nothing speaks against it."""
    try:
        found = socket.getaddrinfo(
            listen.host, listen.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except (OSError, UnicodeError) as error:  # the latter: a name that no network could have
        return f"listen.host is {listen.host!r}, which is no address of this machine: {error}"
    return next((fault for each in found if (fault := _fault(each[0], each[4], listen))), None)


def _fault(family: int, address: tuple[object, ...], listen: ListenSettings) -> str | None:
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            if os.name == "posix":  # as asyncio does; on Windows it would let two share a port
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        return _in_words(error, listen)
    return None


def _in_words(error: OSError, listen: ListenSettings) -> str | None:
    if error.errno in {errno.EADDRINUSE, getattr(errno, "WSAEADDRINUSE", None)}:
        return (
            f"port {listen.port} of {listen.host} is in use, perhaps by a server that runs "
            "already: end that one, or choose another port with --port (listen.port)"
        )
    if error.errno in {errno.EACCES, getattr(errno, "WSAEACCES", None)}:
        return (
            f"port {listen.port} of {listen.host} may not be used by this user: "
            "choose one from 1024 on with --port (listen.port)"
        )
    if error.errno == errno.EADDRNOTAVAIL:
        return (
            f"listen.host is {listen.host!r}, which is no address of this machine; "
            "0.0.0.0 is every IPv4 one"
        )
    return None  # an IPv6 address where there is no IPv6, say: whoever listens will tell
