"""What the log says at the start, for whoever sits in front of it."""

from __future__ import annotations

import json

from servers import LiveServer
from talk import eventually


async def test_it_says_when_and_where_it_can_be_spoken_with(tone_server: LiveServer) -> None:
    def ready() -> list[dict[str, object]]:
        lines = (line for line in tone_server.log.splitlines() if line.startswith("{"))
        return [told for line in lines if (told := json.loads(line))["event"] == "ready"]

    await eventually(ready)
    (told,) = ready()
    assert told["page"] == f"{tone_server.url}/"
    assert told["voice"] == "tone-a"
