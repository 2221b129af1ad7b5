"""`switchroom call list --watch`: a table of calls that follows the event stream of any engine."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from cli.client import open_client
from cli.errors import RpcError, Unreachable
from cli.live.follow import CallFollower
from cli.live.table import CallTable
from tests.contract.cli.fake_engine import TOKEN, FakeEngine
from tests.harness.cli.followed_calls import event, view
from tests.harness.ports import free_port
from tests.harness.until import until
from wire.events.consumer_groups import LostEvents
from wire.rpc import Problem


@asynccontextmanager
async def following(board: CallTable, *urls: str, token: str = TOKEN) -> AsyncIterator[None]:
    """Update a table within the context."""
    async with open_client(urls[0], token) as first, open_client(urls[-1], token) as last:
        running = asyncio.create_task(CallFollower((first, last), "", board).run())
        try:
            yield
        finally:
            running.cancel()
            await asyncio.wait([running])


async def test_it_goes_on_at_another_engine() -> None:
    """When an engine dies, the stream continues at the next one, without a new list of calls."""
    board = CallTable()
    async with FakeEngine() as one, FakeEngine() as other:
        one.calls = other.calls = ()
        async with following(board, one.url(), other.url()):
            one.events.put_nowait(event("a", "initiated", "initiated"))
            await until(lambda: "a" in board.calls)
            await one.stop()
            other.events.put_nowait(event("a", "answered", "in-progress"))
            await until(lambda: board.calls["a"].status == "in-progress")
    assert other.last_ids == ['{"0":"7-0"}']
    assert ("GET", "calls", None) not in other.requests


async def test_what_was_cut_off_is_listed_again() -> None:
    """After lost events the calls are listed again, because the table may be wrong."""
    board = CallTable()
    async with FakeEngine() as engine:
        engine.calls = (view("a", "ringing"),)
        async with following(board, engine.url()):
            await until(lambda: "a" in board.calls)
            engine.calls = (view("b", "ringing"),)
            engine.events.put_nowait((LostEvents("pbx1/0", "1-1", "2-2"),))
            await until(lambda: list(board.calls) == ["b"])


async def test_no_engine_at_all_is_shown() -> None:
    """Without any engine the watch fails at once."""
    url = f"http://127.0.0.1:{free_port()}"
    async with open_client(url, TOKEN) as client:
        with pytest.raises(Unreachable):
            await CallFollower((client, client), "", CallTable()).run()


async def test_a_wrong_token_ends_it() -> None:
    """A wrong token ends the watch without a retry."""
    async with FakeEngine() as engine, open_client(engine.url(), TOKEN) as client:
        engine.problem = Problem("User not authenticated", 401, "unauthenticated", "wrong token")
        with pytest.raises(RpcError):
            await CallFollower((client,), "", CallTable()).run()
