"""Files of settings in a backup stay below the folder that they are written to."""

from pathlib import Path

import pytest

from api.backup.records import InvalidBackup, SettingsFile
from api.backup.settings_files import collect_settings, write_settings


def test_a_path_with_dots_is_stored_without_them(tmp_path: Path) -> None:
    """The same file is stored once, however it is named."""
    (inner := tmp_path / "inner").mkdir()
    (tmp_path / "a.env").write_text("A=1")
    up = Path(*[".."] * 40, *(tmp_path / "a.env").parts[1:])  # higher than the root, which is one
    found = collect_settings({}, inner, (inner / ".." / "a.env", inner / up, tmp_path / "a.env"))
    assert found == (SettingsFile(str(tmp_path / "a.env"), b"A=1"),)


def test_a_path_that_leads_elsewhere(tmp_path: Path) -> None:
    """Nothing is written outside of the folder."""
    folder, evil = tmp_path / "a" / "saved", SettingsFile("/x/../../../evil.env", b"")
    with pytest.raises(InvalidBackup, match="outside"):
        write_settings([evil], folder)
    assert not list(tmp_path.rglob("evil.env"))
