"""The options of a lab: what was typed, over what the last start used."""

from pathlib import Path

import pytest

from dev.errors import BadOption
from dev.lab.plan import Plan, read_plan, write_plan
from dev.lab.start import StartOptions, new_plan

NOTHING = StartOptions(None, None, None, "", None)


def test_a_start_without_options_is_like_the_last_one(tmp_path: Path) -> None:
    """Also of another process: the options are kept beside the state."""
    write_plan(tmp_path, Plan(nodes=2, port_base=21_000, pbx="path"))
    before = read_plan(tmp_path)
    assert before is not None
    assert new_plan(before, NOTHING) == before


def test_an_option_replaces_one() -> None:
    """The others stay as they were."""
    options = NOTHING._replace(nodes=1, port_base=0)
    plan = new_plan(Plan(nodes=2, port_base=21_000, pbx="path"), options)
    assert plan == Plan(nodes=1, port_base=0, pbx="path")


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (NOTHING._replace(nodes=3), "--nodes"),
        (NOTHING._replace(nodes=0), "--nodes"),
        (NOTHING._replace(port_base=80), "--port-base"),
        (NOTHING._replace(port_base=65_000), "--port-base"),
    ],
)
def test_an_option_out_of_range_is_named(options: StartOptions, name: str) -> None:
    """With what is allowed."""
    with pytest.raises(BadOption, match=f"^{name}: expected"):
        new_plan(Plan(), options)


def test_a_folder_without_a_lab(tmp_path: Path) -> None:
    """It has no plan."""
    assert read_plan(tmp_path) is None
