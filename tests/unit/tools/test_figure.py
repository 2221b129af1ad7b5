"""Figures: the ratio to a baseline, and the file that keeps them."""

import math
from pathlib import Path

import msgspec
import pytest

from tools.bench.figure import Figure, figure, keep


def test_the_ratio_is_to_the_baseline() -> None:
    """A figure has its baseline beside it, and how many times that it is."""
    found = figure("ivr50", "engine_cpu", 8.4, "ms/call", 2.1)
    command = "python -m tools.bench --only ivr50"
    assert found == Figure("ivr50.engine_cpu", 8.4, "ms/call", 2.1, 4.0, command)


@pytest.mark.parametrize(("baseline", "kept"), [(None, None), (math.nan, None), (0, 0)])
def test_there_is_no_ratio_to_nothing(baseline: float | None, kept: float | None) -> None:
    """Without a baseline, with one that was not measured, and with zero there is no ratio."""
    found = figure("ivr50", "failures", 3, "calls", baseline)
    assert (found.baseline, found.ratio) == (kept, None)


def test_new_figures_replace_those_of_the_same_name(tmp_path: Path) -> None:
    """The file keeps other figures, and its list has the fields that readers expect."""
    path = tmp_path / "out/bench.json"
    keep([figure("a", "x", 1, "ms"), figure("a", "y", 2, "ms", 4)], path)
    keep([figure("a", "x", 3, "ms")], path)
    command = "python -m tools.bench --only a"
    x = {"name": "a.x", "value": 3, "unit": "ms", "baseline": None, "ratio": None}
    y = {"name": "a.y", "value": 2, "unit": "ms", "baseline": 4, "ratio": 0.5}
    assert msgspec.json.decode(path.read_bytes()) == [
        {**x, "command": command},
        {**y, "command": command},
    ]


def test_a_figure_that_was_not_measured_spoils_nothing(tmp_path: Path) -> None:
    """NaN, which JSON does not have, is left out, so that the file can be read again."""
    path = tmp_path / "bench.json"
    keep([figure("a", "x", 1, "ms"), figure("a", "y", math.nan, "ms")], path)
    keep([figure("a", "z", 2, "ms")], path)
    assert [each["name"] for each in msgspec.json.decode(path.read_bytes())] == ["a.x", "a.z"]
