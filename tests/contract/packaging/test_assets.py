"""`switchroom asset`: files for operators, written from an installation."""

import json
from pathlib import Path

import pytest

from tests.harness.cli.forked import Ended, run_forked

ROOT = Path(__file__).parents[3]


async def run(folder: Path, *words: str) -> Ended:
    return await run_forked(("asset", *words), folder, {"COLUMNS": "100"})


async def test_the_configuration_of_a_node_is_written(tmp_path: Path) -> None:
    """All of it, without what Python cached; a second run changes nothing."""
    for _ in range(2):
        assert (await run(tmp_path, "save", "asterisk-config", "pbx"))[::2] == (0, "")
    assert (tmp_path / "pbx/etc/pjsip.conf").is_file()
    source = ROOT / "asterisk-config"
    ours = {each.relative_to(source) for each in source.rglob("*") if each.is_file()}
    saved = {each.relative_to(tmp_path / "pbx") for each in (tmp_path / "pbx").rglob("*.*")
             if each.is_file()}  # fmt: skip
    assert saved | {Path("Dockerfile")} == {each for each in ours if each.suffix != ".pyc"}


async def test_a_changed_file_is_kept(tmp_path: Path) -> None:
    """Nothing is written over an operator's change, not even the other files, without --force."""
    await run(tmp_path, "save", "asterisk-config", ".")
    (tmp_path / "etc/rtp.conf").write_text("mine")
    (tmp_path / "prepare.py").unlink()
    status, out, err = await run(tmp_path, "save", "asterisk-config", ".")
    assert (status, out) == (2, "")
    assert "etc/rtp.conf exists and differs; --force replaces it" in err
    assert not (tmp_path / "prepare.py").exists()
    assert (await run(tmp_path, "save", "asterisk-config", ".", "--force")).status == 0
    assert (tmp_path / "etc/rtp.conf").read_text() != "mine"


async def test_files_are_listed_for_programs(tmp_path: Path) -> None:
    """The list has every name; saving one prints the paths."""
    listed = json.loads((await run(tmp_path, "list", "--output", "json")).out)
    names = [each["name"] for each in listed]
    assert names == ["asterisk-config", "alerts", "dashboard"]
    saved = json.loads((await run(tmp_path, "save", "alerts", "x", "-o", "json")).out)
    assert saved == {"name": "alerts", "files": ["x/alerts.yaml"]}
    assert (tmp_path / "x/alerts.yaml").is_file()


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        (("recipes", "x"), 1, "no such asset: recipes"),
        (("alerts", "/proc/none"), 2, "no such file or directory"),
        (("alerts", "file/x"), 2, "not a directory"),
    ],
)
async def test_errors_are_lines(
    tmp_path: Path, words: tuple[str, ...], status: int, text: str
) -> None:
    """An unknown name and a folder that cannot be written."""
    (tmp_path / "file").touch()
    ended = await run(tmp_path, "save", *words)
    assert (ended.status, ended.out) == (status, "")
    assert text in ended.err
    assert "Traceback" not in ended.err
