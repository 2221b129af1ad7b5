"""Several `switchroom dev` commands with one lab at a time."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from dev.lab.plan import Plan
from dev.pbx.find import path_of_asterisk
from dev.servers.ports import taken_ports
from dev.servers.process import Process
from tests.harness.until import until

PBX = "path" if path_of_asterisk() else "debian"


class Commands:
    """Commands of one lab, in a folder with spaces."""

    def __init__(self, folder: Path, base: int) -> None:
        self._cwd = folder
        self.state = folder / "a lab"
        self.base = base
        self._started: list[subprocess.Popen[str]] = []

    def started(self, *words: str, ignoring: signal.Signals | None = None) -> subprocess.Popen[str]:
        environ = {name: each for name, each in os.environ.items() if "SWITCHROOM" not in name}
        argv = (sys.executable, "-m", "switchroom", "dev", *words, "--dir", str(self.state))
        if ignoring:
            argv = ("sh", "-c", f'trap "" {ignoring.value}; exec "$@"', "sh", *argv)
        begun = subprocess.Popen(
            argv, cwd=self._cwd, env=environ | {"SWITCHROOM_PBX": PBX}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        self._started.append(begun)
        return begun

    def status_of(self, *words: str) -> int:
        done = self.started(*words)
        done.communicate()
        return done.returncode

    def up(self) -> subprocess.Popen[str]:
        return self.started("up", "--port-base", str(self.base))

    def foreground(self, ignoring: signal.Signals | None = None) -> subprocess.Popen[str]:
        return self.started("--port-base", str(self.base), ignoring=ignoring)

    def end(self) -> None:
        """Stop the lab, and end the commands that a failed test has left."""
        self.status_of("down")
        for each in self._started:
            with each:
                each.kill()  # nothing, if it has ended

    def listening(self) -> Sequence[int]:
        ports = Plan(port_base=self.base).ports()
        programs = (ports.engine, ports.api, ports.streams, ports.speech)
        return taken_ports((*programs, ports.valkey, ports.phone))


@pytest.fixture
def commands(tmp_path: Path, port_base: int) -> Iterator[Commands]:
    """Give a lab that does not run, and leave none."""
    found = Commands(tmp_path, port_base)
    yield found
    found.end()


def test_two_starts_at_once_start_one_lab(commands: Commands) -> None:
    """The second finds the servers of the first; `down` stops all of them."""
    both = [commands.up(), commands.up()]
    printed = [each.communicate()[0] for each in both]
    assert [each.returncode for each in both] == [0, 0], printed
    text = (commands.state / "settings.env").read_text()
    assert text.count("SWITCHROOM_RPC_TOKEN") == 1
    assert commands.status_of("status") == 0
    assert commands.status_of("down") == 0
    assert not commands.listening()


@pytest.mark.parametrize(
    ("number", "is_ignored"),
    [(signal.SIGINT, False), (signal.SIGINT, True), (signal.SIGHUP, False)],
)
async def test_a_signal_ends_a_lab_in_the_foreground(
    commands: Commands, number: signal.Signals, is_ignored: bool
) -> None:
    """Ctrl-C, also if a script has started it in the background, and a terminal that is closed.

    In the background a shell lets programs ignore SIGINT, until they have a handler of their own.
    """
    running = commands.foreground(ignoring=number if is_ignored else None)
    await until(lambda: bool(Process.load(commands.state / "phone/pid")), timeout_s=60)
    running.send_signal(number)
    printed = running.communicate()[0]
    assert "Traceback" not in printed
    assert not commands.listening()


async def test_down_ends_a_lab_in_the_foreground(commands: Commands) -> None:
    """Its servers are not started again."""
    running = commands.foreground()
    assert running.stdout is not None
    lines = iter(running.stdout.readline, "")
    assert any("Ctrl-C stops all of it" in line for line in lines)
    assert commands.status_of("down") == 0
    assert "another command stops the lab" in running.communicate()[0]
    assert running.returncode == 0
    assert not commands.listening()
