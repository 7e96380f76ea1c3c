"""Logs: one form for every library's lines, with ids, without secrets."""

import asyncio
import contextlib
import io
import json
import logging
import sys

import httpx
import pytest
import structlog
import uvicorn
import websockets
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute

from server import logs
from server.access import Access
from server.settings import AccessSettings, LimitSettings, LogSettings
from streaming.clock import ManualClock

SECRET = "Zm9vYmFyLXNlY3JldC12YWx1ZQ"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def logging_as_before():
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.getLogger("uvicorn.error").setLevel(logging.NOTSET)
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


def configured(stream=None, secrets=(), **settings):
    out = stream or io.StringIO()
    logs.configure(LogSettings(**settings), secrets, out)
    return out


def lines_of(out):
    return [json.loads(line) for line in out.getvalue().splitlines()]


def log_an_exception(message):
    try:
        int(message)
    except ValueError:
        structlog.get_logger().exception("failed")
        logging.getLogger("library").exception("failed")


class TestForm:
    def test_our_lines_and_the_standard_librarys_look_alike(self):
        out = configured()
        structlog.get_logger("server.app").info("started", port=8000)
        logging.getLogger("some.library").warning("%s of %d", "one", 2)
        ours, theirs = lines_of(out)
        assert ours["event"] == "started"
        assert ours["port"] == 8000
        assert theirs["event"] == "one of 2"
        for line, level, name in (
            (ours, "info", "server.app"),
            (theirs, "warning", "some.library"),
        ):
            assert (line["level"], line["logger"]) == (level, name)
            assert line["timestamp"].endswith("Z")

    def test_what_every_line_has_comes_first(self):
        out = configured()
        with logs.bound(ctx="a", session="s-1"):
            structlog.get_logger("x").info("hello", a=1)
        (line,) = lines_of(out)
        assert list(line) == ["timestamp", "level", "logger", "event", "session", "ctx", "a"]

    def test_people_are_not_shown_what_is_not_there(self):
        out = configured(format="console")
        structlog.get_logger("x").info("hello", metadata=None, a=0)
        assert "metadata" not in out.getvalue()
        assert "a=0" in out.getvalue()

    @pytest.mark.parametrize(("level", "told"), [("info", False), ("debug", True)])
    def test_what_uvicorn_says_of_each_connection_is_for_debug(self, level, told):
        out = configured(level=level)
        logging.getLogger("uvicorn.error").info("connection open")
        logging.getLogger("uvicorn.error").error("no such address")
        events = [line["event"] for line in lines_of(out)]
        assert ("connection open" in events) is told
        assert "no such address" in events

    def test_session_and_context_stand_in_every_line_inside(self):
        out = configured()
        with logs.bound(session="s-1"), logs.bound(ctx="a"):
            structlog.get_logger().info("inside")
            logging.getLogger("library").info("inside too")
        structlog.get_logger().info("outside")
        *inside, outside = lines_of(out)
        assert [(line["session"], line["ctx"]) for line in inside] == [("s-1", "a")] * 2
        assert "session" not in outside

    async def test_sessions_side_by_side_keep_their_own_ids(self):
        out = configured()

        async def talk(session):
            with logs.bound(session=session):
                await asyncio.sleep(0)
                structlog.get_logger().info(session)

        await asyncio.gather(*(talk(f"s-{n}") for n in range(5)))
        assert all(line["session"] == line["event"] for line in lines_of(out))

    def test_an_exception_is_one_line_with_its_traceback(self):
        out = configured()
        log_an_exception("bad thing")
        for line in lines_of(out):
            assert line["exception"].startswith("Traceback")
            assert "'bad thing'" in line["exception"]

    def test_a_terminal_gets_lines_for_people(self):
        out = configured(Terminal())
        structlog.get_logger().info("started", port=8000)
        assert "started" in out.getvalue()
        assert not out.getvalue().startswith("{")

    @pytest.mark.parametrize(("form", "starts_as_json"), [("json", True), ("console", False)])
    def test_the_form_can_be_chosen(self, form, starts_as_json):
        for stream in (io.StringIO(), Terminal()):
            out = configured(stream, format=form)
            structlog.get_logger().info("x")
            assert out.getvalue().startswith("{") is starts_as_json

    def test_the_level_holds_for_all(self):
        out = configured(level="warning")
        structlog.get_logger().info("quiet")
        logging.getLogger("uvicorn.access").info("quiet")
        structlog.get_logger().warning("loud")
        assert [line["event"] for line in lines_of(out)] == ["loud"]

    def test_at_debug_the_frames_of_websockets_stay_out(self):
        out = configured(level="debug")
        logging.getLogger("websockets.server").debug("< TEXT 'what a caller said'")
        structlog.get_logger().debug("ours")
        assert [line["event"] for line in lines_of(out)] == ["ours"]

    def test_configuring_again_replaces(self):
        first, second = configured(), configured()
        structlog.get_logger().info("once")
        assert first.getvalue() == ""
        assert len(lines_of(second)) == 1

    def test_standard_error_is_the_default(self, capsys):
        logs.configure(LogSettings())
        structlog.get_logger().info("hello")
        captured = capsys.readouterr()
        assert json.loads(captured.err)["event"] == "hello"
        assert captured.out == ""

    def test_what_json_cannot_say_is_still_logged(self):
        out = configured()
        structlog.get_logger().info("odd", value=object(), many={1, 2}, raw=b"\xff", lone="\ud800")
        (line,) = lines_of(out)
        assert "object" in line["value"]
        assert sorted(line["many"]) == [1, 2]
        out.getvalue().encode()

    def test_other_scripts_stay_readable(self):
        out = configured()
        structlog.get_logger().info("你好")
        assert "你好" in out.getvalue()

    def test_a_client_cannot_write_a_line_or_drive_the_terminal(self):
        out = configured(Terminal(), format="console")
        name = "x\n2026-01-01 [info] forged\x1b[2J\u2028"
        structlog.get_logger().info("hello", metadata=name, nested={"a": name})
        logging.getLogger("library").info("from %s", name)
        assert len(out.getvalue().splitlines()) == 2
        assert "\x1b[2J" not in out.getvalue()


