"""The performance page has the rows and charts that the scene makes."""

from pathlib import Path

import pytest

from tools.bench.ivr.ivr50 import CHARTS
from tools.bench.report import ANCHORED, ANCHORED_HEAD, OTHER_HEAD

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "performance.md").read_text()


@pytest.mark.parametrize("head", [ANCHORED_HEAD, OTHER_HEAD], ids=["anchored", "other"])
def test_its_tables_are_those_of_the_report(head: tuple[str, ...]) -> None:
    """`python -m tools.bench.report` prints tables with the same columns."""
    assert f"| {' | '.join(head)} |" in PAGE


def test_each_ratio_has_its_row() -> None:
    """What the report compares with the bare application is on the page, in its order."""
    rows = [line.split(" | ")[0].removeprefix("| ") for line in PAGE.splitlines()]
    expected = [each.what for each in ANCHORED]
    first = rows.index(expected[0])
    assert rows[first : first + len(expected)] == expected


@pytest.mark.parametrize("scene", ["ivr50", "ivr50_engine"])
@pytest.mark.parametrize("chart", CHARTS)
def test_its_charts_are_those_of_the_scene(scene: str, chart: str) -> None:
    """The page shows each chart, and the file is there."""
    name = f"{scene}-{chart}.svg"
    assert f"(pictures/{name})" in PAGE
    assert (DOCS / "pictures" / name).read_text().startswith("<svg")
