"""Ladder diagrams."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from cli.timeline.ladder import draw
from tests.harness.cli.inbound import GOLDEN, read_call, timeline
from tests.harness.timelines import timeline_of
from wire.views import Lifeline, Timeline, TimelineRow, TimelineSpan

STORIES = Path(__file__).parents[1] / "stories"  # of calls on a real PBX


def drawn(story: Timeline, width: int) -> list[str]:
    """Draw, without colours and without the blanks at the ends of lines."""
    return [line.plain.rstrip() for line in draw(story, width)]


def test_draws_a_whole_call() -> None:
    """Legs, prompt, digits, webhook, dial, bridge, goodbye and hangups stand in one picture."""
    assert drawn(timeline(), 100) == GOLDEN.read_text().splitlines()


@pytest.mark.parametrize("name", ["legs", "transfers", "conference"])
def test_draws_controlled_calls(name: str) -> None:
    """Mutes, holds, dials, recordings; transfers, REFER; members, a coach and its snoop."""
    file = STORIES / f"{name}.json"
    found = read_call(file)
    result = timeline_of(found.call, found.moments)
    assert drawn(result, 120) == file.with_suffix(".txt").read_text().splitlines()


@pytest.mark.parametrize("width", [80, 100, 120])
def test_is_no_wider_than_the_screen(width: int) -> None:
    """Words that are too long for their column go on in the next line."""
    assert max(len(line) for line in drawn(timeline(), width)) <= width


def of_rows(legs: Sequence[str], *rows: TimelineRow) -> Timeline:
    """Return a timeline with legs, whose call began at 0."""
    engine = Lifeline("engine", "engine", "engine")
    lifelines = (
        engine,
        *(Lifeline(leg, "leg", leg[-1].upper(), "+15550100") for leg in legs),
    )
    return Timeline(replace(read_call().call, created_ms=0), lifelines, rows)


def calls(leg: str) -> TimelineRow:
    """Return the row with which the lifeline of a leg begins."""
    return TimelineRow(0, "engine", leg, "calls", begins=(TimelineSpan(leg, "leg"),))


def test_many_legs_fit() -> None:
    """Ten phones ringing at once still fit a narrow screen."""
    legs = [f"leg{number}" for number in range(10)]
    lines = drawn(of_rows(legs, *map(calls, legs)), 80)
    assert max(len(line) for line in lines) <= 80
    assert lines[-1].count("┼") == 9


def test_a_time_is_written_once() -> None:
    """Rows of the same moment show their time once."""
    rows = (TimelineRow(5, "engine", "engine", text) for text in ("one", "two"))
    *_, first, second = drawn(of_rows([], *rows), 80)
    assert first.split() == ["0.005", "●", "one"]
    assert second.split() == ["●", "two"]


def test_all_servers_have_one_lifeline() -> None:
    """Each request is an arrow to it."""
    call = of_rows(["a"], calls("a"))
    lifelines = (
        *call.lifelines,
        *(Lifeline(f"web:{n}", "server", "server", n) for n in "xy"),
    )
    sent = (TimelineRow(0, "engine", f"web:{name}", name) for name in "xy")
    legend, headings, *_, first, second = drawn(
        replace(call, lifelines=lifelines, rows=(*call.rows, *sent)), 80
    )
    assert legend.endswith("web x, y")
    assert headings.split() == ["eng", "A", "web"]
    assert first[9:30] == second[9:30]


def test_bridged_legs_look_bridged() -> None:
    """From the bridge on the lifelines are double, until one leg is gone."""
    bridged = tuple(TimelineSpan(leg, "bridge") for leg in ("a", "b"))
    rows = (
        calls("a"),
        calls("b"),
        TimelineRow(0, "a", "a", "talking", joined=("a", "b"), begins=bridged),
        TimelineRow(0, "b", "engine", "presses 1"),
        TimelineRow(0, "b", "engine", "left", ends=(TimelineSpan("b", "leg"), *bridged)),
        TimelineRow(0, "engine", "engine", "", ends=()),
        TimelineRow(0, "engine", "engine", "end"),
    )
    pictures = [line[11:29].rstrip() for line in drawn(of_rows(["a", "b"], *rows), 80)[2:]]
    assert pictures == [
        "├──────▶┐",
        "├───────┼──────▶┐",
        "│       ╠═══════╣",
        "│◀──────╫───────┤",
        "│◀──────╫───────┘",
        "●       │",
    ]
