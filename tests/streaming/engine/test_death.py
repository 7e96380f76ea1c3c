"""What happens when a process dies, hangs or talks nonsense: signals to real processes."""

import asyncio
import contextlib
import os
import signal
import sys
import time

import psutil
import pytest
from engines import alive, is_dead, listen, running, say, until

from streaming.engine import supervisor
from streaming.engine.supervisor import BACKOFF_MAX_S, backoff_s
from streaming.errors import EngineLoading
from streaming.messages import Failed, Finished

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")

LONG = "Hello there, this goes on for a while. " * 20


async def back(client):
    """Until it is ready again and speaks."""
    await client.wait_ready(20)
    assert isinstance(await say(client, "Back again.").finished(), Finished)


def dead(pid):
    """Wait until all of it has ended, and let nothing else happen meanwhile."""
    with contextlib.suppress(psutil.NoSuchProcess):
        while not is_dead(psutil.Process(pid)):
            time.sleep(0.001)


class TestTheEngine:
    @pytest.mark.parametrize("runner", ["tone", "embedded"])
    async def test_killed_in_mid_utterance_fails_what_was_in_flight_and_speaks_again(self, runner):
        async with running(runner=runner) as client:
            first, second = say(client, LONG), say(client, LONG, end=False)
            await first.speaks()
            old = client.engine_pid
            os.kill(old, signal.SIGKILL)
            for heard in (first, second):
                failed = await heard.finished()
                assert isinstance(failed, Failed)
                assert (failed.code, failed.retryable) == ("engine_restarted", True)
            assert not client.ready
            assert client.reason == "restarting"
            await back(client)
            assert client.engine_pid != old
            assert client.restarts == 1
            assert client._entrance.free == client._entrance._door.slots

    async def test_killed_takes_nothing_more_from_the_moment_of_its_death_on(self):
        async with running() as client:
            os.kill(client.engine_pid, signal.SIGKILL)
            dead(client.engine_pid)
            # The event loop has not turned since, so it has heard of nothing yet.
            assert not client.ready
            assert client.reason == "restarting"
            with pytest.raises(EngineLoading, match="restarting"):
                say(client, LONG)
            await back(client)

    async def test_that_hangs_is_found_out_and_replaced(self):
        async with running(hang_timeout_s=1.5) as client:
            heard = say(client, LONG)
            await heard.speaks()
            os.kill(client.engine_pid, signal.SIGSTOP)
            failed = await heard.finished()
            assert failed.code == "engine_restarted"
            await back(client)

    async def test_in_a_step_that_does_not_end_is_replaced_too(self):
        async with running(hang_timeout_s=1.5) as client:
            heard = say(client, "[[sleep:60]] for ever.")
            assert (await heard.finished()).code == "engine_restarted"
            await back(client)

    async def test_in_a_long_step_is_left_alone_while_it_is_not_too_long(self):
        async with running(hang_timeout_s=4.0) as client:
            heard = say(client, "[[sleep:0.2]] a bit")
            assert isinstance(await heard.finished(), Finished)
            assert client.restarts == 0

    async def test_that_dies_again_and_again_comes_back_each_time(self):
        async with running() as client:
            for _ in range(3):
                os.kill(client.engine_pid, signal.SIGKILL)
                await until(lambda: not client.ready)
                await back(client)
            assert client.restarts == 3


