"""`switchroom call replay`: result, exit status, and differences."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.contract.cli.fake_rest import FakeRest
from tests.harness.cli.replays import DIFFERENT, HOLE, SAME
from wire.views import Replay


def responses(*replays: Replay) -> dict[str, Any]:
    """Return the responses about calls, of which three are listed."""
    base = "GET /operations/calls"
    found = {f"{base}/{each.call_id}/replay": msgspec.to_builtins(each) for each in replays}
    return {f"{base}/ended?limit=3": {"callIds": [each.call_id for each in replays]}, **found}


@pytest.mark.parametrize(
    ("typed", "code", "first"),
    [
        (("3-pbx1-same",), 0, "call 3-pbx1-same: replays the same"),
        (("3-pbx1-other",), 1, "call 3-pbx1-other: DECISIONS DIFFER"),
        (("--all-ended", "3"), 1, "call 3-pbx1-other: DECISIONS DIFFER"),
    ],
)
async def test_one_or_many(tmp_path: Path, typed: tuple[str, ...], code: int, first: str) -> None:
    """Of many calls, those that differ are printed, and how many replay the same."""
    async with FakeRest() as rest:
        rest.responses = responses(SAME, HOLE, DIFFERENT)
        done = await rest.run(tmp_path, "call", "replay", *typed)
    assert (done[0], done[1].splitlines()[0]) == (code, first)
    if "--all-ended" in typed:
        assert done[1].splitlines()[-1].startswith("2 of 3 calls replay the same")


async def test_as_json(tmp_path: Path) -> None:
    """Scripts read the whole result."""
    async with FakeRest() as rest:
        rest.responses = responses(SAME)
        typed = ("call", "replay", SAME.call_id, "--output", "json")
        code, out, _ = await rest.run(tmp_path, *typed)
    assert (code, json.loads(out)["isSame"]) == (0, True)


async def test_which_call(tmp_path: Path) -> None:
    """Either a call id or --all-ended is required, not both."""
    async with FakeRest() as rest:
        for typed in ((), ("x", "--all-ended", "3")):
            code, _, err = await rest.run(tmp_path, "call", "replay", *typed)
            assert (code, err) == (2, "switchroom: either a call id or --all-ended is required\n")
