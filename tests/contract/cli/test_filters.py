"""Filters of lists: those of the REST layer, also in an operator's list of all calls."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.contract.cli.fake_rest import FakeRest
from tests.contract.cli.rest_document import parameters_of
from tests.harness.cli.controlled_call import CALL

PAGING = {"limit", "offset", "cursor", "after"}  # a command reads page after page
# Each list with all its filters, and the path and query that it sends.
LISTS = {
    "call list --direction inbound --state bridged --number +47 --agent ada": (
        "/voice/calls",
        {"direction": "inbound", "state": "bridged", "number": "+47", "agentId": "ada"},
    ),
    "webhook list --call c1 --kind gather --outcome succeeded": (
        "/voice/webhooks",
        {"callId": "c1", "kind": "gather", "outcome": "succeeded"},
    ),
    "cdr list --number +47 --from +46 --to +45 --call c1 --client 7 --path flow:a --agent Ada"
    " --status missed --purpose voicemail --obd-type direct --disposition1 a --disposition2 b"
    " --disposition3 c --since 2026-11-01 --until 2026-11-30": (
        "/cdr",
        {
            "dialedNumber": "+47", "callerId": "+46", "toNumber": "+45", "reqId": "c1",
            "clientId": "7", "callPath": "flow:a", "agentName": "Ada", "answerStatus": "missed",
            "recordingPurpose": "voicemail", "obdType": "direct", "dispositionLevel1Id": "a",
            "dispositionLevel2Id": "b", "dispositionLevel3Id": "c", "startTime": "2026-11-01",
            "endTime": "2026-11-30",
        },
    ),
    "audit list --actor key:a --agent ada --action x --since 2026-11-01 --until 2026-11-02": (
        "/audit",
        {"actor": "key:a", "agentId": "ada", "action": "x", "startTime": "2026-11-01",
         "endTime": "2026-11-02"},
    ),
    "recording list --call c1 --since 2026-11-01 --until 2026-11-02 --purpose voicemail": (
        "/recordings",
        {"callId": "c1", "startTime": "2026-11-01", "endTime": "2026-11-02",
         "purpose": "voicemail"},
    ),
    "account usage --since 2026-11-01 --until 2026-11-02": (
        "/account/usage", {"startDate": "2026-11-01", "endDate": "2026-11-02"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("words", LISTS)
async def test_a_list_has_the_filters_of_the_rest_layer(tmp_path: Path, words: str) -> None:
    """Each parameter of the REST layer's list is an option, which is sent as it was typed."""
    path, sent = LISTS[words]
    assert parameters_of("GET", f"/srmain{path}") - PAGING == sent.keys()
    query = await _query(tmp_path, words)
    assert {name: text for name, text in query.items() if name not in PAGING} == sent


@pytest.mark.parametrize(
    ("words", "ends"),
    [
        ("--since 2026-11-01", ("2026-11-01", "2100-01-01")),
        ("--until 2026-11-01", ("2000-01-01", "2026-11-01")),
    ],
)
async def test_one_end_of_a_range_is_enough(
    tmp_path: Path, words: str, ends: tuple[str, str]
) -> None:
    """The REST layer's list of records needs both ends: the command adds the other one."""
    query = await _query(tmp_path, f"cdr list {words}")
    assert (query["startTime"], query["endTime"]) == ends


async def _query(folder: Path, words: str) -> dict[str, str]:
    async with FakeRest() as rest:
        rest.default = {"data": [], "total": {}, "nextCursor": None}
        status, _, err = await rest.run(folder, *words.split())
    assert (status, err) == (0, "")
    return rest.requests[0].query


@pytest.mark.parametrize(
    ("words", "is_listed"),
    [
        (f"--direction {CALL.direction}", True),
        ("--direction inbound", CALL.direction == "inbound"),
        (f"--state {CALL.state}", True),
        ("--state setup", False),
        (f"--number {CALL.to}", True),
        ("--number +1", False),
        ("--agent ada", True),
        ("--agent eve", False),
    ],
)
async def test_an_operators_list_has_the_same_filters(
    tmp_path: Path, words: str, *, is_listed: bool
) -> None:
    """The REST layer lists the calls of all accounts, with their nodes; the command chooses."""
    call = json.loads(msgspec.json.encode(CALL))
    async with FakeRest() as rest:
        rest.responses = {"GET /operations/calls": {"data": [call], "total": 1}}
        listed = await rest.run(
            tmp_path, "call", "list", "--all-accounts", *words.split(), "-o", "json"
        )
    assert (listed.status, json.loads(listed.out)) == (0, [call] if is_listed else [])


async def test_calls_on_a_node(tmp_path: Path) -> None:
    """They are those of all accounts, so the table has the account of each."""
    call = json.loads(msgspec.json.encode(CALL))
    async with FakeRest() as rest:
        path = f"GET /operations/calls?node={CALL.node}"
        rest.responses = {path: {"data": [call], "total": 1}}
        _, out, _ = await rest.run(tmp_path, "call", "list", "--node", CALL.node)
    assert out.splitlines()[1].split()[-2:] == [CALL.account, CALL.node]


@pytest.mark.parametrize(("limit", "ids"), [("2", "a b"), ("0", "a b c")])
async def test_dead_letters_have_a_limit(tmp_path: Path, limit: str, ids: str) -> None:
    """No page is read that the limit needs not."""

    def dead(each: str) -> dict[str, Any]:
        return {"id": each, "event": {}, "target": "", "reason": "", "attempts": 1,
                "givenUpTime": "now"}  # fmt: skip

    path = "GET /voice/callbacks/dead-letters"
    async with FakeRest() as rest:
        rest.responses = {
            path: {"data": [dead("a"), dead("b")], "nextCursor": "1-2"},
            f"{path}?cursor=1-2": {"data": [dead("c")], "nextCursor": None},
        }
        _, out, _ = await rest.run(
            tmp_path, "callback", "dead", "--limit", limit, "--output", "json"
        )
    assert [each["id"] for each in json.loads(out)] == ids.split()
    assert len(rest.requests) == (1 if limit == "2" else 2)
