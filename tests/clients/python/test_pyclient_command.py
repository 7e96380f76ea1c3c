"""The command against a server that can be made to fail, by real processes and pipes."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import signal
import sys
from pathlib import Path

import av
import pytest
from pyclient_command import command, finish, start
from pyclient_fake import PACKET_BYTES, PACKETS, FakeServer, until

PIPE = asyncio.subprocess.PIPE
KEYS = {"first_packet_ms", "ttfa_ms", "audio_ms", "worst_underrun_ms", "packets", "rtf"}


def samples_of(path: Path) -> int:
    with av.open(str(path)) as container:
        return sum(frame.samples for frame in container.decode(audio=0))


async def speak_and_wait(session, message):
    """In place of the server's answer to ``end``: some audio, and never ``done``."""
    await session.speak(session.contexts[message["ctx"]])
    return True


async def test_say_writes_a_file_and_one_json_line_last(tmp_path):
    path = tmp_path / "x.wav"
    async with FakeServer() as server:
        outcome = await command(
            "say", "Hello.", "--out", str(path), "--stats", "json", url=server.url
        )
    assert outcome.code == 0, outcome.err
    figures = json.loads(outcome.out.splitlines()[-1])
    assert set(figures) >= KEYS
    assert figures["packets"] == PACKETS
    assert figures["reason"] == "completed"
    assert samples_of(path) == PACKETS * PACKET_BYTES


async def test_say_passes_every_option_on():
    options = ["--voice=v", "--speed=1.5", "--language=en", "--seed=7", "--instruct=softly"]
    text = ["--say-as=GIF=jif", "--reasoning=drop", "--text-mode=sentence", "--max-delay=90"]
    sound = ["--codec=mulaw", "--rate=8000", "--bitrate=9000", "--stats=json", "--api-key=k"]
    async with FakeServer() as server:
        outcome = await command(
            "say", "Hi.", *options, *text, "--priority=3", *sound, url=server.url
        )
        assert outcome.code == 0, outcome.err
        (opening,) = server.messages("open")
        assert (opening["voice"], opening["speed"], opening["language"]) == ("v", 1.5, "en")
        assert (opening["seed"], opening["instruct"]) == (7, "softly")
        assert (opening["reasoning"], opening["text_mode"]) == ("drop", "sentence")
        assert (opening["max_delay_ms"], opening["priority"]) == (90, 3)
        assert opening["lexicon"] == [{"text": "GIF", "say": "jif"}]
        audio = server.received[0]["audio"]
        assert (audio["codec"], audio["rate"], audio["bitrate"]) == ("mulaw", 8000, 9000)
        assert server.connections[0].request.headers["Authorization"] == "Bearer k"


async def test_words_that_cannot_be_written_down_are_told_before_anything_is_spoken():
    async with FakeServer() as server:
        options = ["--stats", "json", "--words", "no/such/folder.jsonl"]
        outcome = await command("say", "Hi.", *options, url=server.url)
        assert (outcome.code, server.messages("open")) == (2, [])
        assert "cannot write no/such/folder.jsonl" in outcome.err


async def test_text_from_a_pipe_is_sent_on_while_it_is_written():
    async with FakeServer() as server:
        process = await start("say", "--stats", "json", url=server.url, stdin=PIPE)
        sent = ""
        for piece in ("Hel", "lo ", "th", "ere."):
            process.stdin.write(piece.encode())
            sent += piece
            await until(lambda: text_of(server) == sent)  # noqa: B023 - waited for here
        outcome = await finish(process)
        assert outcome.code == 0, outcome.err
        assert len(server.messages("text")) == 4
        assert json.loads(outcome.out)["first_packet_ms"] < 10_000


def text_of(server: FakeServer) -> str:
    return "".join(message["delta"] for message in server.messages("text"))


async def test_a_character_cut_in_two_by_the_pipe_arrives_whole():
    first, second = "字".encode()[:1], "字".encode()[1:]
    async with FakeServer() as server:
        process = await start("say", "-", "--stats", "none", "--out", "-", url=server.url,
                              stdin=PIPE)  # fmt: skip
        process.stdin.write(b"\xef\xbb\xbfA" + first)
        await until(lambda: text_of(server) == "A")
        outcome = await finish(process, second)
        assert outcome.code == 0, outcome.err
        assert text_of(server) == "A字"


