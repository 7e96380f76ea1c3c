"""The bounds of an upload: what is refused unread, how many come at once, how long one may take."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from starlette.requests import Request

import server.voices
from server import bodies
from server.access import Identity
from server.settings import Settings
from server.voices import UPLOADS_AT_ONCE, VoicesApi
from streaming.errors import (
    BadRequest,
    IdleTimeout,
    NotAllowed,
    Overloaded,
    TooManyVoices,
    UnsupportedByEngine,
    UploadTooLarge,
)

SHOP = Identity("shop")


class Cloning:
    """Says no where it is told to."""

    def __init__(self, *, clones=True, room=True):
        self.clones, self.room = clones, room

    def require(self):
        if not self.clones:
            raise UnsupportedByEngine("the test engine cannot clone voices")

    async def require_room(self, owner):
        if not self.room:
            raise TooManyVoices(f"{owner} has enough")


def api(**options):
    engine = SimpleNamespace(cloning=Cloning(**options))
    return VoicesApi(SimpleNamespace(engine=engine, settings=Settings()))


class Upload:
    """A request whose body comes when it is let, and that knows how much was asked for."""

    def __init__(self, length=None, kind="multipart/form-data; boundary=x"):
        headers = [(b"content-type", kind.encode())]
        if length is not None:
            headers.append((b"content-length", str(length).encode()))
        self.asked = 0
        self.come = asyncio.Event()
        scope = {"type": "http", "method": "POST", "path": "/v1/voices", "headers": headers}
        self.request = Request(scope, self._receive)

    async def _receive(self):
        self.asked += 1
        await self.come.wait()
        return {"type": "http.request", "body": b"--x--\r\n", "more_body": False}


@pytest.mark.parametrize(
    ("upload", "error"),
    [({"length": 1 << 30}, UploadTooLarge), ({"kind": "application/json"}, BadRequest)],
)
async def test_what_can_be_refused_unread_is(upload, error):
    upload = Upload(**upload)
    with pytest.raises(error):
        await api().create(upload.request, SHOP)
    assert upload.asked == 0


REFUSED = [
    ({"clones": False}, SHOP, UnsupportedByEngine),
    ({"room": False}, SHOP, TooManyVoices),
    ({}, Identity("shop", token_id="t"), NotAllowed),
]


@pytest.mark.parametrize(("options", "identity", "error"), REFUSED)
async def test_who_may_not_send_one_comes_to_read_the_answer(options, identity, error):
    upload = Upload()
    upload.come.set()
    with pytest.raises(error):
        await api(**options).create(upload.request, identity)
    assert upload.asked == 1  # and dropped, for a sender that writes all before it reads


@pytest.mark.parametrize(("options", "identity", "error"), REFUSED)
async def test_who_may_not_and_does_not_send_is_not_waited_for(
    options, identity, error, monkeypatch
):
    monkeypatch.setattr(bodies, "DROP_S", 0.02)
    with pytest.raises(error):
        await api(**options).create(Upload().request, identity)


async def test_more_uploads_than_may_come_at_once_are_told_when_to_try_again():
    voices = api()
    uploads = [Upload() for _ in range(UPLOADS_AT_ONCE)]
    under_way = [asyncio.create_task(voices.create(each.request, SHOP)) for each in uploads]
    await asyncio.sleep(0.01)

    with pytest.raises(Overloaded) as refused:
        await voices.create(Upload().request, SHOP)
    assert refused.value.retry_after_ms

    for upload in uploads:
        upload.come.set()
    await asyncio.gather(*under_way, return_exceptions=True)
    free = Upload()
    free.come.set()
    with pytest.raises(BadRequest):  # it was read: an empty form
        await voices.create(free.request, SHOP)
    assert free.asked


async def test_one_that_never_comes_to_its_end_is_given_up(monkeypatch):
    monkeypatch.setattr(server.voices, "UPLOAD_TIMEOUT_S", 0.02)
    with pytest.raises(IdleTimeout, match=r"0\.02 s"):
        await api().create(Upload().request, SHOP)
