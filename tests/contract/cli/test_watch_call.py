"""Placing a call and watching it, through a pipe and on a terminal; a list that is watched."""

import asyncio
import io
import json
from collections import deque
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from rich.console import Console

from api.voice.timeline import call_timeline
from cli.commands.call import watch_call
from cli.commands.calls import CallTable
from tests.contract.cli.fake_rest import FakeRest
from tests.harness.cli.inbound import timeline, until_now
from tests.harness.until import until
from wire.views import CallView, Timeline

CALL = timeline().call.call_id
PATH = f"GET /voice/call/{CALL}/timeline"


def shown(found: Timeline) -> bytes:
    """Return a timeline as the REST layer shows it."""
    return call_timeline(msgspec.json.encode(found))


def ended(**facts: object) -> bytes:
    """Return the timeline of a call that ended with these facts."""
    whole = timeline()
    return shown(replace(whole, call=replace(whole.call, **facts)))


def pipe() -> Console:
    """Return a console that is not a terminal."""
    return Console(file=io.StringIO(), width=100)


def text(console: Console) -> str:
    """Return what was printed."""
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


async def test_prints_each_line_once_as_it_comes(tmp_path: Path) -> None:
    """Through a pipe each line is printed once, the outcome last; completed is status 0."""
    whole = timeline()
    states = [until_now(1), until_now(4), whole]
    async with FakeRest() as rest:
        rest.responses = {"POST /voice/call": {"callId": CALL}, PATH: deque(map(shown, states))}
        words = ("call", "create", "--to", "+47", "--from", "+48", "--idempotency-key", "order-17")
        status, out, _ = await rest.run(tmp_path, *words)
    lines = out.splitlines()
    assert status == 0
    assert lines[0].split() == ["0.000", "A", "answers", "the", "call"]
    assert sum("presses 1" in line for line in lines) == 1
    assert lines[-1].startswith(f"call {CALL} completed: 11.1 s after answer")
    assert rest.requests[0].headers["Idempotency-Key"] == "order-17"
    assert rest.requests[0].body == {"to": "+47", "from": "+48"}


async def test_draws_on_a_terminal() -> None:
    """On a terminal the whole ladder stays on the screen."""
    console = Console(file=io.StringIO(), width=100, height=40, force_terminal=True)
    async with FakeRest() as rest:
        rest.responses = {PATH: shown(timeline())}
        await watch_call(rest.client, CALL, console)
    assert "╠═══════╣" in text(console)


@pytest.mark.parametrize(
    ("ending", "expected"),
    [("completed", 0), ("failed", 1), ("busy", 3), ("no-answer", 4), ("canceled", 5)],
)
async def test_the_exit_status_shows_how_it_ended(
    tmp_path: Path, ending: str, expected: int
) -> None:
    """Programs get the ended call only; what happens is on standard error."""
    async with FakeRest() as rest:
        rest.responses = {"POST /voice/call": {"callId": CALL}, PATH: ended(status=ending)}
        words = ("call", "create", "--to", "+47", "--from", "+48", "-o", "json")
        status, out, err = await rest.run(tmp_path, *words)
    assert (status, json.loads(out)["status"]) == (expected, ending)
    assert "answers the call" in err


async def test_watches_on_while_the_server_is_away() -> None:
    """The loss of the server is printed; after its return the call is watched to its end."""
    console = pipe()
    async with FakeRest() as rest:
        rest.responses = {PATH: shown(until_now(1))}
        watching = asyncio.create_task(watch_call(rest.client, CALL, console))
        await until(lambda: "answers the call" in text(console))
        await rest.stop()
        await until(lambda: "the call continues, waiting" in text(console))
        rest.responses = {PATH: shown(timeline())}
        await rest.start()
        assert (await watching).call.ended_ms
    assert text(console).count("answers the call") == 1


async def test_leaving_leaves_the_call() -> None:
    """An interrupted watch prints that the call continues, and how to end it."""
    console = pipe()
    async with FakeRest() as rest:
        rest.responses = {PATH: shown(until_now(1))}
        watching = asyncio.create_task(watch_call(rest.client, CALL, console))
        await until(lambda: "answers the call" in text(console))
        watching.cancel()
        await asyncio.wait([watching])
    assert not any(each.path.endswith("hangup") for each in rest.requests)
    assert f"switchroom call hangup {CALL}" in text(console)


def view(call: str, status: str, **more: Any) -> CallView:
    """Return a live call as it is listed."""
    facts = {"call_id": call, "status": status, "created_ms": 500, "ended_ms": 0}
    return replace(timeline().call, **facts, **more)


def test_a_table_counts_what_has_ended() -> None:
    """Calls come, change and go."""
    table = CallTable((view("a", "initiated"), view("b", "ringing")))
    assert table.summary() == "2 live: 1 initiated, 1 ringing"
    table.update((view("a", "in-progress"),))
    assert table.summary() == "1 live: 1 in-progress; ended since start: 1"
    table.update(())
    assert table.summary() == "0 live; ended since start: 2"


def test_a_table_is_drawn_with_ages() -> None:
    """States first, a note when nothing is listed, then each call."""
    table = CallTable((view("3-pbx1-abc", "ringing", node=""),))
    table.note = "no REST layer answers"
    console = Console(file=io.StringIO(), width=120)
    console.print(table.render(2_500))
    first, note, _head, row = text(console).splitlines()
    assert (first, note) == ("1 live: 1 ringing", "no REST layer answers")
    assert row.split()[0] == "3-pbx1-abc"
    assert row.rstrip().endswith("2.0 s")


async def test_a_key_that_is_refused_ends_the_watch(tmp_path: Path) -> None:
    """It is not tried again."""
    async with FakeRest() as rest:
        rest.default = {"title": "x", "status": 401, "code": "unauthenticated", "detail": "wrong"}
        status, _, err = await rest.run(tmp_path, "call", "list", "--watch")
    assert (status, "wrong" in err, len(rest.requests)) == (2, True, 1)
