"""Requests take the right transport, and each gets exactly one reply."""

import asyncio
from typing import Any

from aiohttp import web
from msgspec.structs import replace

from engine.ari.client import AriClient, HttpTransport, WebsocketTransport, open_ari
from engine.ari.config import PbxConnection
from engine.ari.generated.operations import channels, playbacks
from engine.ari.request import LOST, Reply, ask
from tests.harness.ari.fake_pbx import FAST, Replies, fake_pbx, running
from tests.harness.servers.full_queue import connecting_ports, full_queue
from tests.harness.until import MAX_WAIT_S, until


def _is_probe(request: dict[str, Any]) -> bool:
    return bool(request["request_id"] == "probe")


async def test_requests_are_pipelined_in_order() -> None:
    """All are sent in order before the first reply; replies may arrive in any order."""
    async with fake_pbx() as (fake, pbx):
        transport = WebsocketTransport(pbx, "rest")
        fake.answers = _is_probe
        async with running(transport.run()):
            await until(lambda: transport.is_ready)
            replies = [Replies() for _ in range(3)]
            for number, reply in enumerate(replies):
                transport.send(playbacks.get(f"p{number}"), reply)
            await until(lambda: len(fake.requests) == 4)
            assert [one["uri"] for one in fake.requests[1:]] == [
                f"playbacks/p{n}" for n in range(3)
            ]
            for number in (2, 0, 1):
                request = fake.requests[number + 1]
                await fake.answer(fake.sockets["rest"][0], request["request_id"], f"r{number}")
            await until(lambda: all(replies))
            assert [list(one) for one in replies] == [
                [Reply(200, f"r{number}".encode())] for number in range(3)
            ]


async def test_a_body_is_sent_with_its_type() -> None:
    """Asterisk rejects a message_body without a content_type."""
    async with fake_pbx() as (fake, pbx):
        transport = WebsocketTransport(pbx, "rest")
        async with running(transport.run()):
            await until(lambda: transport.is_ready)
            await ask(
                transport, channels.originate_with_id("c", endpoint="x", variables={"A": "é"})
            )
        assert fake.requests[-1]["content_type"] == "application/json"
        assert fake.requests[-1]["message_body"] == '{"variables":{"A":"é"}}'


async def test_pending_requests_are_lost_with_the_websocket() -> None:
    """Each pending request gets LOST once; the websocket reconnects and sends new ones."""
    async with fake_pbx() as (fake, pbx):
        transport, replies = WebsocketTransport(pbx, "rest"), Replies()
        fake.answers = _is_probe
        async with running(transport.run()):
            await until(lambda: transport.is_ready)
            transport.send(playbacks.get("p1"), replies)
            transport.send(playbacks.get("p2"), replies)
            await until(lambda: len(fake.requests) == 3)
            fake.drop("rest")
            await until(lambda: replies == [LOST, LOST])
            fake.answers = lambda _request: True
            await until(lambda: transport.is_ready)
            assert (await ask(transport, playbacks.get("p3"))).ok
        assert len(replies) == 2


async def test_a_late_reply_is_ignored() -> None:
    """After the timeout a request is LOST; a later reply changes nothing."""
    async with fake_pbx() as (fake, pbx):
        transport, replies = WebsocketTransport(pbx, "rest"), Replies()
        fake.answers = _is_probe
        async with running(transport.run()):
            await until(lambda: transport.is_ready)
            transport.send(playbacks.get("p1"), replies)
            await until(lambda: replies == [LOST])
            fake.answers = lambda _request: True
            await fake.answer(fake.sockets["rest"][0], fake.requests[-1]["request_id"], "late")
            assert (await ask(transport, playbacks.get("p2"))).ok
        assert replies == [LOST]


async def test_a_disconnected_transport_reports_lost_later() -> None:
    """`on_reply` is never called inside `send`."""
    async with fake_pbx() as (_, pbx):
        transport, replies = WebsocketTransport(pbx, "rest"), Replies()
        transport.send(playbacks.get("p1"), replies)
        assert not replies
        await until(lambda: replies == [LOST])


