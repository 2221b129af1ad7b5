"""`switchroom new`: an application from each sample, and folders that it does not touch."""

import json
from pathlib import Path
from typing import get_args

import pytest

from base.lab_folder import PLAN_FILE
from cli.new import Framework, Sample
from tests.harness.cli.forked import run_forked

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
    words = ("new", sample, f"--{framework}", "app")
    status, out, err = await run_forked(words, tmp_path, without_lab(tmp_path))
    assert (status, err) == (0, "")
    for name in ("README.md", *FILES[framework]):
        assert (tmp_path / "app" / name).is_file(), name
    commands = [line for line in out.splitlines() if line.startswith("  ")]
    assert all("app" in each for each in commands[:2])
    assert ("switchroom route set" in out) == (sample != "click-to-call")
    assert (f"  cd {tmp_path}" in out) == (sample != "click-to-call")


async def test_commands_of_the_lab_run_in_its_folder(tmp_path: Path) -> None:
    """Where no `.env` is, a new terminal enters the folder of the lab's; else this one."""
    lab = write_lab(tmp_path)
    environment = without_lab(tmp_path)
    _, out, _ = await run_forked(("new", "ivr", "--flask"), tmp_path, environment)
    assert f"\n  cd {lab}" in out
    (tmp_path / ".env").touch()
    _, out, _ = await run_forked(("new", "survey", "--flask"), tmp_path, environment)
    assert f"\n  cd {tmp_path}" in out
    assert "set -a" not in out


async def test_settings_of_the_environment_need_no_folder(tmp_path: Path) -> None:
    """The lab of this user may be another one than they name."""
    write_lab(tmp_path)
    environment = {**without_lab(tmp_path), "SWITCHROOM_API_KEY": "swk_1"}
    _, out, _ = await run_forked(("new", "after-hours", "--flask"), tmp_path, environment)
    assert f"\n  cd {tmp_path}" in out
    assert "set -a" not in out


@pytest.mark.parametrize("sample", ["click-to-call", "after-hours"])
async def test_a_sample_that_places_calls_gets_the_key_of_the_lab(
    sample: str, tmp_path: Path
) -> None:
    """By a command before it starts; without a lab its environment needs the key."""
    environment = without_lab(tmp_path)
    _, out, _ = await run_forked(("new", sample, "--flask", "first"), tmp_path, environment)
    assert "needs SWITCHROOM_API_URL and SWITCHROOM_API_KEY" in out
    lab = write_lab(tmp_path)
    _, out, _ = await run_forked(("new", sample, "--flask", "app"), tmp_path, environment)
    assert f"  set -a; . {lab}/.env; set +a\n  python app/app.py\n" in out
    assert "SWITCHROOM_API_KEY" not in out
    words = ("new", sample, "--flask", str(tmp_path / "other"), "--output", "json")
    _, out, _ = await run_forked(words, lab, environment)
    assert json.loads(out)["commands"][1] == "set -a; . ./.env; set +a"


async def test_the_page_of_a_sample_is_named(tmp_path: Path) -> None:
    """Of the one sample that has one."""
    _, out, _ = await run_forked(("new", "click-to-call", "--flask"), tmp_path, {})
    assert out.endswith("then open http://127.0.0.1:3000/\n")


async def test_a_machine_without_npm_is_noticed(tmp_path: Path) -> None:
    """Debian's package of Node has no npm; Python needs none."""
    reason = "npm is not on this machine: on Debian or Ubuntu, `apt install -y npm`"
    environment = {"PATH": str(tmp_path)}
    _, out, _ = await run_forked(("new", "ivr", "--express", "ts"), tmp_path, environment)
    assert reason in out
    _, out, _ = await run_forked(("new", "ivr", "--flask", "py"), tmp_path, environment)
    assert reason not in out


def without_lab(folder: Path) -> dict[str, str]:
    """Return an environment that leads to no lab and no profile until `write_lab`."""
    return {"XDG_STATE_HOME": str(folder / "state"), "XDG_CONFIG_HOME": str(folder / "config")}


def write_lab(folder: Path) -> Path:
    """Write what a start of the lab leaves, and return the folder of its `.env`."""
    lab, state = folder / "lab", folder / "state/switchroom/dev"
    lab.mkdir()
    (lab / ".env").write_text("SWITCHROOM_API_KEY='swk_2'\n")
    state.mkdir(parents=True)
    (state / PLAN_FILE).write_text(json.dumps({"dotenv": str(lab / ".env")}))
    return lab


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
