"""Text from standard input, character by character as it comes.

Knows: bytes that arrive in the middle of a character. Does not know: asyncio.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator

_READ_BYTES = 65_536


def read_text(descriptor: int) -> Iterator[str]:
    """Whatever is there is yielded at once; a byte order mark is passed over.

    Blocks between pieces. Raises UnicodeDecodeError for what is not UTF-8, an unfinished
    character at the end included.
    """
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    while data := os.read(descriptor, _READ_BYTES):
        if text := decoder.decode(data):
            yield text
    decoder.decode(b"", final=True)