class TestAFrontEnd:
    async def test_killed_takes_nothing_more_from_the_moment_of_its_death_on(self):
        async with running(workers=2) as client:
            os.kill(client.text_pids[1], signal.SIGKILL)
            dead(client.text_pids[1])
            assert (client.ready, client.reason) == (False, "restarting")
            await back(client)

    async def test_killed_fails_the_contexts_whose_text_it_had(self):
        async with running(workers=2) as client:
            writing = [say(client, "Hello there, this ", end=False) for _ in range(4)]
            os.kill(client.text_pids[0], signal.SIGKILL)
            await until(lambda: client.restarts == 1)
            over = [heard.over.is_set() for heard in writing]
            assert sorted(over) == [False, False, True, True]
            await client.wait_ready(20)
            for heard in writing:
                if not heard.over.is_set():
                    heard.context.append("is still heard.")
                    heard.context.end()
            ends = [await heard.finished() for heard in writing]
            assert sorted(type(each).__name__ for each in ends) == ["Failed"] * 2 + ["Finished"] * 2
            await until(lambda: client.stats.contexts == 0)

    async def test_killed_leaves_those_whose_text_was_let_go(self):
        async with running() as client:
            heard = say(client, LONG)
            await heard.speaks()
            await until(lambda: heard.context._text_done)
            os.kill(client.text_pids[0], signal.SIGKILL)
            await until(lambda: client.restarts == 1)
            await listen(heard)
            assert isinstance(heard.last, Finished)
            await back(client)

    async def test_that_hangs_is_found_out_and_replaced(self):
        async with running(hang_timeout_s=1.0) as client:
            os.kill(client.text_pids[0], signal.SIGSTOP)
            heard = say(client, "Hello there.")
            assert (await heard.finished()).code == "engine_restarted"
            await back(client)


class TestTheParent:
    async def test_closes_soon_even_where_a_child_hangs(self):
        async with running() as client:
            pids = [client.engine_pid, *client.text_pids]
            os.kill(client.engine_pid, signal.SIGSTOP)
            began_s = time.monotonic()
            await client.close()
            assert time.monotonic() - began_s < 10.0
            assert not any(alive(pid) for pid in pids)

    async def test_closes_while_a_child_is_being_started_again(self):
        async with running() as client:
            os.kill(client.engine_pid, signal.SIGKILL)
            await until(lambda: not client.ready)
            await client.close()
            assert client.engine_pid is None

    async def test_that_is_killed_takes_its_children_with_it(self):
        program = (
            "import asyncio\n"
            "from engines import running\n"
            "async def main():\n"
            "    async with running() as client:\n"
            "        print(client.engine_pid, *client.text_pids, flush=True)\n"
            "        await asyncio.sleep(60)\n"
            "asyncio.run(main())\n"
        )
        path = os.pathsep.join(each for each in sys.path if each)
        parent = await asyncio.create_subprocess_exec(
            sys.executable, "-c", program, env={**os.environ, "PYTHONPATH": path},
            stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        pids = []
        while len(pids) != 2:
            line = (await parent.stdout.readline()).split()
            pids = [int(each) for each in line] if all(each.isdigit() for each in line) else []
        parent.kill()
        await parent.wait()
        await until(lambda: not any(alive(pid) for pid in pids))

    async def test_keeps_its_children_when_its_group_is_interrupted(self):
        async with running() as client:
            for pid in (client.engine_pid, *client.text_pids):
                os.kill(pid, signal.SIGINT)
                assert os.getpgid(pid) != os.getpgid(0)
            assert isinstance(await say(client, "Still here.").finished(), Finished)


def test_the_first_death_is_answered_at_once_and_later_ones_with_patience():
    waits = [backoff_s(deaths) for deaths in range(1, 12)]
    assert waits[:4] == [0.0, 0.25, 0.5, 1.0]
    assert waits[-1] == BACKOFF_MAX_S


async def test_a_process_that_cannot_be_started_leaves_the_others_ended(monkeypatch):
    spawned = []

    async def spawn(child, kind, settings):
        if kind == "text":
            raise OSError("no more processes")
        await real(child, kind, settings)
        spawned.append(child.pid)

    real = supervisor.spawn
    monkeypatch.setattr(supervisor, "spawn", spawn)
    with pytest.raises(OSError, match="no more processes"):
        async with running():
            pytest.fail("it started")
    assert len(spawned) == 1
    assert not alive(spawned[0])