class TestSecrets:
    @pytest.mark.parametrize(
        "text",
        [
            f"GET /v1/speak?token={SECRET}&text=hi HTTP/1.1",
            f"GET /v1/speak?text=hi&token={SECRET} HTTP/1.1",
            f"GET /v1/speak?text=hi;TOKEN={SECRET}",
            f"/login?next=%2Fv1%2Fstream%3Ftoken%3D{SECRET}",
            f"sec-websocket-protocol: cosystream.v1, token.{SECRET}",
            f"['cosystream.v1', 'token.{SECRET}']",
            f"Authorization: Bearer {SECRET}",
            f"authorization: {SECRET}",
            f"(b'authorization', b'Bearer {SECRET}')",
            f"{{'Authorization': 'Basic {SECRET}'}}",
            f'{{"resume_token": "{SECRET}", "last_seq": 3}}',
            f"{{'api_key': '{SECRET}'}}",
            f"bearer {SECRET}",
            f"cst_{SECRET}",
        ],
    )
    def test_are_taken_out_of_any_text(self, text):
        cleaned = logs.clean_text(text)
        assert SECRET not in cleaned
        assert logs.MASK in cleaned

    @pytest.mark.parametrize(
        "text",
        [
            "GET /v1/voices HTTP/1.1",
            "a token of thanks",
            "tokens: 12 made",
            "speech tokens=25",
            "bearer",
            "basic",
        ],
    )
    def test_other_text_stays_as_it_is(self, text):
        assert logs.clean_text(text) == text

    def test_what_surrounds_them_stays(self):
        cleaned = logs.clean_text(f"GET /v1/speak?text=hi&token={SECRET}&voice=heart HTTP/1.1")
        assert cleaned == "GET /v1/speak?text=hi&token=***&voice=heart HTTP/1.1"

    def test_are_taken_out_of_fields_however_deep(self):
        out = configured()
        structlog.get_logger().info(
            "hello",
            token=SECRET,
            headers={"Authorization": SECRET, "x": [f"?token={SECRET}"]},
            pair=("a", f"Bearer {SECRET}"),
        )
        assert SECRET not in out.getvalue()

    def test_are_taken_out_of_tracebacks(self):
        for form in ("json", "console"):
            out = configured(format=form)
            log_an_exception(f"bad URL ws://x/v1/stream?token={SECRET}")
            assert "bad URL" in out.getvalue()
            assert SECRET not in out.getvalue()

    def test_known_ones_are_taken_out_wherever_they_stand(self):
        out = configured(secrets=["correct horse battery", ""])
        structlog.get_logger().info("the key is correct horse battery!")
        assert lines_of(out)[0]["event"] == "the key is ***!"

    def test_short_ones_do_not_blot_out_the_log(self):
        out = configured(secrets=["a"])
        structlog.get_logger().info("a banana")
        assert lines_of(out)[0]["event"] == "a banana"

    def test_a_minted_token_is_known_wherever_it_stands(self):
        access = Access(AccessSettings(), LimitSettings(), ManualClock())
        token, _ = access.mint(access.identify(None, None, None, "localhost"), 60)
        assert token not in logs.clean_text(f"what is {token}?")

    @given(st.text(max_size=200))
    def test_any_text_can_be_cleaned_and_written(self, text):
        logs.clean_text(text).encode()

    def test_long_texts_are_cleaned_in_linear_time(self):
        for text in ("token=" * 50_000, "a" * 300_000, '"token"' + " " * 300_000, "%" * 300_000):
            logs.clean_text(text)


