"""The part of a `.env` that a lab writes; all other lines are the developer's."""

from pathlib import Path

import pytest

from dev.lab.dotenv_file import write_dotenv
from dev.lab.settings import read_file

SETTINGS = {"SWITCHROOM_RPC_TOKEN": "ours", "SWITCHROOM_RPC_PORT": "8070"}
SOURCE = Path("/state/settings.env")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Give a place for `.env`."""
    return tmp_path / ".env"


def test_a_new_file_is_its_owners_only(path: Path) -> None:
    """It has secrets, and says where they are edited."""
    assert write_dotenv(path, SETTINGS, SOURCE) == []
    assert read_file(path) == SETTINGS
    assert path.stat().st_mode & 0o777 == 0o600
    assert str(SOURCE) in path.read_text()


@pytest.mark.parametrize("before", ["OTHER=1\n", "OTHER=1"])
def test_other_lines_stay(path: Path, before: str) -> None:
    """Also a last line without its end; a second start replaces only the part."""
    path.write_text(before)
    write_dotenv(path, SETTINGS, SOURCE)
    first = path.read_text()
    assert first.startswith("OTHER=1\n#")
    write_dotenv(path, {**SETTINGS, "SWITCHROOM_RPC_PORT": "9000"}, SOURCE)
    assert path.read_text() == first.replace("8070", "9000")


def test_lines_after_the_part_stay(path: Path) -> None:
    """A developer adds them at the end of the file."""
    write_dotenv(path, SETTINGS, SOURCE)
    with path.open("a") as file:
        file.write("LATER=2\n")
    write_dotenv(path, SETTINGS, SOURCE)
    assert read_file(path) == {"LATER": "2", **SETTINGS}


def test_a_setting_of_the_developer_goes_before_ours(path: Path) -> None:
    """It is reported if it differs, because commands then reach another server."""
    path.write_text("SWITCHROOM_RPC_TOKEN=mine\nSWITCHROOM_RPC_PORT=8070\n")
    assert write_dotenv(path, SETTINGS, SOURCE) == ["SWITCHROOM_RPC_TOKEN"]
    assert read_file(path) == {"SWITCHROOM_RPC_TOKEN": "mine", "SWITCHROOM_RPC_PORT": "8070"}
