"""Random conversations with the weightless voice, many at once: every promise is kept."""

from __future__ import annotations

import asyncio

import pytest
from conversations import converse
from servers import LiveServer
from talk import eventually


@pytest.mark.parametrize(("lead_ms", "talks"), [(None, 24), (0, 6)], ids=["unpaced", "real time"])
async def test_every_promise_is_kept(
    tone_server: LiveServer, lead_ms: int | None, talks: int
) -> None:
    await asyncio.gather(*(converse(tone_server, seed, lead_ms) for seed in range(talks)))
    await eventually(lambda: tone_server.metric("contexts") == 0)
    await eventually(lambda: tone_server.metric("engine_contexts") == 0)
