"""Speaking through a client, in one call."""

from __future__ import annotations

from cosystream import (
    Client,
    Packet,
)


async def speak(client: Client, *deltas: str, **options) -> list[Packet]:
    context = await client.open(**options)
    for delta in deltas:
        await context.send(delta)
    await context.end()
    return [packet async for packet in context]
