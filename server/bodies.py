"""The body of an HTTP request, of bounded length.

Knows: bytes and the bound. Does not know: what the body says.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.requests import ClientDisconnect, Request

from streaming.errors import TextTooLong

BODY_BYTES = 1_048_576
DROP_S = 5.0


async def drop_body(request: Request, most_bytes: int) -> None:
    """Read a request that is refused to its end, so that its sender comes to read the answer.

    Who sends more than that, or too slowly, may find the connection closed instead.
    """
    dropped = 0
    with suppress(TimeoutError, ClientDisconnect):
        async with asyncio.timeout(DROP_S):
            async for piece in request.stream():
                dropped += len(piece)
                if dropped > most_bytes:
                    return


async def read_body(request: Request) -> bytes:
    """The whole body; never more of it in memory than is allowed, whatever length it claims.

    Raises:
        TextTooLong: it is longer.
    """
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > BODY_BYTES:
            raise TextTooLong(f"the body has more than {BODY_BYTES} bytes, the limit")
    return bytes(body)
