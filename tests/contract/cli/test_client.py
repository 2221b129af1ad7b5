"""The RPC client: decoded responses, problems, unreachable engines, and events."""

from typing import Any

import pytest

from cli.client import open_client
from cli.errors import RpcError, Unreachable, explain
from tests.contract.cli.fake_engine import TOKEN, FakeEngine
from tests.harness.ports import free_port
from wire.events.call_events import CallEvent
from wire.rpc import FieldError, NumberRoute, Problem


def event(number: int) -> CallEvent:
    """Return an event with this number."""
    facts: dict[str, Any] = {"event": "ringing", "sequence_number": number, "timestamp": 1}
    who: dict[str, Any] = {
        "call_id": "0-pbx1-abcdefgh",
        "account_id": "acme",
        "from_": "1",
        "to": "2",
    }
    return CallEvent(id=f"e{number}", call_status="ringing", direction="outbound", **facts, **who)


async def test_requests_and_understands() -> None:
    """A request carries the token and a JSON body; the response is decoded into its shape."""
    async with FakeEngine() as engine, open_client(engine.url(), TOKEN) as client:
        call_id = await client.originate({"to": "+15550100"})
        assert (await client.timeline(call_id)).call.call_id == call_id
        assert engine.requests[0] == ("POST", "calls", {"to": "+15550100"})
        assert [node.connected for node in await client.nodes()] == [True, False]


async def test_a_refusal_shows_path_and_message() -> None:
    """Invalid input is reported by field path, with the engine's message."""
    faults = (FieldError("action.type", "unknown verb pley"), FieldError("to", "expected a number"))
    async with FakeEngine() as engine, open_client(engine.url(), TOKEN) as client:
        engine.problem = Problem("Invalid input", 400, "invalid", "all of it", faults)
        with pytest.raises(RpcError) as refusal:
            await client.originate({})
    assert explain(refusal.value).splitlines()[1:] == [
        "  action.type: unknown verb pley",
        "  to: expected a number",
    ]


async def test_a_wrong_token_shows_what_to_set() -> None:
    """The error names the setting of the token."""
    async with FakeEngine() as engine, open_client(engine.url(), "wrong") as client:
        with pytest.raises(RpcError) as refusal:
            await client.calls()
    assert "SWITCHROOM_RPC_TOKEN" in explain(refusal.value)


async def test_no_one_there_shows_what_to_do() -> None:
    """A refused connection is reported with the command that starts an engine."""
    async with open_client(f"http://127.0.0.1:{free_port()}", TOKEN) as client:
        with pytest.raises(Unreachable, match="connection refused") as fault:
            await client.calls()
    assert "`switchroom dev`" in explain(fault.value)


async def test_another_server_is_no_engine() -> None:
    """An unexpected response is an error, because the server is not an engine."""
    async with FakeEngine() as engine, open_client(engine.url(), TOKEN) as client:
        with pytest.raises(Unreachable, match="invalid response"):
            await client.request(NumberRoute, "GET", "else")  # the response is {}


async def test_follows_events() -> None:
    """Each event has an id, from which the next stream continues."""
    async with FakeEngine() as engine, open_client(engine.url(), TOKEN) as client:
        engine.events.put_nowait(event(0))
        async with client.events() as events:
            entry, first = await anext(events)
        async with client.events(entry):
            pass
    assert first == event(0)
    assert engine.last_ids == ["", '{"0":"7-0"}']
