"""Requests reach the PBX by the right way, and each is answered exactly once."""

import asyncio
from typing import Any

from msgspec.structs import replace

from engine.ari.client import AriClient, open_ari
from engine.ari.config import PbxConnection
from engine.ari.generated.operations import channels, playbacks
from engine.ari.http_transport import HttpTransport
from engine.ari.request import LOST, Reply, ask
from engine.ari.websocket_transport import WebsocketTransport
from tests.contract.ari.fake_pbx import QUICK, Replies, fake_pbx, running
from tests.harness.until import until


def _only_proof(request: dict[str, Any]) -> bool:
    return bool(request["request_id"] == "proof")


async def test_requests_are_pipelined_in_order() -> None:
    """All are sent before the first answer, in the order given; answers may come in any."""
    async with fake_pbx() as (fake, pbx):
        lane = WebsocketTransport(pbx, "rest")
        fake.answers = _only_proof
        async with running(lane.run()):
            await until(lambda: lane.is_ready)
            replies = [Replies() for _ in range(3)]
            for number, reply in enumerate(replies):
                lane.send(playbacks.get(f"p{number}"), reply)
            await until(lambda: len(fake.requests) == 4)
            assert [one["uri"] for one in fake.requests[1:]] == [
                f"playbacks/p{n}" for n in range(3)
            ]
            for number in (2, 0, 1):
                asked = fake.requests[number + 1]
                await fake.answer(fake.sockets["rest"][0], asked["request_id"], f"r{number}")
            await until(lambda: all(replies))
            assert [list(one) for one in replies] == [
                [Reply(200, f"r{number}".encode())] for number in range(3)
            ]


async def test_a_body_is_sent_with_its_type() -> None:
    """Asterisk refuses a message_body without a content_type."""
    async with fake_pbx() as (fake, pbx):
        lane = WebsocketTransport(pbx, "rest")
        async with running(lane.run()):
            await until(lambda: lane.is_ready)
            await ask(lane, channels.originate_with_id("c", endpoint="x", variables={"A": "é"}))
        assert fake.requests[-1]["content_type"] == "application/json"
        assert fake.requests[-1]["message_body"] == '{"variables":{"A":"é"}}'


async def test_what_waits_on_a_lost_lane_is_lost() -> None:
    """Each waiting request is answered LOST once; the lane comes back and carries new ones."""
    async with fake_pbx() as (fake, pbx):
        lane, replies = WebsocketTransport(pbx, "rest"), Replies()
        fake.answers = _only_proof
        async with running(lane.run()):
            await until(lambda: lane.is_ready)
            lane.send(playbacks.get("p1"), replies)
            lane.send(playbacks.get("p2"), replies)
            await until(lambda: len(fake.requests) == 3)
            fake.drop("rest")
            await until(lambda: replies == [LOST, LOST])
            fake.answers = lambda _request: True
            await until(lambda: lane.is_ready)
            assert (await ask(lane, playbacks.get("p3"))).ok
        assert len(replies) == 2


async def test_a_slow_answer_is_lost_and_then_ignored() -> None:
    """The limit holds for each request; an answer that comes after it changes nothing."""
    async with fake_pbx() as (fake, pbx):
        lane, replies = WebsocketTransport(pbx, "rest"), Replies()
        fake.answers = _only_proof
        async with running(lane.run()):
            await until(lambda: lane.is_ready)
            lane.send(playbacks.get("p1"), replies)
            await until(lambda: replies == [LOST])
            fake.answers = lambda _request: True
            await fake.answer(fake.sockets["rest"][0], fake.requests[-1]["request_id"], "late")
            assert (await ask(lane, playbacks.get("p2"))).ok
        assert replies == [LOST]


async def test_a_lane_that_is_down_answers_lost_later() -> None:
    """`done` is never called inside `send`."""
    async with fake_pbx() as (_, pbx):
        lane, replies = WebsocketTransport(pbx, "rest"), Replies()
        lane.send(playbacks.get("p1"), replies)
        assert not replies
        await until(lambda: replies == [LOST])


async def test_http_answers_and_gives_up() -> None:
    """A reply comes with its body; one that takes too long is LOST; closing loses the rest."""
    async with fake_pbx() as (fake, pbx):
        lane, replies = HttpTransport(pbx), Replies()
        assert await ask(lane, playbacks.get("a/b")) == Reply(200, b"over http")
        assert fake.http == [("GET", "/ari/playbacks/a%2Fb", None)]
        fake.hold.clear()
        assert await ask(lane, playbacks.get("p1")) == LOST
        lane.send(playbacks.get("p2"), replies)
        await lane.close()
        assert replies == [LOST]


async def test_http_without_a_pbx_is_lost() -> None:
    """A refused connection is no exception: the request was not answered."""
    async with fake_pbx() as (_, pbx):
        gone = HttpTransport(_elsewhere(pbx))
        assert await ask(gone, playbacks.get("p1")) == LOST


def _elsewhere(pbx: PbxConnection) -> PbxConnection:
    return replace(pbx, address=replace(pbx.address, url="http://127.0.0.1:1/ari"))


async def _ask(ari: AriClient, key: str, may_block: bool) -> Reply:
    answer: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
    ari.send(playbacks.get("p"), key, may_block, answer.set_result)
    return await answer


async def test_a_call_keeps_its_lane() -> None:
    """One key always takes the same websocket; many keys use them all; a blocker takes HTTP."""
    async with (
        fake_pbx() as (fake, pbx),
        open_ari(pbx.address, "e1", pbx.random, pbx.clock, QUICK) as ari,
        running(ari.run()),
    ):
        await until(lambda: ari.router.is_ready)
        assert sorted(fake.sockets) == [f"e1-rest-{number}" for number in range(4)]
        for _ in range(3):
            assert (await _ask(ari, "call-1", may_block=False)).body == b"playbacks/p"
        assert not fake.http
        assert (await _ask(ari, "call-1", may_block=True)).body == b"over http"


async def test_an_older_asterisk_gets_http() -> None:
    """Where no request is answered on a websocket, everything goes over HTTP."""
    async with fake_pbx() as (fake, pbx):
        fake.answers = lambda _request: False
        async with (
            open_ari(pbx.address, "e1", pbx.random, pbx.clock, QUICK) as ari,
            running(ari.run()),
        ):
            await until(lambda: len(fake.requests) >= 4)
            assert (await _ask(ari, "call-1", may_block=False)).body == b"over http"
            assert not ari.router.is_ready
