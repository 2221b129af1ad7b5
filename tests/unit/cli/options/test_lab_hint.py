"""What a command says in a folder without `.env`, if this user has a lab."""

import json
import os
from pathlib import Path

import pytest

from base.lab_folder import PLAN_FILE, lab_hint, lab_settings_folder
from cli.errors import NO_SOURCE, UsageError, explain, key_named
from cli.options.connection import is_lab


def state(folder: Path, plan: object) -> dict[str, str]:
    """Write the plan of a lab, and return the variables that lead to it."""
    path = folder / "switchroom/dev" / PLAN_FILE
    path.parent.mkdir(parents=True)
    path.write_text(plan if isinstance(plan, str) else json.dumps(plan))
    return {"XDG_STATE_HOME": str(folder)}


def test_the_folder_of_the_lab_is_named(tmp_path: Path) -> None:
    """The last one in which a start has written a `.env`."""
    lab = tmp_path / "lab"
    lab.mkdir()
    (lab / ".env").touch()
    environ = state(tmp_path, {"nodes": 1, "dotenv": str(lab / ".env")})
    expected = f"no .env is in this folder: `cd {lab}`, or `switchroom dev up` here"
    assert lab_hint(environ, tmp_path) == expected
    assert not lab_hint(environ, lab)
    assert lab_settings_folder(environ) == lab
    (lab / ".env").unlink()
    assert lab_hint(environ, tmp_path).endswith("`switchroom dev up` here writes one for the lab")
    assert lab_settings_folder(environ) is None


@pytest.mark.parametrize("plan", ["", "[]", '{"dotenv": 1}', "\udcff{"])
def test_a_damaged_plan_is_no_error_here(tmp_path: Path, plan: str) -> None:
    """The command has an error of its own to print."""
    path = tmp_path / "switchroom/dev" / PLAN_FILE
    path.parent.mkdir(parents=True)
    path.write_bytes(os.fsencode(plan))
    hint = lab_hint({"XDG_STATE_HOME": str(tmp_path)}, tmp_path)
    assert hint in {
        "",
        "no .env is in this folder: `switchroom dev up` here writes one for the lab",
    }


def test_without_a_lab_there_is_no_hint(tmp_path: Path) -> None:
    """Nor with that of another user."""
    assert not lab_hint({"XDG_STATE_HOME": str(tmp_path)}, tmp_path)
    environ = state(tmp_path, {})
    if os.geteuid() == 0:
        os.chown(tmp_path / "switchroom/dev" / PLAN_FILE, 54_321, 54_321)
        assert not lab_hint(environ, tmp_path)


def test_an_error_without_any_setting_has_the_hint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not if a profile, a `.env` or the environment has settings."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", state(tmp_path, {})["XDG_STATE_HOME"])
    with pytest.raises(UsageError) as without, key_named(NO_SOURCE):
        raise UsageError("no account")
    assert "\n  no .env is in this folder" in explain(without.value)
    with pytest.raises(UsageError) as of_profile, key_named("profile lab"):
        raise UsageError("no account")
    assert "no .env" not in explain(of_profile.value)


def test_settings_of_a_lab_are_recognised(tmp_path: Path) -> None:
    """By the folder in its `.env`, or in the environment."""
    dotenv = tmp_path / ".env"
    assert not is_lab({}, dotenv)
    assert is_lab({"SWITCHROOM_DEV_DIR": "/x"}, dotenv)
    dotenv.write_text("SWITCHROOM_DEV_DIR='/x'\n")
    assert is_lab({}, dotenv)
