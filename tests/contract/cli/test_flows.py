"""`switchroom flow` as users type it."""

import json
from pathlib import Path

import pytest

from tests.contract.cli.command import switchroom
from tests.contract.cli.fake_engine import REQUEST, FakeEngine
from wire.rpc import FieldError, Problem

HANGUP = '{"type": "hangup"}'
API_REQUEST = '{"url": "https://crm.example/people"}'
ME = ("--account", "acme")


@pytest.mark.parametrize(
    ("typed", "said", "body"),
    [
        (["flow", "put", "menu", HANGUP], "flow menu, version 4", ("PUT", "flows/acme/menu")),
        (["flow", "check", "menu", HANGUP], "flow menu is valid",
         ("POST", "flows/acme/menu/check")),
        (["flow", "list"], "menu", ("GET", "flows/acme")),
        (["flow", "versions", "menu"], "2 3", ("GET", "flows/acme/menu/versions")),
        (["flow", "show", "menu", "--version", "2"], "hangup", ("GET", "flows/acme/menu")),
        (["flow", "get", "menu"], "hangup", ("GET", "flows/acme/menu")),
        (["flow", "rm", "menu"], "", ("DELETE", "flows/acme/menu")),
        (["request", "list"], "crm.example", ("GET", "requests/acme")),
        (["request", "show", "x"], "token", ("GET", "requests/acme/x")),
        (["request", "put", API_REQUEST, "--id", REQUEST.request_id], REQUEST.request_id,
         ("PUT", f"requests/acme/{REQUEST.request_id}")),
        (["request", "rm", "x"], "", ("DELETE", "requests/acme/x")),
    ],
    ids=lambda each: " ".join(each[:2]) if isinstance(each, list) else "",
)  # fmt: skip
async def test_each_requests_one_thing(
    tmp_path: Path, typed: list[str], said: str, body: tuple[str, str]
) -> None:
    """Each command sends one request and prints the response."""
    async with FakeEngine() as engine:
        status, out, err = await switchroom(tmp_path, engine.url(), *typed, *ME)
    assert (status, err) == (0, "")
    assert said in out
    assert [each[:2] for each in engine.requests] == [body]


async def test_a_request_without_an_id_gets_one(tmp_path: Path) -> None:
    """The generated id is printed, because flows refer to it."""
    async with FakeEngine() as engine:
        put = ("request", "put", API_REQUEST, *ME)
        _, out, _ = await switchroom(tmp_path, engine.url(), *put)
    made = out.strip()
    assert len(made) == 24
    assert engine.requests == [("PUT", f"requests/acme/{made}", json.loads(API_REQUEST))]


async def test_every_fault_of_a_flow_is_shown(tmp_path: Path) -> None:
    """All errors are printed, each with its path and code."""
    faults = (
        FieldError("nodes.a.next", "no node b", "unknown_node"),
        FieldError("nodes.c", "no node leads here", "unreachable_node"),
    )
    async with FakeEngine() as engine:
        engine.problem = Problem("Invalid input", 400, "unknown_node", "2", faults)
        status, out, err = await switchroom(
            tmp_path, engine.url(), "flow", "check", "menu", HANGUP, *ME
        )
    assert (status, out) == (2, "")
    assert "nodes.a.next: no node b (unknown_node)" in err
    assert "nodes.c: no node leads here (unreachable_node)" in err