async def test_input_that_is_not_utf8_is_said_and_cancels():
    async with FakeServer() as server:
        outcome = await command("say", "--stats", "json", url=server.url, text=b"abc\xff")
        assert outcome.code == 2
        assert "not UTF-8" in outcome.err
        assert outcome.out == b""


async def test_out_dash_writes_audio_alone_to_stdout_and_figures_to_stderr():
    async with FakeServer() as server:
        outcome = await command("say", "Hi.", "--out", "-", "--stats", "json", url=server.url)
        raw = await command("say", "Hi.", "--out", "-", "--codec", "mulaw", url=server.url)
    assert outcome.out[:4] == b"RIFF"
    assert outcome.out[40:44] == outcome.out[4:8] == b"\xff\xff\xff\xff" or outcome.out[20] == 7
    assert set(json.loads(outcome.err.splitlines()[-1])) >= KEYS
    assert len(raw.out) == PACKETS * PACKET_BYTES
    assert "completed" in raw.err


async def test_a_reader_that_leaves_ends_the_command_without_a_traceback():
    async with FakeServer(hooks={"end": speak_and_wait, "ping": speak_and_wait}) as server:
        read_end, write_end = os.pipe()
        process = await start("say", "Hi.", "--out", "-", url=server.url, stdout=write_end)
        os.close(write_end)
        os.close(read_end)
        outcome = await finish(process)
    assert outcome.code == 1
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize("name", ["x.wav", "x.raw"])
async def test_ctrl_c_cancels_and_leaves_a_whole_file(tmp_path, name):
    path = tmp_path / name
    async with FakeServer(hooks={"end": speak_and_wait}) as server:
        process = await start(
            "say", "Hello.", "--out", str(path), "--codec", "mulaw", "--stats", "json",
            url=server.url,
        )  # fmt: skip
        await until(lambda: path.exists() and path.stat().st_size >= (PACKETS - 1) * PACKET_BYTES)
        process.send_signal(signal.SIGINT)
        outcome = await finish(process)
        assert outcome.code == 130, outcome.err
        assert "Traceback" not in outcome.err
        assert len(server.messages("cancel")) == 1
    assert json.loads(outcome.out)["reason"] == "interrupted"
    if name.endswith("wav"):
        assert samples_of(path) == PACKETS * PACKET_BYTES
    else:
        assert path.stat().st_size == PACKETS * PACKET_BYTES


async def test_ctrl_c_while_the_pipe_is_silent_ends_at_once():
    async with FakeServer() as server:
        process = await start("say", "--stats", "json", url=server.url, stdin=PIPE)
        process.stdin.write(b"Once")
        await until(lambda: text_of(server) == "Once")
        process.send_signal(signal.SIGINT)
        assert await asyncio.wait_for(process.wait(), 5) == 130
        process.stdin.close()
        await process.communicate()


async def test_no_server_is_code_1_and_says_what_to_do():
    outcome = await command("say", "Hi.", "--stats", "json", url="http://127.0.0.1:1")
    assert outcome.code == 1
    assert "no server at http://127.0.0.1:1" in outcome.err
    assert "make serve" in outcome.err
    assert outcome.out == b""


async def test_an_error_of_the_server_is_code_1_and_leaves_no_file(tmp_path):
    async def refuse(session, message):
        await session.error("unknown_voice", ctx=message["ctx"])
        return True

    path = tmp_path / "x.wav"
    async with FakeServer(hooks={"open": refuse}) as server:
        outcome = await command("say", "Hi.", "--out", str(path), url=server.url)
    assert outcome.code == 1
    assert "unknown_voice" in outcome.err
    assert "protocol.md" in outcome.err
    assert not path.exists()