async def test_http_replies_and_times_out() -> None:
    """A reply has its body; a slow one is LOST; closing loses the rest."""
    async with fake_pbx() as (fake, pbx):
        transport, replies = HttpTransport(pbx), Replies()
        assert await ask(transport, playbacks.get("a/b")) == Reply(200, b"over http")
        assert fake.http == [("GET", "/ari/playbacks/a%2Fb", None)]
        fake.hold.clear()
        assert await ask(transport, playbacks.get("p1")) == LOST
        transport.send(playbacks.get("p2"), replies)
        await transport.close()
        assert replies == [LOST]


async def test_http_without_a_pbx_is_lost() -> None:
    """A refused connection is LOST, not an exception."""
    async with fake_pbx() as (_, pbx):
        unreachable = HttpTransport(_closed_port(pbx))
        assert await ask(unreachable, playbacks.get("p1")) == LOST


async def test_a_pbx_whose_queue_of_connections_is_full() -> None:
    """The kernel would try again after a second; another connection is tried sooner."""
    timeouts = replace(FAST, request_s=MAX_WAIT_S)
    async with fake_pbx(timeouts) as (fake, pbx):
        with full_queue() as listening:
            port, seen = listening.getsockname()[1], set[int]()
            address = replace(pbx.address, url=f"http://127.0.0.1:{port}/ari")
            transport = HttpTransport(replace(pbx, address=address))
            asking = asyncio.create_task(ask(transport, playbacks.get("p1")))

            def is_repeated() -> bool:
                seen.update(connecting_ports(port))
                return len(seen) > 1

            await until(is_repeated, every_s=0.005, what="another connection")
            runner = web.AppRunner(fake.app())
            await runner.setup()
            await web.SockSite(runner, listening).start()
            assert await asking == Reply(200, b"over http")
            await runner.cleanup()
    assert len(fake.http) == 1


async def test_an_unexpected_error_is_a_lost_reply() -> None:
    """A session that is closed raises: the request is answered all the same."""
    async with fake_pbx() as (_, pbx):
        transport, replies = HttpTransport(pbx), Replies()
        await pbx.http.close()
        transport.send(channels.list_(), replies)
        await until(lambda: replies == [LOST])


def _closed_port(pbx: PbxConnection) -> PbxConnection:
    return replace(pbx, address=replace(pbx.address, url="http://127.0.0.1:1/ari"))


async def _ask(ari: AriClient, key: str, may_block: bool) -> Reply:
    reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
    ari.send(playbacks.get("p"), key, may_block, reply.set_result)
    return await reply


async def test_a_call_keeps_its_websocket() -> None:
    """One key always takes the same websocket; many keys use all; blocking requests take HTTP."""
    async with (
        fake_pbx() as (fake, pbx),
        open_ari(pbx.address, "e1", pbx.random, pbx.clock, FAST) as ari,
        running(ari.run()),
    ):
        await until(lambda: ari.router.is_ready)
        assert sorted(fake.sockets) == [f"e1-rest-{number}" for number in range(4)]
        for _ in range(3):
            assert (await _ask(ari, "call-1", may_block=False)).body == b"playbacks/p"
        assert not fake.http
        assert (await _ask(ari, "call-1", may_block=True)).body == b"over http"


async def test_http_for_an_older_asterisk() -> None:
    """Without replies on websockets, every request is sent over HTTP."""
    async with fake_pbx() as (fake, pbx):
        fake.answers = lambda _request: False
        async with (
            open_ari(pbx.address, "e1", pbx.random, pbx.clock, FAST) as ari,
            running(ari.run()),
        ):
            await until(lambda: len(fake.requests) >= 4)
            assert (await _ask(ari, "call-1", may_block=False)).body == b"over http"
            assert not ari.router.is_ready
