"""Programs that do not start: what is wrong, and the code whose page explains it."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from base.exit_status import ExitStatus

SETTINGS = {
    "SWITCHROOM_STREAMS_TOKEN": "g" * 40,
    "SWITCHROOM_RPC_TOKEN": "t" * 64,
    "SWITCHROOM_TOKEN_SECRET": "s" * 64,
    "SWITCHROOM_ENGINE_URLS": '["http://127.0.0.1:9"]',
    "SWITCHROOM_REDIS_URL": "redis://127.0.0.1:9/0",
    "SWITCHROOM_NODES": '[{"name": "a", "url": "http://127.0.0.1:9", "password": "'
    + "p" * 16
    + '"}]',
}


@pytest.fixture
def taken_port() -> Iterator[str]:
    """Return a port at which something listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield str(server.getsockname()[1])


def start(program: str, folder: Path, settings: Mapping[str, str]) -> str:
    """Start a program that cannot run, and return what it says last."""
    own = {name: text for name, text in os.environ.items() if not name.startswith("SWITCHROOM_")}
    database = {"SWITCHROOM_DATABASE_URL": f"sqlite+aiosqlite:///{folder}/test.db"}
    done = subprocess.run(
        [sys.executable, "-m", "switchroom", program],
        cwd=folder, env={**own, **SETTINGS, **database, **settings},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == ExitStatus.NOT_DONE, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr.rpartition("switchroom: ")[2]


@pytest.mark.parametrize(
    ("program", "setting", "value", "code"),
    [
        ("engine", "SWITCHROOM_RPC_PORT", "x", "invalid_settings"),
        ("engine", "SWITCHROOM_TLS_CA", "/nowhere", "unreadable_certificate"),
        ("engine", "SWITCHROOM_REDIS_URL", "redis://127.0.0.1:9/1", "store_down"),
        ("streams", "SWITCHROOM_STREAMS_PORT", "x", "invalid_settings"),
        ("streams", "SWITCHROOM_STREAMS_TOKEN", "short", "invalid_settings"),
        ("streams", "SWITCHROOM_STREAMS_CA", "/nowhere", "unreadable_certificate"),
        ("api", "SWITCHROOM_API_PORT", "x", "invalid_settings"),
        ("api", "SWITCHROOM_TLS_CA", "/nowhere", "unreadable_certificate"),
        ("api", "SWITCHROOM_DATABASE_URL", "sqlite+aiosqlite:////nowhere/a.db", "database_down"),
    ],
)
def test_a_program_says_why_it_does_not_start(
    tmp_path: Path, program: str, setting: str, value: str, code: str
) -> None:
    """With the code, and the command that shows its page."""
    said = start(program, tmp_path, {setting: value})
    assert said.endswith(f"\n  {code}: `switchroom error show {code}` explains it\n")


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    """It is left as it is."""
    file = tmp_path / "text.db"
    file.write_text("no database\n" * 100)
    said = start("api", tmp_path, {"SWITCHROOM_DATABASE_URL": f"sqlite+aiosqlite:///{file}"})
    assert "file is not a database" in said
    assert said.endswith("\n  database_down: `switchroom error show database_down` explains it\n")
    assert file.read_text() == "no database\n" * 100


PORTS = dict.fromkeys(("SWITCHROOM_API_PORT", "SWITCHROOM_API_METRICS_PORT"), "0")


@pytest.mark.parametrize("setting", PORTS)
def test_a_port_of_the_rest_layer_is_taken(tmp_path: Path, setting: str, taken_port: str) -> None:
    """Address and reason are named; the exit status is not that of a busy call."""
    said = start("api", tmp_path, {**PORTS, setting: taken_port})
    assert said.startswith(f"can't listen at 127.0.0.1:{taken_port}: ")
    assert said.endswith("\n  cannot_listen: `switchroom error show cannot_listen` explains it\n")


def test_health_is_served_last(tmp_path: Path, taken_port: str) -> None:
    """A process that says it is ready listens for customers already."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        health = str(other.getsockname()[1])
        ports = dict(zip(PORTS, (taken_port, health), strict=True))
        said = start("api", tmp_path, ports)
    assert said.startswith(f"can't listen at 127.0.0.1:{taken_port}: ")


def test_a_port_of_the_gateway_is_taken(tmp_path: Path, taken_port: str) -> None:
    """Address, reason and settings are named."""
    said = start("streams", tmp_path, {"SWITCHROOM_STREAMS_PORT": taken_port})
    assert said.startswith(f"can't listen at 127.0.0.1:{taken_port}: ")
    assert said.endswith("\n  cannot_listen: `switchroom error show cannot_listen` explains it\n")
