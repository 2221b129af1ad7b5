"""The part of a `.env` that a lab writes; all other lines are the developer's."""

from pathlib import Path

import pytest

from dev.errors import BadOption, UnreadableSettings
from dev.lab.env_file import read_file, write_dotenv

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


def test_the_developers_line_ends_stay(path: Path) -> None:
    """Also those of another system."""
    path.write_bytes(b"OTHER=1\r\nMORE=2\r\n")
    write_dotenv(path, SETTINGS, SOURCE)
    write_dotenv(path, SETTINGS, SOURCE)
    assert path.read_bytes().startswith(b"OTHER=1\r\nMORE=2\r\n#")


def test_what_cannot_be_written_leaves_the_file(path: Path) -> None:
    """A value that a shell would run is an error; the developer's lines are not lost."""
    path.write_text("OTHER=1\n")
    for value in ("it's $(touch x)", "it's `x`", "two\nlines", "'\"", "\\'"):
        with pytest.raises(BadOption, match=r"^SWITCHROOM_GREETING: "):
            write_dotenv(path, {"SWITCHROOM_GREETING": value}, SOURCE)
    assert path.read_text() == "OTHER=1\n"
    assert [each.name for each in path.parent.iterdir()] == [".env"]


def test_an_apostrophe_is_read_as_written(path: Path) -> None:
    """In double quotes, which a shell reads in the same way."""
    write_dotenv(path, {"SWITCHROOM_GREETING": "it's"}, SOURCE)
    assert read_file(path) == {"SWITCHROOM_GREETING": "it's"}
    assert """\nSWITCHROOM_GREETING="it's"\n""" in path.read_text()


def test_a_file_in_another_encoding_stays(path: Path) -> None:
    """It is named; nothing is written to it."""
    path.write_bytes(b"OTHER=\xff\n")
    with pytest.raises(UnreadableSettings, match=r"\.env cannot be read"):
        write_dotenv(path, SETTINGS, SOURCE)
    assert path.read_bytes() == b"OTHER=\xff\n"


def test_a_link_of_ours_is_followed(path: Path) -> None:
    """The link stays, and its file is replaced."""
    target = path.with_name("shared.env")
    target.write_text("OTHER=1\n")
    path.symlink_to(target)
    write_dotenv(path, SETTINGS, SOURCE)
    assert path.is_symlink()
    assert read_file(target) == {"OTHER": "1", **SETTINGS}


def test_a_file_of_others_is_not_filled(path: Path) -> None:
    """One that somebody has put there, and may read, is replaced by one of its owner only."""
    path.write_text("OTHER=1\n")
    path.chmod(0o666)
    with path.open() as opened_before:
        write_dotenv(path, SETTINGS, SOURCE)
        assert opened_before.read() == "OTHER=1\n"
    assert path.stat().st_mode & 0o777 == 0o600
