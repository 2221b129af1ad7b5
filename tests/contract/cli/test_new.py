"""`switchroom new`: an application from each sample, and folders that it does not touch."""

from pathlib import Path
from typing import get_args

import pytest

from engine.cli.new.project import Framework, Sample
from tests.contract.cli.forked import run_forked

SAMPLES, FRAMEWORKS = get_args(Sample), get_args(Framework)
FILES = {
    "fastapi": ("app.py", "requirements.txt", "switchroom_sdk/__init__.py"),
    "flask": ("app.py", "requirements.txt", "switchroom_sdk/py.typed"),
    "express": (".npmrc", "app.ts", "package.json", "tsconfig.json", "switchroom-sdk/src/index.ts"),
}


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("sample", SAMPLES)
async def test_an_application_is_created(sample: str, framework: str, tmp_path: Path) -> None:
    """The folder has the code, its dependencies and the SDK; the output says how to run it."""
    status, out, err = await run_forked(("new", sample, f"--{framework}", "app"), tmp_path, {})
    assert (status, err) == (0, "")
    for name in ("README.md", *FILES[framework]):
        assert (tmp_path / "app" / name).is_file(), name
    commands = [line for line in out.splitlines() if line.startswith("  ")]
    assert all("app" in each for each in commands[:2])
    assert ("switchroom route set" in out) == (sample != "click-to-call")
    assert (f"  cd {tmp_path}" in out) == (sample != "click-to-call")


async def test_the_folder_has_the_name_of_the_sample(tmp_path: Path) -> None:
    """Without a folder it is created here."""
    assert (await run_forked(("new", "ivr", "--flask"), tmp_path, {}))[0] == 0
    assert (tmp_path / "ivr/app.py").exists()


async def test_a_folder_with_files_is_left_alone(tmp_path: Path) -> None:
    """The error says what to do; an empty folder is used."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full/mine").write_text("mine")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "empty").mkdir()
    for name, reason in (("full", "full is not empty"), ("file", "file is a file")):
        status, out, err = await run_forked(("new", "ivr", "--fastapi", name), tmp_path, {})
        assert (status, out) == (2, "")
        assert f"{reason}: name another folder" in err
    assert [each.name for each in (tmp_path / "full").iterdir()] == ["mine"]
    assert (await run_forked(("new", "ivr", "--fastapi", "empty"), tmp_path, {}))[0] == 0


@pytest.mark.parametrize("flags", [(), ("--fastapi", "--flask")])
async def test_one_framework_is_required(flags: tuple[str, ...], tmp_path: Path) -> None:
    """None and two are rejected, and nothing is written."""
    status, _, err = await run_forked(("new", "ivr", *flags), tmp_path, {})
    assert status == 2
    assert "one of --fastapi, --flask and --express is required" in err
    assert not (tmp_path / "ivr").exists()


async def test_a_folder_that_cannot_be_created_is_an_error(tmp_path: Path) -> None:
    """A file where a folder should be is named, without a traceback."""
    (tmp_path / "file").write_text("mine")
    status, _, err = await run_forked(("new", "ivr", "--flask", "file/app"), tmp_path, {})
    assert status == 2
    assert "file/app: Not a directory" in err
