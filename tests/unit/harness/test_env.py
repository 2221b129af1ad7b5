"""The development settings are written once, kept, and added to."""

import json
from pathlib import Path

import pytest

from tests.harness.lab.env import ensure_env, read_env

NOTHING_SET: dict[str, str] = {}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Give a place for `.env`."""
    return tmp_path / ".env"


def test_is_written_once(path: Path) -> None:
    """The second time nothing is drawn anew: the file and the settings stay as they are."""
    first = ensure_env(path, NOTHING_SET)
    text = path.read_text()
    assert ensure_env(path, NOTHING_SET) == first
    assert path.read_text() == text


def test_is_its_owners_only(path: Path) -> None:
    """Nobody else may read the secrets."""
    ensure_env(path, NOTHING_SET)
    assert path.stat().st_mode & 0o777 == 0o600


def test_two_clones_share_no_secret(path: Path, tmp_path: Path) -> None:
    """Each `.env` has secrets of its own."""
    ensure_env(path, NOTHING_SET)
    ensure_env(tmp_path / "other", NOTHING_SET)
    ours, theirs = path.read_text().splitlines(), (tmp_path / "other").read_text().splitlines()
    common = {line.partition("=")[0] for line in ours if line in theirs}
    assert not [name for name in common if name.endswith(("TOKEN", "PASSWORD", "SECRET"))]


def test_what_was_set_stays(path: Path) -> None:
    """What a newer version needs is appended; a value set by hand is not touched."""
    path.write_text("SWITCHROOM_SLOTS=4\nSWITCHROOM_ARI_PASSWORD=mine\n")
    ensure_env(path, NOTHING_SET)
    assert read_env(path, NOTHING_SET)["SWITCHROOM_SLOTS"] == "4"
    nodes = json.loads(read_env(path, NOTHING_SET)["SWITCHROOM_NODES"])
    assert {node["password"] for node in nodes} == {"mine"}


def test_recordings_have_one_place(path: Path) -> None:
    """A second engine and `switchroom doctor` file where the lab's engine does."""
    place = f"file://{path.parent}/.lab/engine/recordings"
    assert ensure_env(path, NOTHING_SET)["SWITCHROOM_RECORDINGS_URL"] == place


def test_the_environment_wins(path: Path) -> None:
    """A variable of the environment goes before the file, as it does in the engine."""
    assert ensure_env(path, {"SWITCHROOM_SLOTS": "3"})["SWITCHROOM_SLOTS"] == "3"
