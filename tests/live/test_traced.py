"""``--trace``: which context each step served, to whoever has the log and the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from servers import StartServer
from talk import eventually, talking


async def test_steps_tell_the_contexts_that_the_log_names(
    start_server: StartServer, tmp_path: Path
) -> None:
    path = tmp_path / "trace.json"
    server = start_server(engine__runner="tone", engine__trace=path)
    async with talking(server.ws_url, {}) as talk:
        for name in ("a", "b"):
            await talk.speak("Hello there.", ctx=name)
    opened = [json.loads(line) for line in server.log.splitlines() if "context opened" in line]
    numbers = {line["ctx"]: line["engine_ctx"] for line in opened}
    assert len(set(numbers.values())) == len(numbers) == 2

    def served() -> set[int]:
        steps = [each for each in json.loads(path.read_text("utf-8")) if each["ph"] == "X"]
        return {number for step in steps for number in step["args"]["contexts"]}

    await eventually(lambda: served() == set(numbers.values()), 20)


def test_a_file_that_cannot_be_written_is_told_at_the_start(
    start_server: StartServer, tmp_path: Path
) -> None:
    server = start_server(wait=False, engine__runner="tone", engine__trace=tmp_path / "no" / "t")
    with pytest.raises(AssertionError, match="there is no folder"):
        server.wait_ready()
