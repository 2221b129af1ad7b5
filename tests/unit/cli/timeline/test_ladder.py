"""Ladder diagrams."""

from pathlib import Path

import msgspec
import pytest

from cli.timeline.ladder import draw
from cli.timeline.row import ENGINE, Row
from cli.timeline.timeline import Diagram, Lifeline, build_diagram
from tests.harness.cli.inbound import GOLDEN, timeline
from wire.views import Timeline

STORIES = Path(__file__).parents[1] / "stories"  # of calls on a real PBX


def drawn(story: Diagram, width: int) -> list[str]:
    """Draw, without colours and without the blanks at the ends of lines."""
    return [line.plain.rstrip() for line in draw(story, width)]


def test_draws_a_whole_call() -> None:
    """Legs, prompt, digits, webhook, dial, bridge, goodbye and hangups stand in one picture."""
    assert drawn(build_diagram(timeline()), 100) == GOLDEN.read_text().splitlines()


@pytest.mark.parametrize("name", ["legs", "transfers", "conference"])
def test_draws_controlled_calls(name: str) -> None:
    """Mutes, holds, dials, recordings; transfers, REFER; members, a coach and its snoop."""
    file = STORIES / f"{name}.json"
    result = msgspec.json.decode(file.read_bytes(), type=Timeline)
    assert drawn(build_diagram(result), 120) == file.with_suffix(".txt").read_text().splitlines()


@pytest.mark.parametrize("width", [80, 100, 120])
def test_is_no_wider_than_the_screen(width: int) -> None:
    """Words that are too long for their column go on in the next line."""
    assert max(len(line) for line in drawn(build_diagram(timeline()), width)) <= width


def test_many_legs_fit() -> None:
    """Ten phones ringing at once still fit a narrow screen."""
    legs = [f"leg{number}" for number in range(10)]
    lifelines = (Lifeline(ENGINE, ENGINE), *(Lifeline(leg, leg[-1], "+15550100") for leg in legs))
    rows = tuple(Row(f"calls {leg}", ENGINE, leg, opens=leg) for leg in legs)
    lines = drawn(Diagram(lifelines, rows), 80)
    assert max(len(line) for line in lines) <= 80
    assert lines[-1].count("┼") == 9


def test_a_time_is_written_once() -> None:
    """Rows of the same moment show their time once."""
    rows = (Row("one", shape="mark", at_ms=5), Row("two", shape="mark", at_ms=5))
    *_, first, second = drawn(Diagram((Lifeline(ENGINE, ENGINE),), rows), 80)
    assert first.split() == ["0.005", "●", "one"]
    assert second.split() == ["●", "two"]


def test_bridged_legs_look_bridged() -> None:
    """From the bridge on the lifelines are double, until one leg is gone."""
    lifelines = (Lifeline(ENGINE, ENGINE), Lifeline("a", "A"), Lifeline("b", "B"))
    rows = (
        Row("calls", ENGINE, "a", opens="a"),
        Row("calls", ENGINE, "b", opens="b"),
        Row("talking", shape="join", joined=("a", "b"), bridged=("a", "b")),
        Row("presses 1", "b", bridged=("a", "b")),
        Row("is gone", "b", closes="b"),
        Row("end", shape="mark"),
    )
    pictures = [line[11:29].rstrip() for line in drawn(Diagram(lifelines, rows), 80)[2:]]
    assert pictures == [
        "├──────▶┐",
        "├───────┼──────▶┐",
        "│       ╠═══════╣",
        "│◀──────╫───────┤",
        "│◀──────╫───────┘",
        "●       │",
    ]
