"""Placing a call and watching it, through a pipe and on a terminal."""

import asyncio
import io

from msgspec.structs import replace
from rich.console import Console

from cli.client import open_client
from cli.commands.call import place_and_watch
from tests.contract.cli.fake_engine import TOKEN, FakeEngine
from tests.harness.cli.inbound import timeline, until_now
from tests.harness.until import until
from wire.views import Timeline


def ended(**facts: object) -> Timeline:
    """Return the timeline of a call that ended with these facts."""
    whole = timeline()
    return Timeline(replace(whole.call, **facts), whole.moments)


def pipe() -> Console:
    """Return a console that is not a terminal."""
    return Console(file=io.StringIO(), width=100)


def text(console: Console) -> str:
    """Return what was printed."""
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


async def test_prints_each_line_once_as_it_comes() -> None:
    """Through a pipe each line is printed once, the outcome last; completed is status 0."""
    console = pipe()
    async with FakeEngine() as engine, open_client(engine.url(), TOKEN) as client:
        whole = timeline()
        engine.timelines = [until_now(whole, 1), until_now(whole, 4), whole]
        assert await place_and_watch(client, {"to": "+15550100"}, console) == 0
    lines = text(console).splitlines()
    assert lines[0].split() == ["0.000", "A", "answers", "the", "call"]
    assert sum("presses 1" in line for line in lines) == 1
    assert lines[-1].startswith(f"call {whole.call.call_id} completed: 11.1 s after answer")


async def test_draws_on_a_terminal() -> None:
    """On a terminal the whole ladder stays on the screen."""
    console = Console(file=io.StringIO(), width=100, height=40, force_terminal=True)
    async with FakeEngine() as engine, open_client(engine.url(), TOKEN) as client:
        await place_and_watch(client, {}, console)
    assert "╠═══════╣" in text(console)


async def test_the_exit_status_shows_how_it_ended() -> None:
    """Scripts can distinguish busy, no answer, failure and cancellation."""
    statuses = {"failed": 1, "busy": 3, "no-answer": 4, "canceled": 5}
    async with FakeEngine() as engine, open_client(engine.url(), TOKEN) as client:
        for status, code in statuses.items():
            engine.timelines = [ended(status=status)]
            assert await place_and_watch(client, {}, pipe()) == code


async def test_watches_on_while_the_engine_is_away() -> None:
    """The loss of the engine is printed; after its return the call is watched to its end."""
    console = pipe()
    async with FakeEngine() as engine, open_client(engine.url(), TOKEN) as client:
        engine.timelines = [until_now(timeline(), 1)]
        watching = asyncio.create_task(place_and_watch(client, {}, console))
        await until(lambda: "answers the call" in text(console))
        await engine.stop()
        await until(lambda: "the call continues, waiting" in text(console))
        engine.timelines = [timeline()]
        await engine.start()
        assert await watching == 0
    assert text(console).count("answers the call") == 1


async def test_leaving_leaves_the_call() -> None:
    """An interrupted watch prints that the call continues, and how to end it."""
    console = pipe()
    async with FakeEngine() as engine, open_client(engine.url(), TOKEN) as client:
        engine.timelines = [until_now(timeline(), 1)]
        watching = asyncio.create_task(place_and_watch(client, {}, console))
        await until(lambda: "answers the call" in text(console))
        watching.cancel()
        await asyncio.wait([watching])
        assert not any(path.endswith("hangup") for _, path, _ in engine.requests)
    assert f"switchroom call hangup {timeline().call.call_id}" in text(console)
