"""The phone that calls, and what a PBX responds: rejections, crossings, silence."""

import asyncio
import io
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import pytest
from rich.console import Console

from cli.phone import CallOptions, call_number
from dev.errors import CallFailed
from dev.phone.caller import Dialed, Patience, place_call
from dev.phone.message import parse, response
from tests.contract.dev.harness.calls import NOTHING, give_up_when_it_rings
from tests.harness.ports import free_port
from tests.harness.until import until


class Rejecting(asyncio.DatagramProtocol):
    """Rejects each INVITE with a status; keeps the methods that it received."""

    def __init__(self, status: str) -> None:
        self._status = status
        self.methods: list[str] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._udp = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        request = parse(data)
        assert request is not None
        self.methods.append(request.method)
        if request.method == "INVITE":
            self._udp.sendto(response(request, self._status, "t").encode(), addr)


async def test_a_rejected_call_writes_no_file(tmp_path: Path) -> None:
    """Nothing was heard; a number without a route comes with the command that sets one."""
    port = free_port()
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: Rejecting("404 Not Found"), local_addr=("127.0.0.1", port)
    )
    printed = io.StringIO()
    path = tmp_path / "call.wav"
    options = CallOptions("+1", "", 0, None, "+2", path, False, f"127.0.0.1:{port}", tmp_path)
    await call_number(options, Console(file=printed, width=1_000))
    transport.close()
    assert "404: +1 has no route: `switchroom route set +1 URL`" in printed.getvalue()
    assert f"nothing was heard, so {path} is not written" in printed.getvalue()
    assert not await asyncio.to_thread(path.exists)


class Crossing(Rejecting):
    """Answers a call while its CANCEL is under way."""

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        request = parse(data)
        assert request is not None
        self.methods.append(request.method)
        if request.method == "INVITE":
            self._invite = request
            self._udp.sendto(response(request, "180 Ringing", "t").encode(), addr)
        elif request.method == "CANCEL":
            self._udp.sendto(response(self._invite, "200 OK", "t").encode(), addr)


async def test_an_answer_that_crosses_the_cancel_is_hung_up() -> None:
    """The other side is not left in a call."""
    port = free_port()
    transport, pbx = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: Crossing(""), local_addr=("127.0.0.1", port)
    )
    await give_up_when_it_rings(port)
    await until(lambda: pbx.methods == ["INVITE", "CANCEL", "ACK", "BYE"], what="the hangup")
    transport.close()


class Interrupting(Rejecting):
    """Answers, and calls back so many turns of the loop later."""

    called_back: Callable[[], object]

    def __init__(self, turns: int) -> None:
        super().__init__("200 OK")
        self._turns = turns

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        super().datagram_received(data, addr)
        if self.methods == ["INVITE"]:
            self._take_turn()

    def _take_turn(self) -> None:
        self._turns -= 1
        turn = self._take_turn if self._turns > 0 else self.called_back
        asyncio.get_running_loop().call_soon(turn)


@pytest.mark.parametrize("turns", range(1, 9))
async def test_an_answer_that_comes_with_the_interruption_is_hung_up(turns: int) -> None:
    """Whichever of the two the loop serves first."""
    port = free_port()
    transport, pbx = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: Interrupting(turns), local_addr=("127.0.0.1", port)
    )
    calling = asyncio.create_task(
        place_call(Dialed("127.0.0.1", port, "+1", "+2"), NOTHING, lambda _: None)
    )
    pbx.called_back = calling.cancel
    await until(calling.done, what="the end of the call")
    assert calling.cancelled()
    await until(lambda: pbx.methods[-1] == "BYE", what="the hangup")
    transport.close()


async def test_a_rejection_is_acknowledged() -> None:
    """The outcome has its status; the PBX does not repeat it."""
    port = free_port()
    transport, pbx = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: Rejecting("486 Busy Here"), local_addr=("127.0.0.1", port)
    )
    course: list[str] = []
    outcome = await place_call(Dialed("127.0.0.1", port, "+1", "+2"), NOTHING, course.append)
    await until(lambda: pbx.methods == ["INVITE", "ACK"], what="the acknowledgement")
    transport.close()
    assert (outcome.status, course[-1]) == (486, "rejected: 486 Busy Here")


class Scripted(Rejecting):
    """Responds to methods by a table; others stay without a response."""

    def __init__(self, **statuses: str) -> None:
        super().__init__("")
        self._statuses = statuses

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        request = parse(data)
        assert request is not None
        self.methods.append(request.method)
        self._udp.sendto(b"\xff\x00 no SIP", addr)
        self._udp.sendto(b"SIP/2.0 603 Decline\r\nCSeq: 1 INVITE\r\nCall-ID: other\r\n\r\n", addr)
        if status := self._statuses.get(request.method):
            self._udp.sendto(response(request, status, "t").encode(), addr)


@asynccontextmanager
async def scripted(**statuses: str) -> AsyncIterator[tuple[Scripted, int]]:
    port = free_port()
    transport, pbx = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: Scripted(**statuses), local_addr=("127.0.0.1", port)
    )
    try:
        yield pbx, port
    finally:
        transport.close()


async def test_a_call_does_not_ring_for_ever() -> None:
    """It is canceled, and counts as not answered; messages of other calls are ignored."""
    async with scripted(INVITE="180 Ringing") as (pbx, port):
        dialed = Dialed("127.0.0.1", port, "+1", "+2")
        outcome = await place_call(dialed, NOTHING, lambda _: None, Patience(0.2, 5))
        await until(lambda: pbx.methods[-1] == "CANCEL", what="the end of the call")
    assert (outcome.status, outcome.text) == (408, "408 No answer")


async def test_a_pbx_that_was_killed_ends_the_call() -> None:
    """A new one on its port does not know the call; without that, the caller waited for ever."""
    async with scripted(INVITE="200 OK", OPTIONS="481 No such call") as (pbx, port):
        dialed = Dialed("127.0.0.1", port, "+1", "+2")
        outcome = await place_call(dialed, NOTHING, lambda _: None, Patience(5, 0.1))
    assert outcome.text == "the PBX no longer knows the call"
    assert pbx.methods == ["INVITE", "ACK", "OPTIONS"]


async def test_a_pbx_that_has_the_call_is_heard_on() -> None:
    """It responds to each look; the call goes on."""
    async with scripted(INVITE="200 OK", OPTIONS="200 OK") as (pbx, port):
        dialed = Dialed("127.0.0.1", port, "+1", "+2")
        calling = asyncio.create_task(
            place_call(dialed, NOTHING, lambda _: None, Patience(5, 0.05))
        )
        await until(lambda: pbx.methods.count("OPTIONS") >= 3, what="three looks")
        assert not calling.done()
        calling.cancel()
        await until(lambda: pbx.methods[-1] == "BYE", what="the end of the call")


async def test_nothing_listens() -> None:
    """The sentence says where, and how to see what runs."""
    with pytest.raises(CallFailed, match=r"no phone system responds at 127\.0\.0\.1:"):
        await place_call(Dialed("127.0.0.1", free_port(), "+1", "+2"), NOTHING, lambda _: None)
