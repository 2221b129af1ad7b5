"""The `switchroom` command as users type it."""

import json
from pathlib import Path

import pytest

from tests.contract.cli.command import switchroom, typed
from tests.contract.cli.fake_engine import FakeEngine
from tests.harness.cli.inbound import GOLDEN, timeline
from tests.harness.cli.replays import DIFFERENT, SAME
from tests.harness.ports import free_port
from wire.rpc import Problem


async def test_timeline_prints_the_ladder(tmp_path: Path) -> None:
    """`switchroom call timeline` prints title and ladder, or the JSON of the RPC."""
    async with FakeEngine() as engine:
        call_id = timeline().call.call_id
        command = (tmp_path, engine.url(), "call", "timeline", call_id)
        status, out, _ = await switchroom(*command)
        _, as_json, _ = await switchroom(*command, "--output", "json")
    golden = GOLDEN.read_text().splitlines()
    assert status == 0
    assert [line.rstrip() for line in out.splitlines()[2:]] == golden
    assert json.loads(as_json)["call"]["callId"] == call_id


async def test_no_engine_is_no_traceback(tmp_path: Path) -> None:
    """Without an engine a command prints the reason and exits with status 2."""
    status, out, err = await switchroom(tmp_path, f"http://127.0.0.1:{free_port()}", "call", "list")
    assert (status, out) == (2, "")
    assert "connection refused" in err
    assert "Traceback" not in err


async def test_calls_lists_whole_ids(tmp_path: Path) -> None:
    """Ids are printed whole, so that they can be copied into other commands."""
    async with FakeEngine() as engine:
        _, out, _ = await switchroom(tmp_path, engine.url(), "call", "list")
    assert out.splitlines()[1].split()[0] == timeline().call.call_id


async def test_ended_calls_are_listed(tmp_path: Path) -> None:
    """`calls --ended` prints the ids of ended calls, one in each line, for other commands."""
    async with FakeEngine() as engine:
        at = (tmp_path, engine.url())
        engine.replays = {each.call_id: each for each in (SAME, DIFFERENT)}
        listed = await switchroom(*at, "call", "list", "--ended", "2")
        rejected = await switchroom(*at, "call", "list", "--ended", "2", "--watch")
    assert listed == (0, f"{SAME.call_id}\n{DIFFERENT.call_id}\n", "")
    assert (rejected[0], "--watch draws a table" in rejected[2]) == (2, True)


async def test_a_route_is_set_and_removed(tmp_path: Path) -> None:
    """`route set` sends its arguments as a route; `route rm` deletes the route of the number.

    An engine knows no account's numbers, so it says which lists may not show this one.
    """
    async with FakeEngine() as engine:
        at = (tmp_path, engine.url())
        typed = ["+15550100", '{"type": "hangup"}', "--account", "acme"]
        typed += ["--fallback", '{"type": "hangup"}']
        status, _, noted = await switchroom(*at, "route", "set", *typed)
        assert status == 0
        assert "only if an account has it: `switchroom account number add`" in noted
        assert (await switchroom(*at, "route", "set", "*", *typed[1:]))[2] == ""
        assert (await switchroom(*at, "route", "rm", "+15550100"))[0] == 0
    sent = {"account": "acme", "action": {"type": "hangup"}, "fallback": {"type": "hangup"}}
    assert engine.requests == [
        ("PUT", "routes/+15550100", sent),
        ("PUT", "routes/*", sent),
        ("DELETE", "routes/+15550100", None),
    ]


async def test_what_is_typed_is_one_step_of_a_path(tmp_path: Path) -> None:
    """An argument is one segment of the path, even if it contains `#`, `?` or `/`."""
    async with FakeEngine() as engine:
        at = (tmp_path, engine.url())
        await switchroom(*at, "route", "rm", "+15550100#2")
        await switchroom(*at, "node", "drain", "pbx1?a/b", "--no-wait")
        await switchroom(*at, "agent", "rm", "a/b", "--account", "acme")
    assert [(method, path) for method, path, _ in engine.requests] == [
        ("DELETE", "routes/+15550100#2"),
        ("POST", "nodes/pbx1?a/b/drain"),
        ("DELETE", "agents/acme/a/b"),
    ]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("route", "rm", "+15550100"), "route: +15550100"),
        (("agent", "rm", "sales7", "--account", "acme"), "agent: sales7"),
        (("flow", "rm", "menu", "--account", "acme"), "flow: menu"),
        (("request", "rm", "x", "--account", "acme"), "API request: x"),
        (("callback", "rm", "--account", "acme"), "callbacks: account acme"),
    ],
    ids=lambda each: each[0] if isinstance(each, tuple) else "",
)
async def test_nothing_of_that_name_can_be_removed(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], expected: str
) -> None:
    """Each `rm` of a missing item prints the same error with status 1; other errors have 2."""
    async with FakeEngine() as engine:
        engine.problem = Problem("Not found", 404, "not_found", "no such thing here")
        assert await typed(engine.url(), *words) == 1
        assert capsys.readouterr() == ("", f"switchroom: no such {expected}\n")
        engine.problem = Problem("Not now", 503, "store_down", "no answer")
        assert await typed(engine.url(), *words) == 2