async def test_a_silent_server_is_given_up_after_the_timeout():
    async def never(_session, _message):
        return True

    async with FakeServer(hooks={"end": never}) as server:
        outcome = await command("say", "Hi.", "--stats", "json", "--timeout", "0.3", url=server.url)
    assert outcome.code == 1
    assert "timed_out" in outcome.err


async def test_a_slow_writer_is_never_timed_out():
    async with FakeServer() as server:
        process = await start(
            "say", "--stats", "json", "--timeout", "0.8", url=server.url, stdin=PIPE
        )
        process.stdin.write(b"Slow")
        await until(lambda: text_of(server) == "Slow")
        await asyncio.sleep(1.7)
        assert (await finish(process, b"ly.")).code == 0
        assert text_of(server) == "Slowly."


async def test_a_connection_that_breaks_is_resumed_without_a_word(tmp_path):
    path = tmp_path / "x.wav"
    async with FakeServer(drops_sent=(5,)) as server:
        outcome = await command("say", "Hello.", "--out", str(path), url=server.url)
        assert outcome.code == 0, outcome.err
        assert len(server.connections) == 2
    assert samples_of(path) == PACKETS * PACKET_BYTES


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["say", "x"], "where to?"),
        (["say", "x", "--out", "x.mp3"], ".opus"),
        (["say", "x", "--out", "nowhere/x.wav"], "no folder"),
        (["say", "x", "--out", "x.wav", "--codec", "opus"], "cannot hold Opus"),
        (["say", "x", "--out", "x.opus", "--codec", "alaw"], "holds Opus"),
        (["say", "x", "--out", "x.opus", "--play"], "needs PCM"),
        (["say", "x", "--out", "x.wav", "--output-device", "1"], "--play"),
        (["say", "x", "--out", "x.wav", "--url", "ftp://x"], "scheme"),
        (["voices", "--url", "ftp://x"], "scheme"),
        (["say", "x", "--speed", "fast"], "invalid float"),
        ([], "COMMAND"),
    ],
)
async def test_what_does_not_fit_together_is_code_2_and_says_what_does(arguments, words):
    outcome = await command(*arguments)
    assert outcome.code == 2
    assert words in outcome.err
    assert "Traceback" not in outcome.err


async def test_help_has_examples_and_the_version_is_told():
    shown = await command("say", "--help")
    assert shown.code == 0
    assert b"cosystream say --play" in shown.out
    assert (await command("--version")).out.startswith(b"cosystream 0.")


async def test_help_loads_neither_asyncio_nor_websockets():
    code = (
        "import sys, cosystream.cli.arguments as a\n"
        "print({'asyncio', 'websockets', 'urllib.request'} & set(sys.modules))"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=PIPE)
    out, _ = await process.communicate()
    assert out.strip() == b"set()"


async def on_a_terminal(*arguments: str, url: str) -> tuple[int, str]:
    """Run with all three streams on a terminal of its own; code and what it showed."""
    ours, theirs = pty.openpty()
    process = await start(*arguments, url=url, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    loop = asyncio.get_running_loop()
    shown = b""
    while True:
        try:
            piece = await loop.run_in_executor(None, os.read, ours, 4096)
        except OSError:  # how a terminal says that its other side is closed
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    return await process.wait(), shown.decode()


async def test_a_person_at_a_terminal_sees_progress_and_a_line_of_figures(tmp_path):
    path = str(tmp_path / "x.wav")
    async with FakeServer() as server:
        code, shown = await on_a_terminal("say", "Hello.", "--out", path, url=server.url)
        assert code == 0, shown
        assert "[####" in shown
        assert "Hello." in shown
        assert "first packet" in shown
        _, quiet = await on_a_terminal(
            "say", "Hello.", "--out", path, "--no-progress", "--stats", "none", url=server.url
        )
        assert quiet == ""


async def test_a_terminal_gets_no_audio_and_no_waiting_for_text():
    code, shown = await on_a_terminal("say", "Hi.", "--out", "-", url="http://127.0.0.1:1")
    assert (code, "pipe it on" in shown) == (2, True)
    code, shown = await on_a_terminal("say", url="http://127.0.0.1:1")
    assert (code, "nothing to say" in shown) == (2, True)
