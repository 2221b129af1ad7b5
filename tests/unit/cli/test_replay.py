"""`switchroom replay`: its verdict, its exit status, and what differs."""

import json
from pathlib import Path

import pytest

from engine.cli.replay import lines, status, summary
from tests.unit.cli.fake_engine import FakeEngine
from tests.unit.cli.steered import switchroom
from wire.replay import Difference, Replay

SAME = Replay("3-pbx1-same", is_same=True, lines=12, compared=11, told=7)
HOLE = Replay("3-pbx1-hole", is_same=True, lines=12, compared=4, told=7, hole=5)
OTHERWISE = Replay(
    "3-pbx1-other",
    is_same=False,
    lines=12,
    compared=11,
    told=7,
    trimmed=2,
    differences=(
        Difference(
            "commands", "decides otherwise", 4, 1_700_000_000_123,
            {"type": "digit-pressed", "leg": "a", "digit": "4"},
            (
                {"type": "emit-event", "event": {"event": "gathered"}},
                {"type": "stop-hold-music", "leg": "a"},
            ),
        ),
        Difference("state", "leads to another call than is stored: cause"),
    ),
)  # fmt: skip


def test_a_verdict_is_told_in_lines() -> None:
    """What was compared, and of a difference the line, the event and what is decided now."""
    assert list(lines(SAME)) == [
        "call 3-pbx1-same: replays the same",
        "  log: 12 lines, 11 decisions compared",
        "  told: 7 events",
    ]
    upon = "digit-pressed(leg=a, digit=4)"
    assert list(lines(OTHERWISE)) == [
        "call 3-pbx1-other: DECIDES OTHERWISE NOW",
        "  log: 12 lines, 11 decisions compared",
        "  told: 7 events, 2 of them no longer on the stream",
        f"  commands, line 4, 2023-11-14 22:13:20.123 UTC, upon {upon}: decides otherwise",
        "    now: emit-event(gathered)",
        "    now: stop-hold-music(leg=a)",
        "  state, at the end: leads to another call than is stored: cause",
    ]


def test_a_hole_is_told() -> None:
    """It is not passed over."""
    assert any(line.startswith("  HOLE at line 5") for line in lines(HOLE))


def test_the_exit_status_tells_the_worst() -> None:
    """1 for a difference, 3 for a hole, 0 when all is the same."""
    assert [status([SAME]), status([SAME, HOLE]), status([HOLE, OTHERWISE])] == [0, 3, 1]
    assert summary([SAME, HOLE, OTHERWISE]) == (
        "2 of 3 calls replay the same, 26 decisions compared, 1 with a hole in the log"
    )


@pytest.mark.parametrize(
    ("typed", "code", "first"),
    [
        (("3-pbx1-same",), 0, "call 3-pbx1-same: replays the same"),
        (("3-pbx1-other",), 1, "call 3-pbx1-other: DECIDES OTHERWISE NOW"),
        (("--all-ended", "3"), 1, "call 3-pbx1-other: DECIDES OTHERWISE NOW"),
    ],
)
async def test_one_or_many(tmp_path: Path, typed: tuple[str, ...], code: int, first: str) -> None:
    """Of many, those that differ are told, and how many do not."""
    async with FakeEngine() as engine:
        engine.replays = {each.call_id: each for each in (SAME, HOLE, OTHERWISE)}
        done = await switchroom(tmp_path, engine.url(), "replay", *typed)
    assert (done[0], done[1].splitlines()[0]) == (code, first)
    if "--all-ended" in typed:
        assert done[1].splitlines()[-1].startswith("2 of 3 calls replay the same")


async def test_as_json(tmp_path: Path) -> None:
    """A line a call, for scripts."""
    async with FakeEngine() as engine:
        engine.replays = {SAME.call_id: SAME}
        code, out, _ = await switchroom(tmp_path, engine.url(), "replay", SAME.call_id, "--json")
    assert (code, json.loads(out)["isSame"]) == (0, True)


async def test_which_call(tmp_path: Path) -> None:
    """One, or how many; not both, and not neither."""
    for typed in ((), ("x", "--all-ended", "3")):
        code, _, err = await switchroom(tmp_path, "http://127.0.0.1:1", "replay", *typed)
        assert (code, err) == (2, "switchroom: which call? name one, or how many by --all-ended\n")
