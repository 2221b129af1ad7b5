"""`switchroom call replay`: result, exit status, and differences."""

import json
from pathlib import Path

import pytest

from tests.contract.cli.command import switchroom
from tests.contract.cli.fake_engine import FakeEngine
from tests.harness.cli.replays import DIFFERENT, HOLE, SAME


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
    async with FakeEngine() as engine:
        engine.replays = {each.call_id: each for each in (SAME, HOLE, DIFFERENT)}
        done = await switchroom(tmp_path, engine.url(), "call", "replay", *typed)
    assert (done[0], done[1].splitlines()[0]) == (code, first)
    if "--all-ended" in typed:
        assert done[1].splitlines()[-1].startswith("2 of 3 calls replay the same")


async def test_as_json(tmp_path: Path) -> None:
    """Scripts read the whole result."""
    async with FakeEngine() as engine:
        engine.replays = {SAME.call_id: SAME}
        typed = ("call", "replay", SAME.call_id, "--output", "json")
        code, out, _ = await switchroom(tmp_path, engine.url(), *typed)
    assert (code, json.loads(out)["isSame"]) == (0, True)


async def test_which_call(tmp_path: Path) -> None:
    """Either a call id or --all-ended is required, not both."""
    for typed in ((), ("x", "--all-ended", "3")):
        code, _, err = await switchroom(tmp_path, "http://127.0.0.1:1", "call", "replay", *typed)
        assert (code, err) == (2, "switchroom: either a call id or --all-ended is required\n")