async def hello(_request):
    return PlainTextResponse("hello")


async def stream(socket):
    await socket.accept(subprotocol="cosystream.v1")
    await socket.send_text("hello")
    await socket.close()


@contextlib.asynccontextmanager
async def serving(**options):
    app = Starlette(
        routes=[Route("/v1/speak", hello), WebSocketRoute("/v1/stream", stream)],
    )
    config = uvicorn.Config(
        app, port=0, log_config=None, lifespan="off", ws="websockets-sansio", **options
    )
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - uvicorn has a flag for this and no event
        await asyncio.sleep(0.01)
    try:
        yield f"127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        await task


@pytest.mark.parametrize("level", ["info", "debug"])
async def test_a_token_in_a_query_or_subprotocol_never_reaches_uvicorns_lines(level):
    out = configured(level=level)
    async with serving() as address:
        async with httpx.AsyncClient() as client:
            await client.get(
                f"http://{address}/v1/speak?token={SECRET}&text=hi",
                headers={"authorization": f"Bearer {SECRET}"},
            )
        url = f"ws://{address}/v1/stream?token={SECRET}"
        async with websockets.connect(url, subprotocols=["cosystream.v1"]) as socket:
            assert await socket.recv() == "hello"
        protocols = ["cosystream.v1", f"token.{SECRET}"]
        async with websockets.connect(
            f"ws://{address}/v1/stream", subprotocols=protocols
        ) as socket:
            assert await socket.recv() == "hello"
    events = [line["event"] for line in lines_of(out)]
    assert any("/v1/speak?token=***&text=hi" in event for event in events)
    seen = any("WebSocket /v1/stream?token=***" in event for event in events)
    assert seen is (level == "debug")
    assert SECRET not in out.getvalue()


def test_structlog_is_the_only_writer():
    configured(sys.stderr)
    ours = [h for h in logging.getLogger().handlers if type(h) is logging.StreamHandler]
    assert len(ours) == 1
