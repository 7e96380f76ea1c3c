"""A connection that is lost, slow, or refused."""

from __future__ import annotations

import numpy as np
import pytest
from fake_server import FakeServer
from fake_speech import MS_A_CHAR
from hearing import Heard

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

TEXT = "440Hz. A tone that lasts for a good two seconds. And 440Hz. goes on."
MS = len(TEXT) * MS_A_CHAR


async def play(heard: Heard, server: FakeServer, text: str = TEXT) -> dict:
    await heard.page.goto(server.url + "/harness/")
    await heard.speak(text)
    return await heard.done()


async def assert_whole(heard: Heard, result: dict) -> None:
    """Every sample was heard once, and the tone never broke."""
    assert result["reason"] == "completed"
    assert result["audioMs"] == pytest.approx(MS, abs=1)
    recording = await heard.recording()
    assert recording.seconds * 1000 == pytest.approx(MS, abs=30)
    jumps = np.abs(np.diff(recording.sound[:-500]))
    assert jumps.max() < 1.3 * 0.55 * 2 * np.pi * 440 / recording.rate


async def test_after_a_drop_it_resumes_and_nothing_is_lost_or_repeated(
    heard: Heard, fake_server: FakeServer
) -> None:
    fake_server.faults.drop_after_packets = 12

    result = await play(heard, fake_server)

    hello = fake_server.of("hello")
    assert len(hello) == 2
    assert hello[1]["resume"]["session"] == "s-0"
    assert await heard.page.evaluate("harness.speaker.stats.reconnects") == 1
    assert await heard.events("state") == ["connecting", "ready", "reconnecting", "ready"]
    assert len(await heard.events("segment")) == 4
    # 400 ms were in hand, the first attempt comes after 250: a gap is possible, a loss is not.
    assert result["audioMs"] == pytest.approx(MS, abs=1)
    recording = await heard.recording()
    assert recording.sounding_s * 1000 == pytest.approx(MS, abs=60)


@pytest.mark.usefixtures("all_at_once")
async def test_messages_that_come_twice_are_taken_once(
    heard: Heard, fake_server: FakeServer
) -> None:
    fake_server.faults.send_twice = True

    result = await play(heard, fake_server)

    await assert_whole(heard, result)
    assert await heard.page.evaluate("harness.speaker.stats.duplicates") > 20


async def test_a_packet_that_never_came_is_asked_for_again(
    heard: Heard, fake_server: FakeServer
) -> None:
    fake_server.faults.skip_one_after = 5

    result = await play(heard, fake_server)

    assert len(fake_server.of("hello")) == 2
    assert result["audioMs"] == pytest.approx(MS, abs=1)
    assert await heard.events("error") == []


async def test_a_server_that_was_started_again_speaks_on_where_the_old_one_stopped(
    heard: Heard, fake_server: FakeServer
) -> None:
    fake_server.faults.drop_after_packets = 12
    fake_server.faults.forget_sessions = True

    result = await play(heard, fake_server)

    assert [message["ctx"] for message in fake_server.of("open")] == ["web-1", "web-1"]
    assert result["reason"] == "completed"
    assert result["audioMs"] == pytest.approx(MS, abs=1)
    recording = await heard.recording()
    assert recording.pitch() == pytest.approx(440, abs=2)
    assert recording.seconds * 1000 < MS + 800
    # What was heard of the old one is told to the new one, which need not concern the page.
    assert await heard.events("warning") == []


async def test_an_engine_that_was_started_again_is_asked_again_by_itself(
    heard: Heard, fake_server: FakeServer
) -> None:
    fake_server.faults.fail_after_packets = 10

    result = await play(heard, fake_server)

    assert len(fake_server.of("open")) == 2
    assert result["audioMs"] == pytest.approx(MS, abs=1)
    assert await heard.events("error") == []


async def test_text_written_while_the_connection_is_away_is_spoken_after_it(
    heard: Heard, fake_server: FakeServer
) -> None:
    await heard.page.goto(fake_server.url + "/harness/")
    await heard.page.evaluate("harness.utterances.push(harness.speaker.open())")
    await heard.page.evaluate("harness.utterances[0].write('440Hz. One. ')")
    await heard.sounding()

    fake_server.drop()
    await heard.until("harness.speaker.state === 'reconnecting'")
    await heard.page.evaluate(
        "harness.utterances[0].write('440Hz. Two.'), harness.utterances[0].end()"
    )
    await heard.done()

    spoken = [event["segment"]["text"] for event in await heard.events("segment")]
    assert spoken == ["440Hz.", "One.", "440Hz.", "Two."]
    sequence = [message["seq"] for message in fake_server.of("text")]
    assert sequence == [1, 2]


