"""The address guard: rejected and accepted addresses, and its errors."""

from ipaddress import ip_network

import pytest
from aiohttp import ClientConnectorError, test_utils, web

from base.address_guard import guarded_session, is_address_refused

LOOPBACK = (ip_network("127.0.0.0/8"),)


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "[::1]",
        "[::ffff:7f00:1]",
        "169.254.169.254",
        "0.0.0.0",
        "0x7f000001",
        "localhost",
    ],
)
async def test_session_refuses(host: str) -> None:
    """The session rejects a private address in any notation and names the host."""
    async with guarded_session() as session:
        with pytest.raises(ClientConnectorError) as caught:
            await session.get(f"http://{host}:9/", allow_redirects=False)
    assert is_address_refused(caught.value)
    assert host.strip("[]") in str(caught.value)


async def test_redirect_inside_is_refused() -> None:
    """Redirects cannot reach private addresses either."""

    async def away(_: web.Request) -> web.Response:
        raise web.HTTPFound("http://169.254.169.254/latest/meta-data/")

    app = web.Application()
    app.router.add_get("/", away)
    async with test_utils.TestServer(app) as server, guarded_session(LOOPBACK) as session:
        with pytest.raises(ClientConnectorError) as caught:
            await session.get(server.make_url("/"))
    assert is_address_refused(caught.value)


async def test_no_cookies_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cookies are forgotten and proxies of the environment are not used."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")  # aiohttp itself would read it
    seen: list[str | None] = []

    async def bake(request: web.Request) -> web.Response:
        seen.append(request.headers.get("Cookie"))
        response = web.Response()
        response.set_cookie("a", "b")
        return response

    app = web.Application()
    app.router.add_get("/", bake)
    async with test_utils.TestServer(app) as server, guarded_session(LOOPBACK) as session:
        for _ in range(2):
            async with session.get(server.make_url("/"), allow_redirects=False) as response:
                assert response.status == 200
    assert seen == [None, None]


async def test_a_connection_refused_is_no_refusal(unused_tcp_port: int) -> None:
    """A closed port is an ordinary connection error."""
    async with guarded_session(LOOPBACK) as session:
        with pytest.raises(ClientConnectorError) as caught:
            await session.get(f"http://127.0.0.1:{unused_tcp_port}/")
    assert not is_address_refused(caught.value)
