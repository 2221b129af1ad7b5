"""What a gateway learns of the operator's recognizers, from servers of their list."""

import ssl

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from yarl import URL

from streams.bots.destinations import RecognizerServer
from streams.control.server import RecognizerDirectory
from tests.harness.ports import free_port
from wire.streams.recognizer import ListedRecognizer, RecognizerList

TOKEN = "t" * 32
LISTED = [{"name": "grammar", "languages": ["en", "no"]}]


async def answer(request: web.Request) -> web.Response:
    """Answer as recognizers do below a path, and otherwise at others."""
    if request.headers["Authorization"] != f"Bearer {TOKEN}":
        return web.Response(status=401)
    match request.path:
        case "/speech/recognizers":
            return web.json_response(LISTED)
        case "/moved/recognizers":
            return web.Response(status=302, headers={"Location": "/speech/recognizers"})
        case _:
            return web.Response(text="hello")


async def read(url: URL, token: str = TOKEN) -> RecognizerList:
    """Return what a gateway with this address of recognizers knows."""
    server = RecognizerServer(str(url), token)
    return await RecognizerDirectory(server, ssl.create_default_context()).read()


async def test_recognizers_are_listed() -> None:
    """At the address of their websockets, with the gateway's token; or it says why there are none.

    No other address gets the token: a redirect is not followed.
    """
    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    async with TestServer(app, host="127.0.0.1") as http:
        ws = http.make_url("/").with_scheme("ws")
        expected = RecognizerList((ListedRecognizer("grammar", ("en", "no")),))
        assert await read(ws / "speech") == expected
        errors = [
            (await read(ws / "speech", "wrong")).error,
            (await read(ws / "moved")).error,
            (await read(ws / "other")).error,
            (await read(ws.with_scheme("wss") / "speech")).error,
        ]
        base = http.make_url("/")
        assert errors == [
            f"{base}speech/recognizers: HTTP 401",
            f"{base}moved/recognizers: no list of recognizers",
            f"{base}other/recognizers: no list of recognizers",
            f"{ws.with_scheme('wss')}speech: tls",
        ]


@pytest.mark.parametrize("scheme", ["ws", "wss"])
async def test_recognizers_that_are_not_there(scheme: str) -> None:
    """The address is the operator's setting."""
    url = URL(f"{scheme}://127.0.0.1:{free_port()}")
    assert (await read(url)).error == f"{url}: refused"
