"""Retries of webhooks: one, with the same id, within the time limit."""

import asyncio
import socket
import time

import pytest
from aiohttp import ClientSession, web

from engine.webhooks.action_client import ActionClient
from tests.harness.signing import fixed_signer
from tests.harness.webhooks.customer import HANGUP, Server, ask, hang, outcomes, refused
from wire.tree import Limits
from wire.verbs import Hangup


@pytest.mark.parametrize("status", [429, 502, 503, 504])
async def test_a_passing_failure_is_tried_again_with_the_same_id(
    session: ClientSession, status: int
) -> None:
    """One retry; the server can tell by the id that it is the same request."""
    server = Server(web.Response(status=status), web.Response(text=HANGUP))
    async with server.open() as url:
        answer = await ask(session, url)
    assert answer.action == Hangup()
    assert outcomes(answer.attempts) == [(status, f"status_{status}"), (200, "")]
    assert [headers["webhook-id"] for headers, _ in server.requests] == ["c1.r0", "c1.r0"]


async def test_there_is_only_one_retry(session: ClientSession) -> None:
    """A server that fails twice has failed."""
    server = Server(web.Response(status=503))
    async with server.open() as url:
        failure = await refused(session, url)
    assert failure.reason == "status_503"
    assert outcomes(failure.attempts) == [(503, "status_503")] * 2


async def test_a_retry_respects_retry_after(session: ClientSession) -> None:
    """Retry-After is respected when it fits the time limit."""
    wait = web.Response(status=429, headers={"Retry-After": "1"})
    began_s = time.monotonic()
    async with Server(wait, web.Response(text=HANGUP)).open() as url:
        await ask(session, url)
    assert time.monotonic() - began_s > 0.9


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
    assert len(server.requests) == 1


async def test_both_tries_share_the_whole_time(session: ClientSession) -> None:
    """A retry gets the time that the first attempt left."""
    async with Server(web.Response(status=503), hang).open() as url:
        failure = await refused(session, url, total_s=3)
    assert failure.reason == "timeout"
    assert outcomes(failure.attempts) == [(503, "status_503"), (0, "timeout")]


async def test_a_refused_connection_is_tried_again(session: ClientSession) -> None:
    """A server that comes up between the two attempts is reached."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = Server(web.Response(text=HANGUP))
    url = f"http://127.0.0.1:{port}/next"
    failed = asyncio.Event()

    def random() -> float:
        failed.set()  # called for the retry's jitter, so the first attempt is over
        return 10.0  # two seconds until the retry

    patient = ActionClient(lambda _: session, Limits(), fixed_signer(), time.time, random)
    asking = asyncio.create_task(patient.ask("acme", url, b"{}", "c1.r0"))
    await failed.wait()
    async with server.open(port):
        answer = await asking
    assert answer.action == Hangup()
    assert outcomes(answer.attempts) == [(0, "connect"), (200, "")]
