"""The units for plain hosts, and the files that they read."""

from configparser import RawConfigParser
from pathlib import Path

import pytest
from dotenv import dotenv_values

from engine.app import connections
from engine.app.engine import LEAVE_TIMEOUT_S
from tests.unit.operations.inputs import accepted, filled, unknown_of_pbx, unknown_settings
from tests.unit.operations.manifests import OPERATIONS

SYSTEMD = OPERATIONS / "systemd"


def unit(name: str) -> RawConfigParser:
    """Read a unit; of a repeated key the last counts."""
    found = RawConfigParser(strict=False)
    found.read(SYSTEMD / name)
    return found


def asked_files(name: str) -> list[str]:
    """Name the files of variables that a unit reads."""
    lines = (SYSTEMD / name).read_text().splitlines()
    return [line.partition("=")[2] for line in lines if line.startswith("EnvironmentFile=")]


@pytest.mark.parametrize("number", [1, 2])
def test_an_engine_takes_its_files(number: int, tmp_path: Path) -> None:
    """What all engines share and what is one's own are settings; its address is where it serves."""
    own = filled(SYSTEMD / f"engine{number}.env.example")
    given = {**filled(SYSTEMD / "engines.env.example"), **own}
    assert not unknown_settings(given)
    settings = accepted(given, tmp_path)
    serves = f"http://{settings.rpc_host}:{settings.rpc_port}"
    assert connections.rpc_url(settings) == serves
    assert {connections.media_url(settings, node) for node in settings.nodes} == {serves}


def test_engines_have_addresses_of_their_own() -> None:
    """Two engines are two addresses."""
    both = [dotenv_values(SYSTEMD / f"engine{number}.env.example") for number in (1, 2)]
    assert len({each["SWITCHROOM_RPC_URL"] for each in both}) == 2


def test_an_engine_has_the_time_to_leave() -> None:
    """The supervisor waits for longer than handing the calls over takes, and starts it again."""
    service = unit("switchroom@.service")["Service"]
    assert int(service["TimeoutStopSec"]) >= 3 * LEAVE_TIMEOUT_S
    assert service["Restart"] == "always"


@pytest.mark.parametrize("name", ["switchroom@.service", "switchroom-pbx.service"])
def test_there_is_an_example_of_every_file(name: str) -> None:
    """Each file that a unit reads lies beside it, as an example."""
    for path in asked_files(name):
        example = f"{Path(path).name}.example".replace("%i", "1")
        assert (SYSTEMD / example).exists()


def test_a_node_is_told_what_it_asks_for() -> None:
    """Every PBX_ variable is one that the templates have."""
    assert not unknown_of_pbx(dotenv_values(SYSTEMD / "pbx.env.example"))
