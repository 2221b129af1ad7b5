"""`switchroom dev` from a wheel, in an environment and a folder of its own, outside the clone."""

import json
import os
import re
import subprocess
import sys
import wave
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from dev.lab.plan import Plan
from dev.pbx.find import path_of_asterisk
from dev.servers.ports import taken_ports
from dev.servers.process import Process
from lock.program import select
from tests.harness.phones.audio import RATE_HZ, is_sound
from tests.harness.until import until

ROOT = Path(__file__).parents[3]
VALKEY = re.compile(r"^valkey(?:lite)?==.*?(?=^\w|\Z)", re.MULTILINE | re.DOTALL)
MIN_SPEECH_MS = 1_000
STEP = RATE_HZ // 10
SAY = {"type": "say", "data": {"text": "Hello from an installation."}}


class Installation:
    """An environment with the wheel, and an empty folder in which a developer types."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "app"
        self.state = folder / "state"
        self._programs = folder / "venv/bin"
        self._environ = {
            **{name: text for name, text in os.environ.items() if not name.startswith("SWITCH")},
            "PATH": f"{self._programs}:{os.environ['PATH']}",
            "SWITCHROOM_PBX": "path" if path_of_asterisk() else "debian",
            "XDG_CONFIG_HOME": str(folder),  # no profiles of the developer
        }
        self.folder.mkdir()

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its success."""
        done = subprocess.run(
            [self._programs / "switchroom", *words],
            cwd=self.folder, env=self._environ, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
        return done


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    """Build the wheel and install it; the packages are those of uv's cache."""
    run = [sys.executable, "-m"]
    build = [*run, "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    python = tmp_path / "venv/bin/python"
    subprocess.run([*run, "uv", "venv", "--quiet", str(tmp_path / "venv")], check=True)
    uv = [*run, "uv", "pip"]
    where = ["--quiet", "--python", str(python)]
    sync = [*uv, "sync", *where, "--require-hashes", *locked(tmp_path)]
    if subprocess.run([*sync, "--offline"], check=False, capture_output=True).returncode:
        subprocess.run(sync, check=True)
    subprocess.run([*uv, "install", *where, "--offline", "--no-deps", str(wheel)], check=True)
    found = Installation(tmp_path)
    yield found
    if (found.state / "dev.json").exists():
        found.run("dev", "down", "--dir", str(found.state))


def locked(folder: Path) -> list[str]:
    """Return files of the packages that a lab needs, in the versions of the clone."""
    found = VALKEY.findall((ROOT / "lock/dev.txt").read_text())
    (folder / "lab.txt").write_text("".join(found))
    (folder / "host.txt").write_text(select("host"))
    return [str(folder / "host.txt"), str(folder / "lab.txt")]


async def test_a_call_to_an_installation(installation: Installation, port_base: int) -> None:
    """Both directions of a call have audio.

    Later commands find the lab by `.env`, and `down` leaves no process.
    """
    state = str(installation.state)
    started = installation.run("dev", "up", "--dir", state, "--port-base", str(port_base))
    assert "✔ REST layer" in started.stderr
    number = "+4721930000"
    installation.run("route", "set", number, json.dumps(SAY))
    called = installation.run("dev", "call", number, "--save", "heard.wav", "-o", "json")
    assert json.loads(called.stdout)["end"] == "normal clearing (16)"
    assert speech_ms(installation.folder / "heard.wav") >= MIN_SPEECH_MS
    installation.run("call", "--from", number, "--to", "+4722222222", "--action", json.dumps(SAY))
    await until(lambda: bool(answered(installation)), what="the phone's file")
    assert speech_ms(answered(installation)[0]) >= MIN_SPEECH_MS
    installation.run("dev", "status")
    assert running(installation) == [
        "api",
        "engine",
        "pbx1",
        "phone",
        "speech",
        "streams",
        "valkey",
    ]
    installation.run("dev", "down")
    assert running(installation) == []
    assert not taken_ports(used_by(port_base))


def running(installation: Installation) -> list[str]:
    """Return the names of the servers that run."""
    files = sorted(installation.state.glob("*/pid"))
    return [path.parent.name for path in files if Process.load(path) is not None]


def used_by(base: int) -> list[int]:
    """Return the ports that the servers of a lab listen on."""
    ports = Plan(port_base=base).ports()
    (node,) = ports.nodes
    servers = [ports.engine, ports.api, ports.valkey, ports.phone, ports.streams, ports.speech]
    return [*servers, node.ari, node.ami, node.sip]


def answered(installation: Installation) -> list[Path]:
    """Return what the phone behind the trunk has saved."""
    return list(installation.state.glob("phone/*.wav"))


def speech_ms(path: Path) -> int:
    """Return how much of a file is no silence."""
    with wave.open(str(path)) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), np.int16)
    steps = range(0, len(samples), STEP)
    return sum(is_sound(samples[start : start + STEP]) for start in steps) * 100
