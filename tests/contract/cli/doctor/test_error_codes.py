"""`switchroom error`: the table of error codes on a terminal."""

import json
from pathlib import Path

import pytest

from tests.harness.cli.forked import run_forked
from wire.error_codes.catalogue import CATALOGUE


@pytest.mark.parametrize(
    ("code", "family"),
    [
        ("call_ended", "call_ended"),
        ("status_503", "status_nnn"),
        ("action_failed:connect", "connect"),
        ("status_500: answered 500", "status_nnn"),
        ("action_failed:something else", "action_failed"),
    ],
)
async def test_a_code_is_explained(tmp_path: Path, code: str, family: str) -> None:
    """Without a server: meaning, cause, what to do, and the page; also by a call's reason."""
    row = CATALOGUE[family]
    done = await run_forked(("error", "show", code), tmp_path, {})
    text = " ".join(done.out.split())
    assert (done.status, done.err) == (0, "")
    assert all(each in text for each in (row.title, row.meaning, row.cause, row.action))
    assert f"docs/reference/errors.md#{family}" in text


async def test_a_code_as_json(tmp_path: Path) -> None:
    """Statuses are numbers, and places a list."""
    done = await run_forked(("error", "show", "call_ended", "-o", "json"), tmp_path, {})
    found = json.loads(done.out)
    assert (found["code"], found["statuses"]) == ("call_ended", [404, 409])
    assert "a problem of the REST API" in found["places"]


async def test_codes_are_listed(tmp_path: Path) -> None:
    """All of them, or those that contain a text."""
    done = await run_forked(("error", "list", "-o", "json"), tmp_path, {})
    assert [each["code"] for each in json.loads(done.out)] == [*CATALOGUE]
    some = await run_forked(("error", "list", "--containing", "TIMELINE"), tmp_path, {})
    assert [line.split()[0] for line in some.out.splitlines()] == ["code", "too_many_timelines"]


async def test_an_unknown_code(tmp_path: Path) -> None:
    """Status 1, as for any name that does not exist."""
    done = await run_forked(("error", "show", "nothing"), tmp_path, {})
    assert (done.status, done.err) == (1, "switchroom: no such error code: nothing\n")
