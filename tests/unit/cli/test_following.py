"""`switchroom calls --watch`: a board that the event stream keeps, whichever engine tells it."""

import asyncio
import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec.structs import replace
from rich.console import Console

from engine.cli.board import Board, drawn, summary
from engine.cli.client import Refused, Unreachable, opened
from engine.cli.following import Following
from tests.harness.ports import free_port
from tests.harness.until import until
from tests.unit.cli.fake_engine import TOKEN, FakeEngine, timeline
from wire.events import CallEvent, Kind
from wire.groups import LostEvents
from wire.rpc import Problem
from wire.views import CallView


def event(call: str, kind: Kind, status: str, **more: Any) -> CallEvent:
    """Tell something of a call."""
    facts: dict[str, Any] = {
        "id": f"{call}.e0", "event": kind, "sequence_number": 0, "timestamp": 1_000,
        "call_id": call, "account_id": "acme", "call_status": status, "direction": "inbound",
        "from_": "+1", "to": "+2",
    }  # fmt: skip
    return CallEvent(**(facts | more))


def view(call: str, status: str) -> CallView:
    """Give a call as an engine lists it."""
    return replace(timeline().call, call_id=call, status=status, created_ms=500, ended_ms=0)


def test_a_board_follows_a_call_from_its_beginning_to_its_end() -> None:
    """It comes, changes and goes; how it ended is counted."""
    board = Board()
    board.take(event("a", "initiated", "initiated"))
    board.take(event("a", "ringing", "ringing"))
    board.take(event("b", "initiated", "initiated"))
    assert summary(board) == "2 live: 1 initiated, 1 ringing"
    board.take(event("a", "answered", "in-progress"))
    board.take(event("a", "gathered", "in-progress", dtmf="42"))
    assert board.calls["a"].lately == "gathered 42"
    board.take(event("a", "completed", "completed"))
    board.take(event("b", "completed", "busy"))
    assert summary(board) == "0 live; ended meanwhile: 1 completed, 1 busy"


def test_a_list_that_was_ahead_is_not_taken_back() -> None:
    """Events of before the list was made come after it: nothing goes back to ringing."""
    board = Board()
    board.fill([view("a", "in-progress")])
    board.take(event("a", "ringing", "ringing"))
    assert board.calls["a"].status == "in-progress"
    assert board.calls["a"].since_ms == 500
    board.take(event("gone", "answered", "in-progress"))
    assert "gone" not in board.calls


def test_it_is_drawn_with_ages() -> None:
    """States first, a note when nothing moves, then each call."""
    board = Board(note="no engine answers")
    board.fill([view("3-pbx1-abc", "ringing")])
    console = Console(file=io.StringIO(), width=120)
    console.print(drawn(board, 2_500))
    assert isinstance(console.file, io.StringIO)
    first, note, _head, row = console.file.getvalue().splitlines()
    assert (first, note) == ("1 live: 1 ringing", "no engine answers")
    assert row.split()[0] == "3-pbx1-abc"
    assert row.rstrip().endswith("2.0 s")


@asynccontextmanager
async def following(board: Board, *urls: str, token: str = TOKEN) -> AsyncIterator[None]:
    """Keep a board for as long as the context lasts."""
    async with opened(urls[0], token) as first, opened(urls[-1], token) as last:
        running = asyncio.create_task(Following((first, last), "", board).run())
        try:
            yield
        finally:
            running.cancel()
            await asyncio.wait([running])


async def test_it_goes_on_at_another_engine() -> None:
    """When one dies, the next is asked from the same place on; nothing is listed again."""
    board = Board()
    async with FakeEngine() as one, FakeEngine() as other:
        one.calls = other.calls = ()
        async with following(board, one.url(), other.url()):
            one.events.put_nowait(event("a", "initiated", "initiated"))
            await until(lambda: "a" in board.calls)
            await one.stop()
            other.events.put_nowait(event("a", "answered", "in-progress"))
            await until(lambda: board.calls["a"].status == "in-progress")
    assert other.last_ids == ['{"0":"7-0"}']
    assert ("GET", "calls", None) not in other.asked


async def test_what_was_cut_off_is_listed_anew() -> None:
    """Where events are missing, only a list is right."""
    board = Board()
    async with FakeEngine() as engine:
        engine.calls = (view("a", "ringing"),)
        async with following(board, engine.url()):
            await until(lambda: "a" in board.calls)
            engine.calls = (view("b", "ringing"),)
            engine.events.put_nowait((LostEvents(0, "1-1", "2-2"),))
            await until(lambda: list(board.calls) == ["b"])


async def test_no_engine_at_all_is_told() -> None:
    """Whoever starts to watch where nobody answers is told so at once."""
    url = f"http://127.0.0.1:{free_port()}"
    async with opened(url, TOKEN) as client:
        with pytest.raises(Unreachable):
            await Following((client, client), "", Board()).run()


async def test_a_wrong_token_ends_it() -> None:
    """No other try will do."""
    async with FakeEngine() as engine, opened(engine.url(), TOKEN) as client:
        engine.problem = Problem("Who are you?", 401, "unauthorized", "wrong token")
        with pytest.raises(Refused):
            await Following((client,), "", Board()).run()
