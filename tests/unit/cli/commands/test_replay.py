"""`switchroom call replay`: result, exit status and differences."""

from cli.commands.replay import lines, status, summary
from tests.harness.cli.replays import DIFFERENT, HOLE, SAME


def test_a_verdict_is_shown_in_lines() -> None:
    """What was compared, and of a difference the line, the event and what is decided now."""
    assert list(lines(SAME)) == [
        "call 3-pbx1-same: replays the same",
        "  log: 12 lines, 11 decisions compared",
        "  events: 7",
    ]
    event = "digit-pressed(leg=a, digit=4)"
    assert list(lines(DIFFERENT)) == [
        "call 3-pbx1-other: DECISIONS DIFFER",
        "  log: 12 lines, 11 decisions compared",
        "  events: 7, 2 of them already trimmed from the stream",
        f"  commands, line 4, 2023-11-14 22:13:20.123 UTC, event {event}: the commands differ",
        "    now: emit-event(gathered)",
        "    now: stop-hold-music(leg=a)",
        "  state, at the end: the result differs from the stored call: cause",
    ]


def test_a_hole_is_shown() -> None:
    """It is not passed over."""
    assert any(line.startswith("  GAP at line 5") for line in lines(HOLE))


def test_the_exit_status_shows_the_worst() -> None:
    """1 for a difference, 6 for a gap, 0 if everything is the same."""
    assert [status([SAME]), status([SAME, HOLE]), status([HOLE, DIFFERENT])] == [0, 6, 1]
    assert summary([SAME, HOLE, DIFFERENT]) == (
        "2 of 3 calls replay the same, 26 decisions compared, 1 with a gap in the log"
    )
