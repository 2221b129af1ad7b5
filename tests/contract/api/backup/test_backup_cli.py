"""`switchroom backup` and `switchroom restore`."""

from pathlib import Path

import pytest

from tests.contract.api.backup.rows import PASSPHRASE
from tests.harness.api.cli import switchroom
from tests.harness.api.databases import sqlite_url

VARIABLE = {"SWITCHROOM_BACKUP_PASSPHRASE": PASSPHRASE}


@pytest.fixture
def lost(tmp_path: Path) -> Path:
    """Provide the folder of the machine that is backed up."""
    (folder := tmp_path / "lost").mkdir()
    return folder


@pytest.fixture
def new(tmp_path: Path) -> Path:
    """Provide the folder of an empty machine."""
    (folder := tmp_path / "new").mkdir()
    return folder


def files_of(folder: Path) -> list[Path]:
    """Return what is in a folder."""
    return list(folder.iterdir())


def mode_of(path: Path) -> int:
    """Return the permissions of a file."""
    return path.stat().st_mode & 0o777


async def test_a_machine_is_restored(lost: Path, new: Path) -> None:
    """The drill: back up, check, write the settings, restore; the account is there."""
    (lost / "api.env").write_text("SWITCHROOM_TOKEN_SECRET=abc\n")
    (lost / ".env").write_text("SWITCHROOM_ACCOUNT=acme\n")
    file = str(new / "today.backup")
    assert (await switchroom(lost, "account", "create", "acme", "--max-calls", "7"))[0] == 0
    status, said = await switchroom(
        lost, "backup", file, "--settings", "api.env", **VARIABLE, SWITCHROOM_SIP_HOSTS="it's"
    )
    assert status == 0, said
    assert said.startswith(f"{file}: 1 accounts, 0 calls, 2 rows, 3 files of settings, ")
    assert mode_of(Path(file)) == 0o600

    status, said = await switchroom(new, "restore", file, "--check", **VARIABLE)
    assert (status, "1 accounts, 0 calls" in said) == (0, True), said
    assert files_of(new) == [Path(file)]

    status, said = await switchroom(new, "restore", file, "--settings-to", "saved", **VARIABLE)
    assert status == 0, said
    saved = new / "saved"
    assert (saved / "environment.env").read_text().splitlines()[-1] == (
        "SWITCHROOM_SIP_HOSTS='it'\"'\"'s'"
    )
    assert PASSPHRASE not in (saved / "environment.env").read_text()
    for name in ("api.env", ".env"):
        copied = saved.joinpath(*(lost / name).parts[1:])
        assert copied.read_text() == (lost / name).read_text()
        assert mode_of(copied) == 0o600

    assert (await switchroom(new, "restore", file, **VARIABLE))[0] == 0
    _status, said = await switchroom(new, "account", "list")
    assert "acme" in said
    status, said = await switchroom(new, "restore", file, **VARIABLE)
    assert (status, said.startswith("switchroom: the database is not empty: ")) == (2, True)


async def test_a_passphrase_file(lost: Path, new: Path) -> None:
    """The line of a file is the passphrase, whether or not it ends with a line break."""
    (lost / "passphrase").write_text(f"{PASSPHRASE}\n")
    (new / "passphrase").write_text(PASSPHRASE)
    assert (await switchroom(lost, "account", "create", "acme"))[0] == 0
    file, word = str(new / "a.backup"), ("--passphrase-file", "passphrase")
    assert (await switchroom(lost, "backup", file, *word))[0] == 0
    assert (await switchroom(new, "restore", file, *word))[0] == 0


async def test_nothing_is_half_done(lost: Path, new: Path) -> None:
    """An error is one line and status 2; no file and no database is left, or changed."""
    file = new / "a.backup"
    word = VARIABLE
    assert await switchroom(lost, "backup", str(file), **word) == (
        2,
        f"switchroom: there is no database {sqlite_url(lost)} (SWITCHROOM_DATABASE_URL)\n",
    )
    assert files_of(new) == []
    await switchroom(lost, "account", "create", "acme")
    status, said = await switchroom(lost, "backup", str(file), "--settings", "none.env", **word)
    assert (status, said) == (2, f"switchroom: {lost}/none.env: No such file or directory\n")
    status, said = await switchroom(lost, "backup", str(file))
    assert "a passphrase is needed: --passphrase-file, or SWITCHROOM_BACKUP_PASS" in said
    assert await switchroom(lost, "backup", str(file), "--passphrase-file", "none") == (
        2,
        "switchroom: --passphrase-file none: No such file or directory\n",
    )
    assert files_of(new) == []
    status, said = await switchroom(lost, "backup", str(file), **word)
    assert (status, "SWITCHROOM_TOKEN_SECRET is in none of the settings" in said) == (0, True)
    assert await switchroom(lost, "backup", str(file), **word) == (
        2,
        f"switchroom: {file} exists\n",
    )
    wrong = {"SWITCHROOM_BACKUP_PASSPHRASE": "another passphrase"}
    assert await switchroom(new, "restore", str(file), **wrong) == (
        2,
        "switchroom: the passphrase is wrong\n",
    )
    assert await switchroom(new, "restore", "none.backup", **word) == (
        2,
        "switchroom: none.backup: No such file or directory\n",
    )
    whole = file.read_bytes()
    file.write_bytes(whole[:-9])
    for option in (("--check",), ("--settings-to", "saved"), ()):
        assert await switchroom(new, "restore", str(file), *option, **word) == (
            2,
            "switchroom: the file is truncated: its end is missing\n",
        )
    assert not (new / "saved").exists()
    file.write_bytes(whole)
    assert (await switchroom(new, "restore", str(file), **word))[0] == 0


async def test_settings_are_never_overwritten(lost: Path, new: Path) -> None:
    """The folder of the settings has to be empty."""
    await switchroom(lost, "account", "create", "acme")
    await switchroom(lost, "backup", "a.backup", **VARIABLE)
    (new / "mine").write_text("")
    status, said = await switchroom(
        lost, "restore", "a.backup", "--settings-to", str(new), **VARIABLE
    )
    assert (status, said) == (2, f"switchroom: {new} is not empty\n")
