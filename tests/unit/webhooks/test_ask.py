"""Asking a customer's server: what is sent, what is accepted, and what each misdeed is called."""

import asyncio
import gzip
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from ipaddress import ip_network

import pytest
from aiohttp import ClientSession, web
from standardwebhooks import Webhook

from engine.webhooks.addresses import guarded_session
from engine.webhooks.ask import Answer, Asker, Patience
from engine.webhooks.failure import Attempt, WebhookFailed
from engine.webhooks.sign import Signer
from wire.tree import Limits
from wire.verbs import Hangup

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"  # noqa: S105  the standard's own example
HANGUP = '{"type": "hangup"}'
LOOPBACK = (ip_network("127.0.0.0/8"),)


class Server:
    """A customer's server: its answers in turn, the last one again and again; what it was asked."""

    def __init__(self, *answers: web.Response | Handler) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[dict[str, str], bytes]] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Give the next answer."""
        self.asked.append((dict(request.headers), await request.read()))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if not isinstance(answer, web.Response):
            return await answer(request)
        assert isinstance(answer.body, bytes | None)
        return web.Response(status=answer.status, body=answer.body, headers=answer.headers)

    @asynccontextmanager
    async def open(self, port: int = 0) -> AsyncIterator[str]:
        """Serve on loopback; gives the address."""
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
    """Serve bytes that no decent server would, then close."""

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


@pytest.fixture
async def session() -> AsyncIterator[ClientSession]:
    """Open a guarded session that may reach this machine."""
    async with guarded_session(LOOPBACK) as opened:
        yield opened


def asker(session: ClientSession, total_s: float = 5.0, *secrets: str) -> Asker:
    """Make one with little patience."""
    patience = Patience(connect_s=1.0, total_s=total_s)
    limits = Limits(allow_insecure=True)
    return Asker(session, limits, Signer(*secrets), time.time, lambda: 0.5, patience=patience)


async def ask(session: ClientSession, url: str, total_s: float = 5.0) -> Answer:
    """Ask once."""
    return await asker(session, total_s).ask(url, b'{"callId":"c1"}', "c1.r0")


async def refused(session: ClientSession, url: str, total_s: float = 5.0) -> WebhookFailed:
    """Ask, and expect to fail."""
    with pytest.raises(WebhookFailed) as caught:
        await ask(session, url, total_s)
    return caught.value


def outcomes(attempts: tuple[Attempt, ...]) -> list[tuple[int, str]]:
    """Leave the times out."""
    return [(attempt.status, attempt.reason) for attempt in attempts]


async def test_an_action_is_asked_for_and_returned(session: ClientSession) -> None:
    """The body goes out as JSON with its id as idempotency key; the action comes back parsed."""
    server = Server(web.Response(text=HANGUP))
    async with server.open() as url:
        answer = await ask(session, url)
    assert answer.action == Hangup()
    assert outcomes(answer.attempts) == [(200, "")]
    headers, body = server.asked[0]
    assert body == b'{"callId":"c1"}'
    assert headers["Content-Type"] == "application/json"
    assert headers["webhook-id"] == headers["Idempotency-Key"] == "c1.r0"
    assert "webhook-signature" not in headers


async def test_an_address_is_an_action(session: ClientSession) -> None:
    """A server may answer with a JSON string: where to ask next."""
    async with Server(web.Response(text='"https://x.example/next"')).open() as url:
        assert (await ask(session, url)).action == "https://x.example/next"


@pytest.mark.parametrize("answer", [web.Response(status=204), web.Response(text=" \n")])
async def test_nothing_means_go_on(session: ClientSession, answer: web.Response) -> None:
    """204 and an empty body add nothing to the call."""
    async with Server(answer).open() as url:
        assert (await ask(session, url)).action is None


async def test_requests_are_signed(session: ClientSession) -> None:
    """A customer verifies with Standard Webhooks' library, by either of two rotating secrets."""
    server = Server(web.Response(text=HANGUP))
    secrets = (SECRET, "whsec_" + "YWJj" * 8)
    async with server.open() as url:
        await asker(session, 5.0, *secrets).ask(url, '{"dtmf":"é1"}'.encode(), "c1.r0")
    headers, body = server.asked[0]
    for secret in secrets:
        assert Webhook(secret).verify(body, headers) == {"dtmf": "é1"}


