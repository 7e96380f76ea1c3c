"""The body of an HTTP request, of bounded length.

Knows: bytes and the bound. Does not know: what the body says.
"""

from __future__ import annotations

from starlette.requests import Request

from streaming.errors import TextTooLong

BODY_BYTES = 1_048_576


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
