"""The `switchroom` command as users type it."""

import json
from pathlib import Path

import pytest

from tests.contract.cli.fake_rest import KEY, FakeRest
from tests.harness.cli.forked import Ended, run_forked
from tests.harness.ports import free_port


async def run(folder: Path, url: str, *words: str) -> Ended:
    """Run a command with a server in the environment."""
    return await run_forked(
        words, folder, {"SWITCHROOM_API_URL": url, "SWITCHROOM_API_KEY": KEY, "COLUMNS": "100"}
    )


async def test_no_server_is_no_traceback(tmp_path: Path) -> None:
    """Without a server a command prints the reason and exits with status 2."""
    status, out, err = await run(tmp_path, f"http://127.0.0.1:{free_port()}", "call", "list")
    assert (status, out) == (2, "")
    assert "connection refused" in err
    assert "Traceback" not in err


@pytest.mark.parametrize("group", ["route", "agent", "flow", "callback"])
async def test_groups_of_commands_are_alike(tmp_path: Path, group: str) -> None:
    """Each group of commands removes items by `rm`."""
    status, out, _ = await run(tmp_path, "http://127.0.0.1:1", group, "--help")
    assert status == 0
    assert {"rm"} < set(out.split())


@pytest.mark.parametrize(
    "url", ["127.0.0.1:8070", "localhost:8070", "http://", "http://a:port", "ftp://a", "http://[1"]
)
async def test_an_address_is_checked(tmp_path: Path, url: str) -> None:
    """An invalid URL is rejected, with an example of a valid one."""
    result = await run(tmp_path, url, "call", "list")
    wanted = "expected a URL such as http://127.0.0.1:8000"
    assert result == (2, "", f"switchroom: the environment: api_url {url}: {wanted}\n")


async def test_agents_are_listed(tmp_path: Path) -> None:
    """`switchroom agent list` shows presence and calls; names are printed unchanged."""
    busy = {"presence": "online", "busy": True, "callId": "3-pbx1-7", "nodes": ["pbx1"]}
    rows = [
        {"agentId": "1001", "name": "[Ada]", "endpoint": "PJSIP/1001", "state": busy},
        {"agentId": "sales7", "name": "", "endpoint": "PJSIP/1002",
         "state": {"presence": "offline", "busy": False}},
    ]  # fmt: skip
    async with FakeRest() as rest:
        rest.default = {"data": rows, "total": 2, "limit": 100, "offset": 0}
        status, out, _ = await rest.run(tmp_path, "agent", "list")
        rest.default = {"data": [], "total": 0, "limit": 100, "offset": 0}
        _, none, _ = await rest.run(tmp_path, "agent", "list")
    head, *found = (line.split() for line in out.splitlines())
    assert (status, head) == (0, ["agent", "name", "endpoint", "presence", "call"])
    assert found == [
        ["1001", "[Ada]", "PJSIP/1001", "online,", "busy", "(pbx1)", "3-pbx1-7"],
        ["sales7", "PJSIP/1002", "offline"],
    ]
    assert none == "no agents; `switchroom agent set AGENT-ID ENDPOINT` adds one\n"


async def test_an_agent_gets_a_new_password(tmp_path: Path) -> None:
    """`--new-password` chooses one, sends it and prints it with the phone's user."""
    words = ("agent", "set", "anna", "PJSIP/anna", "--new-password")
    async with FakeRest() as rest:
        status, out, err = await rest.run(tmp_path, *words)
        _, other, _ = await rest.run(tmp_path, *words)
    user, password = (line.split()[1] for line in out.splitlines())
    assert (status, user, err) == (0, "anna", "switchroom: the password is shown only once\n")
    assert len(password) == 24
    assert password not in other
    assert rest.typed[1] == ("PUT", "/voice/agents/anna/password", {"password": password})


async def test_options_are_the_fields_of_a_route(tmp_path: Path) -> None:
    """`route set` sends its arguments as a route of the number."""
    hangup = '{"type": "hangup"}'
    async with FakeRest() as rest:
        words = ("route", "set", "+15550100", hangup, "--fallback", hangup, "--custom-data", "{}")
        assert (await rest.run(tmp_path, *words)).status == 0
    sent = {"action": json.loads(hangup), "customData": {}, "fallback": json.loads(hangup)}
    assert rest.typed == [("PUT", "/voice/numbers/%2B15550100/route", sent)]


async def test_a_request_without_an_id_gets_one(tmp_path: Path) -> None:
    """The generated id is printed, because flows refer to it."""
    body = {"url": "https://crm.example/people"}
    async with FakeRest() as rest:
        _, out, _ = await rest.run(tmp_path, "request", "put", json.dumps(body))
    made = out.strip()
    assert len(made) == 24
    assert rest.typed == [("PUT", f"/voice/requests/{made}", body)]
