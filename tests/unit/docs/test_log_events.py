"""The list of log events."""

from pathlib import Path

import pytest

from tools.docs.log_events import PAGE, ROOT, filled, uses


def test_the_list_is_up_to_date() -> None:
    """Every event of every program, with its level and fields; else run `make docs`."""
    assert filled(PAGE.read_text(), ROOT) == PAGE.read_text()


def test_events_are_read_from_the_source(tmp_path: Path) -> None:
    """With both texts of a condition; the traceback of an exception is no field."""
    for name in ("engine", "api", "speech", "streams", "wire", "base"):
        (tmp_path / name).mkdir()
    code = 'self._log.exception("a" if x else "b", node=1, exc_info=True)\ndone.exception()\n'
    (tmp_path / "engine/one.py").write_text(code)
    found = {(use.event, use.level, use.fields, use.program) for use in uses(tmp_path)}
    assert found == {(event, "error", frozenset({"node"}), "engine") for event in "ab"}


def test_a_computed_name_is_refused(tmp_path: Path) -> None:
    """It would be missing in the list."""
    for name in ("engine", "api", "speech", "streams", "wire", "base"):
        (tmp_path / name).mkdir()
    (tmp_path / "api/one.py").write_text('log.info(f"{count} lost")\n')
    with pytest.raises(ValueError, match=r"api/one\.py:1"):
        list(uses(tmp_path))
