"""The folder of a lab: its path, who may use it, and the lock that admits one command."""

import asyncio
from pathlib import Path

import pytest
from rich.console import Console

from dev import errors
from dev.lab.folder import locked, normal_folder
from dev.lab.lifecycle import Lab
from dev.lab.plan import FILE, Plan, read_plan
from dev.progress import Progress
from dev.servers.process import Process
from tests.harness.until import until


def test_a_folder_has_one_name(tmp_path: Path) -> None:
    """Names of containers and sockets are made of it."""
    assert normal_folder(tmp_path / "x/../å b") == tmp_path / "å b"


@pytest.mark.parametrize("name", ["o'q", "a\nb", "a;b", "a?b", "a#b", "a%20b", "$(x)", "\udcff"])
def test_a_path_that_programs_misread_is_rejected(name: str) -> None:
    """A comment in a file of Asterisk, a query in an address, an expression of a shell."""
    with pytest.raises(errors.BadOption, match=r"^--dir: the path has "):
        normal_folder(Path("/srv") / name)


async def test_one_command_at_a_time(tmp_path: Path) -> None:
    """A second one says what it waits for, and gives up after a while."""
    said: list[str] = []
    async with locked(tmp_path, said.append):
        with pytest.raises(errors.LabBusy, match="another command starts or stops the lab"):
            async with locked(tmp_path, said.append, waits_s=0):
                pass
        assert said == [f"waiting: another command starts or stops the lab in {tmp_path}"]
        waiting = asyncio.create_task(_pass_through(tmp_path, said))
        await until(lambda: len(said) == 2, what="the second command to wait")
        assert not waiting.done()
    await waiting


async def _pass_through(folder: Path, said: list[str]) -> None:
    async with locked(folder, said.append):
        pass


async def test_a_server_that_cannot_be_stopped_does_not_keep_the_others_up(tmp_path: Path) -> None:
    """All are stopped, and then the failure is named; the phone is the first to be stopped."""
    lab = Lab.create(tmp_path, Plan(port_base=20_000))
    (tmp_path / "phone/pid").mkdir(parents=True)
    (tmp_path / "valkey").mkdir()
    (tmp_path / "valkey/pid").touch()
    with pytest.raises(errors.ServerFailed, match=r"^phone could not be stopped: "):
        await lab.stop(Progress(Console(quiet=True)))
    assert not (tmp_path / "valkey/pid").exists()


async def test_a_folder_that_all_may_write_is_not_used(tmp_path: Path) -> None:
    """Another user could put links there, which lead our secrets elsewhere."""
    await asyncio.to_thread(tmp_path.chmod, 0o777)
    with pytest.raises(errors.UnusableFolder, match="other users may write to it"):
        await _pass_through(tmp_path, [])


@pytest.mark.parametrize("text", ["", "garbage", "1", "1 2 3", "x y", "-1 -1", "9" * 5_000 + " 1"])
def test_a_damaged_process_id_is_no_process(tmp_path: Path, text: str) -> None:
    """A full disk leaves an empty file."""
    path = tmp_path / "pid"
    path.write_text(text)
    assert Process.load(path) is None


@pytest.mark.parametrize(
    "text", ['{"nodes":7}', '{"nodes":0}', '{"port_base":-1}', '{"port_base":64000}']
)
def test_a_plan_beyond_the_limits_is_damaged(tmp_path: Path, text: str) -> None:
    """The file is named."""
    (tmp_path / FILE).write_text(text)
    with pytest.raises(errors.UnreadablePlan, match="is damaged"):
        read_plan(tmp_path)


def test_a_lab_without_its_secrets_is_reported(tmp_path: Path) -> None:
    """The file is named, and what to do."""
    lab = Lab.create(tmp_path, Plan(port_base=20_000))
    (lab.folder / "settings.env").unlink()
    with pytest.raises(
        errors.MissingSetting, match=r"settings\.env has no SWITCHROOM_ACCOUNT: `switchroom dev"
    ):
        Lab.find(tmp_path)


def test_the_last_line_of_settings_may_be_cut(tmp_path: Path) -> None:
    """What is appended to a file without an end of line is a line of its own."""
    (tmp_path / "settings.env").write_text("SWITCHROOM_ACCOUNT='mine'")
    lab = Lab.create(tmp_path, Plan(port_base=20_000))
    assert lab.settings["SWITCHROOM_ACCOUNT"] == "mine"
    assert Lab.find(tmp_path).settings == lab.settings
