"""The options of a lab: what was typed, over what the last start used."""

from pathlib import Path

import pytest

from dev.errors import BadOption
from dev.lab.plan import FOLDER, Plan, default_folder, read_plan, write_plan
from dev.lab.start import StartOptions, new_plan
from dev.servers.ports import outgoing_ports

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


def test_a_file_of_settings_leads_to_its_lab(tmp_path: Path) -> None:
    """It has the folder; a file without it, or none, is named."""
    file = tmp_path / "lab.env"
    file.write_text(f"{FOLDER}='/srv/lab'\n")
    assert default_folder(file) == Path("/srv/lab")
    with pytest.raises(BadOption, match=r"--settings: .*other\.env does not have"):
        default_folder(tmp_path / "other.env")


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


@pytest.mark.parametrize(
    ("plan", "range_"),
    [
        (Plan(port_base=40_000), "40000 to 40299"),
        (Plan(nodes=2, port_base=32_300), "32300 to 32799"),
        (Plan(port_base=60_999), "60999 to 61298"),
    ],
)
def test_ports_that_outgoing_connections_may_have(plan: Plan, range_: str) -> None:
    """The kernel may give one away while the lab does not run; a start says so."""
    note = plan.ports_note(range(32_768, 61_000))
    assert note.startswith(f"--port-base: {range_} are among the ports of outgoing connections")


@pytest.mark.parametrize(
    "plan", [Plan(), Plan(nodes=2), Plan(nodes=2, port_base=32_268), Plan(port_base=61_000)]
)
def test_other_ports_need_no_note(plan: Plan) -> None:
    """The last port of the highest such base is just below those of connections."""
    assert plan.ports_note(range(32_768, 61_000)) == ""
    assert outgoing_ports().start > 1_024


def test_a_folder_without_a_lab(tmp_path: Path) -> None:
    """It has no plan."""
    assert read_plan(tmp_path) is None