@pytest.mark.parametrize("status", [429, 502, 503, 504])
async def test_a_passing_failure_is_tried_again_with_the_same_id(
    session: ClientSession, status: int
) -> None:
    """One retry; the server can tell by the id that it is the same question."""
    server = Server(web.Response(status=status), web.Response(text=HANGUP))
    async with server.open() as url:
        answer = await ask(session, url)
    assert answer.action == Hangup()
    assert outcomes(answer.attempts) == [(status, f"status_{status}"), (200, "")]
    assert [headers["webhook-id"] for headers, _ in server.asked] == ["c1.r0", "c1.r0"]


async def test_there_is_only_one_retry(session: ClientSession) -> None:
    """A server that fails twice has failed."""
    server = Server(web.Response(status=503))
    async with server.open() as url:
        failure = await refused(session, url)
    assert failure.reason == "status_503"
    assert outcomes(failure.attempts) == [(503, "status_503")] * 2


async def test_a_retry_waits_as_long_as_asked(session: ClientSession) -> None:
    """Retry-After is honoured when it fits the whole time."""
    wait = web.Response(status=429, headers={"Retry-After": "1"})
    began_s = time.monotonic()
    async with Server(wait, web.Response(text=HANGUP)).open() as url:
        await ask(session, url)
    assert 1.0 <= time.monotonic() - began_s < 3.0


@pytest.mark.parametrize("wait", ["60", "Fri, 31 Dec 9998 23:59:59 GMT"])
async def test_a_retry_that_would_come_too_late_is_not_made(
    session: ClientSession, wait: str
) -> None:
    """A caller does not hear silence for a retry that can't be in time."""
    async with Server(web.Response(status=503, headers={"Retry-After": wait})).open() as url:
        failure = await refused(session, url)
    assert outcomes(failure.attempts) == [(503, "status_503")]


async def test_an_error_is_not_tried_again(session: ClientSession) -> None:
    """A 500 may have done half of its work."""
    server = Server(web.Response(status=500, text="<html>Traceback</html>"))
    async with server.open() as url:
        failure = await refused(session, url)
    assert (failure.reason, failure.detail) == ("status_500", "answered 500")
    assert len(server.asked) == 1


async def test_redirects_are_not_followed(session: ClientSession) -> None:
    """A redirect could lead anywhere."""
    server = Server(web.Response(status=302, headers={"Location": "http://127.0.0.1:1/"}))
    async with server.open() as url:
        failure = await refused(session, url)
    assert failure.reason == "redirect"
    assert len(server.asked) == 1


async def test_a_web_page_is_not_an_action(session: ClientSession) -> None:
    """HTML is named as what it is not."""
    async with Server(web.Response(text="<html>Hello</html>")).open() as url:
        assert (await refused(session, url)).reason == "not_json"


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ('{"type":"play","data":{"audioUrl":"ftp://x"}}', "data.audioUrl"),
        ('{"type":"hangup","action":{"type":"play","data":{}}}', "action.data.audioUrl"),
        ('{"type":"dance"}', "type"),
        ("[" * 30_000 + "]" * 30_000, ""),
        ('"http://x.example/"', "https:// address"),
    ],
)
async def test_an_invalid_action_is_told_with_its_path(
    session: ClientSession, body: str, told: str
) -> None:
    """The customer reads in the timeline where the fault is."""
    async with Server(web.Response(text=body)).open() as url:
        failure = await refused(session, url)
    assert failure.reason == "invalid_action"
    assert told in failure.detail
    assert outcomes(failure.attempts) == [(200, "invalid_action")]


async def test_a_huge_answer_is_not_read(session: ClientSession) -> None:
    """Ten megabytes are given up after the limit, told by Content-Length or not."""

    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(160):
            await response.write(b" " * 65_536)
        return response

    for answer in (web.Response(body=b" " * 10_000_000), endless):
        async with Server(answer).open() as url:
            assert (await refused(session, url)).reason == "too_large"


