"""`make audit` and the audit in `make check`: what they say and how they end."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from socket import socket
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.harness.ports import free_port
from tools.audit import OK, UNREACHABLE, VULNERABLE, main

IF_REACHABLE = ["--if-reachable"]


@asynccontextmanager
async def advisories(vulnerable: str = "", status: int = 200) -> AsyncIterator[str]:
    """Serve as osv.dev does, with one vulnerable package."""

    async def answer(request: web.Request) -> web.Response:
        queries = (await request.json())["queries"]
        names = [each["package"]["name"] for each in queries]
        found: list[dict[str, Any]] = [
            {"vulns": [{"id": "PYSEC-1"}]} if name == vulnerable else {} for name in names
        ]
        return web.json_response({"results": found}, status=status)

    app = web.Application()
    app.add_routes([web.post("/", answer)])
    async with TestServer(app) as server:
        yield str(server.make_url("/"))


@contextmanager
def silent() -> Iterator[str]:
    """Listen at a port, and never answer."""
    with socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"


@pytest.mark.parametrize("arguments", [[], IF_REACHABLE])
async def test_a_vulnerable_package_is_named(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """And fails both, with its version and advisory."""
    async with advisories("aiohttp") as url:
        assert await asyncio.to_thread(main, arguments, url) == VULNERABLE
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("aiohttp ")
    assert first.endswith(" is vulnerable: PYSEC-1")
    assert last.startswith("audit: 1 of ")


async def test_all_packages_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    """Those of the environment of development, and thus of every image."""
    async with advisories() as url:
        assert await asyncio.to_thread(main, [], url) == OK
    assert capsys.readouterr().out.startswith("audit: 0 of ")


async def test_without_advisories(capsys: pytest.CaptureFixture[str]) -> None:
    """`make check` says that nothing was compared, and passes; `make audit` fails."""
    nowhere = f"http://127.0.0.1:{free_port()}/"
    async with advisories(status=503) as failing:
        with silent() as hanging:
            for url in (nowhere, failing, hanging):
                assert await asyncio.to_thread(main, IF_REACHABLE, url, 0.5) == OK
                assert capsys.readouterr().out.startswith(f"audit skipped: {url}")
                assert await asyncio.to_thread(main, [], url, 0.5) == UNREACHABLE
                assert capsys.readouterr().out.startswith(f"audit failed: {url}")