async def test_what_is_cancelled_while_the_connection_is_away_is_cancelled_at_the_server_too(
    heard: Heard, fake_server: FakeServer
) -> None:
    await heard.page.goto(fake_server.url + "/harness/")
    await heard.speak(TEXT)
    await heard.sounding()

    fake_server.drop()
    await heard.until("harness.speaker.state === 'reconnecting'")
    await heard.page.evaluate("harness.speaker.cancel()")
    assert (await heard.done())["reason"] == "cancelled"

    await heard.until("harness.speaker.state === 'ready'")
    await heard.page.wait_for_timeout(100)
    assert [message["ctx"] for message in fake_server.of("cancel")] == ["web-1"]


async def test_a_refused_token_is_an_error_and_ends_the_trying(
    heard: Heard, fake_server: FakeServer
) -> None:
    fake_server.faults.token = "right"
    await heard.page.goto(fake_server.url + '/harness/?options={"token":"wrong"}')
    await heard.page.evaluate(
        "void harness.speak('Hello.').done.catch((e) => (window.thrown = e.code))"
    )

    await heard.until("harness.speaker.state === 'closed'")

    assert [error["code"] for error in await heard.events("error")] == ["unauthorized"]
    assert await heard.page.evaluate("window.thrown") == "unauthorized"


@pytest.mark.parametrize("token", ["right", "with/slashes==and spaces"])
async def test_a_token_is_brought_as_a_subprotocol_or_where_it_cannot_be_in_the_query(
    heard: Heard, fake_server: FakeServer, token: str
) -> None:
    fake_server.faults.token = token.replace(" ", "+").replace("/", "%2F").replace("=", "%3D")
    await heard.page.goto(fake_server.url + f'/harness/?options={{"token":"{token}"}}')
    await heard.speak("440Hz. Hello.")

    assert (await heard.done())["reason"] == "completed"


async def test_a_server_that_is_not_there_is_waited_for(
    heard: Heard, fake_server: FakeServer
) -> None:
    stub = """
    {
      const Native = WebSocket;
      let refused = 2;
      globalThis.WebSocket = class extends Native {
        constructor(url, protocols) {
          super(refused-- > 0 ? "ws://127.0.0.1:9/" : url, protocols);
        }
      };
    }
    """
    await heard.page.add_init_script(stub)

    result = await play(heard, fake_server, "440Hz. Hello.")

    assert result["reason"] == "completed"
    assert "reconnecting" in await heard.events("state")


async def test_a_context_that_fails_rejects_with_the_servers_error_and_the_next_one_speaks(
    heard: Heard, fake_server: FakeServer
) -> None:
    fake_server.faults.refuse_text = "你好"
    await heard.page.goto(fake_server.url + "/harness/")
    code = "harness.speak('你好').done.then(() => '', (error) => error.code)"
    assert await heard.page.evaluate(code) == "unsupported_language"

    await heard.speak("440Hz. Hello.")

    assert (await heard.done(1))["reason"] == "completed"


async def test_a_server_that_was_started_again_is_waited_for_while_it_loads_its_model(
    heard: Heard, fake_server: FakeServer
) -> None:
    await heard.page.goto(fake_server.url + "/harness/")
    await heard.speak(TEXT)
    await heard.sounding()
    fake_server.faults.forget_sessions = True
    fake_server.faults.loading = True

    fake_server.drop()
    await heard.until("harness.events('warning').length >= 2")
    fake_server.faults.loading = False
    result = await heard.done()

    assert {warning["code"] for warning in await heard.events("warning")} == {"engine_loading"}
    assert await heard.events("error") == []
    assert (result["reason"], result["textRemaining"]) == ("completed", "")
    assert result["audioMs"] == pytest.approx(len(TEXT) * MS_A_CHAR, abs=1)


async def test_what_is_asked_of_a_server_that_loads_its_model_fails_at_once_and_once(
    heard: Heard, fake_server: FakeServer
) -> None:
    fake_server.faults.loading = True
    await heard.page.goto(fake_server.url + "/harness/")
    code = "harness.speak('Hello.').done.then(() => '', (error) => error.code)"
    assert await heard.page.evaluate(code) == "engine_loading"

    fake_server.faults.loading = False
    await heard.speak("440Hz. Hello.")

    assert (await heard.done(1))["reason"] == "completed"
    assert [error["code"] for error in await heard.events("error")] == ["engine_loading"]


async def test_what_a_page_asks_wrongly_is_told_and_the_rest_is_spoken(
    heard: Heard, fake_server: FakeServer
) -> None:
    await heard.page.goto(fake_server.url + "/harness/")
    await heard.speak("440Hz. All of it.", {"sped": 2})
    await heard.page.evaluate("harness.utterances[0].write('Too late.')")
    result = await heard.done()
    await heard.page.evaluate("harness.speak(5)")
    await heard.done(1)

    assert result["textSpoken"] == "440Hz. All of it."
    told = {warning["code"]: warning["message"] for warning in await heard.events("warning")}
    assert told["unknown_field"].startswith("'sped' is no option")
    assert told["context_ended"] == "text that is written after end() is not spoken"
    (failed,) = await heard.events("error")
    assert failed["code"] == "text_failed"
    assert "a string or an iterable of strings, not 5" in failed["message"]