async def test_a_packed_answer_is_refused_unread(session: ClientSession) -> None:
    """A bomb of gzip is never unpacked."""
    bomb = gzip.compress(b" " * 20_000_000)
    async with Server(web.Response(body=bomb, headers={"Content-Encoding": "gzip"})).open() as url:
        assert (await refused(session, url)).reason == "encoded"


async def test_silence_ends_in_time(session: ClientSession) -> None:
    """A server that never answers is left when the whole time is over, and is not asked again."""
    async with Server(hang).open() as url:
        failure = await refused(session, url, total_s=0.2)
    assert failure.reason == "timeout"
    assert outcomes(failure.attempts) == [(0, "timeout")]
    assert 150 <= failure.attempts[0].ms < 2000


async def test_a_slow_drip_ends_in_time(session: ClientSession) -> None:
    """A byte now and then does not stretch the time."""

    async def drip(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b" ")
            await asyncio.sleep(0.02)

    async with Server(drip).open() as url:
        failure = await refused(session, url, total_s=0.3)
    assert outcomes(failure.attempts) == [(200, "timeout")]


async def test_both_tries_share_the_whole_time(session: ClientSession) -> None:
    """A retry gets what the first try has left."""
    async with Server(web.Response(status=503), hang).open() as url:
        failure = await refused(session, url, total_s=0.5)
    assert failure.reason == "timeout"
    assert outcomes(failure.attempts) == [(503, "status_503"), (0, "timeout")]


@pytest.mark.parametrize(
    "answer",
    [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{}"],
)
async def test_a_lost_line_is_a_passing_failure(session: ClientSession, answer: bytes) -> None:
    """A connection that ends before the whole answer is here is tried once more."""
    async with raw_server(answer) as url:
        failure = await refused(session, url)
    assert failure.reason == "connect"
    assert len(failure.attempts) == 2


async def test_an_answer_that_is_not_http(session: ClientSession) -> None:
    """Another protocol's greeting is told as such."""
    async with raw_server(b"220 mail.example ESMTP\r\n") as url:
        assert (await refused(session, url)).reason == "not_http"


async def test_a_refused_connection_is_tried_again(session: ClientSession) -> None:
    """A server that comes up between the two tries is reached."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = Server(web.Response(text=HANGUP))
    url = f"http://127.0.0.1:{port}/next"
    failed = asyncio.Event()

    def random() -> float:
        failed.set()  # asked for the jitter of the retry, so the first try is over
        return 2.0

    patient = Asker(session, Limits(), Signer(), time.time, random)
    asking = asyncio.create_task(patient.ask(url, b"{}", "c1.r0"))
    await failed.wait()
    async with server.open(port):
        answer = await asking
    assert answer.action == Hangup()
    assert outcomes(answer.attempts) == [(0, "connect"), (200, "")]


async def test_nobody_there_is_told(session: ClientSession) -> None:
    """Two refused connections are a failure to connect."""
    failure = await refused(session, "http://127.0.0.1:1/next")
    assert outcomes(failure.attempts) == [(0, "connect")] * 2


async def test_a_private_address_is_refused() -> None:
    """The guard's word is passed on, without a retry."""
    async with guarded_session() as session:
        failure = await refused(session, "http://127.0.0.1:1/next")
    assert failure.reason == "refused_address"
    assert len(failure.attempts) == 1


@pytest.mark.parametrize(
    "url", ["https://x.example:99999/", f"https://{'a' * 70}.example/", "https://x..example/"]
)
async def test_an_address_that_cannot_be(session: ClientSession, url: str) -> None:
    """What the pattern lets through but no host can have is a failure, not a crash."""
    assert (await refused(session, url)).reason in {"bad_url", "connect"}


async def hang(request: web.Request) -> web.StreamResponse:
    """Answer never."""
    await asyncio.get_running_loop().create_future()
    return web.Response()
