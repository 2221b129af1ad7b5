"""The client of the REST layer: decoded responses, problems and unreachable servers."""

from typing import Any

import pytest

from cli.calls import get_streams
from cli.errors import RequestRejected, Unreachable, explain
from cli.options.connection import ClientSettings
from cli.rest_client import open_rest
from tests.contract.cli.fake_rest import KEY, FakeRest, problem
from tests.harness.ports import free_port


async def test_a_refusal_shows_path_and_message() -> None:
    """Invalid input is reported by field path, with the server's message and code."""
    faults = [
        {"path": "nodes.a.next", "message": "no node b", "code": "unknown_node"},
        {"path": "to", "message": "expected a number", "code": ""},
    ]
    async with FakeRest() as rest:
        rest.default = problem(400, "invalid", "all of it") | {"errors": faults}
        with pytest.raises(RequestRejected) as refusal:
            await rest.client.request(dict[str, Any], "POST", "voice", "call", body={})
    assert explain(refusal.value).splitlines()[1:3] == [
        "  nodes.a.next: no node b (unknown_node)",
        "  to: expected a number",
    ]


async def test_no_one_there_shows_what_to_do() -> None:
    """A refused connection is reported with the command that starts a server."""
    nowhere = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(Unreachable, match="connection refused") as fault:
        await open_rest(ClientSettings(api_url=nowhere, api_key=KEY)).request(dict[str, Any], "GET")
    assert "`switchroom dev up`" in explain(fault.value)


@pytest.mark.parametrize(
    ("response", "reason"),
    [({}, "invalid response"), ({"status": 500}, "another program does")],
)
async def test_another_server_is_no_rest_layer(response: Any, reason: str) -> None:
    """An unexpected response is an error, because the server is another one."""
    async with FakeRest() as rest:
        rest.default = response
        with pytest.raises(Unreachable, match=reason):
            await get_streams(rest.client, "c1")


async def test_what_is_typed_is_one_step_of_a_path() -> None:
    """An argument is one segment of the path, even if it contains `#`, `?` or `/`."""
    async with FakeRest() as rest:
        await rest.client.remove("route", "x", "voice", "numbers", "+1#2", "route")
        await rest.client.request(dict[str, Any], "POST", "operations", "nodes", "a?b/c", "drain")
    assert [each.path for each in rest.requests] == [
        "/voice/numbers/%2B1%232/route",
        "/operations/nodes/a%3Fb%2Fc/drain",
    ]
