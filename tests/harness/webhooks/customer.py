"""A customer's server with scripted responses, and a client for it."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from ipaddress import ip_network

import pytest
from aiohttp import ClientSession, web

from engine.webhooks.action_client import ActionClient, ActionResponse, ActionTimeouts
from engine.webhooks.errors import Attempt, WebhookFailed
from tests.harness.signing import fixed_signer
from wire.tree import Limits

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
HANGUP = '{"type": "hangup"}'
LOOPBACK = (ip_network("127.0.0.0/8"),)


class Server:
    """A customer's server: it sends its responses in turn, then repeats the last one."""

    def __init__(self, *answers: web.Response | Handler) -> None:
        self.answers = list(answers)
        self.requests: list[tuple[dict[str, str], bytes]] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Send the next response."""
        self.requests.append((dict(request.headers), await request.read()))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if not isinstance(answer, web.Response):
            return await answer(request)
        assert isinstance(answer.body, bytes | None)
        return web.Response(status=answer.status, body=answer.body, headers=answer.headers)

    @asynccontextmanager
    async def open(self, port: int = 0) -> AsyncIterator[str]:
        """Serve on loopback; yields the address."""
        app = web.Application()
        app.router.add_post("/next", self.handle)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        try:
            yield f"http://127.0.0.1:{runner.addresses[0][1]}/next"
        finally:
            await runner.cleanup()


@asynccontextmanager
async def raw_server(answer: bytes) -> AsyncIterator[str]:
    """Serve raw bytes, then close."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/next"
    finally:
        server.close()


def asker(session: ClientSession, total_s: float = 5.0, *secrets: str) -> ActionClient:
    """Create a client with short timeouts."""
    timeouts = ActionTimeouts(connect_s=1.0, total_s=total_s)
    limits = Limits(allow_insecure=True)
    signer_of = fixed_signer(*secrets)
    return ActionClient(
        lambda _: session, limits, signer_of, time.time, lambda: 0.5, timeouts=timeouts
    )


async def ask(session: ClientSession, url: str, total_s: float = 5.0) -> ActionResponse:
    """Fetch one action."""
    return await asker(session, total_s).ask("acme", url, b'{"callId":"c1"}', "c1.r0")


async def refused(session: ClientSession, url: str, total_s: float = 5.0) -> WebhookFailed:
    """Fetch an action and expect a failure."""
    with pytest.raises(WebhookFailed) as caught:
        await ask(session, url, total_s)
    return caught.value


def outcomes(attempts: tuple[Attempt, ...]) -> list[tuple[int, str]]:
    """Return attempts without durations."""
    return [(attempt.status, attempt.reason) for attempt in attempts]


async def hang(request: web.Request) -> web.StreamResponse:
    """Never respond."""
    await asyncio.get_running_loop().create_future()
    return web.Response()