@pytest.mark.parametrize("group", ["route", "agent", "flow", "callback"])
async def test_groups_of_commands_are_alike(tmp_path: Path, group: str) -> None:
    """Each group of commands removes items by `rm`."""
    status, out, _ = await switchroom(tmp_path, "http://127.0.0.1:1", group, "--help")
    assert status == 0
    assert {"rm"} < set(out.split())


@pytest.mark.parametrize(
    "url", ["127.0.0.1:8070", "localhost:8070", "http://", "http://a:port", "ftp://a", "http://[1"]
)
async def test_an_address_is_checked(tmp_path: Path, url: str) -> None:
    """An invalid URL is rejected, with an example of a valid one."""
    result = await switchroom(tmp_path, url, "call", "list")
    wanted = "expected a URL such as http://127.0.0.1:8070"
    assert result == (2, "", f"switchroom: --url {url}: {wanted}\n")


async def test_agents_are_listed(tmp_path: Path) -> None:
    """`switchroom agent list` shows presence and calls; names are printed unchanged."""
    async with FakeEngine() as engine:
        status, out, _ = await switchroom(
            tmp_path, engine.url(), "agent", "list", "--account", "acme"
        )
    head, *rows = (line.split() for line in out.splitlines())
    assert (status, head) == (0, ["agent", "name", "endpoint", "presence", "call"])
    assert rows == [
        ["1001", "[Ada]", "PJSIP/1001", "online,", "busy", "(pbx1)", "3-pbx1-7"],
        ["sales7", "PJSIP/1002", "offline"],
    ]


async def test_without_agents_the_command_that_adds_one_is_named(tmp_path: Path) -> None:
    async with FakeEngine() as engine:
        engine.agents = ()
        _, out, _ = await switchroom(tmp_path, engine.url(), "agent", "list", "--account", "acme")
    assert out == "no agents; `switchroom agent set AGENT-ID ENDPOINT` adds one\n"


async def test_an_agent_gets_a_new_password(tmp_path: Path) -> None:
    """`--new-password` chooses one, sends it and prints it with the phone's user."""
    typed = ("anna", "PJSIP/anna", "--account", "acme", "--new-password")
    async with FakeEngine() as engine:
        status, out, err = await switchroom(tmp_path, engine.url(), "agent", "set", *typed)
        _, other, _ = await switchroom(tmp_path, engine.url(), "agent", "set", *typed)
    user, password = (line.split()[1] for line in out.splitlines())
    assert (status, user, err) == (0, "anna", "switchroom: the password is shown only once\n")
    assert len(password) == 24
    assert password not in other
    sent = ("PUT", "agents/acme/anna/password", {"password": password})
    assert engine.requests[1] == sent


async def test_an_agent_is_set_and_removed(tmp_path: Path) -> None:
    """`agent set` sends its arguments, `agent rm` deletes the agent; an account is required."""
    mine = ("--account", "acme")
    typed = ("sales7", "PJSIP/1002", "--name", "Ada", "--caller-id", "+4721930000")
    async with FakeEngine() as engine:
        at = (tmp_path, engine.url())
        assert (await switchroom(*at, "agent", "set", *typed, *mine))[0] == 0
        assert (await switchroom(*at, "agent", "rm", "sales7", *mine))[0] == 0
        status, _, err = await switchroom(*at, "agent", "list")
    sent = {"endpoint": "PJSIP/1002", "name": "Ada", "callerId": "+4721930000"}
    assert engine.requests == [
        ("PUT", "agents/acme/sales7", sent),
        ("DELETE", "agents/acme/sales7", None),
    ]
    assert (status, err.startswith("switchroom: no account:")) == (2, True)
