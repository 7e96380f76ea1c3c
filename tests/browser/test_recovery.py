"""Devices that come and go, sound that comes too late, phones that ring."""

from __future__ import annotations

import pytest
from fake_server import FakeServer
from fake_speech import MS_A_CHAR
from hearing import Heard

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

TEXT = "440Hz. A tone that lasts for a good two seconds. And 440Hz. goes on."
MS = len(TEXT) * MS_A_CHAR


async def begin(heard: Heard, server: FakeServer, text: str = TEXT) -> None:
    await heard.page.goto(server.url + "/harness/")
    await heard.speak(text)
    await heard.sounding()
    await heard.page.wait_for_timeout(500)


async def test_a_context_that_is_closed_under_it_is_replaced_and_nothing_is_lost(
    heard: Heard, fake_server: FakeServer
) -> None:
    await begin(heard, fake_server)

    await heard.page.evaluate("harness.speaker.context.close()")
    result = await heard.done()

    assert len(await heard.events("backend")) == 2
    assert result["audioMs"] == pytest.approx(MS, abs=1)
    recording = await heard.recording()
    # The new context plays from the last sample that the old one took.
    assert recording.sounding_s * 1000 == pytest.approx(MS, abs=60)


async def test_a_context_that_is_suspended_by_the_system_goes_on_at_the_next_touch(
    heard: Heard, fake_server: FakeServer
) -> None:
    await begin(heard, fake_server)

    await heard.page.evaluate("harness.speaker.context.suspend()")
    await heard.until("harness.speaker.blocked")
    await heard.page.mouse.click(300, 300)
    result = await heard.done()

    assert await heard.events("blocked") == [True, False]
    assert result["audioMs"] == pytest.approx(MS, abs=1)
    recording = await heard.recording()
    assert recording.sounding_s * 1000 == pytest.approx(MS, abs=60)


async def test_it_goes_on_by_itself_when_the_page_comes_back_from_a_phone_call(
    heard: Heard, fake_server: FakeServer
) -> None:
    await begin(heard, fake_server)
    await heard.page.evaluate("harness.speaker.context.suspend()")
    await heard.until("harness.speaker.blocked")

    await heard.page.evaluate(
        "document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))"
    )

    assert (await heard.done())["reason"] == "completed"
    assert await heard.events("blocked") == [True, False]


async def test_it_goes_on_by_itself_when_a_device_is_plugged_in(
    heard: Heard, fake_server: FakeServer
) -> None:
    await begin(heard, fake_server)
    await heard.page.evaluate("harness.speaker.context.suspend()")
    await heard.until("harness.speaker.blocked")

    await heard.page.evaluate("navigator.mediaDevices.dispatchEvent(new Event('devicechange'))")

    assert (await heard.done())["reason"] == "completed"


async def test_a_context_whose_clock_stands_still_is_replaced(
    heard: Heard, fake_server: FakeServer
) -> None:
    await begin(heard, fake_server, TEXT * 2)

    await heard.page.evaluate(
        """() => {
          const { context } = harness.speaker;
          const stopped = context.currentTime;
          context.suspend();
          Object.defineProperty(context, "state", { get: () => "running" });
          Object.defineProperty(context, "currentTime", { get: () => stopped });
        }"""
    )
    await heard.until("harness.events('backend').length === 2", 8)

    assert (await heard.done())["audioMs"] == pytest.approx(2 * MS, abs=1)


async def test_on_iphones_the_session_is_one_of_playback(
    heard: Heard, fake_server: FakeServer
) -> None:
    stub = "Object.defineProperty(navigator, 'audioSession', { value: { type: 'auto' } })"
    await heard.page.add_init_script(stub)
    await heard.page.goto(fake_server.url + "/harness/")
    await heard.page.evaluate("harness.speaker.unlock()")

    assert await heard.page.evaluate("navigator.audioSession.type") == "playback"


async def test_a_worklet_that_cannot_be_loaded_is_done_without(
    heard: Heard, fake_server: FakeServer
) -> None:
    await heard.page.goto(fake_server.url + '/harness/?options={"workletUrl":"/nothing.js"}')
    await heard.speak("440Hz. Hello there.")

    assert (await heard.done())["reason"] == "completed"
    assert [event["kind"] for event in await heard.events("backend")] == ["buffer"]


@pytest.mark.usefixtures("all_at_once")
async def test_sound_that_comes_too_late_is_counted_and_more_is_kept_in_hand_afterwards(
    heard: Heard, fake_server: FakeServer
) -> None:
    fake_server.faults.stall_after_packets = 10
    fake_server.faults.stall_s = 1.0
    await heard.page.goto(fake_server.url + "/harness/")
    await heard.speak(TEXT)

    result = await heard.done()

    assert result["underruns"] == 1
    stats = await heard.page.evaluate("harness.speaker.stats")
    assert (stats["underruns"], stats["bufferMs"]) == (1, 80 + 40)
    recording = await heard.recording()
    assert recording.sounding_s * 1000 == pytest.approx(MS, abs=60)


@pytest.mark.usefixtures("all_at_once")
async def test_silence_because_the_text_is_not_written_yet_is_no_underrun(
    heard: Heard, fake_server: FakeServer
) -> None:
    await heard.page.goto(fake_server.url + "/harness/")
    await heard.page.evaluate("harness.utterances.push(harness.speaker.open())")
    await heard.page.evaluate("harness.utterances[0].write('440Hz. ')")
    await heard.sounding()
    await heard.page.wait_for_timeout(1200)
    await heard.page.evaluate("harness.utterances[0].write('440Hz. ')")
    await heard.page.wait_for_timeout(300)
    await heard.page.evaluate("harness.utterances[0].end()")
    await heard.done()

    stats = await heard.page.evaluate("harness.speaker.stats")
    assert stats["underruns"] == 0
    assert stats["pauses"] >= 1
    assert stats["bufferMs"] == 80
